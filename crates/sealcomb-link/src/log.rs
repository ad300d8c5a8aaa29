//! What the log says of the link's troubles: each once when it begins, with what to do, and once when it is over.

use std::collections::HashMap;
use std::time::{Duration, Instant};

use sealcomb_esp::Transform;

use crate::config::Role;
use crate::control::message::Refusal;
use crate::control::{Control, Event, Silence};

/// For so long a trouble that comes and goes is not told again.
const QUIET: Duration = Duration::from_secs(10);
/// Different texts of one kind of trouble at a time. Others are not told.
const TEXTS: usize = 8;

/// What may be in trouble.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) enum Topic {
    /// The other end.
    Peer,
    /// The source of keys.
    Source,
    /// The agreement of both ends on a key.
    Exchange,
    /// Whether there is a key to send under.
    Key,
}

impl Topic {
    fn end(self) -> &'static str {
        match self {
            Self::Peer => "the other end answers again",
            Self::Source => "the source of keys gives keys again",
            Self::Exchange => "both ends agree on keys again",
            Self::Key => "there is a key: packets are sent",
        }
    }
}

struct Said {
    at: Instant,
    /// Whether the trouble goes on.
    is_present: bool,
}

/// A trouble and what was said of it.
#[derive(Default)]
struct Spell {
    said: HashMap<String, Said>,
    /// That which goes on, even where it was not said.
    present: Option<String>,
}

/// The log, which remembers what it has said.
pub(crate) struct Log {
    role: Role,
    peer: String,
    transform: Transform,
    extended: bool,
    spells: HashMap<Topic, Spell>,
}

impl Log {
    pub(crate) fn new(role: Role, peer: String, transform: Transform, extended: bool) -> Self {
        Self { role, peer, transform, extended, spells: HashMap::new() }
    }

    /// Troubles that go on.
    pub(crate) fn troubles(&self) -> Vec<String> {
        let mut spells: Vec<_> = self.spells.iter().collect();
        spells.sort_unstable_by_key(|(topic, _)| **topic);
        spells.into_iter().filter_map(|(_, spell)| spell.present.clone()).collect()
    }

    /// Says a trouble, unless it is known.
    pub(crate) fn begin(&mut self, topic: Topic, text: &str, now: Instant) {
        if self.is_news(topic, text, now) {
            tracing::warn!("{text}");
        }
    }

    fn is_news(&mut self, topic: Topic, text: &str, now: Instant) -> bool {
        let Spell { said, present } = self.spells.entry(topic).or_default();
        if present.as_deref() != Some(text) {
            *present = Some(text.to_owned());
        }
        said.retain(|_, said| said.is_present || now < said.at + QUIET);
        let is_known = said.contains_key(text);
        if is_known || said.len() >= TEXTS {
            return false;
        }
        said.insert(text.to_owned(), Said { at: now, is_present: true });
        true
    }

    /// Says that a trouble is over, if it was said.
    pub(crate) fn end(&mut self, topic: Topic) {
        if self.is_over(topic) {
            tracing::info!("{}", topic.end());
        }
    }

    fn is_over(&mut self, topic: Topic) -> bool {
        let Some(Spell { said, present }) = self.spells.get_mut(&topic) else { return false };
        *present = None;
        let was_said = said.values().any(|said| said.is_present);
        for said in said.values_mut() {
            said.is_present = false;
        }
        was_said
    }

    /// Says what happened.
    pub(crate) fn event(&mut self, event: Event, now: Instant) {
        match event {
            Event::Met => {
                self.end(Topic::Peer);
                tracing::info!("the other end, {}, is there", self.peer);
            }
            Event::Restarted => {
                self.end(Topic::Peer);
                // An attacker who has the control key can say so as often as it likes.
                let text =
                    "the other end has started anew: the first key that both agree on replaces all before";
                if self.is_news(Topic::Exchange, text, now) {
                    tracing::info!("{text}");
                }
            }
            Event::Back => self.end(Topic::Peer),
            Event::Silent(cause) => {
                let text = self.silence(cause);
                self.begin(Topic::Peer, &text, now);
            }
            Event::Changed(1) => {
                self.end(Topic::Exchange);
                tracing::info!("the first key is in use");
            }
            Event::Changed(epoch) => {
                self.end(Topic::Exchange);
                tracing::debug!("key {epoch} is in use");
            }
            Event::Refused(epoch, why) => {
                tracing::debug!("key {epoch} was refused: {why:?}");
                self.begin(Topic::Exchange, self.refusal(why), now);
            }
            Event::OtherSuite(theirs, extended) => {
                let text = format!(
                    "the master's keys are refused, since the two ends have different algorithms: `suite` is {} there \
                     and {} here, `esn` is {extended} there and {} here; make both alike",
                    theirs.unwrap_or("none that this version has"),
                    self.transform.id,
                    self.extended,
                );
                self.begin(Topic::Exchange, &text, now);
            }
            Event::Repeated => self.begin(
                Topic::Exchange,
                "the source gave a key that was there before; it is not used, and another is asked for",
                now,
            ),
        }
    }

