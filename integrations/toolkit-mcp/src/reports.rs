//! A queue for the progress reports of one call. A slow reader still receives the newest report.

use rmcp::model::ProgressNotificationParam;
use std::collections::VecDeque;
use std::sync::Mutex;
use tokio::sync::Notify;
use toolkit_core::__private::lock;

const MAX_WAITING: usize = 64;

/// A queue of reports with one reader. Adding a report never waits: in a full queue, it replaces the newest
/// waiting one.
#[derive(Debug, Default)]
pub(crate) struct Reports {
    waiting: Mutex<VecDeque<ProgressNotificationParam>>,
    added: Notify,
}

impl Reports {
    pub(crate) fn add(&self, report: ProgressNotificationParam) {
        let mut waiting = lock(&self.waiting);
        if waiting.len() >= MAX_WAITING {
            waiting.pop_back();
        }
        waiting.push_back(report);
        drop(waiting);
        self.added.notify_one();
    }

    /// Removes and returns the oldest report.
    pub(crate) fn take(&self) -> Option<ProgressNotificationParam> {
        lock(&self.waiting).pop_front()
    }

    /// Waits for the oldest report, removes it and returns it. Cancel safe: dropping the future loses no
    /// report.
    pub(crate) async fn next(&self) -> ProgressNotificationParam {
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
    use rmcp::model::{NumberOrString, ProgressToken};

    fn report(number: u32) -> ProgressNotificationParam {
        ProgressNotificationParam::new(ProgressToken(NumberOrString::Number(1)), f64::from(number))
    }

    proptest! {
        /// Runs random sequences of added reports (`true`) and reads (`false`).
        #[test]
        fn reports_are_read_in_order_and_the_newest_is_never_lost(steps in prop::collection::vec(any::<bool>(), 0..600)) {
            let reports = Reports::default();
            let mut added = 0;
            let mut read: Vec<f64> = Vec::new();
            for is_added in steps {
                if is_added {
                    added += 1;
                    reports.add(report(added));
                } else {
                    read.extend(reports.take().map(|report| report.progress));
                }
                prop_assert!(lock(&reports.waiting).len() <= MAX_WAITING);
            }
            read.extend(std::iter::from_fn(|| reports.take()).map(|report| report.progress));
            prop_assert!(read.is_sorted_by(|a, b| a < b));
            prop_assert_eq!(read.last().copied().unwrap_or_default(), f64::from(added));
            if added as usize <= MAX_WAITING {
                prop_assert_eq!(read.len(), added as usize);
            }
        }
    }

    #[tokio::test]
    async fn a_reader_waits_for_a_report_of_another_task() {
        let reports = std::sync::Arc::new(Reports::default());
        let writer = reports.clone();
        let written = tokio::spawn(async move {
            for number in 1..=1_000 {
                writer.add(report(number));
                tokio::task::yield_now().await;
            }
        });
        while reports.next().await.progress < 1_000.0 {}
        written.await.expect("no panic");
    }
}
