//! Cost per message and per byte: a line fitted through the cost at several lengths.

use super::results::{Cost, Measurement, ScheduleName};
use super::workload::Lengths;

/// Fits a line for every algorithm, direction and schedule that was measured at two or more lengths on this backend.
pub(crate) fn of_all(results: &[Measurement], backend: &str) -> Vec<Cost> {
    let mut costs: Vec<Cost> = Vec::new();
    for first in results {
        let known = costs.iter().any(|cost| (cost.algorithm, cost.direction, cost.schedule) == key(first));
        if known || !matches!(first.schedule, ScheduleName::Auto | ScheduleName::Single) {
            continue;
        }
        let points: Vec<(f64, f64)> = results
            .iter()
            .filter(|m| key(m) == key(first) && m.backend == backend && m.keys == 1)
            .filter_map(|m| match m.lengths {
                Lengths::Fixed(bytes) => Some((bytes as f64, m.cpb * bytes as f64)),
                Lengths::Mix | Lengths::Trace => None,
            })
            .collect();
        if let Some((cycles_per_message, cycles_per_byte)) = line(&points) {
            let (algorithm, direction, schedule) = key(first);
            let off = |&(x, y): &(f64, f64)| (cycles_per_message + cycles_per_byte * x - y).abs() / y;
            let off_by = points.iter().map(off).fold(0.0, f64::max);
            costs.push(Cost { algorithm, direction, schedule, cycles_per_message, cycles_per_byte, off_by });
        }
    }
    costs
}

fn key(m: &Measurement) -> (&'static str, super::results::Direction, ScheduleName) {
    (m.algorithm, m.direction, m.schedule)
}

/// Returns intercept and slope of the best-fit line, or `None` if all points have the same length.
///
/// Errors are relative to each point's cost, so that short messages, which determine the intercept, count as much as
/// long ones. Neither value is negative. If the unconstrained line has a negative intercept, because long messages
/// cost more per byte than short ones, the result is the best line through the origin; if its slope is negative, the
/// best horizontal line.
fn line(points: &[(f64, f64)]) -> Option<(f64, f64)> {
    let weighted = |f: fn(f64, f64) -> f64| points.iter().map(|&(x, y)| f(x, y) / (y * y)).sum::<f64>();
    let (n, x, y) = (weighted(|_, _| 1.0), weighted(|x, _| x), weighted(|_, y| y));
    let (xx, xy) = (weighted(|x, _| x * x), weighted(|x, y| x * y));
    let spread = n * xx - x * x;
    let slope = (n * xy - x * y) / spread;
    let intercept = (y - slope * x) / n;
    let fits = points.iter().any(|point| point.0.to_bits() != points[0].0.to_bits());
    fits.then_some(if intercept < 0.0 {
        (0.0, xy / xx)
    } else if slope < 0.0 {
        (y / n, 0.0)
    } else {
        (intercept, slope)
    })
}

#[cfg(test)]
mod tests {
    use super::line;

    #[test]
    fn points_on_a_line_give_that_line() {
        let (intercept, slope) = line(&[(64.0, 42.0), (128.0, 74.0), (2048.0, 1034.0)]).unwrap();
        assert!((intercept - 10.0).abs() < 1e-6 && (slope - 0.5).abs() < 1e-9, "{intercept} + {slope} x");
    }

    #[test]
    fn no_cost_is_below_zero() {
        let (intercept, slope) = line(&[(64.0, 10.0), (512.0, 90.0), (8192.0, 3000.0)]).unwrap();
        assert!(intercept.to_bits() == 0 && slope > 0.15, "{intercept} + {slope} x");
        let (intercept, slope) = line(&[(64.0, 42.0), (128.0, 40.0)]).unwrap();
        assert!(intercept > 39.0 && slope.to_bits() == 0, "{intercept} + {slope} x");
    }

    #[test]
    fn one_length_gives_no_line() {
        assert_eq!(line(&[(64.0, 42.0), (64.0, 43.0)]), None);
        assert_eq!(line(&[]), None);
    }
}
