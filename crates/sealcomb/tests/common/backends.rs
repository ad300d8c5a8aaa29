//! Which backends a test runs on.

use sealcomb::Backend;

/// The backends that this CPU has; says which it lacks.
pub(crate) fn available() -> Vec<Backend> {
    for name in Backend::names().filter(|name| Backend::named(name).is_err()) {
        println!("skipped: backend {name}, which this CPU lacks");
    }
    Backend::available().collect()
}
