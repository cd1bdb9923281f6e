//! Which descriptors stand for what, and who listens.

/// Most sockets, listeners, and connections of a run.
pub(super) const SOCKETS_MAX: usize = 16;
pub(super) const LISTENERS_MAX: usize = 4;
pub(super) const WIRES_MAX: usize = 16;
/// The longest name of a socket.
pub(super) const NAME_MAX: usize = 110;

/// An end of a connection.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct End {
    pub(super) wire: u8,
    pub(super) side: u8,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Socket {
    pub(super) fd: u32,
    /// None if nothing was done to it yet.
    pub(super) end: Option<End>,
    /// Whether it is closed when another program is begun, if the kernel has not been told of it.
    pub(super) untold: Option<bool>,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Listener {
    pub(super) fd: u32,
    pub(super) name: [u8; NAME_MAX],
    pub(super) length: u8,
    /// As many may wait, and one more.
    pub(super) most: u32,
    /// Connections that wait to be accepted.
    pub(super) waiting: [u8; WIRES_MAX],
    pub(super) count: u8,
}

/// What there is besides connections.
#[derive(Clone, Copy, Debug)]
pub(super) struct Table {
    pub(super) sockets: [Socket; SOCKETS_MAX],
    pub(super) sockets_count: usize,
    pub(super) listeners: [Listener; LISTENERS_MAX],
    pub(super) listeners_count: usize,
    /// Something may have another name, or be waited for as one of a group: whoever listens from now on is left to the kernel.
    pub(super) odd: bool,
}

pub(super) const NOBODY: Listener =
    Listener { fd: 0, name: [0; NAME_MAX], length: 0, most: 0, waiting: [0; WIRES_MAX], count: 0 };
pub(super) const NOTHING: Table = Table {
    sockets: [Socket { fd: 0, end: None, untold: None }; SOCKETS_MAX],
    sockets_count: 0,
    listeners: [NOBODY; LISTENERS_MAX],
    listeners_count: 0,
    odd: false,
};

impl Table {
    pub(super) fn socket(&self, fd: usize) -> Option<usize> {
        self.sockets[..self.sockets_count].iter().position(|socket| socket.fd == fd as u32)
    }

    pub(super) fn end(&self, fd: usize) -> Option<End> {
        self.socket(fd).and_then(|at| self.sockets[at].end)
    }

    /// Which socket is at this end.
    pub(super) fn at_end(&self, end: End) -> Option<usize> {
        self.sockets[..self.sockets_count].iter().position(|socket| socket.end == Some(end))
    }

    pub(super) fn listener(&self, fd: usize) -> Option<usize> {
        self.listeners[..self.listeners_count].iter().position(|listener| listener.fd == fd as u32)
    }

    pub(super) fn is_empty(&self) -> bool {
        self.sockets_count == 0 && self.listeners_count == 0
    }

    /// Whether anything is so that the kernel does not know of.
    pub(super) fn is_secret(&self) -> bool {
        let ends = self.sockets[..self.sockets_count].iter().any(|socket| socket.end.is_some());
        ends || self.listeners[..self.listeners_count].iter().any(|listener| listener.count > 0)
    }

    pub(super) fn add(&mut self, socket: Socket) {
        self.sockets[self.sockets_count] = socket;
        self.sockets_count += 1;
    }

    pub(super) fn remove(&mut self, at: usize) {
        self.sockets_count -= 1;
        self.sockets[at] = self.sockets[self.sockets_count];
    }

    /// A listener is left to the kernel; false if somebody waits for it.
    pub(super) fn unlist(&mut self, at: usize) -> bool {
        let free = self.listeners[at].count == 0;
        if free {
            self.listeners_count -= 1;
            self.listeners[at] = self.listeners[self.listeners_count];
        }
        free
    }
}
