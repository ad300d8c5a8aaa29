//! Resolution of the peer's host name, at the start and whenever the peer is not alive.

use std::net::SocketAddr;
use std::time::Duration;

use anyhow::Result;
use tokio::sync::{mpsc, watch};

/// Interval between the first two lookups. It doubles with each, up to [`MAX_WAIT`].
const FIRST_WAIT: Duration = Duration::from_secs(1);
const MAX_WAIT: Duration = Duration::from_secs(30);

/// The result of a lookup: an address of the peer, or the reason why there is none.
pub(crate) type Found = Result<SocketAddr, String>;

/// Resolves a host name while `wanted` is set, at growing intervals. Returns only on error, when the other end of a
/// channel is gone.
pub(crate) async fn resolve(
    host: String,
    port: u16,
    is_v4: bool,
    mut wanted: watch::Receiver<bool>,
    found: mpsc::Sender<Found>,
) -> Result<()> {
    let (mut wait, mut turn) = (FIRST_WAIT, 0);
    loop {
        if !*wanted.borrow() {
            wait = FIRST_WAIT;
        }
        wanted.wait_for(|wanted| *wanted).await?;
        let addresses = tokio::net::lookup_host((host.as_str(), port)).await;
        let addresses = addresses.map(|all| all.filter(|address| address.is_ipv4() == is_v4).collect());
        found.send(choose(addresses.map_err(|error| error.to_string()), turn, is_v4)).await?;
        turn += 1;
        // A peer that is back ends the wait.
        let _ = tokio::time::timeout(wait, wanted.wait_for(|wanted| !wanted)).await;
        wait = (wait * 2).min(MAX_WAIT);
    }
}

/// Chooses one of several addresses, each in its turn.
fn choose(addresses: Result<Vec<SocketAddr>, String>, turn: usize, is_v4: bool) -> Found {
    let addresses = addresses?;
    let count = addresses.len().max(1);
    let family = if is_v4 { "IPv4" } else { "IPv6" };
    addresses.get(turn % count).copied().ok_or_else(|| format!("it has no {family} address, like `local`"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_address_is_chosen_in_its_turn() {
        let addresses: Vec<SocketAddr> =
            ["192.0.2.1:1", "192.0.2.2:1"].map(|address| address.parse().unwrap()).into();
        for turn in 0..4 {
            assert_eq!(choose(Ok(addresses.clone()), turn, true), Ok(addresses[turn % 2]));
        }
        assert!(choose(Ok(vec![]), 5, true).unwrap_err().contains("no IPv4"));
        assert_eq!(choose(Err("no server".into()), 0, true), Err("no server".into()));
    }

    #[tokio::test]
    async fn a_name_is_resolved_while_it_is_wanted() {
        let (wanted, receiver) = watch::channel(true);
        let (sender, mut found) = mpsc::channel(1);
        tokio::spawn(resolve("localhost".into(), 4500, true, receiver, sender));
        let address = found.recv().await.unwrap().unwrap();
        assert!(address.ip().is_loopback() && address.port() == 4500);
        assert!(found.recv().await.unwrap().is_ok(), "again while it is wanted");
        wanted.send(false).unwrap();
        let again = tokio::time::timeout(FIRST_WAIT * 3, found.recv()).await;
        assert!(again.is_err(), "not while it is not wanted");
        wanted.send(true).unwrap();
        assert!(found.recv().await.unwrap().is_ok());
    }
}
