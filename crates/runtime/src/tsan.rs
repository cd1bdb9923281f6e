//! What the compiler's pass calls before each access to memory.

use raddle_native::access::{access, access_of, kept, place};

macro_rules! accesses {
    ($($read:ident $write:ident = $size:literal: $read_name:ident $write_name:ident)*) => {$(
        unsafe extern "C" fn $read(address: usize, pc: usize) {
            access_of::<$size, false>(address, pc);
        }
        unsafe extern "C" fn $write(address: usize, pc: usize) {
            access_of::<$size, true>(address, pc);
        }
        hook! {
            $read_name rsi => $read;
            $write_name rsi => $write;
        }
    )*};
}

accesses! {
    read1 write1 = 1: __tsan_read1 __tsan_write1
    read2 write2 = 2: __tsan_read2 __tsan_write2
    read4 write4 = 4: __tsan_read4 __tsan_write4
    read8 write8 = 8: __tsan_read8 __tsan_write8
    read16 write16 = 16: __tsan_read16 __tsan_write16
}

hook! {
    __tsan_unaligned_read2 rsi => read2;
    __tsan_unaligned_write2 rsi => write2;
    __tsan_unaligned_read4 rsi => read4;
    __tsan_unaligned_write4 rsi => write4;
    __tsan_unaligned_read8 rsi => read8;
    __tsan_unaligned_write8 rsi => write8;
    __tsan_unaligned_read16 rsi => read16;
    __tsan_unaligned_write16 rsi => write16;
    __tsan_volatile_read1 rsi => read1;
    __tsan_volatile_write1 rsi => write1;
    __tsan_volatile_read2 rsi => read2;
    __tsan_volatile_write2 rsi => write2;
    __tsan_volatile_read4 rsi => read4;
    __tsan_volatile_write4 rsi => write4;
    __tsan_volatile_read8 rsi => read8;
    __tsan_volatile_write8 rsi => write8;
    __tsan_volatile_read16 rsi => read16;
    __tsan_volatile_write16 rsi => write16;
    __tsan_unaligned_volatile_read2 rsi => read2;
    __tsan_unaligned_volatile_write2 rsi => write2;
    __tsan_unaligned_volatile_read4 rsi => read4;
    __tsan_unaligned_volatile_write4 rsi => write4;
    __tsan_unaligned_volatile_read8 rsi => read8;
    __tsan_unaligned_volatile_write8 rsi => write8;
    __tsan_unaligned_volatile_read16 rsi => read16;
    __tsan_unaligned_volatile_write16 rsi => write16;
    __tsan_read_range rdx => read_range;
    __tsan_write_range rdx => write_range;
    __tsan_vptr_read rsi => read8;
    __tsan_vptr_update rdx => vptr_update;
}

macro_rules! read_write {
    ($($inner:ident = $size:literal: $name:ident $unaligned:ident)*) => {$(
        unsafe extern "C" fn $inner(address: usize, pc: usize) {
            access_of::<$size, false>(address, pc);
            access_of::<$size, true>(address, pc);
        }
        hook! {
            $name rsi => $inner;
            $unaligned rsi => $inner;
        }
    )*};
}

read_write! {
    read_write1 = 1: __tsan_read_write1 __tsan_unaligned_read_write1
    read_write2 = 2: __tsan_read_write2 __tsan_unaligned_read_write2
    read_write4 = 4: __tsan_read_write4 __tsan_unaligned_read_write4
    read_write8 = 8: __tsan_read_write8 __tsan_unaligned_read_write8
    read_write16 = 16: __tsan_read_write16 __tsan_unaligned_read_write16
}

unsafe extern "C" fn read_range(address: usize, size: usize, pc: usize) {
    if size > 0 {
        access(address, size, false, pc);
    }
}

unsafe extern "C" fn write_range(address: usize, size: usize, pc: usize) {
    if size > 0 {
        access(address, size, true, pc);
    }
}

/// A constructor or destructor sets the pointer to the virtual functions. Setting it to what it is already
/// changes nothing that a reader could see.
unsafe extern "C" fn vptr_update(address: usize, value: usize, pc: usize) {
    // SAFETY: the object is about to be written there.
    if unsafe { (address as *const usize).read_volatile() } != value {
        access_of::<8, true>(address, pc);
    }
}

macro_rules! nothing {
    ($($name:ident)*) => {$(
        #[doc = concat!("`", stringify!($name), "`: nothing to do.")]
        #[cfg_attr(panic = "abort", unsafe(no_mangle))]
        pub extern "C" fn $name() {}
    )*};
}

nothing! {
    __tsan_init
    __tsan_func_entry
    __tsan_func_exit
}

/// A copy that the compiler asks for.
///
/// # Safety
/// As for `memcpy`.
unsafe extern "C" fn copy(to: usize, from: usize, size: usize, pc: usize) -> usize {
    if size > 0 {
        access(from, size, false, pc);
        // SAFETY: the caller says so; `memmove` is right where `memcpy` is.
        unsafe {
            let kept = kept(from, size, pc);
            access(to, size, true, pc);
            core::ptr::copy(place(&kept, from) as *const u8, to as *mut u8, size);
        }
    }
    to
}

unsafe extern "C" fn fill(to: usize, byte: i32, size: usize, pc: usize) -> usize {
    if size > 0 {
        access(to, size, true, pc);
    }
    // SAFETY: the caller says so.
    unsafe { core::ptr::write_bytes(to as *mut u8, byte as u8, size) };
    to
}

hook! {
    __tsan_memcpy rcx => copy;
    __tsan_memmove rcx => copy;
    __tsan_memset rcx => fill;
}
