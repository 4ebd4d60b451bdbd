//! The state of a channel's DRAM devices: which rows are open, and the earliest clock at which each
//! command may follow.
//!
//! Every timing rule says "command B no earlier than n clocks after command A" at some level: bank,
//! bank group, rank, or across ranks. When A is issued, the level's earliest clock for B is raised;
//! B may be issued at the maximum over its levels. These clocks only ever grow, so one computed
//! earlier is a lower bound later.
//!
//! DDR5 sends activate, read and write in two clocks. The standard counts its timings from the
//! clock at which a command is complete, so all clocks stored here are those of completion; the
//! functions take and give the clock at which a command starts.

use super::queue::{Entry, NEVER, NONE};
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
    /// First of the requests for this bank.
    pub first_request: u16,
}

#[derive(Clone, Debug, Default)]
#[repr(align(32))]
struct Group {
    next_activate: u64,
    next_read: u64,
    next_write: u64,
}

#[derive(Clone, Copy, Debug, Default)]
#[repr(align(128))]
struct Rank {
    next_activate: u64,
    next_precharge: u64,
    next_read: u64,
    next_write: u64,
    next_refresh: u64,
    /// The last four activates, the oldest at `oldest_activate`, each plus tFAW.
    window: [u64; 4],
    oldest_activate: usize,
    /// Banks with an open row, and of these the reserved ones.
    open: u32,
    reserved: u32,
}

fn boxed<T: std::fmt::Debug>(items: Vec<T>) -> Box<[T; BANKS]> {
    items.try_into().expect("as many as the array holds")
}

/// What to do next for a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Step {
    Precharge,
    Activate,
    Column,
}

/// The devices of one channel.
#[derive(Clone, Debug)]
pub(super) struct Device {
    pub t: Timings,
    banks: Box<[Bank; BANKS]>,
    groups: Box<[Group; BANKS]>,
    ranks: [Rank; RANKS],
    banks_per_rank: usize,
    /// The rank of the last read or write, and the earliest read and write for all other ranks.
    /// (For its own rank they are in [`Rank`].)
    bus_rank: u16,
    bus_read: u64,
    bus_write: u64,
    /// Clocks from the start of an activate, read or write to its completion.
    tail: u64,
}

