//! What must hold of the caches between any two operations.

use super::caches::Caches;
use super::config::Inclusion;
use super::directory::Entry;
use super::state::State;

impl Caches {
    /// A seeded fault: a core loses a line without the directory noticing.
    #[cfg(test)]
    pub(crate) fn forget_a_private_line(&mut self) {
        let (line, _) = self.cores[0].lines().next().expect("the core holds a line");
        self.cores[0].remove(line);
    }

    /// Checks what must hold between any two operations; the error describes the first violation.
    pub(crate) fn check(&self) -> Result<(), String> {
        let mut held = 0u64;
        for (core, private) in self.cores.iter().enumerate() {
            for (line, state) in private.lines() {
                held += 1;
                let known = self.directory.find(self.home(line)).map(|known| known.1.entry());
                let Some(Entry::Held(sharers)) = known else {
                    return Err(format!(
                        "core {core} holds line {line:#x} unknown to the directory"
                    ));
                };
                if sharers >> core & 1 == 0 {
                    return Err(format!(
                        "core {core} holds line {line:#x} unknown to the directory"
                    ));
                }
                if state.writable() && sharers != 1 << core {
                    return Err(format!("line {line:#x} is writable in core {core} and shared"));
                }
                let dirty = private.state(line).is_some_and(State::dirty);
                if dirty && !state.writable() {
                    return Err(format!("line {line:#x} is dirty in core {core} and not writable"));
                }
                let in_llc = self.llc.find(self.home(line)).is_some();
                if !in_llc && self.inclusion == Inclusion::Inclusive {
                    return Err(format!(
                        "core {core} holds line {line:#x}, the LLC, which is inclusive, does not"
                    ));
                }
                if state.writable() && in_llc && self.inclusion == Inclusion::NonInclusive {
                    return Err(format!(
                        "line {line:#x} is writable in core {core} and in the LLC"
                    ));
                }
            }
            if let Some(line) = private.l1_lines().find(|&l| !private.holds(l)) {
                return Err(format!(
                    "the L1d of core {core} holds line {line:#x}, its L2 does not"
                ));
            }
        }
        let known: u64 = self.directory.held().map(|(_, s)| u64::from(s.count_ones())).sum();
        if known != held {
            return Err(format!("the directory knows {known} private copies, the L2s hold {held}"));
        }
        Ok(())
    }
}
