//! The tasks that ask the source for keys, with pauses that grow while it gives none.

use std::sync::Arc;
use std::time::Duration;

use anyhow::{Result, bail};
use tokio::sync::{Mutex, mpsc, oneshot, watch};

use crate::control::SourceKey;
use crate::keys::{Source, SourceError};

/// The source, which a new configuration may replace.
pub(crate) type Present = Arc<Mutex<Arc<Source>>>;

/// What the source said.
pub(crate) enum News {
    /// The master's: keys, and where to tell how many of them were new.
    Keys(Vec<SourceKey>, oneshot::Sender<usize>),
    /// The slave's: the key of this name, or why there is none.
    Fetched(String, Result<SourceKey, SourceError>),
    /// The master's: why there are no keys.
    Failed(SourceError),
}

/// How long to wait after a failure.
struct Pause(Duration);

impl Pause {
    const FIRST: Duration = Duration::from_millis(100);
    const LONGEST: Duration = Duration::from_secs(2);

    fn new() -> Self {
        Self(Self::FIRST)
    }

    /// The pause now; the next is twice as long.
    fn next(&mut self) -> Duration {
        let longer = (self.0 * 2).min(Self::LONGEST);
        std::mem::replace(&mut self.0, longer)
    }
}

/// The master's: gets keys before they are needed. Ends only where nobody wants any more.
pub(crate) async fn supply(
    source: Present,
    mut wants: watch::Receiver<usize>,
    news: mpsc::Sender<News>,
) -> Result<()> {
    let mut pause = Pause::new();
    loop {
        let wanted = *wants.wait_for(|wanted| *wanted > 0).await?;
        let present = source.lock().await.clone();
        let gave = match present.new_keys(wanted).await {
            Ok(keys) => {
                let (sender, used) = oneshot::channel();
                news.send(News::Keys(keys, sender)).await?;
                used.await?
            }
            Err(error) => {
                news.send(News::Failed(error)).await?;
                0
            }
        };
        if gave > 0 {
            pause = Pause::new();
        } else {
            tokio::time::sleep(pause.next()).await;
        }
    }
}

/// The slave's: gets the keys that the master names.
pub(crate) async fn fetch(
    source: Present,
    mut ids: mpsc::Receiver<String>,
    news: mpsc::Sender<News>,
) -> Result<()> {
    let mut pause = Pause::new();
    while let Some(id) = ids.recv().await {
        let present = source.lock().await.clone();
        let key = present.key(&id).await;
        let wait = if key.is_ok() {
            pause = Pause::new();
            Duration::ZERO
        } else {
            pause.next()
        };
        news.send(News::Fetched(id, key)).await?;
        tokio::time::sleep(wait).await;
    }
    bail!("nobody names keys any more")
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::Path;
    use std::time::Instant;

    use sealcomb_kme::certificates;
    use sealcomb_kme::config::{Config, Faults};
    use zeroize::Zeroizing;

    use super::*;
    use crate::config::{Etsi014, Keys};

    /// An entity of this many keys a request, and a source at it.
    async fn source(max_per_request: u64, faults: Faults) -> Present {
        let folder = tempfile::tempdir().unwrap();
        let names = |names: [&str; 1]| names.map(str::to_owned).to_vec();
        certificates::write(folder.path(), &names(["kme"]), &names(["alice"]), &names(["127.0.0.1"]))
            .unwrap();
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
            ca: read("ca.pem"),
            cert: read("alice.pem"),
            key: Zeroizing::new(read("alice.key.pem")),
            size: 256,
            ahead: 4,
            timeout: Duration::from_secs(20),
        };
        Arc::new(Mutex::new(Arc::new(Source::new(&Keys::Etsi014(etsi014)).unwrap())))
    }

    /// What comes of the supply of so many keys, where a key is used or, if `uses` says not, was there before.
    async fn supplied(
        source: Present,
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
                News::Keys(keys, used) if uses => {
                    left = left.checked_sub(keys.len()).expect("no more than are wanted");
                    sender.send_replace(left);
                    used.send(keys.len()).unwrap();
                }
                News::Keys(_, used) => {
                    errors.push(SourceError::Empty);
                    used.send(0).unwrap();
                }
                News::Failed(error) => errors.push(error),
                News::Fetched(..) => panic!("nobody names a key"),
            }
        }
        task.abort();
        (wanted - left, errors)
    }

    #[tokio::test]
    async fn an_entity_of_few_keys_a_request_gives_them_all() {
        for most in [1, 3, 4, 128] {
            let source = source(most, Faults::default()).await;
            let (keys, errors) = supplied(source, 4, Duration::from_secs(60), true).await;
            assert_eq!((keys, errors), (4, vec![]), "{most} keys a request");
        }
    }

    #[tokio::test]
    async fn a_source_that_gives_no_new_key_is_asked_ever_more_slowly() {
        let time = Duration::from_millis(1600);
        // After 0, 100, 300, 700 and 1500 ms.
        let most = 5;
        for (faults, uses) in [
            (Faults { empty: true, ..Faults::default() }, true),
            (Faults { garbled: true, ..Faults::default() }, true),
            (Faults { unavailable: true, ..Faults::default() }, true),
            (Faults { repeat: true, ..Faults::default() }, false),
        ] {
            let (keys, errors) = supplied(source(8, faults).await, 4, time, uses).await;
            assert_eq!(keys, 0);
            assert!((1..=most).contains(&errors.len()), "{faults:?}: {errors:?}");
            let is_as_told = |error: &SourceError| match error {
                SourceError::Empty => faults.empty || faults.repeat,
                SourceError::Malformed(_) => faults.garbled,
                SourceError::Failed(why) => faults.unavailable && why.contains("out of service"),
            };
            assert!(errors.iter().all(is_as_told), "{faults:?}: {errors:?}");
        }
    }

    #[tokio::test]
    async fn keys_that_are_not_there_are_asked_for_ever_more_slowly() {
        let (ids, named) = mpsc::channel(1);
        let (news_sender, mut news) = mpsc::channel(1);
        let task = tokio::spawn(fetch(source(8, Faults::default()).await, named, news_sender));
        let end = Instant::now() + Duration::from_millis(1600);
        let mut told = 0;
        while tokio::time::timeout_at(end.into(), ids.send("of-nobody".into())).await.is_ok() {
            let Ok(Some(news)) = tokio::time::timeout_at(end.into(), news.recv()).await else { break };
            assert!(matches!(news, News::Fetched(_, Err(SourceError::Failed(_)))));
            told += 1;
        }
        task.abort();
        assert!((1..=5).contains(&told), "{told} times");
    }

    #[test]
    fn pauses_grow_up_to_the_longest() {
        let mut pause = Pause::new();
        let pauses: Vec<u128> = (0..8).map(|_| pause.next().as_millis()).collect();
        assert_eq!(pauses, [100, 200, 400, 800, 1600, 2000, 2000, 2000]);
    }
}
