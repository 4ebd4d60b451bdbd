//! An independent judge of a command trace: restates the rules of the standards command by command
//! and pair by pair, and shares nothing with the model but the table of timings.

use super::timing::Timings;
use super::trace::{Command, Kind};

/// The geometry and timings to judge by.
pub(super) struct Judge {
    pub t: Timings,
    pub banks_per_group: u32,
    pub banks_per_rank: u32,
    /// Whether the ranks are refreshed.
    pub refreshed: bool,
}

/// A rule that was broken, and by which command.
#[derive(Debug)]
pub(super) struct Violation {
    pub rule: &'static str,
    pub by: Command,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Class {
    Act,
    Pre,
    PreAll,
    Rd,
    Wr,
    Ref,
}

#[derive(Clone, Copy)]
struct Seen {
    class: Class,
    auto: bool,
    /// Clock at which the command is complete: timings count from there.
    at: i64,
    bank: u32,
    group: u32,
    rank: u32,
    row: u32,
}

impl Judge {
    fn seen(&self, c: &Command) -> Seen {
        let (class, auto, clocks) = match c.kind {
            Kind::Activate => (Class::Act, false, self.t.command_clocks),
            Kind::Precharge => (Class::Pre, false, 1),
            Kind::PrechargeAll => (Class::PreAll, false, 1),
            Kind::Read { close } => (Class::Rd, close, self.t.command_clocks),
            Kind::Write { close } => (Class::Wr, close, self.t.command_clocks),
            Kind::Refresh => (Class::Ref, false, 1),
        };
        let bank = u32::from(c.bank);
        Seen {
            class,
            auto,
            at: c.clock as i64 + i64::from(clocks) - 1,
            bank,
            group: bank / self.banks_per_group,
            rank: bank / self.banks_per_rank,
            row: c.row,
        }
    }

    /// Every rule of the standard of the form "`b` at least n clocks after `a`" that applies to this
    /// pair.
    fn gaps(&self, a: &Seen, b: &Seen) -> Vec<(&'static str, i64)> {
        use Class::{Act, Pre, PreAll, Rd, Ref, Wr};
        let t = &self.t;
        let mut gaps = Vec::new();
        let mut rule = |name, clocks: u32| gaps.push((name, i64::from(clocks)));
        let write_end = t.cwl + t.bl;
        if a.rank != b.rank {
            return gaps;
        }
        let bank = a.bank == b.bank;
        let group = a.group == b.group;
        let whole_rank = matches!(b.class, PreAll | Ref);
        match (a.class, b.class) {
            (Act, Act) => {
                rule("tRRD_S", t.rrd_s);
                if group {
                    rule("tRRD_L", t.rrd_l);
                }
                if bank {
                    rule("tRC", t.rc);
                }
            }
            (Act, Rd | Wr) if bank => rule("tRCD", t.rcd),
            (Act, Pre | PreAll) if bank || whole_rank => rule("tRAS", t.ras),
            (Act, Ref) => rule("tRC", t.rc),
            (Pre | PreAll, Act) if bank || a.class == PreAll => rule("tRP", t.rp),
            (Pre | PreAll, Ref) => rule("tRP", t.rp),
            (Pre | PreAll, Pre | PreAll) => rule("tPPD", t.ppd),
            (Rd, Rd) => {
                rule("tCCD_S", t.ccd_s);
                if group {
                    rule("tCCD_L", t.ccd_l);
                }
            }
            (Wr, Wr) => {
                rule("tCCD_S_WR", t.ccd_s_wr);
                if group {
                    rule("tCCD_L_WR", t.ccd_l_wr);
                }
            }
            (Rd, Wr) => rule("read to write", t.rd_to_wr),
            (Wr, Rd) => {
                rule("tWTR_S", write_end + t.wtr_s);
                if group {
                    rule("tWTR_L", write_end + t.wtr_l);
                }
            }
            (Rd, Pre | PreAll) if bank || whole_rank => rule("tRTP", t.rtp),
            (Wr, Pre | PreAll) if bank || whole_rank => rule("tWR", write_end + t.wr),
            (Ref, Act | Ref | Pre | PreAll) => rule("tRFC", t.rfc),
            _ => {}
        }
        gaps
    }

