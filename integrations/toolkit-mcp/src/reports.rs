//! A queue for the progress reports of one call. A slow reader still receives the newest report.

use crate::locks::lock;
use std::collections::VecDeque;
use std::sync::Mutex;
use tokio::sync::Notify;

/// The maximum number of waiting reports.
const MAX_WAITING: usize = 64;

/// A queue of reports with one reader. Adding a report never waits: if the queue is full, the new report
/// replaces the newest waiting report. Therefore, the newest report is never lost to a slow reader.
#[derive(Debug)]
pub(crate) struct Reports<T> {
    waiting: Mutex<VecDeque<T>>,
    added: Notify,
}

impl<T> Default for Reports<T> {
    fn default() -> Self {
        Self { waiting: Mutex::default(), added: Notify::new() }
    }
}

impl<T> Reports<T> {
    /// Adds a report to the queue. If the queue is full, the report replaces the newest waiting report.
    pub(crate) fn add(&self, report: T) {
        let mut waiting = lock(&self.waiting);
        if waiting.len() >= MAX_WAITING {
            waiting.pop_back();
        }
        waiting.push_back(report);
        drop(waiting);
        self.added.notify_one();
    }

    /// Removes and returns the oldest report, if any.
    pub(crate) fn take(&self) -> Option<T> {
        lock(&self.waiting).pop_front()
    }

    /// Waits for the oldest report, removes it and returns it. This method is cancel safe: dropping the
    /// future loses no report.
    pub(crate) async fn next(&self) -> T {
        loop {
            if let Some(report) = self.take() {
                return report;
            }
            self.added.notified().await;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// Runs random sequences of added reports (`true`) and reads (`false`), and compares the reports read
        /// with the reports added.
        #[test]
        fn reports_are_read_in_order_and_the_newest_is_never_lost(steps in prop::collection::vec(any::<bool>(), 0..600)) {
            let reports = Reports::default();
            let mut added = 0_usize;
            let mut read = Vec::new();
            for is_added in steps {
                if is_added {
                    added += 1;
                    reports.add(added);
                } else {
                    read.extend(reports.take());
                }
                prop_assert!(lock(&reports.waiting).len() <= MAX_WAITING);
            }
            read.extend(std::iter::from_fn(|| reports.take()));
            prop_assert!(read.is_sorted_by(|a, b| a < b));
            prop_assert_eq!(read.last().copied().unwrap_or_default(), added);
            if added <= MAX_WAITING {
                prop_assert_eq!(read.len(), added);
            }
        }
    }

    #[tokio::test]
    async fn a_reader_waits_for_a_report_of_another_task() {
        let reports = std::sync::Arc::new(Reports::default());
        let writer = reports.clone();
        let written = tokio::spawn(async move {
            for report in 1..=1_000 {
                writer.add(report);
                tokio::task::yield_now().await;
            }
        });
        while reports.next().await < 1_000 {}
        written.await.expect("no panic");
    }
}
