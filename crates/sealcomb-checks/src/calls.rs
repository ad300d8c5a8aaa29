//! Records which functions of the library were called.

use std::collections::BTreeSet;
use std::sync::{Mutex, PoisonError};

/// Paths of the functions called so far. A fixed array, because recording a call must not allocate while a check
/// watches the heap.
static MADE: Mutex<[Option<&str>; 64]> = Mutex::new([None; 64]);

/// Calls a function of the library by its path, and records the path.
macro_rules! call {
    ($($path:ident)::+ ($($argument:expr),* $(,)?)) => {{
        $crate::calls::note(stringify!($($path)::+));
        $($path)::+($($argument),*)
    }};
}

pub(crate) fn note(path: &'static str) {
    let mut made = MADE.lock().unwrap_or_else(PoisonError::into_inner);
    let place = made.iter_mut().find(|place| place.is_none_or(|other| other == path));
    *place.expect("more than 64 functions are called; enlarge `MADE`") = Some(path);
}

/// Returns the paths of all functions that the sources of this crate call.
fn in_the_sources() -> BTreeSet<String> {
    let sources = [
        include_str!("lib.rs"),
        include_str!("sectors.rs"),
        include_str!("stream.rs"),
        include_str!("typed.rs"),
    ];
    let calls = sources.iter().flat_map(|source| source.split("call!(").skip(1));
    calls.filter_map(|call| call.split_once('(')).map(|(path, _)| path.trim().to_owned()).collect()
}

/// Checks that every function in the sources of this crate was called. To be called at the end of a check.
///
/// # Panics
/// If one was not called, because no case of the check reaches it.
pub fn assert_all_were_made() {
    let made = MADE.lock().unwrap_or_else(PoisonError::into_inner);
    let made: BTreeSet<String> = made.iter().flatten().map(|path| path.replace(' ', "")).collect();
    let missing: Vec<_> = in_the_sources().difference(&made).cloned().collect();
    assert!(missing.is_empty(), "the cases of this check never call {missing:?}");
}
