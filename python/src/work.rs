//! Work in pieces, on several threads, which Ctrl-C ends.
//!
//! The threads belong to the call and end with it: a process may fork afterwards, as Python's `multiprocessing` and
//! Spark's workers do, and miss none of them.

use std::num::NonZero;
use std::sync::Mutex;
use std::thread;
use std::time::{Duration, Instant};

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

/// How often Python gets to see whether a signal came.
const LOOK: Duration = Duration::from_millis(50);

/// Threads to use for what a caller asked for: as many as there are processors, if nothing.
pub(crate) fn threads(asked: Option<usize>) -> PyResult<usize> {
    match asked {
        Some(0) => Err(PyValueError::new_err("threads must be 1 or more; None takes all processors")),
        Some(threads) => Ok(threads),
        None => Ok(thread::available_parallelism().map_or(1, NonZero::get)),
    }
}

/// Does every task, begun in their order, with Python free to run meanwhile. Returns the failure of the first task that
/// failed, whatever the number of threads; later tasks may not have been done then.
///
/// # Errors
/// What Python raises when a signal came, `KeyboardInterrupt` above all.
pub(crate) fn run<T: Send, E: Send>(
    py: Python<'_>,
    threads: usize,
    tasks: Vec<T>,
    work: impl Fn(T) -> Result<(), E> + Send + Sync,
) -> PyResult<Option<E>> {
    py.detach(|| match threads.min(tasks.len()) {
        0 | 1 => alone(tasks, work),
        threads => together(threads, tasks, &work),
    })
}

/// Raises what a signal raises.
fn look(py: Python<'_>) -> PyResult<()> {
    py.check_signals()
}

fn alone<T, E>(tasks: Vec<T>, work: impl Fn(T) -> Result<(), E>) -> PyResult<Option<E>> {
    let mut looked = Instant::now();
    for task in tasks {
        if let Err(failure) = work(task) {
            return Ok(Some(failure));
        }
        if looked.elapsed() >= LOOK {
            Python::attach(look)?;
            looked = Instant::now();
        }
    }
    Ok(None)
}

/// Signal handlers run only while no thread of the call exists: a handler may fork, and the child has none of them.
fn together<T: Send, E: Send>(
    threads: usize,
    tasks: Vec<T>,
    work: &(impl Fn(T) -> Result<(), E> + Sync),
) -> PyResult<Option<E>> {
    let queue = Mutex::new(tasks.into_iter().enumerate());
    let failures = Mutex::new(Vec::new());
    let next = || queue.lock().expect("a queue is never left halfway").next();
    // Taking the tasks that nobody has begun leaves none for the threads.
    let stop = || queue.lock().expect("a queue is never left halfway").by_ref().for_each(drop);
    loop {
        let began = Instant::now();
        thread::scope(|scope| {
            for _ in 0..threads {
                scope.spawn(|| {
                    while began.elapsed() < LOOK
                        && let Some((index, task)) = next()
                    {
                        if let Err(failure) = work(task) {
                            failures.lock().expect("a push does not fail").push((index, failure));
                            stop();
                        }
                    }
                });
            }
        });
        if queue.lock().expect("a queue is never left halfway").len() == 0 {
            break;
        }
        Python::attach(look)?;
    }
    let failures = failures.into_inner().expect("a push does not fail");
    Ok(failures.into_iter().min_by_key(|(index, _)| *index).map(|(_, failure)| failure))
}
