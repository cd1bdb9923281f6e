//! Switching between stacks. Any stack can be left for any other, so a task hands over to the next
//! one directly; the carrier's own stack is one of them.
//!
//! On x86-64 a switch is a handful of instructions that are the same whoever goes on, oneself
//! included. That matters more than their number: whether a task stays or another goes on is a coin
//! toss that a processor cannot guess, so nothing on the way may branch on it. Elsewhere a coroutine
//! library does it, by way of the carrier's stack.

#[cfg(not(all(target_arch = "x86_64", unix, not(raddle_portable))))]
mod portable;
#[cfg(all(target_arch = "x86_64", unix, not(raddle_portable)))]
mod x86_64;

#[cfg(not(all(target_arch = "x86_64", unix, not(raddle_portable))))]
pub(crate) use portable::{Context, switch};
#[cfg(all(target_arch = "x86_64", unix, not(raddle_portable)))]
pub(crate) use x86_64::{Context, switch};

#[cfg(test)]
mod tests {
    use super::{Context, switch};
    use corosensei::stack::DefaultStack;
    use std::ptr;

    #[test]
    fn stacks_hand_over_to_each_other() {
        let mut contexts: [Box<Context>; 3] = Default::default();
        let at: [*mut Context; 3] = contexts.each_mut().map(|context| &raw mut **context);
        let mut told: Vec<(usize, u32)> = Vec::new();
        let log = &raw mut told;
        for me in 1..3 {
            let stack = DefaultStack::new(64 * 1024).unwrap();
            let body = move || {
                let mut sum = 0.5;
                for round in 0..3 {
                    sum += f64::from(round);
                    // SAFETY: one stack runs at a time, and all of it outlives the loop below.
                    unsafe {
                        (*log).push((me, sum as u32));
                        switch(at[me], at[3 - me]);
                    }
                }
                at[if me == 1 { 2 } else { 0 }].cast_const()
            };
            contexts[me].give_stack(stack);
            // SAFETY: what the body uses outlives it.
            unsafe { contexts[me].begin(body) };
        }
        // SAFETY: the context was begun.
        unsafe { switch(at[0], at[1]) };
        assert_eq!(told, [(1, 0), (2, 0), (1, 1), (2, 1), (1, 3), (2, 3)]);
        assert!(contexts.iter_mut().skip(1).all(|context| context.take_stack().is_some()));
        assert!(contexts[0].take_stack().is_none());
    }

    #[test]
    fn one_may_switch_to_oneself_and_be_abandoned() {
        let mut contexts: [Box<Context>; 2] = Default::default();
        let [root, other]: [*mut Context; 2] = contexts.each_mut().map(|context| &raw mut **context);
        let mut count = 0;
        let at = &raw mut count;
        let body = move || {
            // SAFETY: as above.
            unsafe {
                switch(other, other);
                *at += 1;
                switch(other, root);
            }
            unreachable!()
        };
        contexts[1].give_stack(DefaultStack::new(64 * 1024).unwrap());
        // SAFETY: the body is abandoned before what it uses ends.
        unsafe {
            contexts[1].begin(|| -> *const Context {
                body();
                ptr::null()
            });
            switch(root, other);
        }
        assert_eq!(count, 1);
        contexts[1].abandon();
        assert!(contexts[1].take_stack().is_some());
    }
}
