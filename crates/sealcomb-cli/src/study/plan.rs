//! The figures to measure, and their order.

use super::StudyArgs;
use super::headlines;
use super::instructions::{self, has_instructions};
use super::papers;
use super::results::{Axis, Direction, ScheduleName};
use super::workload::{BATCH, Lengths, MAX_BYTES, Workload};
use crate::esp;
use crate::names::{self, Named};
use anyhow::{Context, Result};
use sealcomb::study::{self, ALGORITHMS, Parallel, Schedule};
use sealcomb::{Algorithm, Backend, Cipher};
use sealcomb_command::Classify;
use sealcomb_peers::{Peer, peers};
use std::collections::HashSet;
use std::ops::RangeInclusive;
use std::time::Duration;

/// Message lengths in bytes.
const LENGTHS: [usize; 8] = [64, 128, 256, 512, 1024, 2048, 4096, 8192];
const QUICK_LENGTHS: [usize; 4] = [64, 256, 2048, 8192];

/// The length in bytes at which everything is compared: the papers' fixed length.
pub(crate) const MAIN_LENGTH: usize = 2048;

/// The papers' example, whose speed they show by the number of messages in flight.
pub(crate) const SWEPT: &str = "aes128-cbc";

/// Messages in flight for [`SWEPT`]: each number of the papers' tables, then more lanes than theirs.
const SWEEP: [usize; 13] = [1, 2, 3, 4, 5, 6, 7, 8, 12, 16, 20, 24, 32];
const QUICK_SWEEP: [usize; 6] = [1, 2, 4, 8, 16, 32];

/// Lengths in bytes of messages that each have their own key.
pub(crate) const KEYED_LENGTHS: [usize; 2] = [64, MAIN_LENGTH];

/// Heat maps over batches: messages per call, and message lengths in bytes.
const HEAT_MESSAGES: RangeInclusive<usize> = 1..=32;
const HEAT_LENGTHS: [usize; 7] = [32, 64, 128, 256, 512, 1024, 2048];
const QUICK_HEAT_LENGTHS: [usize; 3] = [64, 512, 2048];

/// The papers' heat maps: messages in flight in the comb's windows.
const HEAT_PARALLELISM: RangeInclusive<usize> = 1..=16;
const QUICK_HEAT_PARALLELISM: [usize; 5] = [1, 2, 4, 8, 16];

/// Message lengths in bytes for the chains of multiplications: the papers' lengths.
const CHAIN_LENGTHS: [usize; 7] = [128, 256, 512, 1024, 2048, 4096, 8192];
const QUICK_CHAIN_LENGTHS: [usize; 3] = [128, 1024, 8192];

/// Modes that run another mode's kernels with a shorter tag, a tag in the middle, or other additional data.
const VARIANTS: [&str; 5] =
    ["aes128-ocb3-t64", "aes128-ocb3-t96", "aes128-otr-s", "aes128-elmd-it127", "aes128-elmd-vartag"];

/// How thorough a study is, which determines how long it takes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Effort {
    /// Half a minute.
    Quick,
    /// A minute.
    Minute,
    /// Every algorithm with every length, key size and heat-map cell: 17 to 20 minutes.
    Full,
}

impl Effort {
    pub(crate) fn of(args: &StudyArgs) -> Self {
        match (args.quick, args.full) {
            (true, _) => Self::Quick,
            (false, true) => Self::Full,
            (false, false) => Self::Minute,
        }
    }

    /// Returns the time to divide among all figures. Set-up, counting instructions and warm-up are extra.
    fn time(self) -> Duration {
        Duration::from_secs(match self {
            Self::Quick => 22,
            Self::Minute => 38,
            Self::Full => 17 * 60,
        })
    }

    /// Returns the maximum time for one figure.
    fn max_time(self) -> Duration {
        Duration::from_millis(match self {
            Self::Quick => 25,
            Self::Minute | Self::Full => 500,
        })
    }

    fn samples(self) -> usize {
        match self {
            Self::Quick => 31,
            Self::Minute | Self::Full => 91,
        }
    }

