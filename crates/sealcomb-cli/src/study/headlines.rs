//! The papers' main claims and whether they hold on this CPU: for each claim whose algorithms were measured, the
//! numbers that decide.

use super::papers::{self, LENGTHS, PARALLEL_CBC, VAES_BOUND};
use super::plan::{MAIN_LENGTH, SWEPT};
use super::results::{Direction, Headline, Number, ScheduleName, Study};
use super::workload::Lengths;
use sealcomb::{Backend, study};

use ScheduleName::{Auto, Single};

/// Tolerance for "about N times": at least 90 % of the factor. The papers' own POET gains 2.73, and they claim 3.
const ABOUT: f64 = 0.9;

/// Tolerance for "close", "comparable" and "within about 10 %". The papers' own CFB is 14 % slower than their CTR.
const NEAR: f64 = 1.15;

const MAIN: &[Lengths] = &[Lengths::Fixed(MAIN_LENGTH)];
const MIX: &[Lengths] = &[Lengths::Mix];
const SHORT: &[Lengths] = &[Lengths::Fixed(128), Lengths::Fixed(256)];
const ALL: &[Lengths] = &[
    Lengths::Fixed(128),
    Lengths::Fixed(256),
    Lengths::Fixed(512),
    Lengths::Fixed(1024),
    Lengths::Fixed(MAIN_LENGTH),
];

const NONCE_BASED: &[&str] = &[
    "aes128-ccm",
    "aes128-gcm",
    "aes128-ocb3-t128",
    "aes128-otr-p",
    "aes128-cloc",
    "aes128-cobra",
    "aes128-jambu",
    "aes128-silc",
];
const MISUSE_RESISTANT: &[&str] = &["aes128-mcoe-g", "aes128-copa", "aes128-poet", "aes128-julius-ecb"];
const SMALL_CHAINS: &[&str] = &["aes128-ccm", "aes128-cloc", "aes128-silc"];

/// A claim of a paper.
struct Claim {
    paper: u32,
    text: &'static str,
    lengths: &'static [Lengths],
    says: Statement,
}

