//! A cyclic barrier.

/// Who is there, and which round it is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Barrier {
    /// How many must arrive.
    pub size: u32,
    /// How many have arrived in this round.
    pub arrived: u32,
    /// Rounds completed.
    pub round: u32,
}

impl Barrier {
    /// A barrier for `size` tasks; 0 counts as 1, as in std.
    pub fn new(size: u32) -> Barrier {
        Barrier { size: size.max(1), arrived: 0, round: 0 }
    }

    /// One more; true if it was the last, which opens the barrier.
    pub fn arrive(&mut self) -> bool {
        self.arrived += 1;
        let last = self.arrived == self.size;
        if last {
            self.arrived = 0;
            self.round += 1;
        }
        last
    }
}