    fn lengths(self) -> &'static [usize] {
        match self {
            Self::Quick => &QUICK_LENGTHS,
            Self::Minute | Self::Full => &LENGTHS,
        }
    }

    fn sweep(self) -> &'static [usize] {
        match self {
            Self::Quick | Self::Minute => &QUICK_SWEEP,
            Self::Full => &SWEEP,
        }
    }

    fn heat_lengths(self) -> &'static [usize] {
        match self {
            Self::Quick | Self::Minute => &QUICK_HEAT_LENGTHS,
            Self::Full => &HEAT_LENGTHS,
        }
    }

    /// Returns the message lengths for the chains of multiplications, in bytes.
    pub(crate) fn chain_lengths(self) -> &'static [usize] {
        match self {
            Self::Quick | Self::Minute => &QUICK_CHAIN_LENGTHS,
            Self::Full => &CHAIN_LENGTHS,
        }
    }
}

/// An optional part of a study, in addition to sealing single messages and batches of all lengths with each
/// algorithm.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Part {
    /// Opening single messages and batches.
    Opening,
    /// Batches with each schedule.
    Schedules,
    /// Batches on the other backends.
    Backends,
    /// New keys, and batches under several keys.
    Keys,
    /// CBC by the number of messages in flight.
    Sweep,
    /// Other libraries.
    Libraries,
    /// Heat maps by batch size and by the comb's parallelism.
    HeatMaps,
    /// Multiplication and doubling in GF(2^128).
    Field,
    /// The instructions that a call executes.
    Counts,
    /// Demand of a batch on each unit of the CPU.
    Units,
}

impl Part {
    pub(crate) const ALL: [Self; 10] = [
        Self::Opening,
        Self::Schedules,
        Self::Backends,
        Self::Keys,
        Self::Sweep,
        Self::Libraries,
        Self::HeatMaps,
        Self::Field,
        Self::Counts,
        Self::Units,
    ];

    /// Returns all parts for a full study, JSON and files, which contain everything; otherwise those that the requested
    /// tables show.
    fn requested(args: &StudyArgs) -> Vec<Self> {
        let is_complete = args.full || args.json || args.json_file.is_some() || args.report.is_some();
        if is_complete {
            return Self::ALL.to_vec();
        }
        args.tables.iter().flat_map(|table| table.parts()).copied().collect()
    }
}

/// The figures to measure, derived from the arguments.
pub(crate) struct Plan {
    pub(crate) backend: Backend,
    pub(crate) effort: Effort,
    pub(crate) samples: usize,
    pub(crate) trace: Option<String>,
    pub(crate) workloads: Vec<Workload>,
    /// Message lengths of a heat map, in bytes.
    pub(crate) heat_lengths: Vec<usize>,
    parts: Vec<Part>,
    subjects: Vec<Subject>,
}

/// An algorithm and the other libraries that implement it.
struct Subject {
    algorithm: Algorithm,
    peers: Vec<Peer>,
}

/// One figure to measure.
pub(crate) struct Item<'p> {
    pub(crate) algorithm: Algorithm,
    pub(crate) direction: Direction,
    pub(crate) workload: &'p Workload,
    pub(crate) way: Way<'p>,
}

