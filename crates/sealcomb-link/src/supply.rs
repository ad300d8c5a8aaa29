//! The tasks that request keys from the source, with exponential backoff while it delivers none.

use std::time::Duration;

use anyhow::{Result, bail};
use tokio::sync::{mpsc, oneshot, watch};

use crate::control::SourceKey;
use crate::keys::{Source, SourceError};

/// The result of a request to the source.
pub(crate) enum SourceEvent {
    /// Keys for the master, and the channel for the number of them that were new.
    Keys(Vec<SourceKey>, oneshot::Sender<usize>),
    /// The result of the slave's fetch of the key with this ID.
    Fetched(String, Result<SourceKey, SourceError>),
    /// The failure of the master's request.
    Failed(SourceError),
}

/// The delay after a failure.
struct Backoff(Duration);

impl Backoff {
    const FIRST: Duration = Duration::from_millis(100);
    const MAX: Duration = Duration::from_secs(2);

    fn new() -> Self {
        Self(Self::FIRST)
    }

    /// Returns the current delay and doubles it.
    fn next(&mut self) -> Duration {
        let doubled = (self.0 * 2).min(Self::MAX);
        std::mem::replace(&mut self.0, doubled)
    }
}

/// Requests keys for the master in advance. `wants` is the number of missing keys. Returns only on error, when the
/// receiver of its events is gone.
pub(crate) async fn supply(
    source: Source,
    mut wants: watch::Receiver<usize>,
    news: mpsc::Sender<SourceEvent>,
) -> Result<()> {
    let mut backoff = Backoff::new();
    loop {
        let wanted = *wants.wait_for(|wanted| *wanted > 0).await?;
        let new = match source.new_keys(wanted).await {
            Ok(keys) => {
                let (sender, used) = oneshot::channel();
                news.send(SourceEvent::Keys(keys, sender)).await?;
                used.await?
            }
            Err(error) => {
                news.send(SourceEvent::Failed(error)).await?;
                0
            }
        };
        if new > 0 {
            backoff = Backoff::new();
        } else {
            tokio::time::sleep(backoff.next()).await;
        }
    }
}

