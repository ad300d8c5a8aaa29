//! Supervised threads and tasks. When one of them ends, the link ends and logs the reason.

use std::any::Any;
use std::future::Future;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};

use anyhow::{Context, Error, Result, anyhow};
use tokio::sync::mpsc;
use tokio::task::AbortHandle;

/// The supervised threads and tasks of a link.
pub(crate) struct Threads {
    stop: Arc<AtomicBool>,
    running: Vec<JoinHandle<()>>,
    sender: mpsc::UnboundedSender<Error>,
    ended: mpsc::UnboundedReceiver<Error>,
}

impl Threads {
    /// Returns an empty set. `stop` is the flag that asks the threads to end.
    pub(crate) fn new(stop: Arc<AtomicBool>) -> Self {
        let (sender, ended) = mpsc::unbounded_channel();
        Self { stop, running: Vec::new(), sender, ended }
    }

    /// Starts a thread.
    pub(crate) fn start(
        &mut self,
        name: &'static str,
        work: impl FnOnce() -> Result<()> + Send + 'static,
    ) -> Result<()> {
        let (sender, stop) = (self.sender.clone(), self.stop.clone());
        let body = move || {
            let outcome = guard(work);
            if !stop.load(Ordering::Relaxed) {
                // Fails only if the link has ended already.
                let _ = sender.send(reason(name, outcome));
            }
        };
        let thread = thread::Builder::new().name(name.into()).spawn(body);
        self.running.push(thread.with_context(|| format!("cannot start the thread `{name}`"))?);
        Ok(())
    }

    /// Starts a task of the runtime. Aborting it is no failure.
    pub(crate) fn start_task(
        &self,
        name: &'static str,
        work: impl Future<Output = Result<()>> + Send + 'static,
    ) -> AbortHandle {
        let (sender, task) = (self.sender.clone(), tokio::spawn(work));
        let handle = task.abort_handle();
        tokio::spawn(async move {
            let outcome = match task.await {
                Ok(outcome) => outcome,
                Err(error) if error.is_panic() => Err(panicked(&*error.into_panic())),
                Err(_) => return,
            };
            let _ = sender.send(reason(name, outcome));
        });
        handle
    }

    /// Waits until a thread or task ends without being asked to, and returns the reason.
    pub(crate) async fn ended(&mut self) -> Error {
        // `self.sender` keeps the channel open.
        self.ended.recv().await.unwrap_or_else(|| anyhow!("all threads ended"))
    }

    /// Asks the threads to end and joins them.
    pub(crate) fn stop(self) {
        self.stop.store(true, Ordering::Relaxed);
        for thread in self.running {
            let _ = thread.join();
        }
    }
}

/// Runs a closure and converts a panic into an error.
pub(crate) fn guard<T>(work: impl FnOnce() -> Result<T>) -> Result<T> {
    // Unwind safe: after a panic, nothing uses the state of `work` again.
    catch_unwind(AssertUnwindSafe(work)).unwrap_or_else(|payload| Err(panicked(&*payload)))
}

fn panicked(payload: &(dyn Any + Send)) -> Error {
    let text = payload.downcast_ref::<&str>().copied();
    let text = text.or_else(|| payload.downcast_ref::<String>().map(String::as_str));
    anyhow!("panicked: {}", text.unwrap_or("no message"))
}

fn reason(name: &str, outcome: Result<()>) -> Error {
    let error = outcome.err().unwrap_or_else(|| anyhow!("returned unexpectedly"));
    error.context(format!("`{name}` has ended, which stops the link"))
}

#[cfg(test)]
mod tests {
    use anyhow::bail;

    use super::*;

    fn threads() -> Threads {
        Threads::new(Arc::default())
    }

    async fn reason(threads: &mut Threads) -> String {
        format!("{:#}", threads.ended().await)
    }

    #[tokio::test]
    async fn a_thread_that_panics_fails_or_returns_is_named_with_the_reason() {
        type Work = fn() -> Result<()>;
        let ends: [(Work, &str); 5] = [
            (|| panic!("{} ends", std::hint::black_box(7)), "7 ends"),
            (|| panic!("plain"), "plain"),
            (|| std::panic::panic_any(5), "no message"),
            (|| bail!("no device"), "no device"),
            (|| Ok(()), "returned unexpectedly"),
        ];
        for (work, why) in ends {
            let mut threads = threads();
            threads.start("packets", work).unwrap();
            let reason = reason(&mut threads).await;
            assert!(reason.contains("`packets`") && reason.contains(why), "{reason}");
            threads.stop();
        }
    }

    #[tokio::test]
    async fn a_task_that_panics_fails_or_returns_is_named_with_the_reason() {
        let mut threads = threads();
        threads.start_task("source", async { panic!("a bug") });
        assert!(reason(&mut threads).await.contains("`source` has ended"));
        threads.start_task("status", async { bail!("no socket") });
        assert!(reason(&mut threads).await.contains("no socket"));
        threads.start_task("status", async { Ok(()) });
        assert!(reason(&mut threads).await.contains("returned unexpectedly"));
    }

    #[tokio::test]
    async fn a_thread_that_ends_after_a_stop_is_not_reported() {
        let mut threads = threads();
        let stop = threads.stop.clone();
        let work = move || {
            while !stop.load(Ordering::Relaxed) {
                thread::yield_now();
            }
            Ok(())
        };
        threads.start("packets", work).unwrap();
        threads.stop.store(true, Ordering::Relaxed);
        threads.running.remove(0).join().unwrap();
        assert!(threads.ended.try_recv().is_err());
    }

    #[test]
    fn guard_converts_a_panic_into_an_error() {
        let outcome: Result<()> = guard(|| panic!("a bug"));
        assert!(outcome.unwrap_err().to_string().contains("a bug"));
        assert_eq!(guard(|| Ok(5)).unwrap(), 5);
    }
}
