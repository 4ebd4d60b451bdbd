//! The state of a channel's DRAM devices: which rows are open, and the earliest clock at which each
//! command may follow.
//!
//! Every timing rule says "command B no earlier than n clocks after command A" at some level: bank,
//! bank group, rank, or across ranks. When A is issued, the level's earliest clock for B is raised;
//! B may be issued at the maximum over its levels. These clocks only ever grow, so one computed
//! earlier is a lower bound later.

use super::commands::CommandBus;
use super::gaps::Gaps;
use super::queue::List;
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
    pub next_activate: u64,
    pub next_precharge: u64,
    next_column: u64,
    /// Last column access.
    pub last_access: u64,
    /// The open row, or [`CLOSED`].
    pub row: u32,
    /// A request opened the row and its access has no place yet: the row must stay.
    pub reserved: bool,
    /// Column accesses since the row was opened.
    pub accesses: u32,
    group: u16,
    rank: u16,
    /// The waiting reads and writes.
    pub waiting: [List; 2],
}

#[derive(Clone, Debug, Default)]
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
}

fn boxed<T: std::fmt::Debug>(items: Vec<T>) -> Box<[T; BANKS]> {
    items.try_into().expect("as many as the array holds")
}

/// The devices of one channel, and the command and data bus they share.
#[derive(Clone, Debug)]
pub(super) struct Device {
    gaps: Gaps,
    banks: Box<[Bank; BANKS]>,
    groups: Box<[Group; BANKS]>,
    ranks: [Rank; RANKS],
    banks_per_rank: usize,
    commands: CommandBus,
    /// The rank of the last burst, and the earliest read and write for all other ranks. (For its
    /// own rank they are in [`Rank`].)
    bus_rank: u16,
    bus_next: [u64; 2],
    /// An activate, read or write takes the command bus for two clocks.
    long: bool,
}

