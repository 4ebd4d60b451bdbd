//! Collects what is wrong with the values of a configuration.
//!
//! A component checks its own keys, in a `check` next to its configuration types; relations between
//! components are checked in [`crate::config::validate`].

use std::fmt::Display;
use std::ops::RangeInclusive;

use crate::units::Frequency;

/// A value that cannot be simulated.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{key} = {given}; expected {allowed}")]
pub struct Violation {
    /// The dotted key, such as `placement.io_ways` or `tenants.0.cores.count`.
    pub key: String,
    /// What was given.
    pub given: String,
    /// What is allowed, and why.
    pub allowed: String,
}

/// Everything that `check` finds wrong.
pub(crate) fn violations(check: impl FnOnce(&mut Check)) -> Vec<Violation> {
    let mut found = Check::default();
    check(&mut found);
    found.violations
}

/// The first thing that `check` finds wrong, as an error.
pub(crate) fn ensure(check: impl FnOnce(&mut Check)) -> Result<(), Violation> {
    violations(check).into_iter().next().map_or(Ok(()), Err)
}

/// Collects violations in the order in which they are found.
#[derive(Debug, Default)]
pub(crate) struct Check {
    /// The table that keys are relative to, with a trailing dot.
    table: String,
    violations: Vec<Violation>,
}

impl Check {
    /// Runs `check` with keys relative to `table`; returns whether it finds nothing wrong.
    pub(crate) fn below(&mut self, table: &str, check: impl FnOnce(&mut Check)) -> bool {
        let (outer, before) = (self.table.len(), self.violations.len());
        self.table.push_str(table);
        self.table.push('.');
        check(self);
        self.table.truncate(outer);
        self.violations.len() == before
    }

    /// Refuses `given`.
    pub(crate) fn refuse(&mut self, key: &str, given: impl Display, allowed: impl Into<String>) {
        let key = format!("{}{key}", self.table);
        self.violations.push(Violation { key, given: given.to_string(), allowed: allowed.into() });
    }

    /// Refuses `given` unless `holds`.
    pub(crate) fn that(&mut self, holds: bool, key: &str, given: impl Display, allowed: &str) {
        if !holds {
            self.refuse(key, given, allowed);
        }
    }

    /// Refuses `given` outside of a range; a NaN is outside of any.
    pub(crate) fn within<T>(&mut self, key: &str, given: T, range: RangeInclusive<T>)
    where
        T: PartialOrd + Display,
    {
        self.within_what(key, given, range, "");
    }

    /// The same, where `what` describes the range, as in ", the ways of the LLC".
    pub(crate) fn within_what<T>(
        &mut self,
        key: &str,
        given: T,
        range: RangeInclusive<T>,
        what: &str,
    ) where
        T: PartialOrd + Display,
    {
        if !range.contains(&given) {
            self.refuse(key, given, format!("{} to {}{what}", range.start(), range.end()));
        }
    }

    /// Refuses zero.
    pub(crate) fn at_least_one(&mut self, key: &str, given: u32) {
        self.that(given > 0, key, given, "at least 1");
    }

    /// Refuses a clock of the processor that is not of 100 MHz to 10 GHz in whole megahertz, which keep
    /// cycle counts exact in 64-bit arithmetic for hours of simulated time.
    pub(crate) fn clock(&mut self, key: &str, given: Frequency) {
        const MHZ: u64 = 1_000_000;
        let holds = (100 * MHZ..=10_000 * MHZ).contains(&given.0) && given.0.is_multiple_of(MHZ);
        self.that(holds, key, given, "100 MHz to 10 GHz in whole MHz");
    }

    /// Refuses `given` unless it is one of `allowed`.
    pub(crate) fn one_of<T: PartialEq + Display>(&mut self, key: &str, given: T, allowed: &[T]) {
        if !allowed.contains(&given) {
            let names: Vec<String> = allowed.iter().map(T::to_string).collect();
            self.refuse(key, given, names.join(", "));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_violation_names_the_whole_key() {
        let wrong = violations(|check| {
            check.below("machine", |check| {
                check.below("dram", |check| check.within("ranks", 17, 1..=16));
                check.at_least_one("count", 0);
            });
            check.one_of("lanes", 3, &[1, 2]);
        });
        let told: Vec<String> = wrong.iter().map(ToString::to_string).collect();
        assert_eq!(
            told,
            [
                "machine.dram.ranks = 17; expected 1 to 16",
                "machine.count = 0; expected at least 1",
                "lanes = 3; expected 1, 2",
            ]
        );
    }

    #[test]
    fn what_is_no_number_lies_in_no_range() {
        let beta = |given| ensure(|check| check.within("beta", given, 0.0..=1.0));
        assert_eq!(beta(1.0), Ok(()));
        assert!(beta(f64::NAN).is_err());
    }
}
