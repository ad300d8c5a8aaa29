//! The units of a CPU that instructions ask for, and how many cycles of each some instructions ask for at least.

use serde::Serialize;

/// What a CPU has only so much of in a cycle.
#[derive(Serialize, Clone, Copy, PartialEq, Eq, Debug)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Unit {
    /// AES rounds.
    Aes,
    /// Carry-less products.
    Products,
    /// What moves bytes to other places within registers.
    Shuffles,
    /// Any computing in vector registers: rounds, products and shuffles too.
    Vector,
    /// Reading memory, as an instruction of its own or as the operand of another.
    Loads,
    /// Writing memory.
    Stores,
    /// Any instruction. A comparison and the branch on it are one.
    FrontEnd,
}

impl Unit {
    pub(crate) const ALL: [Self; 7] =
        [Self::Aes, Self::Products, Self::Shuffles, Self::Vector, Self::Loads, Self::Stores, Self::FrontEnd];

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Aes => "AES",
            Self::Products => "products",
            Self::Shuffles => "shuffles",
            Self::Vector => "vector",
            Self::Loads => "loads",
            Self::Stores => "stores",
            Self::FrontEnd => "front end",
        }
    }
}

/// Bytes of a word and of the registers of 1, 2 and 4 blocks.
pub(crate) const WIDTHS: [usize; 4] = [8, 16, 32, 64];

/// Bytes of a block.
pub(crate) const BLOCK: usize = 16;

/// What instructions ask for.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub(crate) struct Demand {
    pub(crate) instructions: u64,
    /// By unit and width.
    times: [[u64; WIDTHS.len()]; Unit::ALL.len()],
}

impl Demand {
    /// Once more, of a unit for so many bytes: of its narrowest width that has room for them.
    #[cfg_attr(not(all(target_os = "linux", target_arch = "x86_64")), allow(dead_code))]
    pub(crate) fn add(&mut self, unit: Unit, bytes: usize) {
        let width = WIDTHS.iter().position(|width| bytes <= *width).unwrap_or(WIDTHS.len() - 1);
        self.times[unit as usize][width] += 1;
    }

    /// All that is asked for elsewhere, once more.
    #[cfg_attr(not(all(target_os = "linux", target_arch = "x86_64")), allow(dead_code))]
    pub(crate) fn add_all(&mut self, other: &Self) {
        self.instructions += other.instructions;
        for (times, others) in self.times.as_flattened_mut().iter_mut().zip(other.times.as_flattened()) {
            *times += others;
        }
    }

    /// How often a unit is asked for.
    pub(crate) fn times(&self, unit: Unit) -> u64 {
        self.times[unit as usize].iter().sum()
    }

    /// In how many lanes of a block.
    pub(crate) fn lanes(&self, unit: Unit) -> u64 {
        let lanes = WIDTHS.map(|width| width.div_ceil(BLOCK) as u64);
        self.times[unit as usize].iter().zip(lanes).map(|(times, lanes)| times * lanes).sum()
    }

    /// How often a unit is asked for at this width or a greater one.
    fn times_from(&self, unit: Unit, bytes: usize) -> u64 {
        let from = WIDTHS.iter().zip(self.times[unit as usize]).filter(|(width, _)| **width >= bytes);
        from.map(|(_, times)| times).sum()
    }
}

/// How often a unit can be asked for in a cycle.
#[derive(Serialize, Clone, Debug)]
pub(crate) struct Rate {
    pub(crate) unit: Unit,
    /// Of the register or word.
    pub(crate) bytes: usize,
    pub(crate) per_cycle: f64,
}

/// The cycles that a unit needs at least. A CPU has no port for wide registers alone: what can take a wide one can take
/// a narrower one instead. So of each width, all that is as wide or wider takes at least what it would at that width's
/// rate, and what takes longest counts.
pub(crate) fn cycles(rates: &[Rate], demand: &Demand, unit: Unit) -> f64 {
    let of_unit = |rate: &&Rate| rate.unit == unit;
    rates
        .iter()
        .filter(of_unit)
        .map(|rate| {
            // What a loop of wide ones did, narrower ones could have done.
            let wider = rates.iter().filter(of_unit).filter(|other| other.bytes >= rate.bytes);
            let per_cycle = wider.map(|other| other.per_cycle).fold(0.0, f64::max);
            demand.times_from(unit, rate.bytes) as f64 / per_cycle
        })
        .fold(0.0, f64::max)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rate(bytes: usize, per_cycle: f64) -> Rate {
        Rate { unit: Unit::Loads, bytes, per_cycle }
    }

    fn demand(widths: &[(usize, u64)]) -> Demand {
        let mut demand = Demand::default();
        for &(bytes, times) in widths {
            (0..times).for_each(|_| demand.add(Unit::Loads, bytes));
        }
        demand
    }

    fn loads(rates: &[Rate], widths: &[(usize, u64)]) -> f64 {
        cycles(rates, &demand(widths), Unit::Loads)
    }

    #[test]
    fn narrow_ones_take_the_time_of_narrow_ones_and_wide_ones_that_of_wide_ones() {
        let rates = [rate(8, 4.0), rate(16, 3.0), rate(64, 2.0)];
        assert_eq!(loads(&rates, &[(8, 12)]).to_bits(), 3f64.to_bits());
        assert_eq!(loads(&rates, &[(64, 12)]).to_bits(), 6f64.to_bits());
        assert_eq!(
            loads(&rates, &[(64, 2), (8, 14)]).to_bits(),
            4f64.to_bits(),
            "the sixteen at four a cycle"
        );
        assert_eq!(loads(&rates, &[(64, 8), (8, 1)]).to_bits(), 4f64.to_bits(), "the wide ones alone");
        assert_eq!(loads(&rates, &[(32, 6)]).to_bits(), 2f64.to_bits(), "as wide as 16, which was measured");
    }

    #[test]
    fn a_narrow_one_is_no_slower_than_a_wide_one() {
        assert_eq!(loads(&[rate(8, 1.9), rate(64, 2.0)], &[(8, 4)]).to_bits(), 2f64.to_bits());
    }

    #[test]
    fn a_unit_that_nothing_asks_for_needs_no_cycles() {
        assert_eq!(cycles(&[rate(8, 2.0)], &demand(&[(8, 4)]), Unit::Stores).to_bits(), 0);
    }

    #[test]
    fn lanes_are_those_of_the_registers() {
        let demand = demand(&[(16, 1), (32, 2), (64, 3)]);
        assert_eq!((demand.times(Unit::Loads), demand.lanes(Unit::Loads)), (6, 17));
    }
}