/// Fetches the keys whose IDs arrive on `ids`, for the slave. Returns only on error, when the other end of a channel
/// is gone.
pub(crate) async fn fetch(
    source: Source,
    mut ids: mpsc::Receiver<String>,
    news: mpsc::Sender<SourceEvent>,
) -> Result<()> {
    let mut backoff = Backoff::new();
    while let Some(id) = ids.recv().await {
        let key = source.key(&id).await;
        let wait = if key.is_ok() {
            backoff = Backoff::new();
            Duration::ZERO
        } else {
            backoff.next()
        };
        news.send(SourceEvent::Fetched(id, key)).await?;
        tokio::time::sleep(wait).await;
    }
    bail!("the channel of key IDs is closed")
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::Path;
    use std::time::Instant;

    use sealcomb_kme::certificates::{self, Request};
    use sealcomb_kme::config::{Config, Faults};
    use zeroize::Zeroizing;

    use super::*;
    use crate::config::{ClientTls, Etsi014, Keys, Requests};

    /// Starts a KME that delivers at most `max_per_request` keys per request, and returns a source that uses it.
    async fn source(max_per_request: u64, faults: Faults) -> Source {
        let folder = tempfile::tempdir().unwrap();
        let names = |names: [&str; 1]| names.map(str::to_owned).to_vec();
        let [entities, saes, addresses] = [["kme"], ["alice"], ["127.0.0.1"]].map(names);
        let request =
            Request { entities: &entities, saes: &saes, addresses: &addresses, ..Request::default() };
        certificates::write(folder.path(), &request).unwrap();
        let read = |name: &str| fs::read(Path::new(folder.path()).join(name)).unwrap();
        let config = Config {
            id: "kme".into(),
            peer_id: "other".into(),
            listen: "127.0.0.1:0".parse().unwrap(),
            ca: read("ca.pem"),
            cert: read("kme.pem"),
            key: Zeroizing::new(read("kme.key.pem")),
            stream: Zeroizing::new(vec![7; 32]),
            saes: vec!["alice".into()],
            peer_saes: vec!["bob".into()],
            key_size: 256,
            max_per_request,
            capacity: 1000,
            rate: 1000,
            faults,
        };
        let address = sealcomb_kme::spawn(config).await.unwrap();
        let etsi014 = Etsi014 {
            url: format!("https://{address}"),
            sae: "alice".into(),
            peer_sae: "bob".into(),
            tls: ClientTls {
                ca: read("ca.pem"),
                cert: read("alice.pem"),
                key: Zeroizing::new(read("alice.key.pem")),
            },
            requests: Requests { size: 256, ahead: 4, timeout: Duration::from_secs(20) },
        };
        Source::new(&Keys::Etsi014(etsi014)).unwrap()
    }

    /// Runs `supply` for `time` or until it has delivered `wanted` keys. Unless `uses`, every key counts as a
    /// repeated one. Returns the number of keys and the errors.
    async fn supplied(
        source: Source,
        wanted: usize,
        time: Duration,
        uses: bool,
    ) -> (usize, Vec<SourceError>) {
        let (sender, wants) = watch::channel(wanted);
        let (news_sender, mut news) = mpsc::channel(1);
        let task = tokio::spawn(supply(source, wants, news_sender));
        let (mut left, mut errors, end) = (wanted, Vec::new(), Instant::now() + time);
        while left > 0
            && let Ok(Some(news)) = tokio::time::timeout_at(end.into(), news.recv()).await
        {
            match news {
                SourceEvent::Keys(keys, used) if uses => {
                    left = left.checked_sub(keys.len()).expect("at most as many as wanted");
                    sender.send_replace(left);
                    used.send(keys.len()).unwrap();
                }
                SourceEvent::Keys(_, used) => {
                    errors.push(SourceError::Empty);
                    used.send(0).unwrap();
                }
                SourceEvent::Failed(error) => errors.push(error),
                SourceEvent::Fetched(..) => panic!("no key was fetched"),
            }
        }
        task.abort();
        (wanted - left, errors)
    }

    #[tokio::test]
    async fn a_kme_with_a_small_request_limit_delivers_all_keys() {
        for max in [1, 3, 4, 128] {
            let source = source(max, Faults::default()).await;
            let (keys, errors) = supplied(source, 4, Duration::from_secs(60), true).await;
            assert_eq!((keys, errors), (4, vec![]), "{max} keys per request");
        }
    }

    #[tokio::test]
    async fn supply_backs_off_while_there_are_no_new_keys() {
        let time = Duration::from_millis(1600);
        // After 0, 100, 300, 700 and 1500 ms.
        let max = 5;
        for (faults, uses) in [
            (Faults { empty: true, ..Faults::default() }, true),
            (Faults { garbled: true, ..Faults::default() }, true),
            (Faults { unavailable: true, ..Faults::default() }, true),
            (Faults { repeat: true, ..Faults::default() }, false),
        ] {
            let (keys, errors) = supplied(source(8, faults).await, 4, time, uses).await;
            assert_eq!(keys, 0);
            assert!((1..=max).contains(&errors.len()), "{faults:?}: {errors:?}");
            let is_expected = |error: &SourceError| match error {
                SourceError::Empty => faults.empty || faults.repeat,
                SourceError::Malformed(_) => faults.garbled,
                SourceError::Failed(why) => faults.unavailable && why.contains("out of service"),
            };
            assert!(errors.iter().all(is_expected), "{faults:?}: {errors:?}");
        }
    }

    #[tokio::test]
    async fn fetch_backs_off_while_keys_are_missing() {
        let (ids, named) = mpsc::channel(1);
        let (news_sender, mut news) = mpsc::channel(1);
        let task = tokio::spawn(fetch(source(8, Faults::default()).await, named, news_sender));
        let end = Instant::now() + Duration::from_millis(1600);
        let mut failures = 0;
        while tokio::time::timeout_at(end.into(), ids.send("unknown".into())).await.is_ok() {
            let Ok(Some(news)) = tokio::time::timeout_at(end.into(), news.recv()).await else { break };
            assert!(matches!(news, SourceEvent::Fetched(_, Err(SourceError::Failed(_)))));
            failures += 1;
        }
        task.abort();
        assert!((1..=5).contains(&failures), "{failures} failures");
    }

    #[test]
    fn backoff_doubles_up_to_its_maximum() {
        let mut backoff = Backoff::new();
        let delays: Vec<u128> = (0..8).map(|_| backoff.next().as_millis()).collect();
        assert_eq!(delays, [100, 200, 400, 800, 1600, 2000, 2000, 2000]);
    }
}