/// The statement of a claim, which has to hold at each of its lengths.
enum Statement {
    /// For each algorithm, a batch is at least this many times as fast as its messages one after the other.
    Gain(&'static [&'static str], f64),
    /// In batches, each of the algorithms costs at most [`NEAR`] times as much as the other one.
    Near(&'static [&'static str], &'static str),
    /// The first algorithm is faster than each of the others with this schedule.
    Fastest(&'static str, &'static [&'static str], ScheduleName),
    /// Batches of the longest messages come close to the bound of four blocks per register.
    NearVaesBound(&'static str),
    /// Wide registers are at least this many times as fast as registers of one block.
    Vectorized(&'static str, f64),
}

const fn claim(paper: u32, text: &'static str, lengths: &'static [Lengths], says: Statement) -> Claim {
    Claim { paper, text, lengths, says }
}

/// The claims of the abstracts, introductions and conclusions.
const CLAIMS: [Claim; 20] = [
    claim(2014, "CBC gains a factor of 6.8", MAIN, Statement::Gain(&["aes128-cbc"], 6.79)),
    claim(
        2014,
        "CBC, CCM, CLOC, SILC, JAMBU and McOE-G gain a factor of at least 3.6",
        MAIN,
        Statement::Gain(
            &["aes128-cbc", "aes128-ccm", "aes128-cloc", "aes128-silc", "aes128-jambu", "aes128-mcoe-g"],
            3.6,
        ),
    ),
    claim(
        2014,
        "CCM, CLOC and SILC gain a factor of about 3.7",
        MAIN,
        Statement::Gain(SMALL_CHAINS, 3.7 * ABOUT),
    ),
    claim(2014, "McOE-G gains a factor of more than 4", MAIN, Statement::Gain(&["aes128-mcoe-g"], 4.0)),
    claim(
        2014,
        "every authenticated mode except GCM gains",
        MAIN,
        Statement::Gain(
            &[
                "aes128-ccm",
                "aes128-ocb3-t128",
                "aes128-otr-p",
                "aes128-cloc",
                "aes128-cobra",
                "aes128-jambu",
                "aes128-silc",
                "aes128-mcoe-g",
                "aes128-copa",
                "aes128-poet",
                "aes128-julius-ecb",
            ],
            1.0,
        ),
    ),
    claim(
        2014,
        "CCM, CLOC and SILC in batches come close to GCM",
        MAIN,
        Statement::Near(SMALL_CHAINS, "aes128-gcm"),
    ),
    claim(
        2014,
        "OCB3 is the fastest nonce-based mode for single messages",
        MAIN,
        Statement::Fastest("aes128-ocb3-t128", NONCE_BASED, Single),
    ),
    claim(
        2014,
        "OCB3 is the fastest nonce-based mode in batches of longer messages",
        MAIN,
        Statement::Fastest("aes128-ocb3-t128", NONCE_BASED, Auto),
    ),
    claim(
        2014,
        "OTR is the fastest nonce-based mode in batches of short messages",
        SHORT,
        Statement::Fastest("aes128-otr-p", NONCE_BASED, Auto),
    ),
    claim(
        2014,
        "COPA is the fastest misuse-resistant mode for any single message",
        ALL,
        Statement::Fastest("aes128-copa", MISUSE_RESISTANT, Single),
    ),
    claim(
        2014,
        "COPA is the fastest misuse-resistant mode in batches of any length",
        ALL,
        Statement::Fastest("aes128-copa", MISUSE_RESISTANT, Auto),
    ),
    claim(
        2015,
        "CBC, OFB, CFB and CMAC gain a factor of 5",
        MIX,
        Statement::Gain(&["aes128-cbc", "aes128-ofb", "aes128-cfb128", "aes128-cmac"], 5.0),
    ),
    claim(
        2015,
        "CBC, OFB, CFB and CMAC in batches come close to CTR",
        MIX,
        Statement::Near(&["aes128-cbc", "aes128-ofb", "aes128-cfb128", "aes128-cmac"], "aes128-ctr"),
    ),
    claim(2015, "CCM in batches comes close to GCM", MIX, Statement::Near(&["aes128-ccm"], "aes128-gcm")),
    claim(
        2015,
        "CCM in batches comes close to OCB3",
        MIX,
        Statement::Near(&["aes128-ccm"], "aes128-ocb3-t128"),
    ),
    claim(
        2015,
        "CCM, CLOC, SILC, JAMBU, McOE-G, POET gain a factor of about 3 or more",
        MIX,
        Statement::Gain(
            &["aes128-ccm", "aes128-cloc", "aes128-silc", "aes128-jambu", "aes128-mcoe-g", "aes128-poet"],
            3.0 * ABOUT,
        ),
    ),
    claim(
        2015,
        "POET with the comb is faster than COPA",
        MIX,
        Statement::Fastest("aes128-poet", &["aes128-copa"], Auto),
    ),
    claim(2018, "CTR comes close to 0.16 cycles per byte", &[], Statement::NearVaesBound("aes128-ctr")),
    claim(2018, "GCM comes close to 0.16 cycles per byte", &[], Statement::NearVaesBound("aes128-gcm")),
    claim(
        2018,
        "CTR with VAES is about 4 times as fast as with AES-NI",
        MAIN,
        Statement::Vectorized("aes128-ctr", 4.0 * ABOUT),
    ),
];

/// The source of the numbers: this CPU or a paper.
trait Source {
    /// Returns the cost of sealing, on the source's default backend if `backend` is `None`.
    fn number(
        &self,
        algorithm: &'static str,
        schedule: ScheduleName,
        lengths: Lengths,
        backend: Option<&'static str>,
    ) -> Option<Number>;

    /// Returns the longest fixed length.
    fn longest(&self) -> Option<Lengths>;
}

/// The result of testing a claim: the margin, with which it holds if at least 1, and the numbers with the lowest
/// margin.
struct Outcome {
    margin: f64,
    numbers: Vec<Number>,
}

/// The backend with registers of one block, the baseline of the VAES paper.
const NARROW: &str = "aesni";

/// Returns whether a claim compares batches of this algorithm and length on this backend with those on a wider one.
pub(crate) fn compares(algorithm: &str, backend: &str, lengths: Lengths) -> bool {
    backend == NARROW
        && CLAIMS.iter().any(|claim| {
            matches!(claim.says, Statement::Vectorized(id, _) if id == algorithm)
                && claim.lengths.contains(&lengths)
        })
}

/// Tests every claim for which this study has the figures.
pub(crate) fn of(study: &Study) -> Vec<Headline> {
    let wide = Backend::named(study.machine.backend).is_ok_and(|backend| study::blocks(backend) > 1);
    let test = |claim: &Claim| {
        if claim.paper == 2018 && !wide {
            return None;
        }
        let Outcome { margin, numbers } = outcome(claim, study)?;
        let papers = match claim.says {
            Statement::NearVaesBound(_) => vec![Number::bound(VAES_BOUND)],
            _ => outcome(claim, &Papers { year: claim.paper }).map_or_else(Vec::new, |theirs| theirs.numbers),
        };
        Some(Headline { claim: claim.text, paper: claim.paper, holds: margin >= 1.0, numbers, papers })
    };
    CLAIMS.iter().filter_map(test).collect()
}

/// Tests a claim, at the lengths that were measured. Returns `None` if a number is missing.
fn outcome(claim: &Claim, source: &dyn Source) -> Option<Outcome> {
    let at_each_length = |test: &dyn Fn(Lengths) -> Option<Outcome>| {
        claim.lengths.iter().filter_map(|lengths| test(*lengths)).min_by(Outcome::compare)
    };
    match claim.says {
        Statement::Gain(ids, times) => at_each_length(&|lengths| {
            worst(ids, |id| {
                let numbers = [Single, Auto].map(|schedule| source.number(id, schedule, lengths, None));
                Outcome::of(numbers, |[single, batch]| single / batch / times)
            })
        }),
        Statement::Near(ids, other) => at_each_length(&|lengths| {
            worst(ids, |id| {
                let numbers = [id, other].map(|id| source.number(id, Auto, lengths, None));
                Outcome::of(numbers, |[ours, theirs]| NEAR * theirs / ours)
            })
        }),
        Statement::Fastest(first, among, schedule) => at_each_length(&|lengths| {
            let others: Vec<&str> = among.iter().copied().filter(|id| *id != first).collect();
            worst(&others, |other| {
                let numbers = [first, other].map(|id| source.number(id, schedule, lengths, None));
                Outcome::of(numbers, |[first, other]| other / first)
            })
        }),
        Statement::NearVaesBound(id) => {
            let measured = source.number(id, Auto, source.longest()?, None)?;
            Some(Outcome { margin: NEAR * VAES_BOUND / measured.cpb, numbers: vec![measured] })
        }
        Statement::Vectorized(id, times) => at_each_length(&|lengths| {
            let numbers = [Some(NARROW), None].map(|backend| source.number(id, Auto, lengths, backend));
            Outcome::of(numbers, |[narrow, wide]| narrow / wide / times)
        }),
    }
}

/// Returns the outcome with the lowest margin, or `None` if an algorithm has none.
fn worst(ids: &[&'static str], test: impl Fn(&'static str) -> Option<Outcome>) -> Option<Outcome> {
    let outcomes: Option<Vec<Outcome>> = ids.iter().map(|id| test(id)).collect();
    outcomes?.into_iter().min_by(Outcome::compare)
}

impl Outcome {
    fn of(numbers: [Option<Number>; 2], margin: impl Fn([f64; 2]) -> f64) -> Option<Self> {
        let [Some(first), Some(second)] = numbers else { return None };
        Some(Self { margin: margin([first.cpb, second.cpb]), numbers: vec![first, second] })
    }

    fn compare(&self, other: &Self) -> std::cmp::Ordering {
        self.margin.total_cmp(&other.margin)
    }
}

impl Source for Study {
    fn number(
        &self,
        algorithm: &'static str,
        schedule: ScheduleName,
        lengths: Lengths,
        backend: Option<&'static str>,
    ) -> Option<Number> {
        let backend = backend.unwrap_or(self.machine.backend);
        let found = self.on(backend).find(|m| {
            (m.algorithm, m.direction, m.schedule, m.lengths, m.keys)
                == (algorithm, Direction::Seal, schedule, lengths, 1)
        })?;
        Some(Number {
            algorithm: Some(algorithm),
            backend: Some(backend),
            schedule: Some(schedule),
            lengths: Some(lengths),
            cpb: found.cpb,
        })
    }

    fn longest(&self) -> Option<Lengths> {
        let fixed = self.results.iter().filter_map(|m| match m.lengths {
            Lengths::Fixed(bytes) => Some(bytes),
            Lengths::Mix | Lengths::Trace => None,
        });
        fixed.max().map(Lengths::Fixed)
    }
}

/// A paper's figures. Modes that the paper did not comb, because their blocks are independent, are as fast in batches
/// as one at a time.
struct Papers {
    year: u32,
}

impl Source for Papers {
    fn number(
        &self,
        algorithm: &'static str,
        schedule: ScheduleName,
        lengths: Lengths,
        _: Option<&'static str>,
    ) -> Option<Number> {
        let paper = papers::MODES.iter().find(|paper| paper.id == algorithm)?;
        let batch = schedule == Auto;
        let cpb = match (self.year, lengths) {
            (2014, Lengths::Fixed(MAIN_LENGTH)) if algorithm == SWEPT => {
                let (_, cpb, ..) = if batch { PARALLEL_CBC[7] } else { PARALLEL_CBC[0] };
                Some(cpb)
            }
            (2014, Lengths::Fixed(bytes)) => {
                let figures = paper.by_length.as_ref()?;
                let at = LENGTHS.iter().position(|length| *length == bytes)?;
                Some(if batch { figures.multiple[at] } else { figures.single[at] })
            }
            (2015, Lengths::Mix) => {
                let comb = paper.haswell_mix.comb.filter(|_| batch);
                Some(comb.unwrap_or(paper.haswell_mix.single))
            }
            _ => None,
        }?;
        Some(Number {
            algorithm: Some(algorithm),
            backend: None,
            schedule: Some(schedule),
            lengths: Some(lengths),
            cpb,
        })
    }

    fn longest(&self) -> Option<Lengths> {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_claim_holds_for_the_figures_of_its_own_paper() {
        for claim in CLAIMS.iter().filter(|claim| claim.paper != 2018) {
            let Some(outcome) = outcome(claim, &Papers { year: claim.paper }) else {
                panic!("{}: no figures", claim.text)
            };
            assert!(outcome.margin >= 1.0, "{}: {} {:?}", claim.text, outcome.margin, outcome.numbers);
        }
    }

    /// The screen has 118 columns: 12 precede a claim, and 36 follow it.
    #[test]
    fn claims_are_short_enough_for_a_line_with_their_figures() {
        for claim in &CLAIMS {
            assert!(claim.text.chars().count() <= 70, "{}", claim.text);
        }
    }

    #[test]
    fn claims_are_about_known_algorithms() {
        for claim in &CLAIMS {
            let ids = match claim.says {
                Statement::Gain(ids, _) => ids.to_vec(),
                Statement::Near(ids, other) => [ids, &[other]].concat(),
                Statement::Fastest(first, among, _) => [&[first], among].concat(),
                Statement::NearVaesBound(id) | Statement::Vectorized(id, _) => vec![id],
            };
            for id in ids {
                assert!(study::by_id(id).is_ok(), "{id}");
            }
        }
    }

    #[test]
    fn the_two_kinds_of_modes_agree_with_the_papers_tables() {
        for paper in &papers::MODES {
            if let Some(character) = paper.character {
                assert_eq!(MISUSE_RESISTANT.contains(&paper.id), character.resists_misuse, "{}", paper.name);
                assert_eq!(NONCE_BASED.contains(&paper.id), !character.resists_misuse, "{}", paper.name);
            }
        }
    }

    /// A CPU on which everything costs one cycle per byte, except the listed algorithms.
    struct Flat(&'static [(&'static str, ScheduleName, f64)]);

    impl Source for Flat {
        fn number(
            &self,
            algorithm: &'static str,
            schedule: ScheduleName,
            lengths: Lengths,
            _: Option<&'static str>,
        ) -> Option<Number> {
            let named = self.0.iter().find(|(id, by, _)| (*id, *by) == (algorithm, schedule));
            let cpb = named.map_or(1.0, |(.., cpb)| *cpb);
            let (schedule, lengths) = (Some(schedule), Some(lengths));
            (cpb > 0.0).then_some(Number {
                algorithm: Some(algorithm),
                backend: None,
                schedule,
                lengths,
                cpb,
            })
        }

        fn longest(&self) -> Option<Lengths> {
            Some(Lengths::Fixed(8192))
        }
    }

    fn holds(text: &str, cpu: &Flat) -> Option<bool> {
        let claim = CLAIMS.iter().find(|claim| claim.text == text).unwrap();
        outcome(claim, cpu).map(|outcome| outcome.margin >= 1.0)
    }

    #[test]
    fn a_claim_fails_if_the_numbers_contradict_it() {
        let poet = "POET with the comb is faster than COPA";
        assert_eq!(holds(poet, &Flat(&[("aes128-poet", Auto, 0.9)])), Some(true));
        assert_eq!(holds(poet, &Flat(&[("aes128-poet", Auto, 1.1)])), Some(false));
        let five = "CBC, OFB, CFB and CMAC gain a factor of 5";
        let singles = [
            ("aes128-cbc", Single, 6.0),
            ("aes128-ofb", Single, 6.0),
            ("aes128-cfb128", Single, 6.0),
            ("aes128-cmac", Single, 6.0),
        ];
        let with = |cmac| Flat(Vec::leak([&singles[..3], &[("aes128-cmac", Single, cmac)]].concat()));
        assert_eq!(holds(five, &with(6.0)), Some(true));
        assert_eq!(holds(five, &with(4.9)), Some(false), "the worst of the four decides");
        let near = "CCM in batches comes close to GCM";
        assert_eq!(holds(near, &Flat(&[("aes128-ccm", Auto, 1.14)])), Some(true));
        assert_eq!(holds(near, &Flat(&[("aes128-ccm", Auto, 1.16)])), Some(false));
        assert_eq!(
            holds("CTR comes close to 0.16 cycles per byte", &Flat(&[("aes128-ctr", Auto, 0.3)])),
            Some(false)
        );
    }

    #[test]
    fn a_claim_is_not_tested_without_all_of_its_algorithms() {
        assert_eq!(
            holds("POET with the comb is faster than COPA", &Flat(&[("aes128-copa", Auto, -1.0)])),
            None
        );
        let five = "CBC, OFB, CFB and CMAC gain a factor of 5";
        assert_eq!(holds(five, &Flat(&[("aes128-cmac", Auto, -1.0)])), None);
    }
}
