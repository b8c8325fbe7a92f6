//! The CPU time of work of two sizes.

use std::fs;
use std::sync::LazyLock;
use std::time::{Duration, Instant};

/// How much larger the second input is. Linear work takes four times as long, quadratic work sixteen times.
pub(super) const LARGER: usize = 4;

/// The allowed factor between the two times.
const ALLOWED: u32 = 6;

/// How often both are measured. The least times count, because caches and interrupts only add time.
const ROUNDS: usize = 8;

/// The least CPU time that is measured. Systems count it in steps of some milliseconds.
const LEAST: Duration = Duration::from_millis(20);

/// Returns the CPU time of this thread. Systems that do not tell it use the time of day.
fn cpu_time() -> Duration {
    static START: LazyLock<Instant> = LazyLock::new(Instant::now);
    let start = *START;
    let of_thread =
        || fs::read_to_string("/proc/thread-self/schedstat").ok()?.split(' ').next()?.parse().ok();
    of_thread().map_or_else(|| start.elapsed(), Duration::from_nanos)
}

/// Runs on this thread with `size` and with four times as much. Returns what is wrong if the work grows much faster.
pub(super) fn faster_growth<T>(name: &str, size: usize, mut run: impl FnMut(usize) -> T) -> Option<String> {
    let mut measure = |size: usize, times: u32| {
        let before = cpu_time();
        (0..times).for_each(|_| drop(run(size)));
        cpu_time().saturating_sub(before)
    };
    let mut times = 1;
    while measure(size, times) < LEAST {
        times *= 2;
    }
    let mut least = [Duration::MAX; 2];
    for _ in 0..ROUNDS {
        for (least, size) in least.iter_mut().zip([size, LARGER * size]) {
            *least = (*least).min(measure(size, times));
        }
        if least[1] < ALLOWED * least[0] {
            return None;
        }
    }
    let [small, large] = least.map(|time| time / times);
    Some(format!("{name}: {size} took {small:.1?}, {} took {large:.1?}", LARGER * size))
}
