//! Runs tasks on several threads, interruptible by Ctrl-C.
//!
//! The threads end with the call, so the process may fork afterwards without losing threads, as Python's
//! `multiprocessing` and Spark's workers do.

use std::num::NonZero;
use std::sync::Mutex;
use std::thread;
use std::time::{Duration, Instant};

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

/// The interval at which Python checks for signals.
const SIGNAL_INTERVAL: Duration = Duration::from_millis(50);

/// Returns the number of threads to use: `requested`, or one per processor.
pub(crate) fn threads(requested: Option<usize>) -> PyResult<usize> {
    match requested {
        Some(0) => Err(PyValueError::new_err("threads must be 1 or more, or None for all processors")),
        Some(threads) => Ok(threads),
        None => Ok(thread::available_parallelism().map_or(1, NonZero::get)),
    }
}

/// Runs all tasks without the GIL, starting them in order. Returns the failure of the first task that failed,
/// whatever the number of threads. Later tasks may not have run then.
///
/// # Errors
/// The exception that a signal handler raised, usually `KeyboardInterrupt`.
pub(crate) fn run<T: Send, E: Send>(
    py: Python<'_>,
    threads: usize,
    tasks: Vec<T>,
    work: impl Fn(T) -> Result<(), E> + Send + Sync,
) -> PyResult<Option<E>> {
    py.detach(|| match threads.min(tasks.len()) {
        0 | 1 => run_inline(tasks, work),
        threads => run_parallel(threads, tasks, &work),
    })
}

/// Runs pending signal handlers.
///
/// # Errors
/// The exception that a signal handler raised.
fn check_signals(py: Python<'_>) -> PyResult<()> {
    py.check_signals()
}

fn run_inline<T, E>(tasks: Vec<T>, work: impl Fn(T) -> Result<(), E>) -> PyResult<Option<E>> {
    let mut checked = Instant::now();
    for task in tasks {
        if let Err(failure) = work(task) {
            return Ok(Some(failure));
        }
        if checked.elapsed() >= SIGNAL_INTERVAL {
            Python::attach(check_signals)?;
            checked = Instant::now();
        }
    }
    Ok(None)
}

/// Signal handlers run only while the call has no threads: a handler may fork, and the child would lack them.
fn run_parallel<T: Send, E: Send>(
    threads: usize,
    tasks: Vec<T>,
    work: &(impl Fn(T) -> Result<(), E> + Sync),
) -> PyResult<Option<E>> {
    let queue = Mutex::new(tasks.into_iter().enumerate());
    let failures = Mutex::new(Vec::new());
    let next = || queue.lock().expect("the queue never panics").next();
    // Draining the queue makes all threads stop after their current task.
    let stop = || queue.lock().expect("the queue never panics").by_ref().for_each(drop);
    loop {
        let began = Instant::now();
        thread::scope(|scope| {
            for _ in 0..threads {
                scope.spawn(|| {
                    while began.elapsed() < SIGNAL_INTERVAL
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
        Python::attach(check_signals)?;
    }
    let failures = failures.into_inner().expect("a push cannot panic");
    Ok(failures.into_iter().min_by_key(|(index, _)| *index).map(|(_, failure)| failure))
}
