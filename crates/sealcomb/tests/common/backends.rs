//! Which backends a test runs on.

use sealcomb::Backend;
use std::sync::Once;

/// The backends that this CPU has; says once which it lacks.
pub(crate) fn available() -> Vec<Backend> {
    static SAID: Once = Once::new();
    SAID.call_once(|| {
        for name in Backend::names().filter(|name| Backend::named(name).is_err()) {
            println!("skipped: backend {name}, which this CPU lacks");
        }
    });
    Backend::available().collect()
}
