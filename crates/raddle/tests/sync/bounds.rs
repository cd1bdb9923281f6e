//! Send, Sync, UnwindSafe, RefUnwindSafe and Unpin: for each type exactly when std's counterpart is.

use std::cell::Cell;
use std::panic::{RefUnwindSafe, UnwindSafe};
use std::rc::Rc;

/// What is answered where the bounded impl of [`ask!`] does not apply.
trait Otherwise {
    const YES: bool = false;
}

/// `Name::<T>::YES` says whether `T` has the trait: the constant of the type itself, which exists only
/// then, is found before that of [`Otherwise`].
macro_rules! ask {
    ($($name:ident: $bound:path),+) => {
        $(
            struct $name<T: ?Sized>(std::marker::PhantomData<T>);
            impl<T: ?Sized> Otherwise for $name<T> {}
            impl<T: ?Sized + $bound> $name<T> {
                const YES: bool = true;
            }
        )+
    };
}

ask!(IsSend: Send, IsSync: Sync, IsUnwindSafe: UnwindSafe, IsRefUnwindSafe: RefUnwindSafe, IsUnpin: Unpin);

macro_rules! rows {
    ($($type:ty),+ $(,)?) => {
        vec![$((
            stringify!($type),
            [
                ("Send", IsSend::<$type>::YES),
                ("Sync", IsSync::<$type>::YES),
                ("UnwindSafe", IsUnwindSafe::<$type>::YES),
                ("RefUnwindSafe", IsRefUnwindSafe::<$type>::YES),
                ("Unpin", IsUnpin::<$type>::YES),
            ],
        )),+]
    };
}

/// All types for one type of data.
macro_rules! with {
    ($T:ty) => {
        rows!(
            Mutex<$T>,
            MutexGuard<'static, $T>,
            RwLock<$T>,
            RwLockReadGuard<'static, $T>,
            RwLockWriteGuard<'static, $T>,
            OnceLock<$T>,
            LazyLock<$T>,
            LazyLock<i32, $T>,
            LazyLock<$T, $T>,
            mpsc::Sender<$T>,
            mpsc::SyncSender<$T>,
            mpsc::Receiver<$T>,
            mpsc::Iter<'static, $T>,
            mpsc::TryIter<'static, $T>,
            mpsc::IntoIter<$T>,
            mpsc::SendError<$T>,
            mpsc::TrySendError<$T>,
            PoisonError<$T>,
            TryLockError<$T>,
            Arc<$T>,
            Weak<$T>,
            atomic::AtomicPtr<$T>,
        )
    };
}

macro_rules! table {
    () => {{
        let mut table = rows!(
            Barrier,
            BarrierWaitResult,
            Condvar,
            WaitTimeoutResult,
            Once,
            OnceState,
            mpsc::RecvError,
            mpsc::RecvTimeoutError,
            mpsc::TryRecvError,
            atomic::AtomicBool,
            atomic::AtomicI8,
            atomic::AtomicI16,
            atomic::AtomicI32,
            atomic::AtomicI64,
            atomic::AtomicIsize,
            atomic::AtomicU8,
            atomic::AtomicU16,
            atomic::AtomicU32,
            atomic::AtomicU64,
            atomic::AtomicUsize,
            atomic::Ordering,
        );
        // Both; Send only; Sync only; neither; not to be carried over an unwinding; not to be moved.
        table.extend(with!(i32));
        table.extend(with!(Cell<i32>));
        table.extend(with!(std::sync::MutexGuard<'static, i32>));
        table.extend(with!(Rc<i32>));
        table.extend(with!(&'static mut i32));
        table.extend(with!(&'static Cell<i32>));
        table.extend(with!(std::marker::PhantomPinned));
        table
    }};
}

type Table = Vec<(&'static str, [(&'static str, bool); 5])>;

mod in_std {
    use super::*;
    use std::sync::*;
    pub(super) fn table() -> Table {
        table!()
    }
}

mod in_raddle {
    use super::*;
    use raddle::sync::*;
    pub(super) fn table() -> Table {
        table!()
    }
}

#[test]
fn bounds_are_those_of_std() {
    let (theirs, ours) = (in_std::table(), in_raddle::table());
    assert_eq!(theirs.len(), ours.len());
    // That the question can be answered both ways at all:
    assert!(theirs.iter().any(|(_, row)| row.iter().all(|(_, yes)| *yes)));
    assert!(theirs.iter().any(|(_, row)| row.iter().all(|(name, yes)| !*yes || *name == "Unpin")));
    let differing: Vec<_> = theirs.iter().zip(&ours).filter(|(theirs, ours)| theirs != ours).collect();
    assert!(differing.is_empty(), "{differing:#?}");
}
