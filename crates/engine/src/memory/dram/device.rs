//! The state of a channel's DRAM devices: which rows are open, and the earliest clock at which each
//! command may follow.
//!
//! Every timing rule says "command B no earlier than n clocks after command A" at some level: bank,
//! bank group, rank, or across ranks. When A is issued, the level's earliest clock for B is raised;
//! B may be issued at the maximum over its levels. These clocks only ever grow, so one computed
//! earlier is a lower bound later.

use super::agenda::NEVER;
use super::gaps::Gaps;
use super::timing::Timings;

/// Most banks (and bank groups) and ranks of a channel. The arrays have these constant powers of
/// two as length, so that an index needs no check but a mask.
pub(crate) const BANKS: usize = 256;
pub(super) const RANKS: usize = 16;

/// No row is open.
pub(super) const CLOSED: u32 = u32::MAX;

/// A bank. All times are clocks of the channel. (Aligned so that indexing is a shift.)
#[derive(Clone, Debug)]
#[repr(align(64))]
pub(super) struct Bank {
    next_activate: u64,
    next_precharge: u64,
    next_column: u64,
    /// The open row, or [`CLOSED`].
    pub row: u32,
    group: u16,
    rank: u16,
    /// A request opened the row and has not accessed it yet: the row must stay.
    pub reserved: bool,
    /// Column accesses since the row was opened.
    pub accesses: u32,
    /// Last column access.
    pub last_access: u64,
    /// The row policy has put the bank on its list.
    pub watched: bool,
}

#[derive(Clone, Copy, Debug, Default)]
#[repr(align(32))]
struct Group {
    next_activate: u64,
    /// Read, write.
    next_column: [u64; 2],
}

#[derive(Clone, Copy, Debug, Default)]
#[repr(align(128))]
struct Rank {
    next_activate: u64,
    next_precharge: u64,
    /// Read, write.
    next_column: [u64; 2],
    next_refresh: u64,
    /// The last four activates, the oldest at `oldest_activate`, each plus tFAW.
    window: [u64; 4],
    oldest_activate: usize,
    /// Banks with an open row, and of these the reserved ones.
    open: u32,
    reserved: u32,
}

/// The next command towards serving a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd)]
#[repr(u8)]
pub(super) enum Step {
    Precharge,
    Activate,
    Read,
    Write,
}

impl Step {
    #[inline]
    pub(super) fn access(write: bool) -> Step {
        if write { Step::Write } else { Step::Read }
    }
}

/// The devices of one channel.
#[derive(Clone, Debug)]
pub(super) struct Device {
    gaps: Gaps,
    banks: [Bank; BANKS],
    groups: [Group; BANKS],
    ranks: [Rank; RANKS],
    banks_per_rank: usize,
    /// The rank of the last read or write, and the earliest read and write for all other ranks.
    /// (For its own rank they are in [`Rank`].)
    bus_rank: u16,
    bus_next: [u64; 2],
}

impl Device {
    pub(super) fn new(t: &Timings, groups_per_rank: u32, banks_per_group: u32) -> Device {
        let banks_per_rank = groups_per_rank * banks_per_group;
        let bank = |i: usize| Bank {
            row: CLOSED,
            group: (i / banks_per_group as usize) as u16,
            rank: (i / banks_per_rank as usize) as u16,
            next_activate: 0,
            next_precharge: 0,
            next_column: 0,
            reserved: false,
            accesses: 0,
            last_access: 0,
            watched: false,
        };
        Device {
            gaps: Gaps::new(t),
            banks: std::array::from_fn(bank),
            groups: [Group::default(); BANKS],
            ranks: [Rank::default(); RANKS],
            banks_per_rank: banks_per_rank as usize,
            bus_rank: 0,
            bus_next: [0; 2],
        }
    }

    #[inline]
    pub(super) fn bank(&self, bank: u16) -> &Bank {
        &self.banks[bank as usize % BANKS]
    }

    #[inline]
    pub(super) fn bank_mut(&mut self, bank: u16) -> &mut Bank {
        &mut self.banks[bank as usize % BANKS]
    }

    /// The earliest clock for a command to `bank`, as far as the commands until now say.
    #[inline]
    pub(super) fn ready(&self, bank: u16, step: Step) -> u64 {
        let bank = &self.banks[bank as usize % BANKS];
        let group = &self.groups[bank.group as usize % BANKS];
        let rank = &self.ranks[bank.rank as usize % RANKS];
        let which = match step {
            Step::Precharge => return bank.next_precharge.max(rank.next_precharge),
            Step::Activate => {
                return bank.next_activate.max(group.next_activate).max(rank.next_activate);
            }
            Step::Read => 0,
            Step::Write => 1,
        };
        let ready = group.next_column[which].max(rank.next_column[which]).max(bank.next_column);
        if bank.rank == self.bus_rank { ready } else { ready.max(self.bus_next[which]) }
    }

    /// The earliest precharge of `bank`.
    pub(super) fn precharge_ready(&self, bank: u16) -> u64 {
        let b = &self.banks[bank as usize % BANKS];
        b.next_precharge.max(self.ranks[b.rank as usize % RANKS].next_precharge)
    }

