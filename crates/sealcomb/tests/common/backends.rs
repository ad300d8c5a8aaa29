//! Which backends a test runs on.

use sealcomb::Backend;
use std::sync::Once;

/// The backends that this CPU has; says once which are skipped, and why.
pub(crate) fn available() -> Vec<Backend> {
    static SAID: Once = Once::new();
    SAID.call_once(|| {
        for error in Backend::names().filter_map(|name| Backend::named(name).err()) {
            println!("skipped: {error}");
        }
    });
    Backend::available().collect()
}
