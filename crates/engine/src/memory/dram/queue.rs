//! Requests that wait in a channel, and the choice among them: first ready, first come.

use super::device::{Device, Step};

/// A request in the controller.
#[derive(Clone, Debug)]
pub(super) struct Entry {
    /// No command for this request can be issued before this clock: a lower bound, which is
    /// brought up to date when it is reached.
    pub ready: u64,
    /// Order of arrival.
    pub age: u64,
    pub line: u32,
    pub row: u32,
    pub bank: u32,
    pub tag: u32,
    pub write: bool,
    /// A row has been closed for this request: it counts as a conflict.
    pub conflict: bool,
}

/// Waiting requests, in no order.
#[derive(Clone, Debug)]
pub(super) struct Queue {
    pub entries: Vec<Entry>,
    /// No entry is ready before this clock.
    pub next: u64,
}

impl Queue {
    pub(super) fn new(capacity: usize) -> Queue {
        Queue { entries: Vec::with_capacity(capacity), next: u64::MAX }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    pub(super) fn len(&self) -> usize {
        self.entries.len()
    }

    #[inline]
    pub(super) fn push(&mut self, entry: Entry) {
        self.next = self.next.min(entry.ready);
        self.entries.push(entry);
    }

    #[inline]
    pub(super) fn remove(&mut self, index: usize) -> Entry {
        self.entries.swap_remove(index)
    }

    /// The oldest entry whose next command may be issued at `now`; brings the bounds up to date.
    #[inline]
    pub(super) fn first_ready(&mut self, device: &Device, now: u64) -> Option<usize> {
        if self.next > now {
            return None;
        }
        loop {
            let mut best: Option<(usize, u64)> = None;
            let mut next = u64::MAX;
            for (i, entry) in self.entries.iter_mut().enumerate() {
                if entry.ready <= now {
                    entry.ready = device.ready(entry);
                    if entry.ready <= now {
                        match best {
                            None => best = Some((i, entry.age)),
                            Some((_, age)) => {
                                next = now;
                                if entry.age < age {
                                    best = Some((i, entry.age));
                                }
                            }
                        }
                        continue;
                    }
                }
                next = next.min(entry.ready);
            }
            self.next = next;
            let (index, _) = best?;
            match self.older_hit(index, device) {
                None => return Some(index),
                // Not now: the hit is older and not ready, so its row stays open until then.
                Some(ready) => self.entries[index].ready = ready.max(now + 1),
            }
        }
    }

    /// If `entries[index]` is about to close a row that an older request of this queue still wants:
    /// when that request is ready.
    #[inline]
    fn older_hit(&self, index: usize, device: &Device) -> Option<u64> {
        let entry = &self.entries[index];
        let bank = &device.banks[entry.bank as usize];
        if bank.queued[usize::from(entry.write)] == 1 || device.step(entry) != Step::Precharge {
            return None;
        }
        let hit = |e: &&Entry| e.bank == entry.bank && e.row == bank.row && e.age < entry.age;
        self.entries.iter().filter(hit).map(|e| e.ready).min()
    }

    /// The state of `bank` changed in a way that may bring its requests forward.
    pub(super) fn refresh_bound(&mut self, bank: u32, device: &Device) {
        for entry in &mut self.entries {
            if entry.bank == bank {
                entry.ready = device.ready(entry);
                self.next = self.next.min(entry.ready);
            }
        }
    }
}
