//! The thread that owns a store's connection, and commits all waiting jobs together.

use rusqlite::{Connection, Transaction, TransactionBehavior};
use std::io;
use std::sync::mpsc::{self, Receiver, Sender};
use std::thread;
use tokio::sync::oneshot;
use toolkit_agent::session::StoreError;

/// A handle to the thread, which ends with the last clone.
#[derive(Debug, Clone)]
pub(super) struct Database(Sender<Box<dyn Job>>);

impl Database {
    pub(super) fn start(connection: Connection) -> io::Result<Self> {
        let (sender, jobs) = mpsc::channel();
        thread::Builder::new().name("toolkit-sqlite".to_owned()).spawn(move || serve(connection, &jobs))?;
        Ok(Self(sender))
    }

    pub(super) async fn read<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Transaction<'_>) -> rusqlite::Result<T> + Send + 'static,
    ) -> Result<T, StoreError> {
        self.execute(false, work).await
    }

    /// Changes the database, and returns when the changes are on the disk.
    pub(super) async fn write<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Transaction<'_>) -> rusqlite::Result<T> + Send + 'static,
    ) -> Result<T, StoreError> {
        self.execute(true, work).await
    }

    async fn execute<T: Send + 'static>(
        &self,
        is_write: bool,
        work: impl FnOnce(&Transaction<'_>) -> rusqlite::Result<T> + Send + 'static,
    ) -> Result<T, StoreError> {
        let (answer, answered) = oneshot::channel();
        let task = Task { is_write, work: Some(work), value: None, answer };
        if self.0.send(Box::new(task)).is_err() {
            return Err(thread_ended());
        }
        match answered.await {
            Ok(outcome) => outcome,
            Err(_) => Err(thread_ended()),
        }
    }
}

fn thread_ended() -> StoreError {
    StoreError::new("the thread of the store of conversations has ended")
}

/// Executes jobs until all handles are dropped. Jobs that wait at the same time share a transaction.
fn serve(mut connection: Connection, jobs: &Receiver<Box<dyn Job>>) {
    while let Ok(first) = jobs.recv() {
        let mut batch = vec![first];
        batch.extend(jobs.try_iter());
        let committed = execute(&mut connection, &mut batch).map_err(super::failed);
        for job in batch {
            job.answer(committed.clone());
        }
    }
}

/// Executes jobs in one transaction, rolled back after an error of its own.
fn execute(connection: &mut Connection, batch: &mut [Box<dyn Job>]) -> rusqlite::Result<()> {
    // A transaction that begins as a reader cannot write after another program has written.
    let behavior = if batch.iter().any(|job| job.is_write()) {
        TransactionBehavior::Immediate
    } else {
        TransactionBehavior::Deferred
    };
    let transaction = connection.transaction_with_behavior(behavior)?;
    for job in batch {
        if job.is_write() {
            // A job that fails does not undo those beside it.
            transaction.execute_batch("SAVEPOINT job")?;
            let end = if job.run(&transaction) { "RELEASE job" } else { "ROLLBACK TO job; RELEASE job" };
            transaction.execute_batch(end)?;
        } else {
            job.run(&transaction);
        }
    }
    transaction.commit()
}

trait Job: Send {
    fn is_write(&self) -> bool;

    /// Returns whether the work has succeeded.
    fn run(&mut self, transaction: &Transaction<'_>) -> bool;

    /// Answers the caller after the transaction has ended.
    fn answer(self: Box<Self>, committed: Result<(), StoreError>);
}

struct Task<T, W> {
    is_write: bool,
    work: Option<W>,
    value: Option<rusqlite::Result<T>>,
    answer: oneshot::Sender<Result<T, StoreError>>,
}

impl<T, W> Job for Task<T, W>
where
    T: Send,
    W: FnOnce(&Transaction<'_>) -> rusqlite::Result<T> + Send,
{
    fn is_write(&self) -> bool {
        self.is_write
    }

    fn run(&mut self, transaction: &Transaction<'_>) -> bool {
        if let Some(work) = self.work.take() {
            self.value = Some(work(transaction));
        }
        matches!(self.value, Some(Ok(_)))
    }

    fn answer(self: Box<Self>, committed: Result<(), StoreError>) {
        let Self { value, answer, .. } = *self;
        let outcome = match (committed, value) {
            (Err(error), _) => Err(error),
            (Ok(()), Some(value)) => value.map_err(super::failed),
            (Ok(()), None) => {
                Err(StoreError::new("the store of conversations has not executed the operation"))
            }
        };
        // The caller may no longer wait.
        let _ = answer.send(outcome);
    }
}
