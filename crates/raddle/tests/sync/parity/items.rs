//! The items of `sync` but its atomics, from whichever `sync` the module above has.

use super::super::{copies, equals, gives, prints, reads, shows, writes};
use super::sync::*;
use std::time::Duration;

/// Compiles each item, and names it.
pub(crate) fn names(item: &mut impl FnMut(&'static str)) {
    locks(item);
    waiting(item);
    once(item);
    references(item);
    channels(item);
}

fn locks(item: &mut impl FnMut(&'static str)) {
    item("Mutex::new");
    {
        static STATIC: Mutex<i32> = Mutex::new(0);
        let _ = &STATIC;
    }
    item("Mutex::lock");
    let _: fn(&'static Mutex<str>) -> LockResult<MutexGuard<'static, str>> = Mutex::lock;
    item("Mutex::try_lock");
    let _: fn(&'static Mutex<str>) -> TryLockResult<MutexGuard<'static, str>> = Mutex::try_lock;
    item("Mutex::is_poisoned");
    let _: fn(&Mutex<str>) -> bool = Mutex::is_poisoned;
    item("Mutex::clear_poison");
    let _: fn(&Mutex<str>) = Mutex::clear_poison;
    item("Mutex::into_inner");
    let _: fn(Mutex<i32>) -> LockResult<i32> = Mutex::into_inner;
    item("Mutex::get_mut");
    let _: for<'a> fn(&'a mut Mutex<str>) -> LockResult<&'a mut str> = Mutex::get_mut;
    item("Mutex: Debug");
    shows::<Mutex<i32>>();
    item("Mutex: Default, From");
    let _: fn() -> Mutex<i32> = Default::default;
    let _: fn(i32) -> Mutex<i32> = From::from;
    item("MutexGuard: Deref, DerefMut, Debug, Display");
    writes::<MutexGuard<'static, i32>, i32>();
    shows::<MutexGuard<'static, i32>>();
    prints::<MutexGuard<'static, i32>>();
    item("RwLock::new");
    {
        static STATIC: RwLock<i32> = RwLock::new(0);
        let _ = &STATIC;
    }
    item("RwLock::read");
    let _: fn(&'static RwLock<str>) -> LockResult<RwLockReadGuard<'static, str>> = RwLock::read;
    item("RwLock::try_read");
    let _: fn(&'static RwLock<str>) -> TryLockResult<RwLockReadGuard<'static, str>> = RwLock::try_read;
    item("RwLock::write");
    let _: fn(&'static RwLock<str>) -> LockResult<RwLockWriteGuard<'static, str>> = RwLock::write;
    item("RwLock::try_write");
    let _: fn(&'static RwLock<str>) -> TryLockResult<RwLockWriteGuard<'static, str>> = RwLock::try_write;
    item("RwLock::is_poisoned");
    let _: fn(&RwLock<str>) -> bool = RwLock::is_poisoned;
    item("RwLock::clear_poison");
    let _: fn(&RwLock<str>) = RwLock::clear_poison;
    item("RwLock::into_inner");
    let _: fn(RwLock<i32>) -> LockResult<i32> = RwLock::into_inner;
    item("RwLock::get_mut");
    let _: for<'a> fn(&'a mut RwLock<str>) -> LockResult<&'a mut str> = RwLock::get_mut;
    item("RwLock: Debug");
    shows::<RwLock<i32>>();
    item("RwLock: Default, From");
    let _: fn() -> RwLock<i32> = Default::default;
    let _: fn(i32) -> RwLock<i32> = From::from;
    item("RwLockReadGuard: Deref, Debug, Display");
    reads::<RwLockReadGuard<'static, i32>, i32>();
    shows::<RwLockReadGuard<'static, i32>>();
    prints::<RwLockReadGuard<'static, i32>>();
    item("RwLockWriteGuard: Deref, DerefMut, Debug, Display");
    writes::<RwLockWriteGuard<'static, i32>, i32>();
    shows::<RwLockWriteGuard<'static, i32>>();
    prints::<RwLockWriteGuard<'static, i32>>();
    item("RwLockWriteGuard::downgrade");
    let _: fn(RwLockWriteGuard<'static, str>) -> RwLockReadGuard<'static, str> = RwLockWriteGuard::downgrade;
    item("LockResult, TryLockResult");
    let _: fn(i32) -> LockResult<i32> = Ok;
    let _: fn(i32) -> TryLockResult<i32> = Ok;
    item("PoisonError");
    let _: fn(i32) -> PoisonError<i32> = PoisonError::new;
    let _: fn(PoisonError<i32>) -> i32 = PoisonError::into_inner;
    let _: fn(&PoisonError<i32>) -> &i32 = PoisonError::get_ref;
    let _: fn(&mut PoisonError<i32>) -> &mut i32 = PoisonError::get_mut;
    item("TryLockError");
    let _: [TryLockError<i32>; 2] = [TryLockError::WouldBlock, TryLockError::Poisoned(PoisonError::new(1))];
}

fn waiting(item: &mut impl FnMut(&'static str)) {
    item("Condvar::new");
    {
        static STATIC: Condvar = Condvar::new();
        let _ = &STATIC;
    }
    item("Condvar::wait");
    let _: fn(&Condvar, MutexGuard<'static, i32>) -> LockResult<MutexGuard<'static, i32>> = Condvar::wait;
    item("Condvar::wait_while");
    let _: fn(
        &Condvar,
        MutexGuard<'static, i32>,
        fn(&mut i32) -> bool,
    ) -> LockResult<MutexGuard<'static, i32>> = Condvar::wait_while;
    item("Condvar::wait_timeout");
    let _: fn(
        &Condvar,
        MutexGuard<'static, i32>,
        Duration,
    ) -> LockResult<(MutexGuard<'static, i32>, WaitTimeoutResult)> = Condvar::wait_timeout;
    item("Condvar::wait_timeout_while");
    let _: fn(
        &Condvar,
        MutexGuard<'static, i32>,
        Duration,
        fn(&mut i32) -> bool,
    ) -> LockResult<(MutexGuard<'static, i32>, WaitTimeoutResult)> = Condvar::wait_timeout_while;
    item("Condvar::wait_timeout_ms");
    let _: fn(&Condvar, MutexGuard<'static, i32>, u32) -> LockResult<(MutexGuard<'static, i32>, bool)> =
        Condvar::wait_timeout_ms;
    item("Condvar::notify_one");
    let _: fn(&Condvar) = Condvar::notify_one;
    item("Condvar::notify_all");
    let _: fn(&Condvar) = Condvar::notify_all;
    item("Condvar: Debug, Default");
    shows::<Condvar>();
    let _: fn() -> Condvar = Default::default;
    item("WaitTimeoutResult::timed_out");
    let _: fn(&WaitTimeoutResult) -> bool = WaitTimeoutResult::timed_out;
    item("WaitTimeoutResult: Clone, Copy, PartialEq, Eq, Debug");
    copies::<WaitTimeoutResult>();
    equals::<WaitTimeoutResult>();
    shows::<WaitTimeoutResult>();
    item("Barrier::new");
    {
        static STATIC: Barrier = Barrier::new(2);
        let _ = &STATIC;
    }
    item("Barrier::wait");
    let _: fn(&Barrier) -> BarrierWaitResult = Barrier::wait;
    item("Barrier: Debug");
    shows::<Barrier>();
    item("BarrierWaitResult::is_leader");
    let _: fn(&BarrierWaitResult) -> bool = BarrierWaitResult::is_leader;
    item("BarrierWaitResult: Debug");
    shows::<BarrierWaitResult>();
}

fn once(item: &mut impl FnMut(&'static str)) {
    item("Once::new");
    {
        static STATIC: Once = Once::new();
        let _ = &STATIC;
    }
    item("Once::call_once");
    let _: fn(&Once, fn()) = Once::call_once;
    item("Once::call_once_force");
    let _: fn(&Once, fn(&OnceState)) = Once::call_once_force;
    item("Once::is_completed");
    let _: fn(&Once) -> bool = Once::is_completed;
    item("Once::wait");
    let _: fn(&Once) = Once::wait;
    item("Once::wait_force");
    let _: fn(&Once) = Once::wait_force;
    item("Once: Debug");
    shows::<Once>();
    item("OnceState::is_poisoned");
    let _: fn(&OnceState) -> bool = OnceState::is_poisoned;
    item("OnceState: Debug");
    shows::<OnceState>();
    item("ONCE_INIT");
    let _: Once = ONCE_INIT;
    item("OnceLock::new");
    {
        static STATIC: OnceLock<i32> = OnceLock::new();
        let _ = &STATIC;
    }
    item("OnceLock::get");
    let _: fn(&OnceLock<i32>) -> Option<&i32> = OnceLock::get;
    item("OnceLock::get_mut");
    let _: fn(&mut OnceLock<i32>) -> Option<&mut i32> = OnceLock::get_mut;
    item("OnceLock::wait");
    let _: fn(&OnceLock<i32>) -> &i32 = OnceLock::wait;
    item("OnceLock::set");
    let _: fn(&OnceLock<i32>, i32) -> Result<(), i32> = OnceLock::set;
    item("OnceLock::get_or_init");
    let _: fn(&OnceLock<i32>, fn() -> i32) -> &i32 = OnceLock::get_or_init;
    item("OnceLock::into_inner");
    let _: fn(OnceLock<i32>) -> Option<i32> = OnceLock::into_inner;
    item("OnceLock::take");
    let _: fn(&mut OnceLock<i32>) -> Option<i32> = OnceLock::take;
    item("OnceLock: Clone, Debug, Default, From, PartialEq, Eq");
    let _: fn(&OnceLock<i32>) -> OnceLock<i32> = Clone::clone;
    shows::<OnceLock<i32>>();
    let _: fn() -> OnceLock<i32> = Default::default;
    let _: fn(i32) -> OnceLock<i32> = From::from;
    equals::<OnceLock<i32>>();
    item("LazyLock::new");
    {
        static STATIC: LazyLock<i32> = LazyLock::new(|| 1);
        let _ = &STATIC;
    }
    item("LazyLock::force");
    let _: fn(&LazyLock<i32>) -> &i32 = LazyLock::force;
    item("LazyLock::force_mut");
    let _: fn(&mut LazyLock<i32>) -> &mut i32 = LazyLock::force_mut;
    item("LazyLock::get");
    let _: fn(&LazyLock<i32>) -> Option<&i32> = LazyLock::get;
    item("LazyLock::get_mut");
    let _: fn(&mut LazyLock<i32>) -> Option<&mut i32> = LazyLock::get_mut;
    item("LazyLock: Deref, DerefMut, Debug, Default");
    writes::<LazyLock<i32>, i32>();
    shows::<LazyLock<i32>>();
    let _: fn() -> LazyLock<i32> = Default::default;
}

fn references(item: &mut impl FnMut(&'static str)) {
    item("Arc");
    let _: fn(i32) -> Arc<i32> = Arc::new;
    item("Weak");
    let _: fn(&Arc<i32>) -> Weak<i32> = Arc::downgrade;
}

fn channels(item: &mut impl FnMut(&'static str)) {
    item("mpsc::channel");
    let _: fn() -> (mpsc::Sender<i32>, mpsc::Receiver<i32>) = mpsc::channel;
    item("mpsc::sync_channel");
    let _: fn(usize) -> (mpsc::SyncSender<i32>, mpsc::Receiver<i32>) = mpsc::sync_channel;
    item("mpsc::Sender::send");
    let _: fn(&mpsc::Sender<i32>, i32) -> Result<(), mpsc::SendError<i32>> = mpsc::Sender::send;
    item("mpsc::Sender: Clone, Debug");
    let _: fn(&mpsc::Sender<i32>) -> mpsc::Sender<i32> = Clone::clone;
    shows::<mpsc::Sender<i32>>();
    item("mpsc::SyncSender::send");
    let _: fn(&mpsc::SyncSender<i32>, i32) -> Result<(), mpsc::SendError<i32>> = mpsc::SyncSender::send;
    item("mpsc::SyncSender::try_send");
    let _: fn(&mpsc::SyncSender<i32>, i32) -> Result<(), mpsc::TrySendError<i32>> =
        mpsc::SyncSender::try_send;
    item("mpsc::SyncSender: Clone, Debug");
    let _: fn(&mpsc::SyncSender<i32>) -> mpsc::SyncSender<i32> = Clone::clone;
    shows::<mpsc::SyncSender<i32>>();
    item("mpsc::Receiver::recv");
    let _: fn(&mpsc::Receiver<i32>) -> Result<i32, mpsc::RecvError> = mpsc::Receiver::recv;
    item("mpsc::Receiver::try_recv");
    let _: fn(&mpsc::Receiver<i32>) -> Result<i32, mpsc::TryRecvError> = mpsc::Receiver::try_recv;
    item("mpsc::Receiver::recv_timeout");
    let _: fn(&mpsc::Receiver<i32>, Duration) -> Result<i32, mpsc::RecvTimeoutError> =
        mpsc::Receiver::recv_timeout;
    item("mpsc::Receiver::iter");
    let _: fn(&mpsc::Receiver<i32>) -> mpsc::Iter<'_, i32> = mpsc::Receiver::iter;
    gives::<mpsc::Iter<'static, i32>>();
    item("mpsc::Receiver::try_iter");
    let _: fn(&mpsc::Receiver<i32>) -> mpsc::TryIter<'_, i32> = mpsc::Receiver::try_iter;
    gives::<mpsc::TryIter<'static, i32>>();
    item("mpsc::Receiver: IntoIterator, Debug");
    let _: fn(mpsc::Receiver<i32>) -> mpsc::IntoIter<i32> = IntoIterator::into_iter;
    let _: fn(&'static mpsc::Receiver<i32>) -> mpsc::Iter<'static, i32> = IntoIterator::into_iter;
    gives::<mpsc::IntoIter<i32>>();
    shows::<mpsc::Receiver<i32>>();
    item("mpsc::Iter, TryIter, IntoIter: Debug");
    shows::<mpsc::Iter<'static, i32>>();
    shows::<mpsc::TryIter<'static, i32>>();
    shows::<mpsc::IntoIter<i32>>();
    item("mpsc::SendError, TrySendError, RecvError, TryRecvError, RecvTimeoutError");
    let _ = (
        mpsc::SendError(1),
        mpsc::TrySendError::Full(1),
        mpsc::RecvError,
        mpsc::TryRecvError::Empty,
        mpsc::RecvTimeoutError::Timeout,
    );
}
