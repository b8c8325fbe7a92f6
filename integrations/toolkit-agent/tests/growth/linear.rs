//! The CPU time of work of two sizes.

use std::fs;
use std::sync::LazyLock;
use std::time::{Duration, Instant};

/// How much larger the second input is. Linear work takes four times as long, quadratic work sixteen times.
const LARGER: usize = 4;

/// The allowed factor between the two times. Linear work stays below it, also with the caches of a busy machine.
const ALLOWED: u32 = 8;

/// How often both are measured. The least times count, because caches and interrupts only add time.
const ROUNDS: usize = 6;

/// The least CPU time that is measured. Systems count it in steps of some milliseconds.
const LEAST: Duration = Duration::from_millis(40);

/// Returns the CPU time of this thread. Systems that do not tell it use the time of day.
fn cpu_time() -> Duration {
    static START: LazyLock<Instant> = LazyLock::new(Instant::now);
    let start = *START;
    let of_thread =
        || fs::read_to_string("/proc/thread-self/schedstat").ok()?.split(' ').next()?.parse().ok();
    of_thread().map_or_else(|| start.elapsed(), Duration::from_nanos)
}

/// Works on this thread with `size` and with four times as much, and fails if the work grows much faster. `prepare`
/// makes what is worked on, and its time does not count.
#[track_caller]
pub(super) fn assert_linear<I, T, F: Future<Output = T>>(
    name: &str,
    size: usize,
    prepare: impl Fn(usize) -> I,
    work: impl Fn(I) -> F,
) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let measure = |size: usize, times: usize| {
        let inputs: Vec<I> = (0..times).map(|_| prepare(size)).collect();
        let before = cpu_time();
        inputs.into_iter().for_each(|input| drop(runtime.block_on(work(input))));
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
            return;
        }
    }
    let [small, large] = least.map(|time| time / u32::try_from(times).unwrap());
    panic!("{name}: {size} took {small:.1?}, {} took {large:.1?}", LARGER * size);
}
