//! What is measured, in which order.

use super::StudyArgs;
use super::papers;
use super::results::{Axis, Direction, ScheduleName};
use super::workload::{BATCH, Lengths, Workload};
use crate::esp;
use crate::names::{self, Named};
use anyhow::{Context, Result};
use sealcomb::{ALGORITHMS, Algorithm, Backend, Parallel, Schedule};
use sealcomb_peers::{Peer, peers};
use std::collections::HashSet;
use std::ops::RangeInclusive;
use std::time::Duration;

const LENGTHS: [usize; 8] = [64, 128, 256, 512, 1024, 2048, 4096, 8192];
const QUICK_LENGTHS: [usize; 4] = [64, 256, 2048, 8192];

/// The length at which everything is compared: the papers' fixed length.
pub(crate) const MAIN_LENGTH: usize = 2048;

/// The papers' example, whose speed they show over the number of messages in flight.
pub(crate) const SWEPT: &str = "aes128-cbc";

/// Messages in flight of that: each number of the papers' tables, then on to more lanes than they had.
const SWEEP: [usize; 13] = [1, 2, 3, 4, 5, 6, 7, 8, 12, 16, 20, 24, 32];
const QUICK_SWEEP: [usize; 6] = [1, 2, 4, 8, 16, 32];

/// Bytes of messages that have a key each.
pub(crate) const KEYED_LENGTHS: [usize; 2] = [64, MAIN_LENGTH];

/// The heat maps: so many messages at once, each of so many bytes.
const HEAT_MESSAGES: RangeInclusive<usize> = 1..=32;
const HEAT_LENGTHS: [usize; 7] = [32, 64, 128, 256, 512, 1024, 2048];
const QUICK_HEAT_LENGTHS: [usize; 3] = [64, 512, 2048];

/// The papers' heat maps: so many messages in flight in the comb's windows.
const HEAT_PARALLELISM: RangeInclusive<usize> = 1..=16;
const QUICK_HEAT_PARALLELISM: [usize; 5] = [1, 2, 4, 8, 16];

/// The longest that a study may take, and the longest to spend on one number.
const TIME: Duration = Duration::from_secs(17 * 60);
const QUICK_TIME: Duration = Duration::from_secs(22);
const PATIENCE: Duration = Duration::from_millis(500);
const QUICK_PATIENCE: Duration = Duration::from_millis(25);

/// What to measure, from the arguments.
pub(crate) struct Plan {
    pub(crate) backend: Backend,
    pub(crate) samples: usize,
    pub(crate) quick: bool,
    pub(crate) trace: Option<String>,
    pub(crate) workloads: Vec<Workload>,
    /// The message lengths of a heat map.
    pub(crate) heat_lengths: Vec<usize>,
    subjects: Vec<Subject>,
}

/// An algorithm and the other libraries that have it.
struct Subject {
    algorithm: &'static Algorithm,
    peers: Vec<Peer>,
}

/// One number to measure.
pub(crate) struct Item<'p> {
    pub(crate) algorithm: &'static Algorithm,
    pub(crate) direction: Direction,
    pub(crate) workload: &'p Workload,
    pub(crate) way: Way<'p>,
}

/// Who does the work, and how.
#[derive(Clone, Copy)]
pub(crate) enum Way<'p> {
    Ours { backend: Backend, schedule: Schedule, keys: usize },
    Peer(&'p Peer),
}

impl Way<'_> {
    pub(crate) fn schedule_name(self) -> ScheduleName {
        match self {
            Self::Ours { schedule: Schedule::Auto, .. } => ScheduleName::Auto,
            Self::Ours { schedule: Schedule::Comb(_), .. } => ScheduleName::Comb,
            Self::Ours { schedule: Schedule::Refill, .. } => ScheduleName::Refill,
            Self::Ours { schedule: Schedule::Blocks, .. } => ScheduleName::Blocks,
            Self::Ours { schedule: Schedule::Single, .. } | Self::Peer(_) => ScheduleName::Single,
        }
    }

    /// Messages in flight.
    pub(crate) fn lanes(self) -> usize {
        match self {
            Self::Ours { schedule: Schedule::Single | Schedule::Blocks, .. } | Self::Peer(_) => 1,
            Self::Ours { schedule: Schedule::Comb(parallelism), .. } => parallelism,
            Self::Ours { backend, .. } => backend.lanes(),
        }
    }

    pub(crate) fn keys(self) -> usize {
        match self {
            Self::Ours { keys, .. } => keys,
            Self::Peer(_) => 1,
        }
    }

    pub(crate) fn backend_name(self) -> String {
        match self {
            Self::Ours { backend, .. } => backend.name().to_owned(),
            Self::Peer(peer) => format!("peer:{}", peer.library()),
        }
    }
}

