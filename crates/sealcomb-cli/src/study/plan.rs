//! What is measured, in which order.

use super::StudyArgs;
use super::headlines;
use super::instructions::{self, has_instructions};
use super::papers;
use super::results::{Axis, Direction, ScheduleName};
use super::workload::{BATCH, Lengths, Workload};
use crate::esp;
use crate::names::{self, Named};
use anyhow::{Context, Result};
use sealcomb::{ALGORITHMS, Algorithm, Backend, Cipher, Parallel, Schedule};
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

/// Bytes of the messages that go through the chains of multiplications: the papers' lengths.
const CHAIN_LENGTHS: [usize; 7] = [128, 256, 512, 1024, 2048, 4096, 8192];
const QUICK_CHAIN_LENGTHS: [usize; 3] = [128, 1024, 8192];

/// Modes that run another mode's kernels with a shorter tag, a tag in the middle, or other additional data.
const VARIANTS: [&str; 5] =
    ["aes128-ocb3-t64", "aes128-ocb3-t96", "aes128-otr-s", "aes128-elmd-it127", "aes128-elmd-vartag"];

/// How thorough a study is, and so how long it takes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Effort {
    /// Half a minute.
    Quick,
    /// A minute.
    Minute,
    /// Every algorithm with every length, key size and cell of the heat maps: 17 to 20 minutes.
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

    /// The time to divide among all numbers. Setting up, counting instructions and warming up come on top.
    fn time(self) -> Duration {
        Duration::from_secs(match self {
            Self::Quick => 22,
            Self::Minute => 38,
            Self::Full => 17 * 60,
        })
    }

    /// The longest time to spend on one number.
    fn longest(self) -> Duration {
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

    /// The lengths of messages in the chains of multiplications.
    pub(crate) fn chain_lengths(self) -> &'static [usize] {
        match self {
            Self::Quick | Self::Minute => &QUICK_CHAIN_LENGTHS,
            Self::Full => &CHAIN_LENGTHS,
        }
    }
}

/// What a study may measure beside sealing, with each algorithm, single messages and batches of all lengths.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Part {
    /// Opening single messages and batches.
    Opening,
    /// Batches by each schedule.
    Schedules,
    /// Batches on the other backends.
    Backends,
    /// New keys, and batches under several.
    Keys,
    /// CBC over the number of messages in flight.
    Sweep,
    /// Other libraries.
    Libraries,
    /// Heat maps over the size of the batch and over the comb's parallelism.
    HeatMaps,
    /// Multiplication and doubling in GF(2^128).
    Field,
    /// The instructions that a call executes.
    Counts,
    /// What a batch asks of each unit of the CPU.
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

    /// All of them for a full study and for files, which hold everything; else those that the tables need.
    fn wanted(args: &StudyArgs) -> Vec<Self> {
        if args.full || args.json.is_some() || args.report.is_some() {
            return Self::ALL.to_vec();
        }
        args.tables.iter().flat_map(|table| table.parts()).copied().collect()
    }
}

/// What to measure, from the arguments.
pub(crate) struct Plan {
    pub(crate) backend: Backend,
    pub(crate) effort: Effort,
    pub(crate) samples: usize,
    pub(crate) trace: Option<String>,
    pub(crate) workloads: Vec<Workload>,
    /// The message lengths of a heat map.
    pub(crate) heat_lengths: Vec<usize>,
    parts: Vec<Part>,
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
        let effort = Effort::of(args);
        let parts = Part::wanted(args);
        let peers = |algorithm: &Algorithm| {
            if parts.contains(&Part::Libraries) {
                peers(algorithm.id, &vec![0x42; algorithm.key_bytes])
            } else {
                Vec::new()
            }
        };
        let subjects = chosen_algorithms(&args.modes, effort)?
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

    /// The longest time to spend on one number: an equal share for each.
    pub(crate) fn patience(&self) -> Duration {
        self.effort.longest().min(self.effort.time() / self.numbers().max(1) as u32)
    }

