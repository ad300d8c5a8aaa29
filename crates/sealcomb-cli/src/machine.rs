//! Describes this CPU and its operating system.

use std::fs;
use std::process::Command;

/// Returns the CPU's name from the operating system, with family and model if available; else the architecture.
pub(crate) fn cpu_name() -> String {
    let info = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let field = |name: &str| {
        info.lines()
            .filter_map(|line| line.split_once(':'))
            .find(|(key, _)| key.trim() == name)
            .map(|(_, value)| value.trim())
    };
    let arm = || Some(arm_core(number(field("CPU implementer")?)?, number(field("CPU part")?)?));
    match (field("model name"), field("cpu family"), field("model")) {
        (Some(name), Some(family), Some(model)) => {
            format!("{name} (family {family}, model {model})")
        }
        (Some(name), ..) => name.to_owned(),
        _ => arm().or_else(mac).unwrap_or_else(|| std::env::consts::ARCH.to_owned()),
    }
}

/// Parses a hexadecimal number with the prefix `0x`, as in `/proc/cpuinfo` on Arm.
fn number(text: &str) -> Option<u32> {
    u32::from_str_radix(text.strip_prefix("0x")?, 16).ok()
}

/// Returns the name of an Arm core by its implementer and part number; the numbers themselves for cores not listed.
fn arm_core(implementer: u32, part: u32) -> String {
    let name = match (implementer, part) {
        (0x41, 0xd03) => "Cortex-A53",
        (0x41, 0xd07) => "Cortex-A57",
        (0x41, 0xd08) => "Cortex-A72",
        (0x41, 0xd0b) => "Cortex-A76",
        (0x41, 0xd0c) => "Neoverse N1",
        (0x41, 0xd40) => "Neoverse V1",
        (0x41, 0xd49) => "Neoverse N2",
        (0x41, 0xd4f) => "Neoverse V2",
        (0x61, _) => return format!("Apple, part {part:#x}"),
        (0xc0, 0xac3) => "Ampere-1",
        _ => return format!("Arm, implementer {implementer:#x}, part {part:#x}"),
    };
    name.to_owned()
}

/// Returns the CPU's name on macOS; `None` on other systems.
fn mac() -> Option<String> {
    if !cfg!(target_vendor = "apple") {
        return None;
    }
    output("sysctl", &["-n", "machdep.cpu.brand_string"])
}

/// Returns the kernel release, such as `6.1.0`.
pub(crate) fn kernel() -> Option<String> {
    line("/proc/sys/kernel/osrelease").or_else(|| output("uname", &["-r"]))
}

/// Returns the CPU frequency governor on Linux. Most virtual machines have none.
pub(crate) fn governor() -> Option<String> {
    line("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor")
}

/// Returns the 1-minute load average on Linux.
pub(crate) fn load() -> Option<f64> {
    line("/proc/loadavg")?.split(' ').next()?.parse().ok()
}

/// Returns the first line of a file; `None` if it is empty or unreadable.
fn line(path: &str) -> Option<String> {
    first_line(&fs::read_to_string(path).ok()?)
}

/// Returns the first line of a program's output; `None` if the program does not start or that line is empty.
fn output(program: &str, arguments: &[&str]) -> Option<String> {
    let output = Command::new(program).args(arguments).output().ok()?;
    first_line(&String::from_utf8(output.stdout).ok()?)
}

fn first_line(text: &str) -> Option<String> {
    text.lines().next().map(str::trim).filter(|line| !line.is_empty()).map(str::to_owned)
}

/// Returns those of `features` that the CPU does not support or the operating system does not enable.
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

#[cfg(target_arch = "aarch64")]
fn has(feature: &str) -> bool {
    match feature {
        "aes" => {
            std::arch::is_aarch64_feature_detected!("aes") && std::arch::is_aarch64_feature_detected!("pmull")
        }
        "neon" => std::arch::is_aarch64_feature_detected!("neon"),
        "sha3" => std::arch::is_aarch64_feature_detected!("sha3"),
        _ => false,
    }
}

#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
fn has(_feature: &str) -> bool {
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_is_missing_if_nothing_is_needed() {
        assert!(missing(&[]).is_empty());
    }

    #[test]
    fn an_unknown_feature_is_missing() {
        assert_eq!(missing(&["warp-drive"]), ["warp-drive"]);
    }

    #[test]
    fn an_arm_core_is_named_by_its_numbers() {
        assert_eq!(arm_core(0x41, number("0xd40").unwrap()), "Neoverse V1");
        assert_eq!(arm_core(0x46, 1), "Arm, implementer 0x46, part 0x1");
        assert_eq!(number("46"), None);
    }

    #[test]
    fn an_empty_first_line_is_none() {
        assert_eq!(first_line("performance\n"), Some("performance".to_owned()));
        assert_eq!(first_line("\nperformance"), None);
        assert_eq!(first_line(""), None);
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn linux_reports_its_release_and_load() {
        assert!(kernel().is_some_and(|release| release.starts_with(|c: char| c.is_ascii_digit())));
        assert!(load().is_some_and(|load| load >= 0.0));
    }

    #[test]
    fn the_cpu_has_a_name() {
        assert!(!cpu_name().is_empty());
    }
}
