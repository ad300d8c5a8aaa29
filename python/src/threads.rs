//! The threads of a call, during which Python handles signals.

use std::num::NonZero;
use std::sync::Mutex;
use std::thread;

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use sealcomb_columns::Threads;

/// Returns the number of threads to use: `requested`, or one per processor.
pub(crate) fn count(requested: Option<usize>) -> PyResult<NonZero<usize>> {
    match requested {
        Some(threads) => NonZero::new(threads)
            .ok_or_else(|| PyValueError::new_err("threads must be 1 or more, or None for all processors")),
        None => Ok(thread::available_parallelism().unwrap_or(NonZero::<usize>::MIN)),
    }
}

fn check_signals(py: Python<'_>) -> PyResult<()> {
    py.check_signals()
}

/// Runs `work` without the GIL. It may use `count` threads, and ends early if a signal handler raises an exception.
///
/// # Errors
/// The exception that a signal handler raised, usually `KeyboardInterrupt`.
pub(crate) fn run<T: Send>(
    py: Python<'_>,
    count: NonZero<usize>,
    work: impl FnOnce(Threads<'_>) -> T + Send,
) -> PyResult<T> {
    let raised = Mutex::new(None);
    let interrupted = || {
        let Err(exception) = Python::attach(check_signals) else { return false };
        *raised.lock().expect("an assignment cannot panic") = Some(exception);
        true
    };
    let result = py.detach(|| work(Threads::new(count).interrupted_by(&interrupted)));
    match raised.into_inner().expect("an assignment cannot panic") {
        Some(exception) => Err(exception),
        None => Ok(result),
    }
}