    /// How many numbers are timed.
    fn numbers(&self) -> usize {
        self.items().len() + self.cells() + self.key_costs() + self.rooflines() + self.probes()
    }

    /// Cells of all heat maps.
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

    /// Numbers that are timed of the CPU alone: instructions and what is made of them.
    fn probes(&self) -> usize {
        let of_field =
            if self.has(Part::Field) { instructions::field_numbers(self.effort.chain_lengths()) } else { 0 };
        self.probed().count() * (instructions::NUMBERS + of_field + self.subjects.len())
    }

    /// The backends whose instructions are measured: those that have their own for AES, and the one that is studied.
    pub(crate) fn probed(&self) -> impl Iterator<Item = Backend> {
        Backend::available().filter(|backend| has_instructions(*backend) || *backend == self.backend)
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
        match (axis, self.effort) {
            (Axis::Batch, Effort::Full) => HEAT_MESSAGES.collect(),
            (Axis::Batch, _) => QUICK_SWEEP.to_vec(),
            (Axis::Parallelism, Effort::Full) => HEAT_PARALLELISM.collect(),
            (Axis::Parallelism, _) => QUICK_HEAT_PARALLELISM.to_vec(),
        }
    }

    /// The heat maps, those over batches first.
    pub(crate) fn heat_maps(&self) -> Vec<(&'static Algorithm, Axis)> {
        if self.heat_lengths.is_empty() || !self.has(Part::HeatMaps) {
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
                for schedule in [Schedule::Comb(backend.lanes()), Schedule::Refill, Schedule::Blocks] {
                    add(Direction::Seal, ours(backend, schedule, 1));
                }
            }
            for other in Backend::available().filter(|other| *other != backend) {
                let claimed = headlines::compares(algorithm.id, other.name(), workload.lengths);
                if claimed || is_main && self.has(Part::Backends) {
                    add(Direction::Seal, ours(other, Schedule::Auto, 1));
                }
            }
            if is_main && self.has(Part::Keys) {
                for keys in [2, BATCH] {
                    add(Direction::Seal, ours(backend, Schedule::Auto, keys));
                }
            }
            if algorithm.id == SWEPT && is_main && self.has(Part::Sweep) {
                for parallelism in self.effort.sweep() {
                    add(Direction::Seal, ours(backend, Schedule::Comb(*parallelism), 1));
                }
            }
        }
        items
    }
}

const BOTH: [Direction; 2] = [Direction::Seal, Direction::Open];

/// Whether everything is compared at these lengths: the main one and the realistic ones.
pub(crate) fn is_main(lengths: Lengths) -> bool {
    lengths == Lengths::Fixed(MAIN_LENGTH) || !matches!(lengths, Lengths::Fixed(_))
}

/// The algorithms that `--modes` names, or those that a study of this effort has without it. Only a full study takes
/// keys longer than 128 bits under names that don't tell a size.
fn chosen_algorithms(modes: &[String], effort: Effort) -> Result<Vec<&'static Algorithm>> {
    let is_full = effort == Effort::Full;
    if modes.is_empty() {
        return Ok(ALGORITHMS.iter().filter(|algorithm| is_full || is_on_screen(algorithm)).collect());
    }
    let wanted = |named: &Named| named.with_key_size || is_full || named.algorithm.cipher_key_bytes == 16;
    let mut chosen = HashSet::new();
    for name in modes {
        let named = names::algorithms(name)?;
        chosen.extend(named.into_iter().filter(wanted).map(|named| named.algorithm.id));
    }
    Ok(ALGORITHMS.iter().filter(|algorithm| chosen.contains(algorithm.id)).collect())
}

/// Whether one screen has room for it: each mode once, with AES and keys of 128 bits.
fn is_on_screen(algorithm: &Algorithm) -> bool {
    algorithm.cipher == Cipher::Aes && algorithm.cipher_key_bytes == 16 && !VARIANTS.contains(&algorithm.id)
}