    /// When the precharge of an access with auto-precharge takes place, given the activate.
    fn auto_precharge(&self, access: &Seen, act: i64) -> i64 {
        let t = &self.t;
        let after = if access.class == Class::Rd { t.rtp } else { t.cwl + t.bl + t.wr };
        (access.at + i64::from(after)).max(act + i64::from(t.ras))
    }

    /// Judges the whole trace of a channel.
    pub(super) fn check(&self, trace: &[Command]) -> Result<(), Violation> {
        let t = &self.t;
        let horizon = t.named().map(|(_, clocks)| i64::from(clocks)).max().unwrap_or(0);
        let horizon = horizon.min(i64::from(t.rfc.max(t.rc) + 2 * (t.cwl + t.bl + t.wr + t.cl)));
        let banks = trace.iter().map(|c| usize::from(c.bank)).max().unwrap_or(0)
            + self.banks_per_rank as usize;
        let mut open: Vec<Option<u32>> = vec![None; banks];
        let mut activated = vec![i64::MIN / 2; banks];
        // Clock of the precharge that an access started by itself.
        let mut precharged = vec![i64::MIN / 2; banks];
        let mut activates: Vec<Vec<i64>> = vec![Vec::new(); banks];
        let mut refreshed = vec![0i64; banks];
        let mut bus_free = i64::MIN;
        // Last burst on the data bus: its end, its rank, whether a read.
        let mut burst: Option<(i64, u32, bool)> = None;
        let mut past: std::collections::VecDeque<Seen> = std::collections::VecDeque::new();
        for &command in trace {
            let b = self.seen(&command);
            let broken = |rule| Err(Violation { rule, by: command });
            if (command.clock as i64) < bus_free {
                return broken("one command at a time");
            }
            bus_free = b.at + 1;
            while past.front().is_some_and(|a| a.at + horizon < b.at) {
                past.pop_front();
            }
            for a in &past {
                for (rule, clocks) in self.gaps(a, &b) {
                    if b.at < a.at + clocks {
                        return broken(rule);
                    }
                }
            }
            let bank = b.bank as usize;
            let first = (b.rank * self.banks_per_rank) as usize;
            let rank = first..first + self.banks_per_rank as usize;
            match b.class {
                Class::Act => {
                    if open[bank].is_some() {
                        return broken("activate only a closed bank");
                    }
                    if b.at < precharged[bank] + i64::from(t.rp) {
                        return broken("tRP after auto-precharge");
                    }
                    let acts = &mut activates[b.rank as usize];
                    if acts.len() >= 4 && b.at < acts[acts.len() - 4] + i64::from(t.faw) {
                        return broken("tFAW");
                    }
                    acts.push(b.at);
                    open[bank] = Some(b.row);
                    activated[bank] = b.at;
                }
                Class::Pre => open[bank] = None,
                Class::PreAll => open[rank].fill(None),
                Class::Rd | Class::Wr => {
                    if open[bank] != Some(b.row) {
                        return broken("access only the open row");
                    }
                    let read = b.class == Class::Rd;
                    let start = b.at + i64::from(if read { t.cl } else { t.cwl });
                    if let Some((end, rank, was_read)) = burst {
                        let switch = rank != b.rank && (read || was_read);
                        let idle = if switch { i64::from(t.rank_switch) } else { 0 };
                        if start < end + idle {
                            return broken("data bus");
                        }
                    }
                    burst = Some((start + i64::from(t.bl), b.rank, read));
                    if b.auto {
                        open[bank] = None;
                        precharged[bank] = self.auto_precharge(&b, activated[bank]);
                    }
                }
                Class::Ref => {
                    if rank.clone().any(|i| open[i].is_some()) {
                        return broken("refresh only closed banks");
                    }
                    if rank.clone().any(|i| b.at < precharged[i] + i64::from(t.rp)) {
                        return broken("tRP after auto-precharge");
                    }
                    refreshed[b.rank as usize] = b.at;
                }
            }
            // JESD79-4 and -5 let a refresh be postponed by eight or four intervals; the model
            // never postpones one by more than it takes to finish what is under way.
            let since = b.at - refreshed[b.rank as usize];
            if self.refreshed && since > 2 * i64::from(t.refi) {
                return broken("tREFI");
            }
            past.push_back(b);
        }
        Ok(())
    }
}
