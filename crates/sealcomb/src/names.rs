//! Backends by their names, as in configuration files.

use core::fmt;
use core::hash::{Hash, Hasher};
use core::str::FromStr;

use crate::{Backend, Error};

impl fmt::Display for Backend {
    /// Writes the name.
    ///
    /// ```
    /// use sealcomb::Backend;
    ///
    /// let backend: Backend = "portable".parse()?;
    /// assert_eq!(backend.to_string(), "portable");
    /// # Ok::<(), sealcomb::Error>(())
    /// ```
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl FromStr for Backend {
    type Err = Error;

    /// Returns the backend with this name, see [`Backend::named`].
    fn from_str(name: &str) -> Result<Self, Error> {
        Self::named(name)
    }
}

impl Hash for Backend {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.name().hash(state);
    }
}
