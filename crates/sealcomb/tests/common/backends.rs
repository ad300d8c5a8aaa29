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
    // An emulated CPU has nothing new to say of code for any CPU, and says it slowly.
    let emulated = std::env::var_os("EXPECT_BACKEND").is_some();
    Backend::available().filter(|backend| !(emulated && backend.name() == "portable4")).collect()
}
