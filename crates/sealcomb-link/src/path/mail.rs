//! The queues from the packet threads to the control task. No source can fill the share of another.
//!
//! ```text
//! control message from the address of a peer:   that address's queue of SHARE messages per peer there
//! control message from another address:         the queue of STRANGERS messages that all of them share
//! the peer's new address:                       one per thread and peer, the latest
//!
//! take:     one message of each address in turn; from strangers only on request, since each may have to be verified
//!           with the keys of all peers
//! ```
//!
//! A datagram's source may be forged. Forged messages then take the share of the peer at that address, but not that
//! of the others.

use std::collections::{HashMap, VecDeque};
use std::net::SocketAddr;
use std::sync::{Mutex, MutexGuard, PoisonError};

use tokio::sync::Notify;

/// Maximum number of queued messages from the address of a peer.
const SHARE: usize = 64;
/// Maximum number of queued messages from all other addresses.
const STRANGERS: usize = 256;

/// A datagram that begins like a control message, and its source.
pub type Message = (Vec<u8>, SocketAddr);

#[derive(Default)]
struct Queues {
    /// The number of peers at each address.
    known: HashMap<SocketAddr, usize>,
    /// The queued messages of the known addresses.
    by_address: HashMap<SocketAddr, VecDeque<Vec<u8>>>,
    /// The addresses with queued messages, in their order of turns.
    turns: VecDeque<SocketAddr>,
    strangers: VecDeque<Message>,
    /// New addresses by thread and peer.
    moved: HashMap<(usize, usize), SocketAddr>,
}

/// The queues from the packet threads to the control task.
#[derive(Default)]
pub struct Mail {
    queues: Mutex<Queues>,
    wake: Notify,
}

impl Mail {
    fn lock(&self) -> MutexGuard<'_, Queues> {
        self.queues.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Queues a control message. Returns `false` if the share of its source is used up.
    pub fn send(&self, datagram: &[u8], source: SocketAddr) -> bool {
        let mut all = self.lock();
        let Queues { known, by_address, turns, strangers, .. } = &mut *all;
        if let Some(peers) = known.get(&source) {
            let queue = by_address.entry(source).or_default();
            if queue.len() >= SHARE * peers {
                return false;
            }
            if queue.is_empty() {
                turns.push_back(source);
            }
            queue.push_back(datagram.to_vec());
        } else if strangers.len() < STRANGERS {
            strangers.push_back((datagram.to_vec(), source));
        } else {
            return false;
        }
        drop(all);
        self.wake.notify_one();
        true
    }

    /// Reports that a packet thread verified a packet of this peer from another address than the known one, and that
    /// its number is the highest so far.
    pub fn report_move(&self, thread: usize, peer: usize, source: SocketAddr) {
        self.lock().moved.insert((thread, peer), source);
        self.wake.notify_one();
    }

    /// Waits until there is something to take, unless it was there at the last call.
    pub async fn wait(&self) {
        self.wake.notified().await;
    }

    /// Takes the next message from the address of a peer.
    pub fn take(&self) -> Option<Message> {
        let Queues { by_address, turns, .. } = &mut *self.lock();
        let source = turns.pop_front()?;
        let queue = by_address.get_mut(&source)?;
        let datagram = queue.pop_front()?;
        if queue.is_empty() {
            by_address.remove(&source);
        } else {
            turns.push_back(source);
        }
        Some((datagram, source))
    }

    /// Takes the next message from an address where no peer is known.
    pub fn take_from_strangers(&self) -> Option<Message> {
        self.lock().strangers.pop_front()
    }

    /// Takes the reported addresses, each with the numbers of the thread and the peer.
    pub fn take_moves(&self) -> HashMap<(usize, usize), SocketAddr> {
        std::mem::take(&mut self.lock().moved)
    }

    /// Records that a peer has left the first address for the second; `None` where there is none.
    pub fn note_address(&self, left: Option<SocketAddr>, now_at: Option<SocketAddr>) {
        let Queues { known, .. } = &mut *self.lock();
        if let Some(address) = now_at {
            *known.entry(address).or_default() += 1;
        }
        if let Some(address) = left
            && let Some(peers) = known.get_mut(&address)
        {
            *peers -= 1;
            if *peers == 0 {
                known.remove(&address);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn address(number: u8) -> SocketAddr {
        SocketAddr::from(([192, 0, 2, number], 4500))
    }

    fn taken(mail: &Mail) -> Vec<(u8, SocketAddr)> {
        std::iter::from_fn(|| mail.take()).map(|(datagram, source)| (datagram[0], source)).collect()
    }

    #[test]
    fn a_source_that_floods_delays_the_others_by_one_message_per_turn() {
        let mail = Mail::default();
        for number in 1..=3 {
            mail.note_address(None, Some(address(number)));
        }
        let accepted = (0..1000).filter(|_| mail.send(&[0], address(1))).count();
        assert_eq!(accepted, SHARE);
        for (number, word) in [(2, 1), (2, 2), (3, 3)] {
            assert!(mail.send(&[word], address(number)));
        }
        let order = taken(&mail);
        assert_eq!(order.len(), SHARE + 3);
        let first: Vec<u8> = order[..6].iter().map(|(word, _)| *word).collect();
        assert_eq!(first, [0, 1, 3, 0, 2, 0], "one of each source in turn, in order");
        assert!(mail.send(&[0], address(1)), "its share is free again");
    }

    #[test]
    fn strangers_share_a_queue_that_does_not_limit_the_peers() {
        let mail = Mail::default();
        mail.note_address(None, Some(address(1)));
        let accepted = (0..1000_u16).filter(|port| mail.send(&[0], ([192, 0, 2, 9], *port).into())).count();
        assert_eq!(accepted, STRANGERS);
        assert!(mail.send(&[1], address(1)));
        assert_eq!(taken(&mail), [(1, address(1))], "strangers only on request");
        assert_eq!(mail.take_from_strangers().map(|(_, source)| source.port()), Some(0));
        assert!(mail.send(&[0], address(9)) && !mail.send(&[0], address(9)));
    }

    #[test]
    fn the_share_of_an_address_follows_the_number_of_peers_there() {
        let mail = Mail::default();
        let room = |at| (0..1000).filter(|_| mail.send(&[0], at)).count();
        mail.note_address(None, Some(address(1)));
        mail.note_address(None, Some(address(1)));
        assert_eq!(room(address(1)), 2 * SHARE);
        mail.note_address(Some(address(1)), Some(address(2)));
        assert_eq!((room(address(1)), room(address(2))), (0, SHARE));
        assert_eq!(taken(&mail).len(), 3 * SHARE, "those that were accepted stay");
        mail.note_address(Some(address(1)), None);
        assert_eq!(room(address(1)), STRANGERS);
    }

    #[test]
    fn only_the_latest_address_of_a_peer_is_reported() {
        let mail = Mail::default();
        for (peer, number) in [(1, 1), (1, 2), (2, 3)] {
            mail.report_move(0, peer, address(number));
        }
        let moves = mail.take_moves();
        assert_eq!((moves.len(), moves[&(0, 1)], moves[&(0, 2)]), (2, address(2), address(3)));
        assert!(mail.take_moves().is_empty());
    }
}
