//! The backends that a test runs on.

use sealcomb::Backend;
use std::sync::Once;

/// Returns the backends that this CPU has. Prints once which backends are skipped, and why.
pub(crate) fn available() -> Vec<Backend> {
    static SAID: Once = Once::new();
    SAID.call_once(|| {
        for error in Backend::names().filter_map(|name| Backend::named(name).err()) {
            println!("skipped: {error}");
        }
    });
    // `portable4` runs on any CPU, so emulation adds nothing and is slow.
    let emulated = std::env::var_os("EXPECT_BACKEND").is_some();
    Backend::available().filter(|backend| !(emulated && backend.name() == "portable4")).collect()
}