impl Plan {
    pub(crate) fn new(args: &StudyArgs) -> Result<Self> {
        let algorithms = chosen_algorithms(&args.modes, args.quick)?;
        let subjects = algorithms
            .into_iter()
            .map(|algorithm| Subject {
                algorithm,
                peers: peers(algorithm.id, &vec![0x42; algorithm.key_bytes]),
            })
            .collect();
        Ok(Self {
            backend: Backend::selected()?,
            samples: if args.quick { 31 } else { 91 },
            quick: args.quick,
            trace: args.trace.as_ref().map(|path| path.display().to_string()),
            workloads: workloads(args)?,
            heat_lengths: heat_lengths(args),
            subjects,
        })
    }

    /// The longest time to spend on one of so many numbers.
    pub(crate) fn patience(&self, numbers: usize) -> Duration {
        let (time, patience) = if self.quick { (QUICK_TIME, QUICK_PATIENCE) } else { (TIME, PATIENCE) };
        patience.min(time / numbers.max(1) as u32)
    }

    pub(crate) fn algorithms(&self) -> impl Iterator<Item = &'static Algorithm> {
        self.subjects.iter().map(|subject| subject.algorithm)
    }

    /// The algorithms that get a heat map: those with the papers' key size.
    pub(crate) fn heated(&self) -> impl Iterator<Item = &'static Algorithm> {
        self.algorithms().filter(|algorithm| algorithm.cipher_key_bytes == 16)
    }

    /// Those among them that get one over the comb's degrees of parallelism, too: what is sealed block after block, and
    /// the authenticated modes that the papers draw.
    pub(crate) fn combed(&self) -> impl Iterator<Item = &'static Algorithm> {
        let drawn = |id| papers::MODES.iter().any(|paper| paper.id == id && paper.by_length.is_some());
        self.heated()
            .filter(move |algorithm| algorithm.structure.parallel != Parallel::Both || drawn(algorithm.id))
    }

    /// The rows of a heat map.
    pub(crate) fn heat_messages(&self, axis: Axis) -> Vec<usize> {
        match (axis, self.quick) {
            (Axis::Batch, true) => QUICK_SWEEP.to_vec(),
            (Axis::Batch, false) => HEAT_MESSAGES.collect(),
            (Axis::Parallelism, true) => QUICK_HEAT_PARALLELISM.to_vec(),
            (Axis::Parallelism, false) => HEAT_PARALLELISM.collect(),
        }
    }

    /// The heat maps, those over batches first.
    pub(crate) fn heat_maps(&self) -> Vec<(&'static Algorithm, Axis)> {
        if self.heat_lengths.is_empty() {
            return Vec::new();
        }
        let batches = self.heated().map(|algorithm| (algorithm, Axis::Batch));
        batches.chain(self.combed().map(|algorithm| (algorithm, Axis::Parallelism))).collect()
    }

    /// Every number to measure, each once.
    pub(crate) fn items(&self) -> Vec<Item<'_>> {
        let mut items: Vec<Item<'_>> =
            self.subjects.iter().flat_map(|subject| self.items_of(subject)).collect();
        let mut seen = HashSet::new();
        items.retain(|item| {
            let way = item.way;
            seen.insert((
                item.algorithm.id,
                item.direction,
                item.workload.lengths,
                (way.backend_name(), way.schedule_name(), way.lanes(), way.keys()),
            ))
        });
        items
    }

    fn items_of<'p>(&'p self, subject: &'p Subject) -> Vec<Item<'p>> {
        let Self { backend, .. } = *self;
        let algorithm = subject.algorithm;
        let ours = |backend, schedule, keys| Way::Ours { backend, schedule, keys };
        let mut items = Vec::new();
        for workload in &self.workloads {
            let mut add = |direction, way| {
                items.push(Item { algorithm, direction, workload, way });
            };
            for direction in [Direction::Seal, Direction::Open] {
                add(direction, ours(backend, Schedule::Single, 1));
                add(direction, ours(backend, Schedule::Auto, 1));
            }
            for peer in &subject.peers {
                add(Direction::Seal, Way::Peer(peer));
            }
            if is_main(workload.lengths) {
                for schedule in [Schedule::Comb(backend.lanes()), Schedule::Refill, Schedule::Blocks] {
                    add(Direction::Seal, ours(backend, schedule, 1));
                }
                for other in Backend::available().filter(|other| *other != backend) {
                    add(Direction::Seal, ours(other, Schedule::Auto, 1));
                }
                for keys in [2, BATCH] {
                    add(Direction::Seal, ours(backend, Schedule::Auto, keys));
                }
            }
            if algorithm.id == SWEPT && is_main(workload.lengths) {
                for parallelism in if self.quick { &QUICK_SWEEP[..] } else { &SWEEP[..] } {
                    add(Direction::Seal, ours(backend, Schedule::Comb(*parallelism), 1));
                }
            }
        }
        items
    }
}

