//! Threads and tasks on which the link depends: where one of them ends, the link ends, and says why.

use std::any::Any;
use std::future::Future;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};

use anyhow::{Context, Error, Result, anyhow};
use tokio::sync::mpsc;

/// All of them.
pub(crate) struct Threads {
    stop: Arc<AtomicBool>,
    running: Vec<JoinHandle<()>>,
    sender: mpsc::UnboundedSender<Error>,
    ended: mpsc::UnboundedReceiver<Error>,
}

impl Threads {
    /// None yet. Setting `stop` tells threads to end.
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
                // Where nobody listens any more, the link has ended already.
                let _ = sender.send(reason(name, outcome));
            }
        };
        let thread = thread::Builder::new().name(name.into()).spawn(body);
        self.running.push(thread.with_context(|| format!("the thread `{name}`"))?);
        Ok(())
    }

    /// Starts a task of the runtime.
    pub(crate) fn start_task(
        &self,
        name: &'static str,
        work: impl Future<Output = Result<()>> + Send + 'static,
    ) {
        let (sender, task) = (self.sender.clone(), tokio::spawn(work));
        tokio::spawn(async move {
            let outcome = match task.await {
                Ok(outcome) => outcome,
                Err(error) if error.is_panic() => Err(panicked(&*error.into_panic())),
                Err(error) => Err(error.into()),
            };
            let _ = sender.send(reason(name, outcome));
        });
    }

    /// Waits until one of them ends that was not told to. Why it did is the answer.
    pub(crate) async fn ended(&mut self) -> Error {
        // This end of the channel keeps it open.
        self.ended.recv().await.unwrap_or_else(|| anyhow!("all threads ended"))
    }

    /// Tells the threads to end and waits until they have.
    pub(crate) fn stop(self) {
        self.stop.store(true, Ordering::Relaxed);
        for thread in self.running {
            let _ = thread.join();
        }
    }
}

/// Runs something, and makes a panic in it an error.
pub(crate) fn guard<T>(work: impl FnOnce() -> Result<T>) -> Result<T> {
    // What it worked on goes with it.
    catch_unwind(AssertUnwindSafe(work)).unwrap_or_else(|payload| Err(panicked(&*payload)))
}

fn panicked(payload: &(dyn Any + Send)) -> Error {
    let text = payload.downcast_ref::<&str>().copied();
    let text = text.or_else(|| payload.downcast_ref::<String>().map(String::as_str));
    anyhow!("it panicked: {}", text.unwrap_or("without a message"))
}

fn reason(name: &str, outcome: Result<()>) -> Error {
    let error = outcome.err().unwrap_or_else(|| anyhow!("it returned"));
    error.context(format!("`{name}` has ended, and the link cannot be without it"))
}

#[cfg(test)]
mod tests {
    use anyhow::bail;

    use super::*;

    fn threads() -> Threads {
        Threads::new(Arc::default())
    }

    async fn told(threads: &mut Threads) -> String {
        format!("{:#}", threads.ended().await)
    }

    #[tokio::test]
    async fn a_thread_that_panics_fails_or_returns_is_named_with_the_reason() {
        type Work = fn() -> Result<()>;
        let ends: [(Work, &str); 5] = [
            (|| panic!("{} ends", std::hint::black_box(7)), "7 ends"),
            (|| panic!("plain"), "plain"),
            (|| std::panic::panic_any(5), "without a message"),
            (|| bail!("no device"), "no device"),
            (|| Ok(()), "it returned"),
        ];
        for (work, why) in ends {
            let mut threads = threads();
            threads.start("packets", work).unwrap();
            let told = told(&mut threads).await;
            assert!(told.contains("`packets`") && told.contains(why), "{told}");
            threads.stop();
        }
    }

    #[tokio::test]
    async fn a_task_that_panics_fails_or_returns_is_named_with_the_reason() {
        let mut threads = threads();
        threads.start_task("source", async { panic!("a loose end") });
        assert!(told(&mut threads).await.contains("`source` has ended"));
        threads.start_task("status", async { bail!("no socket") });
        assert!(told(&mut threads).await.contains("no socket"));
        threads.start_task("status", async { Ok(()) });
        assert!(told(&mut threads).await.contains("it returned"));
    }

    #[tokio::test]
    async fn a_thread_that_was_told_to_stop_is_not_missed() {
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
    fn a_panic_of_the_control_of_keys_is_an_error() {
        let outcome: Result<()> = guard(|| panic!("a loose end"));
        assert!(outcome.unwrap_err().to_string().contains("a loose end"));
        assert_eq!(guard(|| Ok(5)).unwrap(), 5);
    }
}
