//! Resolution of the peer's host name, at the start and whenever the peer is not alive.

use std::net::{SocketAddr, ToSocketAddrs};
use std::time::Duration;

use anyhow::Result;
use tokio::sync::{Semaphore, mpsc, watch};
use tokio::task::spawn_blocking;

/// Interval between the first two lookups. It doubles with each, up to [`MAX_WAIT`].
const FIRST_WAIT: Duration = Duration::from_secs(1);
const MAX_WAIT: Duration = Duration::from_secs(30);
/// Maximum number of simultaneous lookups. Each occupies a thread, and key sources need threads for their own names.
const MAX_LOOKUPS: usize = 4;

static LOOKUPS: Semaphore = Semaphore::const_new(MAX_LOOKUPS);

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
        found.send(choose(look_up(host.clone(), port, is_v4).await?, turn, is_v4)).await?;
        turn += 1;
        // A peer that is back ends the wait.
        let _ = tokio::time::timeout(wait, wanted.wait_for(|wanted| !wanted)).await;
        wait = (wait * 2).min(MAX_WAIT);
    }
}

/// Returns the addresses of a host, all of one family, or the reason why there are none.
async fn look_up(host: String, port: u16, is_v4: bool) -> Result<Result<Vec<SocketAddr>, String>> {
    let permit = LOOKUPS.acquire().await?;
    let lookup = move || {
        // Held by the thread: a lookup cannot be canceled, and outlasts a task that is aborted.
        let _permit = permit;
        let addresses = (host.as_str(), port).to_socket_addrs().map_err(|error| error.to_string())?;
        Ok(addresses.filter(|address| address.is_ipv4() == is_v4).collect())
    };
    Ok(spawn_blocking(lookup).await?)
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

    #[tokio::test]
    async fn a_lookup_waits_while_too_many_are_in_progress() {
        let others = LOOKUPS.acquire_many(MAX_LOOKUPS as u32).await.unwrap();
        let (_wanted, receiver) = watch::channel(true);
        let (sender, mut found) = mpsc::channel(1);
        tokio::spawn(resolve("localhost".into(), 4500, true, receiver, sender));
        assert!(tokio::time::timeout(Duration::from_millis(200), found.recv()).await.is_err());
        drop(others);
        assert!(found.recv().await.unwrap().is_ok());
    }
}