    fn silence(&self, cause: Silence) -> String {
        let seconds = Control::SILENCE.as_secs();
        let peer = &self.peer;
        let why = match cause {
            Silence::Nothing => {
                "nothing comes from there. Is it running, and do UDP datagrams pass both ways?".into()
            }
            Silence::Forged => {
                "what comes from there is not authentic. Is `control-key` the same at both ends, and is \
                                the version of sealcomb-link?"
                    .into()
            }
            Silence::SameRole => {
                let role = self.role.name();
                format!(
                    "there, `role` is \"{role}\" too. One end must be the master, and the other the slave"
                )
            }
        };
        format!("the other end, {peer}, has not answered for {seconds} s: {why}")
    }

    fn refusal(&self, why: Refusal) -> &'static str {
        match (why, self.role) {
            (Refusal::NoKey, Role::Master) => {
                "the slave's source does not have the key that was offered; see the log of the slave. The present key \
                 stays in use, and others are tried"
            }
            (Refusal::NoKey, Role::Slave) => {
                "the source does not have the key that the master offered. Do both sources belong together, and do \
                 `sae` and `peer-sae` of one end mirror the other's?"
            }
            (Refusal::Repeated, _) => "the slave's source gave a key that was there before; another is tried",
            (Refusal::Suite, _) => {
                "the slave refuses all keys, since the two ends have different algorithms: make `suite` and `esn` alike"
            }
            (Refusal::Disagree, _) => {
                "the two sources gave different keys of one name; the present key stays in use, and others are tried. \
                 Do both sources belong together?"
            }
            (Refusal::Outdated, _) => "the slave has forgotten an offer; another is made",
        }
    }

    /// Takes note of whether there is a key to send under. `since`: when the link started.
    pub(crate) fn key(&mut self, is_there: bool, was_there: bool, since: Instant, now: Instant) {
        if is_there {
            self.end(Topic::Key);
        } else if was_there {
            self.begin(Topic::Key, "the key is past its limit and there is no other: nothing is sent", now);
        } else if now >= since + Control::SILENCE {
            let text = match self.role {
                Role::Master => "there is no key yet: nothing is sent",
                Role::Slave => {
                    "the master has not offered a key that this end has: nothing is sent; see the master's log too"
                }
            };
            self.begin(Topic::Key, text, now);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn log() -> Log {
        let transform = Transform::by_id("aes128-gcm").unwrap();
        Log::new(Role::Slave, "192.0.2.1:4500".into(), transform, true)
    }

    #[test]
    fn a_trouble_is_said_once_until_it_is_over() {
        let (mut log, start) = (log(), Instant::now());
        let said: Vec<bool> = (0..1000)
            .map(|i| log.is_news(Topic::Source, "no keys", start + Duration::from_millis(50 * i)))
            .collect();
        assert!(said[0] && !said[1..].contains(&true));
        assert_eq!(log.troubles(), ["no keys"]);
        assert!(log.is_over(Topic::Source) && !log.is_over(Topic::Source));
        assert!(log.troubles().is_empty());
        assert!(log.is_news(Topic::Source, "no keys", start + Duration::from_secs(60)));
    }

    #[test]
    fn a_trouble_that_comes_and_goes_is_said_now_and_then() {
        let (mut log, start) = (log(), Instant::now());
        let (mut begun, mut ended) = (0, 0);
        for i in 0..1000 {
            begun +=
                u32::from(log.is_news(Topic::Exchange, "refused", start + Duration::from_millis(100 * i)));
            ended += u32::from(log.is_over(Topic::Exchange));
        }
        assert_eq!((begun, ended), (10, 10), "in 100 seconds");
    }

    #[test]
    fn another_cause_is_said_too_and_no_number_of_causes_fills_the_log() {
        let (mut log, now) = (log(), Instant::now());
        let said = (0..1000).filter(|i| log.is_news(Topic::Source, &format!("cause {i}"), now)).count();
        assert_eq!(said, TEXTS);
        assert_eq!(log.troubles(), ["cause 999"]);
        assert!(log.is_over(Topic::Source));
    }

    #[test]
    fn troubles_of_different_kinds_do_not_hide_each_other() {
        let (mut log, now) = (log(), Instant::now());
        assert!(log.is_news(Topic::Source, "one", now) && log.is_news(Topic::Peer, "one", now));
        assert!(log.is_over(Topic::Source));
        assert_eq!(log.troubles(), ["one"]);
    }

    #[test]
    fn every_trouble_has_words_that_name_the_setting() {
        let (log, mut said) = (log(), Vec::new());
        for cause in [Silence::Nothing, Silence::Forged, Silence::SameRole] {
            said.push(log.silence(cause));
        }
        assert!(said[1].contains("`control-key`") && said[2].contains("`role` is \"slave\""), "{said:?}");
        for why in [Refusal::NoKey, Refusal::Repeated, Refusal::Suite, Refusal::Disagree, Refusal::Outdated] {
            said.push(log.refusal(why).to_owned());
            assert!(!log.refusal(why).contains(&format!("{why:?}")));
        }
        said.sort_unstable();
        said.dedup();
        assert_eq!(said.len(), 8);
    }
}