impl Device {
    pub(super) fn new(t: Timings, groups_per_rank: u32, banks_per_group: u32) -> Device {
        let banks_per_rank = groups_per_rank * banks_per_group;
        let bank = |i: u32| Bank {
            row: CLOSED,
            group: (i / banks_per_group) as u16,
            rank: (i / banks_per_rank) as u16,
            next_activate: 0,
            next_precharge: 0,
            next_column: 0,
            reserved: false,
            accesses: 0,
            last_access: 0,
            watched: false,
            first_request: NONE,
        };
        Device {
            t,
            banks: boxed((0..BANKS as u32).map(bank).collect()),
            groups: boxed(vec![Group::default(); BANKS]),
            ranks: [Rank::default(); RANKS],
            banks_per_rank: banks_per_rank as usize,
            bus_rank: 0,
            bus_read: 0,
            bus_write: 0,
            tail: u64::from(t.command_clocks - 1),
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

    /// The command that brings `entry` forward.
    #[inline]
    pub(super) fn step(&self, entry: &Entry) -> Step {
        match self.banks[entry.bank as usize % BANKS].row {
            row if row == entry.row => Step::Column,
            CLOSED => Step::Activate,
            _ => Step::Precharge,
        }
    }

    /// The earliest clock for that command; never, while the bank is reserved for another row.
    #[inline]
    pub(super) fn ready(&self, entry: &Entry) -> u64 {
        let bank = &self.banks[entry.bank as usize % BANKS];
        if bank.row == entry.row {
            return self.column_ready(entry);
        }
        let rank = &self.ranks[bank.rank as usize % RANKS];
        if bank.row == CLOSED {
            let group = &self.groups[bank.group as usize % BANKS];
            let ready = bank.next_activate.max(group.next_activate).max(rank.next_activate);
            ready.saturating_sub(self.tail)
        } else if bank.reserved {
            NEVER
        } else {
            bank.next_precharge.max(rank.next_precharge)
        }
    }

    /// The earliest clock for a read or write of the open row of `entry`'s bank.
    #[inline]
    pub(super) fn column_ready(&self, entry: &Entry) -> u64 {
        let bank = &self.banks[entry.bank as usize % BANKS];
        let group = &self.groups[bank.group as usize % BANKS];
        let rank = &self.ranks[bank.rank as usize % RANKS];
        let (shared, bus) = if entry.write {
            (group.next_write.max(rank.next_write), self.bus_write)
        } else {
            (group.next_read.max(rank.next_read), self.bus_read)
        };
        let mut ready = bank.next_column.max(shared);
        if bank.rank != self.bus_rank {
            ready = ready.max(bus);
        }
        ready.saturating_sub(self.tail)
    }

    /// The earliest precharge of `bank`.
    pub(super) fn precharge_ready(&self, bank: u16) -> u64 {
        let b = &self.banks[bank as usize % BANKS];
        b.next_precharge.max(self.ranks[b.rank as usize % RANKS].next_precharge)
    }

    /// Opens a row for a request; gives a lower bound of the clock for its first access.
    #[inline]
    pub(super) fn activate(&mut self, bank: u16, row: u32, start: u64) -> u64 {
        let t = &self.t;
        let now = start + self.tail;
        let b = &mut self.banks[bank as usize % BANKS];
        debug_assert_eq!(b.row, CLOSED, "activate of an open bank");
        b.row = row;
        b.reserved = true;
        b.accesses = 0;
        b.next_column = now + u64::from(t.rcd);
        b.next_precharge = now + u64::from(t.ras);
        b.next_activate = now + u64::from(t.rc);
        let group = &mut self.groups[b.group as usize % BANKS];
        group.next_activate = now + u64::from(t.rrd_l);
        let rank = &mut self.ranks[b.rank as usize % RANKS];
        rank.open += 1;
        rank.reserved += 1;
        rank.window[rank.oldest_activate % 4] = now + u64::from(t.faw);
        rank.oldest_activate = (rank.oldest_activate + 1) % 4;
        let fifth = rank.window[rank.oldest_activate % 4];
        rank.next_activate = rank.next_activate.max(now + u64::from(t.rrd_s)).max(fifth);
        start + u64::from(t.rcd)
    }

    /// Closes a row; gives a lower bound of the clock for the next activate.
    #[inline]
    pub(super) fn precharge(&mut self, bank: u16, now: u64) -> u64 {
        let b = &mut self.banks[bank as usize % BANKS];
        debug_assert!(b.row != CLOSED && !b.reserved, "precharge of a closed or reserved bank");
        b.row = CLOSED;
        b.next_activate = b.next_activate.max(now + u64::from(self.t.rp));
        let rank = &mut self.ranks[b.rank as usize % RANKS];
        rank.open -= 1;
        rank.next_precharge = now + u64::from(self.t.ppd);
        b.next_activate.saturating_sub(self.tail)
    }

    /// A read or write of the open row of `bank`; `close` adds the auto-precharge. Gives the clock
    /// after the last data beat.
    #[inline]
    pub(super) fn column(&mut self, bank: u16, write: bool, close: bool, start: u64) -> u64 {
        let t = &self.t;
        let now = start + self.tail;
        let b = &mut self.banks[bank as usize % BANKS];
        b.accesses += 1;
        b.last_access = now;
        let to_precharge = if write { t.wr_to_pre() } else { t.rtp };
        b.next_precharge = b.next_precharge.max(now + u64::from(to_precharge));
        if close {
            b.row = CLOSED;
            b.next_activate = b.next_activate.max(b.next_precharge + u64::from(t.rp));
            self.ranks[b.rank as usize % RANKS].open -= 1;
        }
        let group = &mut self.groups[b.group as usize % BANKS];
        // (earliest read, earliest write) of the same rank, and of the others.
        let (same, other) = if write {
            group.next_read = group.next_read.max(now + u64::from(t.wr_to_rd_l()));
            group.next_write = now + u64::from(t.ccd_l_wr);
            ((t.wr_to_rd_s(), t.ccd_s_wr.max(t.bl)), (t.wr_to_rd_other_rank(), t.bl))
        } else {
            group.next_read = now + u64::from(t.ccd_l);
            ((t.ccd_s.max(t.bl), t.rd_to_wr), (t.bl + t.rank_switch, t.rd_to_wr_other_rank))
        };
        let rank = &mut self.ranks[b.rank as usize % RANKS];
        if b.rank != self.bus_rank {
            // What the ranks before this one asked of it stays in force.
            rank.next_read = rank.next_read.max(self.bus_read);
            rank.next_write = rank.next_write.max(self.bus_write);
            self.bus_rank = b.rank;
        }
        rank.next_read = rank.next_read.max(now + u64::from(same.0));
        rank.next_write = rank.next_write.max(now + u64::from(same.1));
        self.bus_read = self.bus_read.max(now + u64::from(other.0));
        self.bus_write = self.bus_write.max(now + u64::from(other.1));
        now + u64::from(t.bl + if write { t.cwl } else { t.cl })
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
            let ready = banks.iter().map(|b| b.next_activate).fold(state.next_refresh, u64::max);
            (Step::Activate, ready)
        }
    }

    /// Closes all banks of a rank with one command.
    pub(super) fn precharge_all(&mut self, rank: u32, now: u64) {
        let banks = self.banks_of(rank);
        for b in &mut self.banks[banks] {
            debug_assert!(!b.reserved, "precharge of a reserved bank");
            b.row = CLOSED;
            b.next_activate = b.next_activate.max(now + u64::from(self.t.rp));
        }
        let state = &mut self.ranks[rank as usize % RANKS];
        state.open = 0;
        state.next_precharge = now + u64::from(self.t.ppd);
    }

    /// Refreshes a rank whose banks are all closed.
    pub(super) fn refresh(&mut self, rank: u32, now: u64) {
        let state = &mut self.ranks[rank as usize % RANKS];
        debug_assert_eq!(state.open, 0, "refresh of a rank with open banks");
        let end = now + u64::from(self.t.rfc);
        state.next_activate = state.next_activate.max(end);
        state.next_refresh = end;
    }
}
