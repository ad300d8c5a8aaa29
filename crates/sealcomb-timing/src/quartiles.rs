//! Median and quartiles.

/// Lower quartile, median and upper quartile of a sample.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Quartiles {
    /// The lower quartile.
    pub q1: f64,
    /// The median.
    pub median: f64,
    /// The upper quartile.
    pub q3: f64,
}

impl Quartiles {
    /// Returns the quartiles of `sample`, linearly interpolated.
    ///
    /// # Panics
    /// If the sample is empty.
    pub fn of(mut sample: Vec<f64>) -> Self {
        assert!(!sample.is_empty(), "quartiles of an empty sample");
        sample.sort_by(f64::total_cmp);
        let at = |part: f64| {
            let position = part * (sample.len() - 1) as f64;
            let below = position.floor() as usize;
            let above = position.ceil() as usize;
            sample[below] + (sample[above] - sample[below]) * position.fract()
        };
        Self { q1: at(0.25), median: at(0.5), q3: at(0.75) }
    }

    /// Divides all three by `divisor`, for example cycles by bytes.
    #[must_use]
    pub fn per(self, divisor: f64) -> Self {
        Self { q1: self.q1 / divisor, median: self.median / divisor, q3: self.q3 / divisor }
    }
}

#[cfg(test)]
mod tests {
    use super::Quartiles;

    #[test]
    fn quartiles_are_found_in_any_order() {
        let quartiles = Quartiles::of(vec![5.0, 1.0, 4.0, 2.0, 3.0]);
        assert_eq!(quartiles, Quartiles { q1: 2.0, median: 3.0, q3: 4.0 });
    }

    #[test]
    fn quartiles_between_two_values_are_interpolated() {
        let quartiles = Quartiles::of(vec![0.0, 1.0, 2.0, 3.0]);
        assert_eq!(quartiles, Quartiles { q1: 0.75, median: 1.5, q3: 2.25 });
    }

    #[test]
    fn dividing_divides_all_three() {
        let quartiles = Quartiles::of(vec![8.0]).per(4.0);
        assert_eq!(quartiles, Quartiles { q1: 2.0, median: 2.0, q3: 2.0 });
    }
}
