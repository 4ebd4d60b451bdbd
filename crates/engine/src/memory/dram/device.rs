//! The state of a channel's DRAM devices: which rows are open, and the first clock at which each
//! command may be issued to each bank.
//!
//! Every timing rule says "command B no earlier than n clocks after command A" at some level: bank,
//! bank group, rank, or across ranks. When A is issued, the clock for B is raised in all banks that the
//! rule concerns. So the clocks kept here are exact: no rule has to be checked when B is considered.

use super::config::DramConfig;
use super::gaps::Gaps;
use super::lanes::{BLOCK, Command, Lanes, Ready, SPAN};
use super::mapping::{BANKS, RANKS};
use super::timing::Timings;
use super::{READ, WRITE};

/// No row is open.
pub(super) const CLOSED: u32 = u32::MAX;

/// The gap to a bank that a rule does not concern: it raises nothing.
const FREE: i16 = i16::MIN;

/// A bank. (Aligned so that indexing is a shift.)
#[derive(Clone, Copy, Debug)]
#[repr(align(32))]
pub(super) struct Bank {
    /// The open row, or [`CLOSED`].
    pub row: u32,
    group: u16,
    rank: u16,
    /// For the row policy: column accesses since the row was opened, the clock of the last, and
    /// whether the bank is on the policy's list.
    pub accesses: u32,
    pub watched: bool,
    pub last_access: u64,
}

/// Gaps to every bank of the channel, from a read or write to a read or write.
type ColumnGaps<const W: usize> = [[Lanes<W>; 2]; 2];

/// (Aligned so that indexing is a shift.)
#[derive(Clone, Copy, Debug, Default)]
#[repr(align(32))]
struct Rank {
    next_refresh: u64,
    /// The last three activates, the oldest first, each plus tFAW.
    window: [u64; 3],
}

/// The next command towards a refresh.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum RefreshStep {
    Precharge,
    Refresh,
}

/// The devices of one channel.
#[derive(Clone, Debug)]
pub(super) struct Device<const W: usize> {
    /// By bank, in clocks from `base`: exact, unless they lie before `base`.
    activate: Command<W>,
    precharge: Command<W>,
    /// Read, write.
    column: [Command<W>; 2],
    base: u64,
    gaps: Gaps,
    /// For each bank, the gaps from its activate to those of all banks.
    activate_gaps: Box<[[Lanes<W>; BLOCK]; W]>,
    /// By bank group.
    column_gaps: Vec<ColumnGaps<W>>,
    /// By rank: zero for its banks, [`FREE`] for others.
    of_rank: Vec<Lanes<W>>,
    banks: [Bank; BANKS],
    ranks: [Rank; RANKS],
    banks_per_rank: usize,
}

