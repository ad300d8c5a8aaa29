//! Addresses with ports. A link-local IPv6 address has a zone: the interface, by its name or number.

use std::net::SocketAddr;

use nix::net::if_::{if_nameindex, if_nametoindex};

use super::Reader;
use super::fields::Fields;

/// Parses an address, in which an interface may have a name: `[fe80::1%eth0]:4500`.
pub(super) fn parse(text: &str) -> Option<SocketAddr> {
    if let Some((address, rest)) = text.split_once('%')
        && let Some((zone, port)) = rest.rsplit_once(']')
        && let Ok(number) = if_nametoindex(zone)
    {
        return format!("{address}%{number}]{port}").parse().ok();
    }
    text.parse().ok()
}

/// Returns whether a text that [`parse`] refuses would be an address if there were the interface that it names.
fn lacks_interface(text: &str) -> bool {
    let parts = text.split_once('%').and_then(|(address, rest)| Some((address, rest.rsplit_once(']')?)));
    parts.is_some_and(|(address, (zone, port))| {
        !zone.is_empty() && format!("{address}%1]{port}").parse::<SocketAddr>().is_ok()
    })
}

impl Reader<'_> {
    /// Reads an address with a port, by itself or as a part of another value.
    pub(super) fn address_of<T>(
        &mut self,
        table: &mut Fields<'_>,
        name: &'static str,
        what: &str,
        read: impl FnOnce(&str) -> Option<T>,
    ) -> Option<T> {
        let (text, at) = table.text(name, self.errors)?;
        let value = read(text);
        if value.is_none() && lacks_interface(text) {
            self.errors.add(
                at,
                format_args!(
                    "`{name}`: this machine has no interface of the name after `%`; `ip link` lists them"
                ),
            );
        } else if value.is_none() {
            self.errors.add(at, format_args!("`{name}` must be {what}"));
        }
        value
    }

    /// Checks that an address has an interface if it is link-local, and only then.
    pub(super) fn check_zone(&mut self, table: &Fields<'_>, name: &str, address: SocketAddr) {
        let SocketAddr::V6(address) = address else { return };
        let zone = address.scope_id();
        if !address.ip().is_unicast_link_local() {
            if zone != 0 {
                self.errors.add(
                    table.place(name),
                    format_args!("`{name}`: only a link-local address has an interface after `%`"),
                );
            }
        } else if zone == 0 {
            self.errors.add(
                table.place(name),
                format_args!(
                    "`{name}`: a link-local address must name its interface, like \"[fe80::1%eth0]:4500\""
                ),
            );
        } else if if_nameindex().is_ok_and(|all| all.iter().all(|interface| interface.index() != zone)) {
            self.errors.add(
                table.place(name),
                format_args!("`{name}`: this machine has no interface of the number after `%`"),
            );
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_interface_may_have_a_name_or_a_number() {
        let number = if_nametoindex("lo").unwrap();
        let address = format!("[fe80::1%{number}]:4500").parse().unwrap();
        assert_eq!(parse("[fe80::1%lo]:4500"), Some(address));
        assert_eq!(parse(&format!("[fe80::1%{number}]:4500")), Some(address));
        assert_eq!(parse("[fe80::1]:4500"), "[fe80::1]:4500".parse().ok());
        assert_eq!(parse("192.0.2.1:4500"), "192.0.2.1:4500".parse().ok());
        for text in [
            "[fe80::1%]:4500",
            "[fe80::1%lo]",
            "[fe80::1%lo:4500",
            "fe80::1%lo:4500",
            "[fe80::1%lo]4500",
            "[fe80::1%lo]:x",
            "[fe80::x%lo]:4500",
            "192.0.2.1%lo:4500",
            "[192.0.2.1%lo]:4500",
            "%lo]:1",
            "%",
            "",
        ] {
            assert_eq!(parse(text), None, "{text}");
            assert!(!lacks_interface(text), "{text}");
        }
        for text in ["[fe80::1%no-such-one]:4500", "[fe80::1%lo%lo]:4500"] {
            assert!(parse(text).is_none() && lacks_interface(text), "{text}");
        }
    }
}