    /// Opens a row for a request; gives a lower bound of the clock for its first access.
    #[inline]
    pub(super) fn activate(&mut self, bank: u16, row: u32, now: u64) -> u64 {
        let gaps = &self.gaps;
        let b = &mut self.banks[bank as usize % BANKS];
        debug_assert_eq!(b.row, CLOSED, "activate of an open bank");
        b.row = row;
        b.reserved = true;
        b.accesses = 0;
        b.next_column = now + gaps.activate_to_column;
        b.next_precharge = now + gaps.activate_to_precharge;
        b.next_activate = now + gaps.activate_to_activate;
        let group = &mut self.groups[b.group as usize % BANKS];
        group.next_activate = now + gaps.activate_to_activate_group;
        let rank = &mut self.ranks[b.rank as usize % RANKS];
        rank.open += 1;
        rank.reserved += 1;
        rank.window[rank.oldest_activate % 4] = now + gaps.activate_to_fifth;
        rank.oldest_activate = (rank.oldest_activate + 1) % 4;
        let fifth = rank.window[rank.oldest_activate];
        rank.next_activate =
            rank.next_activate.max(now + gaps.activate_to_activate_rank).max(fifth);
        b.next_column
    }

    /// Closes a row; gives a lower bound of the clock for the next activate.
    #[inline]
    pub(super) fn precharge(&mut self, bank: u16, now: u64) -> u64 {
        let b = &mut self.banks[bank as usize % BANKS];
        debug_assert!(b.row != CLOSED && !b.reserved, "precharge of a closed or reserved bank");
        b.row = CLOSED;
        b.next_activate = b.next_activate.max(now + self.gaps.precharge_to_activate);
        let rank = &mut self.ranks[b.rank as usize % RANKS];
        rank.open -= 1;
        rank.next_precharge = now + self.gaps.precharge_to_precharge;
        b.next_activate
    }

    /// A read or write of the open row of `bank`; `close` adds the auto-precharge. Gives the clock
    /// after the last data beat.
    #[inline]
    pub(super) fn column(&mut self, bank: u16, write: bool, close: bool, now: u64) -> u64 {
        let gaps = &self.gaps.column[usize::from(write)];
        let b = &mut self.banks[bank as usize % BANKS];
        let group = &mut self.groups[b.group as usize % BANKS];
        let rank = &mut self.ranks[b.rank as usize % RANKS];
        b.accesses += 1;
        b.last_access = now;
        b.next_precharge = b.next_precharge.max(now + gaps.precharge);
        if close {
            b.row = CLOSED;
            let reopen = b.next_precharge + self.gaps.precharge_to_activate;
            b.next_activate = b.next_activate.max(reopen);
            rank.open -= 1;
        }
        if b.rank != self.bus_rank {
            // What the ranks before this one asked of it stays in force.
            for which in 0..2 {
                rank.next_column[which] = rank.next_column[which].max(self.bus_next[which]);
            }
            self.bus_rank = b.rank;
        }
        for which in 0..2 {
            let raise = |clock: &mut u64, gap: u64| *clock = (*clock).max(now + gap);
            raise(&mut group.next_column[which], gaps.same_group[which]);
            raise(&mut rank.next_column[which], gaps.same_rank[which]);
            raise(&mut self.bus_next[which], gaps.other_rank[which]);
        }
        now + gaps.data
    }

    /// Clocks that an activate, read or write occupies the command bus.
    #[inline]
    pub(super) fn long_command(&self) -> u64 {
        self.gaps.long_command
    }

    /// The request that opened the row has accessed it, and others may close it.
    #[inline]
    pub(super) fn release(&mut self, bank: u16) {
        let b = &mut self.banks[bank as usize % BANKS];
        b.reserved = false;
        self.ranks[b.rank as usize % RANKS].reserved -= 1;
    }

    /// The banks of a rank.
    pub(super) fn banks_of(&self, rank: u32) -> std::ops::Range<usize> {
        let first = rank as usize * self.banks_per_rank;
        first..first + self.banks_per_rank
    }

    /// Whether a refresh of `rank` still needs its banks closed, and the earliest clock for the
    /// next command towards it (never, while a reserved bank has to be waited for).
    pub(super) fn refresh_step(&self, rank: u32) -> (Step, u64) {
        let state = &self.ranks[rank as usize % RANKS];
        let banks = &self.banks[self.banks_of(rank)];
        if state.reserved > 0 {
            (Step::Precharge, NEVER)
        } else if state.open > 0 {
            let ready = banks.iter().map(|b| b.next_precharge).fold(state.next_precharge, u64::max);
            (Step::Precharge, ready)
        } else {
            // An activate would be possible in every bank: tRC and tRP have passed everywhere.
            let ready = banks.iter().map(|b| b.next_activate).fold(0, u64::max);
            (Step::Activate, state.next_refresh.max(ready + self.gaps.activate_to_refresh))
        }
    }

    /// Closes all banks of a rank with one command.
    pub(super) fn precharge_all(&mut self, rank: u32, now: u64) {
        let banks = self.banks_of(rank);
        for b in &mut self.banks[banks] {
            debug_assert!(!b.reserved, "precharge of a reserved bank");
            b.row = CLOSED;
            b.next_activate = b.next_activate.max(now + self.gaps.precharge_to_activate);
        }
        let state = &mut self.ranks[rank as usize % RANKS];
        state.open = 0;
        state.next_precharge = now + self.gaps.precharge_to_precharge;
    }

    /// Refreshes a rank whose banks are all closed.
    pub(super) fn refresh(&mut self, rank: u32, now: u64) {
        let state = &mut self.ranks[rank as usize % RANKS];
        debug_assert_eq!(state.open, 0, "refresh of a rank with open banks");
        state.next_activate = state.next_activate.max(now + self.gaps.refresh_to_activate);
        state.next_refresh = now + self.gaps.refresh_to_refresh;
    }
}
