//! What there is to say about this CPU.

/// The CPU's name as the operating system tells it, with family and model where it tells them.
pub(crate) fn cpu_name() -> String {
    let info = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let field = |name: &str| {
        info.lines()
            .filter_map(|line| line.split_once(':'))
            .find(|(key, _)| key.trim() == name)
            .map(|(_, value)| value.trim())
    };
    match (field("model name"), field("cpu family"), field("model")) {
        (Some(name), Some(family), Some(model)) => {
            format!("{name} (family {family}, model {model})")
        }
        (Some(name), ..) => name.to_owned(),
        _ => std::env::consts::ARCH.to_owned(),
    }
}

/// Those of these CPU features that this CPU (or its operating system) lacks.
pub(crate) fn missing(features: &[&'static str]) -> Vec<&'static str> {
    features.iter().copied().filter(|feature| !has(feature)).collect()
}

#[cfg(target_arch = "x86_64")]
fn has(feature: &str) -> bool {
    macro_rules! detect {
        ($($name:tt)*) => {
            match feature {
                $($name => std::arch::is_x86_feature_detected!($name),)*
                _ => false,
            }
        };
    }
    detect!(
        "aes" "avx" "avx2" "avx512bw" "avx512dq" "avx512f" "avx512ifma" "avx512vbmi" "avx512vbmi2" "avx512vl"
        "bmi1" "bmi2" "gfni" "pclmulqdq" "sse2" "sse3" "ssse3" "sse4.1" "sse4.2" "vaes" "vpclmulqdq"
    )
}

#[cfg(not(target_arch = "x86_64"))]
fn has(_feature: &str) -> bool {
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_is_missing_where_nothing_is_needed() {
        assert!(missing(&[]).is_empty());
    }

    #[test]
    fn a_feature_that_no_cpu_has_is_missing() {
        assert_eq!(missing(&["warp-drive"]), ["warp-drive"]);
    }

    #[test]
    fn the_cpu_has_a_name() {
        assert!(!cpu_name().is_empty());
    }
}
