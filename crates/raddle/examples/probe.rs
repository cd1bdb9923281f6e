//! Speed of a run, for tuning.
use raddle::sync::atomic::{AtomicUsize, Ordering};
use raddle::sync::{Arc, Mutex};
use raddle::thread;
fn mutex(threads: usize, n: usize) {
    let m = Arc::new(Mutex::new(0));
    let hs: Vec<_> = (0..threads)
        .map(|_| {
            let m = m.clone();
            thread::spawn(move || {
                for _ in 0..n {
                    *m.lock().unwrap() += 1;
                }
            })
        })
        .collect();
    for h in hs {
        h.join().unwrap();
    }
    assert_eq!(*m.lock().unwrap(), threads * n);
}
fn atomic(threads: usize, n: usize) {
    let m = Arc::new(AtomicUsize::new(0));
    let hs: Vec<_> = (0..threads)
        .map(|_| {
            let m = m.clone();
            thread::spawn(move || {
                for _ in 0..n {
                    m.fetch_add(1, Ordering::SeqCst);
                }
            })
        })
        .collect();
    for h in hs {
        h.join().unwrap();
    }
    assert_eq!(m.load(Ordering::SeqCst), threads * n);
}
fn main() {
    let tail = || raddle_model::Tail::Random;
    let args: Vec<usize> = std::env::args().skip(1).map(|a| a.parse().unwrap()).collect();
    if let [t, n, runs] = args[..] {
        println!("{:?}", raddle::probe(runs as u64, tail(), move || atomic(t, n)));
        return;
    }
    for (t, n) in [(2, 5), (2, 25), (2, 250), (4, 5), (4, 25), (4, 250), (100, 25)] {
        let runs = (4_000_000 / (t * n)) as u64;
        let (ns, steps, distinct) = raddle::probe(runs, tail(), move || mutex(t, n));
        println!(
            "mutex  {t}x{n}: {ns:.0} ns/run {:.1} ns/event ({steps} events, {distinct} distinct)",
            ns / steps as f64
        );
        let (ns, steps, distinct) = raddle::probe(runs, tail(), move || atomic(t, n));
        println!(
            "atomic {t}x{n}: {ns:.0} ns/run {:.1} ns/event ({steps} events, {distinct} distinct)",
            ns / steps as f64
        );
    }
}