/// Whether everything is compared at these lengths: the main one and the realistic ones.
pub(crate) fn is_main(lengths: Lengths) -> bool {
    lengths == Lengths::Fixed(MAIN_LENGTH) || !matches!(lengths, Lengths::Fixed(_))
}

/// The algorithms that `--modes` names; without it all. `--quick`: only those with the shortest key, unless a name tells
/// another.
fn chosen_algorithms(modes: &[String], quick: bool) -> Result<Vec<&'static Algorithm>> {
    let wanted = |named: &Named| named.with_key_size || !quick || named.algorithm.cipher_key_bytes == 16;
    if modes.is_empty() {
        return Ok(ALGORITHMS
            .iter()
            .filter(|algorithm| !quick || algorithm.cipher_key_bytes == 16)
            .collect());
    }
    let mut chosen = HashSet::new();
    for name in modes {
        let named = names::algorithms(name)?;
        chosen.extend(named.into_iter().filter(wanted).map(|named| named.algorithm.id));
    }
    Ok(ALGORITHMS.iter().filter(|algorithm| chosen.contains(algorithm.id)).collect())
}

/// The lengths that `--lengths` names, else the papers' and the mix; a capture takes the place of the mix.
fn workloads(args: &StudyArgs) -> Result<Vec<Workload>> {
    let mut workloads: Vec<Workload> = Vec::new();
    if args.lengths.is_empty() {
        let fixed = if args.quick { &QUICK_LENGTHS[..] } else { &LENGTHS[..] };
        workloads.extend(fixed.iter().map(|&bytes| Workload::fixed(bytes)));
        if args.trace.is_none() {
            workloads.push(Workload::mix());
        }
    }
    for lengths in &args.lengths {
        workloads.push(match lengths {
            Lengths::Fixed(bytes) => Workload::fixed(*bytes),
            Lengths::Mix | Lengths::Trace => Workload::mix(),
        });
    }
    if let Some(path) = &args.trace {
        let lengths = esp::packet_lengths(path)?;
        workloads.push(Workload::trace(&lengths).with_context(|| path.display().to_string())?);
    }
    Ok(workloads)
}

/// The lengths that `--lengths` names, else the papers'.
fn heat_lengths(args: &StudyArgs) -> Vec<usize> {
    if args.lengths.is_empty() {
        return if args.quick { QUICK_HEAT_LENGTHS.to_vec() } else { HEAT_LENGTHS.to_vec() };
    }
    let fixed = |lengths: &Lengths| match lengths {
        Lengths::Fixed(bytes) => Some(*bytes),
        Lengths::Mix | Lengths::Trace => None,
    };
    args.lengths.iter().filter_map(fixed).collect()
}