impl<const W: usize> Device<W> {
    pub(super) fn new(t: &Timings, cfg: &DramConfig) -> Device<W> {
        let (ranks, groups) = (cfg.ranks, cfg.bank_groups);
        let gaps = Gaps::new(t, cfg.write_to_read);
        let per_group = cfg.banks_per_group as usize;
        let per_rank = groups as usize * per_group;
        let bank = |i: usize| Bank {
            row: CLOSED,
            group: (i / per_group) as u16,
            rank: (i / per_rank) as u16,
            accesses: 0,
            watched: false,
            last_access: 0,
        };
        // Gaps to the banks of the same group, of other groups of the rank, and of other ranks.
        let level = |group: usize, same_group: i16, same_rank: i16, other_rank: i16| {
            Lanes::from_fn(|bank| {
                if bank / per_rank != group / groups as usize {
                    other_rank
                } else if bank / per_group != group {
                    same_rank
                } else {
                    same_group.max(same_rank)
                }
            })
        };
        let activate_gaps = |bank: usize| {
            let (same_group, same_rank) =
                (gaps.activate_to_activate_group, gaps.activate_to_activate_rank);
            let mut lanes = level(bank / per_group, same_group, same_rank, FREE);
            lanes.raise(bank as u16, gaps.activate_to_activate);
            lanes
        };
        let column_gaps = |group: usize| {
            [READ, WRITE].map(|from| {
                let gaps = &gaps.column[from];
                [READ, WRITE].map(|to| {
                    level(group, gaps.same_group[to], gaps.same_rank[to], gaps.other_rank[to])
                })
            })
        };
        let of_rank =
            |rank: usize| Lanes::from_fn(|bank| if bank / per_rank == rank { 0 } else { FREE });
        Device {
            activate: Command::new(),
            precharge: Command::new(),
            column: [Command::new(), Command::new()],
            base: 0,
            activate_gaps: Box::new(std::array::from_fn(|w| {
                std::array::from_fn(|i| activate_gaps(w * BLOCK + i))
            })),
            column_gaps: (0..(ranks * groups) as usize).map(column_gaps).collect(),
            of_rank: (0..ranks as usize).map(of_rank).collect(),
            gaps,
            banks: std::array::from_fn(bank),
            ranks: [Rank::default(); RANKS],
            banks_per_rank: per_rank,
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

    /// A clock as it is stored here.
    #[inline]
    pub(super) fn short(&self, clock: u64) -> i16 {
        (clock - self.base) as i16
    }

    /// The clock from which on a later base is needed.
    #[inline]
    pub(super) fn last_of_base(&self) -> u64 {
        self.base + SPAN
    }

    /// Counts clocks from a later base: not from `now`, because a little may still have to be added to
    /// a clock that has just passed ([`Gaps::activate_to_refresh`]).
    #[cold]
    pub(super) fn move_base(&mut self, now: u64) {
        let base = now - SPAN / 2;
        let clocks = (base - self.base).min(i16::MAX as u64) as i16;
        self.base = base;
        let [read, write] = &mut self.column;
        for command in [&mut self.activate, &mut self.precharge, read, write] {
            command.move_base(clocks);
        }
    }

    /// When the wanted commands may be issued.
    #[inline(always)]
    pub(super) fn ready(&self) -> Ready<W> {
        let [read, write] = &self.column;
        Ready(std::array::from_fn(|w| {
            std::array::from_fn(|half| {
                let of = |command: &Command<W>| command.wanted.vector(w, half);
                of(&self.activate).min(of(&self.precharge)).min(of(read).min(of(write)))
            })
        }))
    }

    /// Nothing is wanted of any bank.
    pub(super) fn want_nothing(&mut self) {
        let [read, write] = &mut self.column;
        for command in [&mut self.activate, &mut self.precharge, read, write] {
            command.want_nowhere();
        }
    }

    /// The precharge or activate of `bank` is wanted, whichever is next.
    #[inline]
    pub(super) fn want_row(&mut self, bank: u16) {
        let closed = self.bank(bank).row == CLOSED;
        let command = if closed { &mut self.activate } else { &mut self.precharge };
        command.want(bank);
    }

    #[inline]
    pub(super) fn want_no_row(&mut self, bank: u16) {
        self.activate.no_want(bank);
        self.precharge.no_want(bank);
    }

    /// A read or write of the open row of `bank` is wanted.
    #[inline]
    pub(super) fn want_column(&mut self, bank: u16, which: usize) {
        self.column[which % 2].want(bank);
    }

    #[inline]
    pub(super) fn want_no_column(&mut self, bank: u16, which: usize) {
        self.column[which % 2].no_want(bank);
    }

    /// Whether a precharge of `bank` is wanted and allowed at `now`.
    #[inline]
    pub(super) fn precharge_due(&self, bank: u16, now: u64) -> bool {
        self.precharge.wanted.get(bank) <= self.short(now)
    }

    /// The first clock at which something wanted may be issued; far away if nothing is wanted.
    #[inline(always)]
    pub(super) fn first(&self, ready: &Ready<W>) -> u64 {
        self.base + ready.first() as u64
    }

    /// The first clock for the precharge or activate of a bank, whichever is next.
    #[inline]
    pub(super) fn row_ready(&self, bank: u16) -> u64 {
        let closed = self.bank(bank).row == CLOSED;
        let command = if closed { &self.activate } else { &self.precharge };
        self.base + command.allowed.get(bank) as u64
    }

    /// The first clock for a read or write of the open row of a bank.
    #[inline]
    pub(super) fn column_ready(&self, bank: u16, which: usize) -> u64 {
        self.base + self.column[which].allowed.get(bank) as u64
    }

    /// Opens a row. (After each of these commands the caller says what is wanted of the bank.)
    #[inline]
    pub(super) fn activate(&mut self, bank: u16, row: u32, clock: u64) {
        let now = self.short(clock);
        let gaps = &self.gaps;
        let b = &mut self.banks[bank as usize % BANKS];
        debug_assert_eq!(b.row, CLOSED, "activate of an open bank");
        b.row = row;
        b.accesses = 0;
        let activate_gaps = &self.activate_gaps[bank as usize / BLOCK % W][bank as usize % BLOCK];
        self.activate.delay(activate_gaps, now);
        let rank = &mut self.ranks[b.rank as usize % RANKS];
        let [fifth, second, third] = rank.window;
        rank.window = [second, third, clock + gaps.activate_to_fifth as u64];
        if fifth > clock + gaps.activate_to_activate_rank as u64 {
            let fifth = (fifth - self.base) as i16;
            self.activate.delay(&self.of_rank[b.rank as usize], fifth);
        }
        self.precharge.allowed.raise(bank, now + gaps.activate_to_precharge);
        self.column[READ].allowed.raise(bank, now + gaps.activate_to_column);
        self.column[WRITE].allowed.raise(bank, now + gaps.activate_to_column);
    }

    /// Closes a row.
    #[inline]
    pub(super) fn precharge(&mut self, bank: u16, clock: u64) {
        let now = self.short(clock);
        let b = &mut self.banks[bank as usize % BANKS];
        debug_assert!(b.row != CLOSED, "precharge of a closed bank");
        b.row = CLOSED;
        let next = self.gaps.precharge_to_precharge;
        // The command bus already keeps a gap of one clock.
        if next > 1 {
            self.precharge.delay(&self.of_rank[b.rank as usize], now + next);
        }
        self.activate.allowed.raise(bank, now + self.gaps.precharge_to_activate);
    }

    /// A read or write of the open row of `bank`. Returns the clock after the last data beat.
    #[inline]
    pub(super) fn column(&mut self, bank: u16, write: bool, clock: u64) -> u64 {
        let now = self.short(clock);
        let from = usize::from(write);
        let gaps = &self.column_gaps[self.bank(bank).group as usize][from];
        self.column[READ].delay(&gaps[READ], now);
        self.column[WRITE].delay(&gaps[WRITE], now);
        let gaps = &self.gaps.column[from];
        self.precharge.allowed.raise(bank, now + gaps.precharge);
        clock + gaps.data
    }

    /// The last access to `bank` was one with auto-precharge.
    pub(super) fn close_after_access(&mut self, bank: u16) {
        self.bank_mut(bank).row = CLOSED;
        let reopen = self.precharge.allowed.get(bank) + self.gaps.precharge_to_activate;
        self.activate.allowed.raise(bank, reopen);
    }

    /// Clocks that an activate, read or write occupies the command bus.
    #[inline]
    pub(super) fn long_command(&self) -> u64 {
        self.gaps.long_command
    }

    /// All banks of the channel.
    #[cfg(test)]
    pub(super) fn banks(&self) -> u16 {
        (self.of_rank.len() * self.banks_per_rank) as u16
    }

    /// The banks of a rank.
    pub(super) fn banks_of(&self, rank: u32) -> std::ops::Range<u16> {
        let first = rank as usize * self.banks_per_rank;
        first as u16..(first + self.banks_per_rank) as u16
    }

    /// Whether a refresh of `rank` still needs its banks closed, and the first clock for the next
    /// command towards it.
    pub(super) fn refresh_step(&self, rank: u32) -> (RefreshStep, u64) {
        let latest = |lanes: &Lanes<W>| {
            self.banks_of(rank).map(|bank| lanes.get(bank)).max().expect("a rank has banks")
        };
        if self.banks_of(rank).any(|bank| self.bank(bank).row != CLOSED) {
            (RefreshStep::Precharge, self.base + latest(&self.precharge.allowed) as u64)
        } else {
            // An activate would be possible in every bank: tRC and tRP have passed everywhere.
            let ready =
                self.base + (latest(&self.activate.allowed) + self.gaps.activate_to_refresh) as u64;
            (RefreshStep::Refresh, ready.max(self.ranks[rank as usize % RANKS].next_refresh))
        }
    }

    /// Closes all banks of a rank with one command.
    pub(super) fn precharge_all(&mut self, rank: u32, clock: u64) {
        let now = self.short(clock);
        for bank in self.banks_of(rank) {
            self.banks[bank as usize % BANKS].row = CLOSED;
            self.activate.allowed.raise(bank, now + self.gaps.precharge_to_activate);
            self.precharge.allowed.raise(bank, now + self.gaps.precharge_to_precharge);
        }
    }

    /// Refreshes a rank whose banks are all closed.
    pub(super) fn refresh(&mut self, rank: u32, clock: u64) {
        let now = self.short(clock);
        for bank in self.banks_of(rank) {
            debug_assert_eq!(self.bank(bank).row, CLOSED, "refresh of a rank with open banks");
            self.activate.allowed.raise(bank, now + self.gaps.refresh_to_activate);
        }
        self.ranks[rank as usize % RANKS].next_refresh =
            clock + self.gaps.refresh_to_refresh as u64;
    }
}
