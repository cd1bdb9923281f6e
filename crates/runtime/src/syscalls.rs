//! System calls that the program makes itself.

use crate::clocks::set_errno;
use crate::signals::{kill_, tgkill_};
use core::ffi::{c_int, c_long};
use raddle_native::reset::guard;
use raddle_native::run::active;
use raddle_native::sys::nr;
use raddle_native::time::{TimeSpec, until};
use raddle_native::{futex, server, time};

const WAIT: usize = 0;
const WAKE: usize = 1;
const REQUEUE: usize = 3;
const REQUEUE_IF: usize = 4;
const WAIT_BITS: usize = 9;
const WAKE_BITS: usize = 10;
/// Private to the process, and by the clock on the wall.
const FLAGS: usize = 128 | 256;
const BY_THE_WALL: usize = 256;
const NO_SUCH_CALL: isize = -38;

/// Calls by which a program can tell where it may run, and those that make processes: `clone`, `fork`, `vfork`, to set and to get
/// the processors, `clone3`.
const PARTS: [usize; 6] = [56, 57, 58, 203, 204, 435];

/// The arguments in the order of the call: number, then six.
unsafe extern "C" fn dispatch(number: usize, args: *const usize, pc: usize) -> c_long {
    // SAFETY: the assembly below has put six of them there.
    let args: [usize; 6] = unsafe { core::array::from_fn(|at| args.add(at).read()) };
    let result = match number {
        nr::FUTEX if active() => futex_call(args, pc),
        nr::SCHED_YIELD if active() => {
            time::offer(pc);
            0
        }
        // SAFETY: numbers.
        nr::KILL if active() => return unsafe { kill_(args[0] as c_int, args[1] as c_int, pc) }.into(),
        nr::TGKILL if active() => {
            let [process, thread, signal] = [0, 1, 2].map(|at| args[at] as c_int);
            // SAFETY: numbers.
            return unsafe { tgkill_(process, thread, signal, pc) }.into();
        }
        _ => {
            if active() && PARTS.contains(&number) {
                server::part();
            }
            guard::call(number, args)
        }
    };
    if (-4095..0).contains(&result) { c_long::from(set_errno(-result as c_int)) } else { result as c_long }
}

fn futex_call(args: [usize; 6], pc: usize) -> isize {
    let [address, operation, value, limit, second, bits] = args;
    // Only those that wait have it; the others leave there what happens to be in the register.
    // SAFETY: the program's own variable, if there is one.
    let moment = || if limit == 0 { None } else { unsafe { (*(limit as *const TimeSpec)).get() } };
    let clock = c_int::from(operation & BY_THE_WALL == 0);
    match operation & !FLAGS {
        WAIT => futex::wait(address, value as u32, futex::ANY, moment(), pc),
        WAIT_BITS => {
            let limit = moment().map(|moment| until(clock, moment));
            futex::wait(address, value as u32, bits as u32, limit, pc)
        }
        WAKE => futex::wake(address, value as u32, futex::ANY, pc),
        WAKE_BITS => futex::wake(address, value as u32, bits as u32, pc),
        // What is a moment for others is how many are moved.
        REQUEUE => futex::requeue(address, second, [value as u32, limit as u32], None, pc),
        REQUEUE_IF => futex::requeue(address, second, [value as u32, limit as u32], Some(bits as u32), pc),
        // Priorities: as if the kernel were an old one.
        _ => NO_SUCH_CALL,
    }
}

/// A system call by number.
///
/// # Safety
/// As libc's.
#[unsafe(naked)]
#[cfg_attr(panic = "abort", unsafe(no_mangle))]
pub unsafe extern "C" fn syscall() {
    core::arch::naked_asm!(
        // Said for whoever looks for callers.
        ".cfi_startproc",
        "mov rax, [rsp]",
        // The seventh argument lies on the stack; the others come in registers.
        "push [rsp + 8]",
        "push r9",
        "push r8",
        "push rcx",
        "push rdx",
        "push rsi",
        "mov rsi, rsp",
        "mov rdx, rax",
        "sub rsp, 8",
        ".cfi_def_cfa_offset 64",
        "call {dispatch}",
        "add rsp, 56",
        ".cfi_def_cfa_offset 8",
        "ret",
        ".cfi_endproc",
        dispatch = sym dispatch,
    )
}
