//! The name servers and search domains that are used while the link is up.

use std::net::IpAddr;

use super::Reader;
use super::fields::Fields;

/// Name servers behind the link, for the resolver of systemd.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Dns {
    /// The addresses of the servers.
    pub servers: Vec<IpAddr>,
    /// The domains that are searched, and whose names these servers resolve. A domain that begins with `~` is not
    /// searched; `~.` stands for all names.
    pub domains: Vec<String>,
}

impl Reader<'_> {
    /// Reads the fields `dns` and `search` of the table `[tun]`.
    pub(super) fn dns(&mut self, fields: &mut Fields<'_>) -> Dns {
        let servers =
            fields.list::<IpAddr>("dns", "the address of a name server, like \"10.9.0.53\"", self.errors);
        let domains =
            fields.list::<String>("search", "a domain, like \"example.org\" or \"~.\"", self.errors);
        if !domains.iter().all(|domain| is_domain(domain)) {
            self.errors.add(
                fields.place("search"),
                "`search`: each entry must be a domain, like \"example.org\", \"~example.org\" or \"~.\"",
            );
        }
        if servers.is_empty() && !domains.is_empty() {
            self.errors
                .add(fields.place("search"), "`search` requires `dns`, the servers that know the domains");
        }
        Dns { servers, domains }
    }
}

fn is_domain(text: &str) -> bool {
    let name = text.strip_prefix('~').unwrap_or(text);
    let is_label = |label: &str| {
        (1..=63).contains(&label.len())
            && !label.starts_with('-')
            && label.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_')
    };
    text == "~." || name.len() <= 253 && name.trim_end_matches('.').split('.').all(is_label)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn domains_may_be_for_routing_only() {
        for domain in ["example.org", "example.org.", "~example.org", "~.", "lan", "a-b._tcp.example"] {
            assert!(is_domain(domain), "{domain}");
        }
        for text in ["", "~", ".", "a..b", "-x", "--help", "two words", "x;y", &"a".repeat(64)] {
            assert!(!is_domain(text), "{text}");
        }
    }
}
