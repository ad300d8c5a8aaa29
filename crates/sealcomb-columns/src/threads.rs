//! Runs tasks on several threads, interruptible by the caller.
//!
//! The threads end with the call, so the process may fork afterwards without losing threads, as Python's
//! `multiprocessing` and Spark's workers do.

use std::num::NonZero;
use std::sync::Mutex;
use std::thread;
use std::time::{Duration, Instant};

/// The interval at which a call asks whether it is interrupted.
const INTERVAL: Duration = Duration::from_millis(50);

/// The caller interrupted the call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Interrupted;

/// The threads of a call.
#[derive(Clone, Copy)]
pub struct Threads<'a> {
    count: usize,
    interrupted: &'a (dyn Fn() -> bool + Sync),
}

impl Default for Threads<'_> {
    /// One thread per processor.
    fn default() -> Self {
        Self::new(thread::available_parallelism().unwrap_or(NonZero::<usize>::MIN))
    }
}

impl<'a> Threads<'a> {
    /// This number of threads.
    pub fn new(count: NonZero<usize>) -> Self {
        Self { count: count.get(), interrupted: &|| false }
    }

    /// Ends a call with [`Interrupted`] when `interrupted` returns true. It is called on the thread of the call
    /// about 20 times per second, while the call has no other threads: it may fork, and the child would lack them.
    #[must_use]
    pub fn interrupted_by(self, interrupted: &'a (dyn Fn() -> bool + Sync)) -> Self {
        Self { interrupted, ..self }
    }

    fn check(&self) -> Result<(), Interrupted> {
        if (self.interrupted)() { Err(Interrupted) } else { Ok(()) }
    }

    /// Runs all tasks, starting them in order.
    ///
    /// # Errors
    /// The error of the first task that failed, whatever the number of threads (later tasks may not have run then), or
    /// [`Interrupted`].
    pub fn run<T: Send, E: From<Interrupted> + Send>(
        &self,
        tasks: Vec<T>,
        work: impl Fn(T) -> Result<(), E> + Sync,
    ) -> Result<(), E> {
        match self.count.min(tasks.len()) {
            0 | 1 => self.run_inline(tasks, work),
            count => self.run_parallel(count, tasks, &work),
        }
    }

    fn run_inline<T, E: From<Interrupted>>(
        &self,
        tasks: Vec<T>,
        work: impl Fn(T) -> Result<(), E>,
    ) -> Result<(), E> {
        let mut checked = Instant::now();
        for task in tasks {
            work(task)?;
            if checked.elapsed() >= INTERVAL {
                self.check()?;
                checked = Instant::now();
            }
        }
        Ok(())
    }

    fn run_parallel<T: Send, E: From<Interrupted> + Send>(
        &self,
        count: usize,
        tasks: Vec<T>,
        work: &(impl Fn(T) -> Result<(), E> + Sync),
    ) -> Result<(), E> {
        let queue = Mutex::new(tasks.into_iter().enumerate());
        let failures = Mutex::new(Vec::new());
        let next = || queue.lock().expect("the queue never panics").next();
        // Draining the queue makes all threads stop after their current task.
        let stop = || queue.lock().expect("the queue never panics").by_ref().for_each(drop);
        loop {
            let began = Instant::now();
            thread::scope(|scope| {
                for _ in 0..count {
                    scope.spawn(|| {
                        while began.elapsed() < INTERVAL
                            && let Some((index, task)) = next()
                        {
                            if let Err(failure) = work(task) {
                                failures.lock().expect("a push cannot panic").push((index, failure));
                                stop();
                            }
                        }
                    });
                }
            });
            if queue.lock().expect("the queue never panics").len() == 0 {
                break;
            }
            self.check()?;
        }
        let failures = failures.into_inner().expect("a push cannot panic");
        failures.into_iter().min_by_key(|(index, _)| *index).map_or(Ok(()), |(_, failure)| Err(failure))
    }
}
