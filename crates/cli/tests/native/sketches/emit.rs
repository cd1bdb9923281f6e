//! The programs of the toy front end as C.

use raddle_toy::{Body, How, Instr, Obj, Program, REGISTERS, Val};
use std::fmt::Write;

/// The names of a sketch's objects in C; none for what C does not have.
const OBJECTS: [Option<&str>; 14] = [
    Some("x"),
    Some("y"),
    Some("mutex"),
    Some("other_mutex"),
    Some("recursive"),
    Some("rwlock"),
    Some("condvar"),
    Some("semaphore"),
    Some("barrier"),
    None,
    None,
    None,
    None,
    Some("cell"),
];

/// The objects whose values are told.
pub(super) const MEMORY: [Obj; 3] = [0, 1, 13];

/// Whether C has all that a program does, and main waits for all who are made: who is left when the process ends cannot say
/// what it has observed.
pub(super) fn supports(program: &Program) -> bool {
    let lacks = |instr: &Instr| {
        matches!(
            instr,
            Instr::Finished(..)
                | Instr::Now(_)
                | Instr::Choose(..)
                | Instr::Park(..)
                | Instr::Unpark(_)
                | Instr::Downgrade(_)
                | Instr::OnceEnter(..)
                | Instr::OnceDone(..)
                | Instr::OnceGet(..)
                | Instr::Send(..)
                | Instr::Recv(..)
                | Instr::AddSender(_)
                | Instr::DropSender(_)
                | Instr::DropReceiver(_)
                | Instr::AssertNot(..)
                | Instr::End
        )
    };
    let code = || program.tasks.iter().flatten();
    let is_joined = |body: Body| code().any(|instr| *instr == Instr::Join(body));
    !code().any(lacks) && (1..program.tasks.len()).all(is_joined)
}

/// A source file with all of them; which is run is the first argument.
pub(super) fn source(programs: &[Program]) -> String {
    let mut text = String::from("#include \"sketch.h\"\n");
    for (number, program) in programs.iter().enumerate() {
        for body in (0..program.tasks.len()).rev() {
            function(&mut text, program, number, body);
        }
    }
    text += "\nstatic void *(*const programs[])(void *) = {";
    (0..programs.len()).for_each(|number| text += &format!("program_{number}_0, "));
    text += "};\n\nint main(int words, char **word) {\n    sem_init(&semaphore, 0, 1);\n    \
             pthread_barrier_init(&barrier, NULL, 2);\n    programs[atoi(word[1])](NULL);\n    \
             if (words > 2)\n        tell(word[2]);\n    return 0;\n}\n";
    text
}

fn function(text: &mut String, program: &Program, number: usize, body: Body) {
    let code = &program.tasks[body];
    let registers: Vec<String> = (0..REGISTERS).map(|reg| format!("r{reg} = 0")).collect();
    *text += &format!("\nstatic void *program_{number}_{body}(void *unused) {{\n");
    *text += &format!("    unsigned {};\n", registers.join(", "));
    for (at, instr) in code.iter().enumerate() {
        let statement = statement(number, body, instr);
        writeln!(text, "l{at}: {statement};").expect("text");
    }
    // All are used, whatever the program does.
    let used: Vec<String> = (0..REGISTERS).map(|reg| format!("(void)r{reg}")).collect();
    *text += &format!("l{}: {};\n    return unused;\n}}\n", code.len(), used.join(", "));
}

fn statement(number: usize, body: Body, instr: &Instr) -> String {
    let name = |object: Obj| OBJECTS[object].expect("C has it");
    let value = |value: Val| match value {
        Val::Const(value) => value.to_string(),
        Val::Reg(reg) => format!("r{reg}"),
    };
    let way = |how: How| match how {
        How::Block => "BLOCK",
        How::Try => "TRY",
        How::Timed(_) => "TIMED",
    };
    let told = |reg: usize, value: String| format!("r{reg} = note({body}, {value})");
    match *instr {
        Instr::Spawn(child) => format!("start({child}, program_{number}_{child})"),
        Instr::SpawnIf(reg, value, child) => {
            format!("if (r{reg} == {value}) start({child}, program_{number}_{child})")
        }
        Instr::Join(child) => format!("join({child})"),
        Instr::Yield => String::from("sched_yield()"),
        Instr::Sleep(nanoseconds) => format!("doze({nanoseconds})"),
        Instr::Lock(mutex, how, reg) => told(reg, format!("take(&{}, {})", name(mutex), way(how))),
        Instr::Unlock(mutex) => format!("pthread_mutex_unlock(&{})", name(mutex)),
        Instr::ReadLock(_, how, reg) => told(reg, format!("take_to_read({})", way(how))),
        Instr::WriteLock(_, how, reg) => told(reg, format!("take_to_write({})", way(how))),
        Instr::ReadUnlock(lock) | Instr::WriteUnlock(lock) => {
            format!("pthread_rwlock_unlock(&{})", name(lock))
        }
        Instr::Wait(_, _, how, reg) => told(reg, format!("await({})", way(how))),
        Instr::NotifyOne(condvar) => format!("pthread_cond_signal(&{})", name(condvar)),
        Instr::NotifyAll(condvar) => format!("pthread_cond_broadcast(&{})", name(condvar)),
        Instr::Acquire(_, 1, how, reg) => told(reg, format!("acquire({})", way(how))),
        Instr::Release(semaphore, 1) => format!("sem_post(&{})", name(semaphore)),
        Instr::Barrier(_, reg) => told(reg, String::from("arrive()")),
        Instr::Load(object, reg) => told(reg, format!("atomic_load(&{})", name(object))),
        Instr::Read(object, reg) => told(reg, name(object).to_owned()),
        Instr::Store(object, new) => format!("atomic_store(&{}, {})", name(object), value(new)),
        Instr::Write(object, new) => format!("{} = {}", name(object), value(new)),
        Instr::Add(object, more, reg) => {
            told(reg, format!("atomic_fetch_add(&{}, {})", name(object), value(more)))
        }
        Instr::Swap(object, new, reg) => {
            told(reg, format!("atomic_exchange(&{}, {})", name(object), value(new)))
        }
        Instr::Cas(object, expected, new, reg) => {
            told(reg, format!("exchange(&{}, {}, {})", name(object), value(expected), value(new)))
        }
        Instr::Fence => String::from("atomic_thread_fence(memory_order_seq_cst)"),
        Instr::Let(reg, a, b) => format!("r{reg} = {} + {}", value(a), value(b)),
        Instr::Jump(to) => format!("goto l{to}"),
        Instr::JumpIf(reg, value, to) => format!("if (r{reg} == {value}) goto l{to}"),
        Instr::JumpUnless(reg, value, to) => format!("if (r{reg} != {value}) goto l{to}"),
        other => panic!("C has no {other:?}"),
    }
}