/// The lengths that `--lengths` names, else the papers' and the mix; a capture takes the place of the mix.
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
        let lengths = esp::packet_lengths(path)?;
        workloads.push(Workload::trace(&lengths).with_context(|| path.display().to_string())?);
    }
    Ok(workloads)
}

/// The lengths that `--lengths` names, else the papers'.
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

    /// With everything that a file holds.
    fn for_a_file(args: StudyArgs) -> Plan {
        plan(&StudyArgs { json: Some("study.json".into()), ..args })
    }

    fn quick() -> StudyArgs {
        StudyArgs { quick: true, ..StudyArgs::default() }
    }

    fn full() -> StudyArgs {
        StudyArgs { full: true, ..StudyArgs::default() }
    }

    /// The time that all numbers take together at most, if each takes no more than its share.
    fn seconds(plan: &Plan) -> f64 {
        plan.patience().as_secs_f64() * plan.numbers() as f64
    }

    #[test]
    fn a_study_divides_less_than_a_minute_and_a_quick_one_less_than_half() {
        for plan in [plan(&StudyArgs::default()), for_a_file(StudyArgs::default())] {
            assert!((30.0..45.0).contains(&seconds(&plan)), "{} s", seconds(&plan));
        }
        for plan in [plan(&quick()), for_a_file(quick())] {
            assert!(seconds(&plan) < 25.0, "{} s", seconds(&plan));
        }
        assert!(seconds(&plan(&full())) < 18.0 * 60.0);
    }

    #[test]
    fn a_study_seals_each_mode_singly_and_in_batches_of_every_length_and_no_more() {
        let plan = plan(&StudyArgs::default());
        let (modes, lengths) = (plan.algorithms().count(), LENGTHS.len() + 1);
        assert_eq!(modes, 29);
        let claimed = Backend::available().filter(|b| b.name() == "aesni" && *b != plan.backend).count();
        assert_eq!(plan.items().len(), 2 * modes * lengths + claimed);
        assert_eq!((plan.cells(), plan.key_costs(), plan.rooflines()), (0, 0, 0));
        assert!(plan.items().iter().all(|item| item.direction == Direction::Seal));
    }

    #[test]
    fn a_full_study_has_every_algorithm_and_a_whole_heat_map_of_each_with_128_bits() {
        let plan = plan(&full());
        assert_eq!(plan.algorithms().count(), ALGORITHMS.len());
        let cells = |count: usize, rows: usize| count * rows * HEAT_LENGTHS.len();
        assert_eq!(plan.cells(), cells(plan.heated().count(), 32) + cells(plan.combed().count(), 16));
        assert!(Part::ALL.iter().all(|part| plan.has(*part)));
    }

    #[test]
    fn a_quick_study_has_the_fewest_numbers() {
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
    fn tables_add_what_they_need_and_nothing_else() {
        let with = |table| plan(&StudyArgs { tables: vec![table], ..quick() });
        let keys = with(Name::Keys);
        assert!(keys.has(Part::Keys) && !keys.has(Part::HeatMaps));
        assert!(with(Name::Claims).parts.is_empty());
        assert!(Part::ALL.iter().all(|part| with(Name::All).has(*part)));
    }

    #[test]
    fn variants_are_algorithms() {
        for id in VARIANTS {
            assert!(Algorithm::by_id(id).is_ok(), "{id}");
        }
    }

    #[test]
    fn a_name_takes_longer_keys_with_it_in_a_full_study_only() {
        let sizes = |args: StudyArgs, name: &str| -> Vec<usize> {
            let plan = plan(&StudyArgs { modes: vec![name.to_owned()], ..args });
            plan.algorithms().map(|algorithm| algorithm.cipher_key_bytes).collect()
        };
        assert_eq!(sizes(StudyArgs::default(), "aes-cbc"), [16]);
        assert_eq!(sizes(StudyArgs::default(), "aes256-cbc"), [32]);
        assert_eq!(sizes(full(), "aes-cbc"), [16, 24, 32]);
    }
}
