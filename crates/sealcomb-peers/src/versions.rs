//! The versions of the peers in `Cargo.lock`.

const LOCK: &str = include_str!("../../../Cargo.lock");

/// Returns `package-version`, for example `ring-0.17.14`.
pub(crate) fn with_version(package: &str) -> String {
    format!("{package}-{}", locked(package).unwrap_or("unknown"))
}

fn locked(package: &str) -> Option<&'static str> {
    let (_, entry) = LOCK.split_once(&format!("\nname = \"{package}\"\nversion = \""))?;
    entry.split('"').next()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn this_package_has_the_version_of_its_manifest() {
        assert_eq!(locked("sealcomb-peers"), Some(env!("CARGO_PKG_VERSION")));
    }

    #[test]
    fn every_peer_is_locked_once() {
        for package in [
            "aegis",
            "aes",
            "aes-gcm",
            "aes-gcm-siv",
            "aes-siv",
            "aws-lc-rs",
            "cbc",
            "ccm",
            "cfb-mode",
            "cmac",
            "ctr",
            "eax",
            "ofb",
            "ring",
            "xaes-256-gcm",
            "xts-mode",
        ] {
            let times = LOCK.matches(&format!("\nname = \"{package}\"\n")).count();
            assert_eq!(times, 1, "{package}");
        }
    }

    #[test]
    fn a_package_that_is_not_locked_has_no_version() {
        assert_eq!(locked("no-such-package"), None);
    }
}