impl Device {
    pub(super) fn new(t: &Timings, groups_per_rank: u32, banks_per_group: u32) -> Device {
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
            waiting: [List::EMPTY; 2],
        };
        Device {
            gaps: Gaps::new(t),
            banks: boxed((0..BANKS as u32).map(bank).collect()),
            groups: boxed(vec![Group::default(); BANKS]),
            ranks: [Rank::default(); RANKS],
            banks_per_rank: banks_per_rank as usize,
            commands: CommandBus::default(),
            bus_rank: 0,
            bus_next: [0; 2],
            long: t.command_clocks == 2,
        }
    }

    /// Moves the command bus on to the present clock.
    #[inline]
    pub(super) fn advance(&mut self, now: u64) {
        self.commands.advance(now);
    }

    #[inline]
    pub(super) fn bank(&self, bank: u16) -> &Bank {
        &self.banks[bank as usize % BANKS]
    }

    #[inline]
    pub(super) fn bank_mut(&mut self, bank: u16) -> &mut Bank {
        &mut self.banks[bank as usize % BANKS]
    }

    /// The earliest activate of `bank`.
    #[inline]
    pub(super) fn activate_ready(&self, bank: u16) -> u64 {
        let b = self.bank(bank);
        let group = &self.groups[b.group as usize % BANKS];
        let rank = &self.ranks[b.rank as usize % RANKS];
        b.next_activate.max(group.next_activate).max(rank.next_activate)
    }

    /// The earliest precharge of `bank`.
    #[inline]
    pub(super) fn precharge_ready(&self, bank: u16) -> u64 {
        let b = self.bank(bank);
        b.next_precharge.max(self.ranks[b.rank as usize % RANKS].next_precharge)
    }

    /// Whether the command bus is free soon.
    #[inline]
    pub(super) fn takes_commands(&self) -> bool {
        self.commands.is_near()
    }

    /// Opens a row for a request, as soon as the command bus is free. Gives the clock.
    #[inline]
    pub(super) fn activate(&mut self, bank: u16, row: u32) -> u64 {
        let gaps = &self.gaps;
        let clock = self.commands.next(self.long);
        self.commands.take(clock, self.long);
        let b = &mut self.banks[bank as usize % BANKS];
        debug_assert_eq!(b.row, CLOSED, "activate of an open bank");
        b.row = row;
        b.reserved = true;
        b.accesses = 0;
        b.next_column = clock + gaps.activate_to_column;
        b.next_precharge = clock + gaps.activate_to_precharge;
        b.next_activate = clock + gaps.activate_to_activate;
        let group = &mut self.groups[b.group as usize % BANKS];
        group.next_activate = clock + gaps.activate_to_activate_group;
        let rank = &mut self.ranks[b.rank as usize % RANKS];
        rank.window[rank.oldest_activate % 4] = clock + gaps.activate_to_fifth;
        rank.oldest_activate = (rank.oldest_activate + 1) % 4;
        let fifth = rank.window[rank.oldest_activate];
        rank.next_activate =
            rank.next_activate.max(clock + gaps.activate_to_activate_rank).max(fifth);
        clock
    }

    /// Closes a row, as soon as the command bus is free. Gives the clock.
    #[inline]
    pub(super) fn precharge(&mut self, bank: u16) -> u64 {
        let clock = self.commands.next(false);
        self.commands.take(clock, false);
        let b = &mut self.banks[bank as usize % BANKS];
        debug_assert!(b.row != CLOSED && !b.reserved, "precharge of a closed or reserved bank");
        b.row = CLOSED;
        b.next_activate = b.next_activate.max(clock + self.gaps.precharge_to_activate);
        let rank = &mut self.ranks[b.rank as usize % RANKS];
        rank.next_precharge = clock + self.gaps.precharge_to_precharge;
        clock
    }

    /// The earliest read or write of the open row of `bank`.
    #[inline]
    pub(super) fn column_ready(&self, bank: u16, write: bool) -> u64 {
        let which = usize::from(write);
        let b = self.bank(bank);
        let group = &self.groups[b.group as usize % BANKS];
        let rank = &self.ranks[b.rank as usize % RANKS];
        let ready = b.next_column.max(group.next_column[which]).max(rank.next_column[which]);
        if b.rank == self.bus_rank { ready } else { ready.max(self.bus_next[which]) }
    }

    /// The earliest access of `bank` after its activate.
    #[inline]
    pub(super) fn next_column(&self, bank: u16) -> u64 {
        self.bank(bank).next_column
    }

    /// A read or write of the open row of `bank`, as soon from `from` on as the command bus is free;
    /// `close` adds the auto-precharge. Gives its clock and the clock after the last data beat.
    #[inline]
    pub(super) fn column(&mut self, bank: u16, write: bool, close: bool, from: u64) -> (u64, u64) {
        let clock = self.commands.free(from, self.long);
        self.commands.take(clock, self.long);
        let which = usize::from(write);
        let b = &mut self.banks[bank as usize % BANKS];
        let group = &mut self.groups[b.group as usize % BANKS];
        let rank = &mut self.ranks[b.rank as usize % RANKS];
        if b.rank != self.bus_rank {
            // What the ranks before this one asked of it stays in force.
            for which in 0..2 {
                rank.next_column[which] = rank.next_column[which].max(self.bus_next[which]);
            }
            self.bus_rank = b.rank;
        }
        let gaps = &self.gaps.column[which];
        b.accesses += 1;
        b.reserved = false;
        b.last_access = clock;
        b.next_precharge = b.next_precharge.max(clock + gaps.precharge);
        if close {
            b.row = CLOSED;
            let reopen = b.next_precharge + self.gaps.precharge_to_activate;
            b.next_activate = b.next_activate.max(reopen);
        }
        for which in 0..2 {
            let raise = |earliest: &mut u64, gap: u64| *earliest = (*earliest).max(clock + gap);
            raise(&mut group.next_column[which], gaps.same_group[which]);
            raise(&mut rank.next_column[which], gaps.same_rank[which]);
            raise(&mut self.bus_next[which], gaps.other_rank[which]);
        }
        (clock, clock + gaps.data)
    }

    /// The banks of a rank.
    pub(super) fn banks_of(&self, rank: u32) -> std::ops::Range<usize> {
        let first = rank as usize * self.banks_per_rank;
        first..first + self.banks_per_rank
    }

    /// The earliest clock for the next command of a refresh of `rank`, and whether that closes its
    /// banks before.
    pub(super) fn refresh_ready(&self, rank: u32) -> (u64, bool) {
        let state = &self.ranks[rank as usize % RANKS];
        let banks = &self.banks[self.banks_of(rank)];
        if banks.iter().any(|b| b.row != CLOSED) {
            (banks.iter().map(|b| b.next_precharge).fold(state.next_precharge, u64::max), true)
        } else {
            // An activate would be possible in every bank: tRC and tRP have passed everywhere.
            let ready = banks.iter().map(|b| b.next_activate).fold(0, u64::max);
            (state.next_refresh.max(ready + self.gaps.activate_to_refresh), false)
        }
    }

    /// Closes all banks of a rank, as soon as the command bus is free. Gives the clock.
    pub(super) fn precharge_all(&mut self, rank: u32) -> u64 {
        let clock = self.commands.next(false);
        self.commands.take(clock, false);
        let banks = self.banks_of(rank);
        for b in &mut self.banks[banks] {
            debug_assert!(!b.reserved, "precharge of a reserved bank");
            b.row = CLOSED;
            b.next_activate = b.next_activate.max(clock + self.gaps.precharge_to_activate);
        }
        self.ranks[rank as usize % RANKS].next_precharge = clock + self.gaps.precharge_to_precharge;
        clock
    }

    /// Refreshes a rank whose banks are all closed, as soon as the command bus is free. Gives the
    /// clock.
    pub(super) fn refresh(&mut self, rank: u32) -> u64 {
        let clock = self.commands.next(false);
        self.commands.take(clock, false);
        let state = &mut self.ranks[rank as usize % RANKS];
        state.next_activate = state.next_activate.max(clock + self.gaps.refresh_to_activate);
        state.next_refresh = clock + self.gaps.refresh_to_refresh;
        clock
    }
}
