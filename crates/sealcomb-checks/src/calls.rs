//! Which functions of the library were called, by the names with which they were called.

use std::collections::BTreeSet;
use std::sync::{Mutex, PoisonError};

/// Names of functions, in a fixed place: a call that a check watches must not take memory for its name.
static MADE: Mutex<[Option<&str>; 64]> = Mutex::new([None; 64]);

/// Calls a function of the library by its path, and notes the path: what is noted is what is called.
macro_rules! call {
    ($($path:ident)::+ ($($argument:expr),* $(,)?)) => {{
        $crate::calls::note(stringify!($($path)::+));
        $($path)::+($($argument),*)
    }};
}

pub(crate) fn note(path: &'static str) {
    let mut made = MADE.lock().unwrap_or_else(PoisonError::into_inner);
    let place = made.iter_mut().find(|place| place.is_none_or(|other| other == path));
    *place.expect("room for one more function") = Some(path);
}

/// The functions that are called anywhere in this crate, as its sources name them.
fn in_the_sources() -> BTreeSet<String> {
    let sources = [include_str!("lib.rs"), include_str!("stream.rs"), include_str!("typed.rs")];
    let calls = sources.iter().flat_map(|source| source.split("call!(").skip(1));
    calls.filter_map(|call| call.split_once('(')).map(|(path, _)| path.trim().to_owned()).collect()
}

/// A check calls this at its end.
///
/// # Panics
/// If one of the functions in this crate's sources was not called: the cases of the check leave it out.
pub fn assert_all_were_made() {
    let made = MADE.lock().unwrap_or_else(PoisonError::into_inner);
    let made: BTreeSet<String> = made.iter().flatten().map(|path| path.replace(' ', "")).collect();
    let missing: Vec<_> = in_the_sources().difference(&made).cloned().collect();
    assert!(missing.is_empty(), "the cases of this check never call {missing:?}");
}