/// The implementation to measure.
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

    /// Returns the number of messages in flight.
    pub(crate) fn lanes(self) -> usize {
        match self {
            Self::Ours { schedule: Schedule::Single | Schedule::Blocks, .. } | Self::Peer(_) => 1,
            Self::Ours { schedule: Schedule::Comb(parallelism), .. } => parallelism,
            Self::Ours { backend, .. } => study::lanes(backend),
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
        let effort = Effort::of(args);
        let parts = Part::requested(args);
        let peers = |algorithm: Algorithm| {
            if parts.contains(&Part::Libraries) {
                peers(algorithm.id(), &(0x42..).take(algorithm.key_bytes()).collect::<Vec<_>>())
            } else {
                Vec::new()
            }
        };
        let subjects = chosen_algorithms(&args.modes, effort)
            .or_usage()?
            .into_iter()
            .map(|algorithm| Subject { algorithm, peers: peers(algorithm) })
            .collect();
        Ok(Self {
            backend: Backend::selected()?,
            effort,
            samples: effort.samples(),
            trace: args.trace.as_ref().map(|path| path.display().to_string()),
            workloads: workloads(args, effort)?,
            heat_lengths: heat_lengths(args, effort),
            parts,
            subjects,
        })
    }

    pub(crate) fn has(&self, part: Part) -> bool {
        self.parts.contains(&part)
    }

    /// Returns the maximum time for one figure: an equal share of the total time.
    pub(crate) fn patience(&self) -> Duration {
        self.effort.max_time().min(self.effort.time() / self.numbers().max(1) as u32)
    }

    /// Returns the number of figures to time.
    fn numbers(&self) -> usize {
        self.items().len() + self.cells() + self.key_costs() + self.rooflines() + self.probes()
    }

    /// Returns the number of cells of all heat maps.
    pub(crate) fn cells(&self) -> usize {
        let rows: usize = self.heat_maps().iter().map(|(_, axis)| self.heat_messages(*axis).len()).sum();
        rows * self.heat_lengths.len()
    }

    fn key_costs(&self) -> usize {
        if self.has(Part::Keys) { self.subjects.len() * (1 + KEYED_LENGTHS.len()) } else { 0 }
    }

    pub(crate) fn rooflines(&self) -> usize {
        if self.has(Part::Units) { self.subjects.len() } else { 0 }
    }

    /// Returns the number of figures of the CPU itself: instructions, field operations and bounds.
    fn probes(&self) -> usize {
        let of_field =
            if self.has(Part::Field) { instructions::field_numbers(self.effort.chain_lengths()) } else { 0 };
        self.probed().count() * (instructions::NUMBERS + of_field + self.subjects.len())
    }

    /// Returns the backends whose instructions are measured: those with AES instructions, and the studied one.
    pub(crate) fn probed(&self) -> impl Iterator<Item = Backend> {
        Backend::available().filter(|backend| has_instructions(*backend) || *backend == self.backend)
    }

    pub(crate) fn algorithms(&self) -> impl Iterator<Item = Algorithm> {
        self.subjects.iter().map(|subject| subject.algorithm)
    }

    /// Returns the algorithms that get a heat map: those with the papers' key size.
    pub(crate) fn heated(&self) -> impl Iterator<Item = Algorithm> {
        self.algorithms().filter(|algorithm| algorithm.cipher_key_bytes() == 16)
    }

    /// Returns the algorithms that also get a heat map by the comb's degree of parallelism: chained modes, and the
    /// authenticated modes for which the papers show one.
    pub(crate) fn combed(&self) -> impl Iterator<Item = Algorithm> {
        let drawn = |id| papers::MODES.iter().any(|paper| paper.id == id && paper.by_length.is_some());
        self.heated().filter(move |algorithm| {
            algorithm.structure().parallel != Parallel::Both || drawn(algorithm.id())
        })
    }

    /// Returns the rows of a heat map: numbers of messages.
    pub(crate) fn heat_messages(&self, axis: Axis) -> Vec<usize> {
        match (axis, self.effort) {
            (Axis::Batch, Effort::Full) => HEAT_MESSAGES.collect(),
            (Axis::Batch, _) => QUICK_SWEEP.to_vec(),
            (Axis::Parallelism, Effort::Full) => HEAT_PARALLELISM.collect(),
            (Axis::Parallelism, _) => QUICK_HEAT_PARALLELISM.to_vec(),
        }
    }

    /// Returns the heat maps, those by batch size first.
    pub(crate) fn heat_maps(&self) -> Vec<(Algorithm, Axis)> {
        if self.heat_lengths.is_empty() || !self.has(Part::HeatMaps) {
            return Vec::new();
        }
        let batches = self.heated().map(|algorithm| (algorithm, Axis::Batch));
        batches.chain(self.combed().map(|algorithm| (algorithm, Axis::Parallelism))).collect()
    }

    /// Returns every figure to measure, without duplicates.
    pub(crate) fn items(&self) -> Vec<Item<'_>> {
        let mut items: Vec<Item<'_>> =
            self.subjects.iter().flat_map(|subject| self.items_of(subject)).collect();
        let mut seen = HashSet::new();
        items.retain(|item| {
            let way = item.way;
            seen.insert((
                item.algorithm.id(),
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
            let directions = if self.has(Part::Opening) { &BOTH[..] } else { &BOTH[..1] };
            for &direction in directions {
                add(direction, ours(backend, Schedule::Single, 1));
                add(direction, ours(backend, Schedule::Auto, 1));
            }
            for peer in &subject.peers {
                add(Direction::Seal, Way::Peer(peer));
            }
            let is_main = is_main(workload.lengths);
            if is_main && self.has(Part::Schedules) {
                for schedule in [Schedule::Comb(study::lanes(backend)), Schedule::Refill, Schedule::Blocks] {
                    add(Direction::Seal, ours(backend, schedule, 1));
                }
            }
            for other in Backend::available().filter(|other| *other != backend) {
                let is_claimed = headlines::compares(algorithm.id(), other.name(), workload.lengths);
                if is_claimed || is_main && self.has(Part::Backends) {
                    add(Direction::Seal, ours(other, Schedule::Auto, 1));
                }
            }
            if is_main && self.has(Part::Keys) {
                for keys in [2, BATCH] {
                    add(Direction::Seal, ours(backend, Schedule::Auto, keys));
                }
            }
            if algorithm.id() == SWEPT && is_main && self.has(Part::Sweep) {
                for parallelism in self.effort.sweep() {
                    add(Direction::Seal, ours(backend, Schedule::Comb(*parallelism), 1));
                }
            }
        }
        items
    }
}

const BOTH: [Direction; 2] = [Direction::Seal, Direction::Open];

/// Returns whether everything is compared at these lengths: the main length and the realistic ones.
pub(crate) fn is_main(lengths: Lengths) -> bool {
    lengths == Lengths::Fixed(MAIN_LENGTH) || !matches!(lengths, Lengths::Fixed(_))
}

/// Returns the algorithms that `--modes` names, or the default ones for this effort. A name without a key size stands
/// for longer keys than the mode's shortest only in a full study.
fn chosen_algorithms(modes: &[String], effort: Effort) -> Result<Vec<Algorithm>> {
    let is_full = effort == Effort::Full;
    if modes.is_empty() {
        return Ok(ALGORITHMS
            .iter()
            .copied()
            .filter(|algorithm| is_full || is_on_screen(*algorithm))
            .collect());
    }
    let wanted = |named: &Named| named.with_key_size || is_full || has_shortest_key(named.algorithm);
    let mut chosen = HashSet::new();
    for name in modes {
        let named = names::algorithms(name)?;
        chosen.extend(named.into_iter().filter(wanted).map(|named| named.algorithm.id()));
    }
    Ok(ALGORITHMS.iter().copied().filter(|algorithm| chosen.contains(algorithm.id())).collect())
}

/// Returns whether the screen shows an algorithm: each mode once, with AES and its shortest key.
fn is_on_screen(algorithm: Algorithm) -> bool {
    algorithm.cipher() == Cipher::Aes && has_shortest_key(algorithm) && !VARIANTS.contains(&algorithm.id())
}

/// Returns whether no algorithm of the same mode and cipher has a shorter key: one with 128 bits, except in modes without
/// this size.
fn has_shortest_key(algorithm: Algorithm) -> bool {
    let same =
        |other: &Algorithm| (other.mode_id(), other.cipher()) == (algorithm.mode_id(), algorithm.cipher());
    ALGORITHMS.iter().copied().filter(same).all(|other| other.key_bytes() >= algorithm.key_bytes())
}

/// Returns the workloads for the lengths that `--lengths` names, or for the default lengths and the mix. A capture
/// replaces the mix.
fn workloads(args: &StudyArgs, effort: Effort) -> Result<Vec<Workload>> {
    let mut workloads: Vec<Workload> = Vec::new();
    if args.lengths.is_empty() {
        workloads.extend(effort.lengths().iter().map(|&bytes| Workload::fixed(bytes)));
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
        let lengths = esp::packet_lengths(path, MAX_BYTES)?;
        workloads.push(Workload::trace(&lengths).with_context(|| path.display().to_string())?);
    }
    Ok(workloads)
}

/// Returns the heat maps' lengths in bytes: those that `--lengths` names, or the default ones.
fn heat_lengths(args: &StudyArgs, effort: Effort) -> Vec<usize> {
    if args.lengths.is_empty() {
        return effort.heat_lengths().to_vec();
    }
    let fixed = |lengths: &Lengths| match lengths {
        Lengths::Fixed(bytes) => Some(*bytes),
        Lengths::Mix | Lengths::Trace => None,
    };
    args.lengths.iter().filter_map(fixed).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::study::tables::Name;

    fn plan(args: &StudyArgs) -> Plan {
        Plan::new(args).unwrap()
    }

    /// Returns a plan with everything that a file contains.
    fn for_a_file(args: StudyArgs) -> Plan {
        plan(&StudyArgs { json: true, ..args })
    }

    fn quick() -> StudyArgs {
        StudyArgs { quick: true, ..StudyArgs::default() }
    }

    fn full() -> StudyArgs {
        StudyArgs { full: true, ..StudyArgs::default() }
    }

    /// Returns the maximum time for all figures together, in seconds, if each takes at most its share.
    fn seconds(plan: &Plan) -> f64 {
        plan.patience().as_secs_f64() * plan.numbers() as f64
    }

    #[test]
    fn a_study_takes_less_than_a_minute_and_a_quick_one_less_than_half() {
        for plan in [plan(&StudyArgs::default()), for_a_file(StudyArgs::default())] {
            assert!((30.0..45.0).contains(&seconds(&plan)), "{} s", seconds(&plan));
        }
        for plan in [plan(&quick()), for_a_file(quick())] {
            assert!(seconds(&plan) < 25.0, "{} s", seconds(&plan));
        }
        assert!(seconds(&plan(&full())) < 18.0 * 60.0);
    }

    #[test]
    fn a_study_only_seals_each_mode_singly_and_in_batches_of_every_length() {
        let plan = plan(&StudyArgs::default());
        let (modes, lengths) = (plan.algorithms().count(), LENGTHS.len() + 1);
        assert_eq!(modes, 34);
        let for_claims = Backend::available().filter(|b| b.name() == "aesni" && *b != plan.backend).count();
        assert_eq!(plan.items().len(), 2 * modes * lengths + for_claims);
        assert_eq!((plan.cells(), plan.key_costs(), plan.rooflines()), (0, 0, 0));
        assert!(plan.items().iter().all(|item| item.direction == Direction::Seal));
    }

    #[test]
    fn a_full_study_has_every_algorithm_and_a_full_heat_map_for_each_128_bit_key() {
        let plan = plan(&full());
        assert_eq!(plan.algorithms().count(), ALGORITHMS.len());
        let cells = |count: usize, rows: usize| count * rows * HEAT_LENGTHS.len();
        assert_eq!(plan.cells(), cells(plan.heated().count(), 32) + cells(plan.combed().count(), 16));
        assert!(Part::ALL.iter().all(|part| plan.has(*part)));
    }

    #[test]
    fn a_quick_study_has_the_fewest_figures() {
        for (quick, minute, full) in [
            (plan(&quick()), plan(&StudyArgs::default()), plan(&full())),
            (for_a_file(quick()), for_a_file(StudyArgs::default()), for_a_file(full())),
        ] {
            let numbers = [quick.numbers(), minute.numbers(), full.numbers()];
            assert!(numbers.is_sorted() && numbers[0] < numbers[1] && numbers[1] < numbers[2], "{numbers:?}");
            assert!(quick.samples < minute.samples && minute.samples == full.samples);
        }
    }

    #[test]
    fn tables_add_only_the_parts_that_they_show() {
        let with = |table| plan(&StudyArgs { tables: vec![table], ..quick() });
        let keys = with(Name::Keys);
        assert!(keys.has(Part::Keys) && !keys.has(Part::HeatMaps));
        assert!(with(Name::Claims).parts.is_empty());
        assert!(Part::ALL.iter().all(|part| with(Name::All).has(*part)));
    }

    #[test]
    fn variants_are_algorithms() {
        for id in VARIANTS {
            assert!(sealcomb::study::by_id(id).is_ok(), "{id}");
        }
    }

    #[test]
    fn a_name_stands_for_longer_keys_only_in_a_full_study() {
        let sizes = |args: StudyArgs, name: &str| -> Vec<usize> {
            let plan = plan(&StudyArgs { modes: vec![name.to_owned()], ..args });
            plan.algorithms().map(sealcomb::Algorithm::cipher_key_bytes).collect()
        };
        assert_eq!(sizes(StudyArgs::default(), "aes-cbc"), [16]);
        assert_eq!(sizes(StudyArgs::default(), "aes256-cbc"), [32]);
        assert_eq!(sizes(full(), "aes-cbc"), [16, 24, 32]);
        assert_eq!(sizes(StudyArgs::default(), "xaes256-gcm"), [32]);
    }
}
