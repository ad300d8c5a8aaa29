//! Execution units of a CPU, and the minimum cycles of each that a sequence of instructions needs.

use serde::Serialize;

/// A resource that limits how many instructions of a class a CPU executes per cycle.
#[derive(Serialize, Clone, Copy, PartialEq, Eq, Debug)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Unit {
    /// AES rounds.
    Aes,
    /// Carry-less products.
    Products,
    /// Moving bytes within registers.
    Shuffles,
    /// Any computation in vector registers, including rounds, products and shuffles.
    Vector,
    /// Reading memory, as a separate instruction or as an operand.
    Loads,
    /// Writing memory.
    Stores,
    /// Any instruction. A comparison and the branch that follows it count as one.
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

/// Sizes in bytes of a word and of registers of 1, 2 and 4 blocks.
pub(crate) const WIDTHS: [usize; 4] = [8, 16, 32, 64];

/// Size of a block in bytes.
pub(crate) const BLOCK: usize = 16;

/// Uses of each unit by a sequence of instructions.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub(crate) struct Demand {
    pub(crate) instructions: u64,
    /// Uses by unit and width.
    times: [[u64; WIDTHS.len()]; Unit::ALL.len()],
}

impl Demand {
    /// Adds one use of a unit, at the narrowest width of at least `bytes` bytes.
    #[cfg_attr(not(all(target_os = "linux", target_arch = "x86_64")), allow(dead_code))]
    pub(crate) fn add(&mut self, unit: Unit, bytes: usize) {
        let width = WIDTHS.iter().position(|width| bytes <= *width).unwrap_or(WIDTHS.len() - 1);
        self.times[unit as usize][width] += 1;
    }

    /// Adds all uses of another demand.
    #[cfg_attr(not(all(target_os = "linux", target_arch = "x86_64")), allow(dead_code))]
    pub(crate) fn add_all(&mut self, other: &Self) {
        self.instructions += other.instructions;
        for (times, others) in self.times.as_flattened_mut().iter_mut().zip(other.times.as_flattened()) {
            *times += others;
        }
    }

    /// Returns the number of uses of a unit.
    pub(crate) fn times(&self, unit: Unit) -> u64 {
        self.times[unit as usize].iter().sum()
    }

    /// Returns the uses of a unit in lanes of one block.
    pub(crate) fn lanes(&self, unit: Unit) -> u64 {
        let lanes = WIDTHS.map(|width| width.div_ceil(BLOCK) as u64);
        self.times[unit as usize].iter().zip(lanes).map(|(times, lanes)| times * lanes).sum()
    }

    /// Returns the number of uses of a unit at this width in bytes or a greater one.
    fn times_from(&self, unit: Unit, bytes: usize) -> u64 {
        let from = WIDTHS.iter().zip(self.times[unit as usize]).filter(|(width, _)| **width >= bytes);
        from.map(|(_, times)| times).sum()
    }
}

/// Maximum uses of a unit per cycle.
#[derive(Serialize, Clone, Debug)]
pub(crate) struct Rate {
    pub(crate) unit: Unit,
    /// Width of the register or word in bytes.
    pub(crate) bytes: usize,
    pub(crate) per_cycle: f64,
}

/// Returns the minimum cycles that a unit needs for a demand.
///
/// A port that executes wide operations also executes narrower ones. For each width, all operations of at least that
/// width therefore take at least their number over the rate of that width. The result is the maximum over the widths.
pub(crate) fn cycles(rates: &[Rate], demand: &Demand, unit: Unit) -> f64 {
    let of_unit = |rate: &&Rate| rate.unit == unit;
    rates
        .iter()
        .filter(of_unit)
        .map(|rate| {
            // A rate measured with wide operations is also a lower limit for narrower ones.
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
    fn narrow_and_wide_operations_take_the_time_of_their_own_rates() {
        let rates = [rate(8, 4.0), rate(16, 3.0), rate(64, 2.0)];
        assert_eq!(loads(&rates, &[(8, 12)]).to_bits(), 3f64.to_bits());
        assert_eq!(loads(&rates, &[(64, 12)]).to_bits(), 6f64.to_bits());
        assert_eq!(
            loads(&rates, &[(64, 2), (8, 14)]).to_bits(),
            4f64.to_bits(),
            "sixteen operations at four per cycle"
        );
        assert_eq!(loads(&rates, &[(64, 8), (8, 1)]).to_bits(), 4f64.to_bits(), "only the wide ones");
        assert_eq!(
            loads(&rates, &[(32, 6)]).to_bits(),
            2f64.to_bits(),
            "at the rate of width 16, the next narrower one that was measured"
        );
    }

    #[test]
    fn narrow_operations_are_at_least_as_fast_as_wide_ones() {
        assert_eq!(loads(&[rate(8, 1.9), rate(64, 2.0)], &[(8, 4)]).to_bits(), 2f64.to_bits());
    }

    #[test]
    fn an_unused_unit_needs_no_cycles() {
        assert_eq!(cycles(&[rate(8, 2.0)], &demand(&[(8, 4)]), Unit::Stores).to_bits(), 0);
    }

    #[test]
    fn lanes_count_the_blocks_of_registers() {
        let demand = demand(&[(16, 1), (32, 2), (64, 3)]);
        assert_eq!((demand.times(Unit::Loads), demand.lanes(Unit::Loads)), (6, 17));
    }
}
