//! Memory reads under way: what each one fetches, and who waits for it.

use super::line::{Line, LineKind, node_of};
use crate::stats::histogram::Latency;
use crate::time::Ps;

/// Who waits for a line.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Requester {
    /// Miss register `register` of a core.
    Core { core: u16, register: u16, exclusive: bool },
    /// The prefetcher of a core's L2.
    Prefetch { core: u16 },
    /// A DMA read: the NIC's operation number.
    Nic { operation: u32 },
    /// A page walk of the IOMMU.
    Walker { walker: u16 },
}

/// A line on its way from memory.
#[derive(Clone, Copy, Debug)]
pub(super) struct Read {
    pub(super) line: Line,
    pub(super) kind: LineKind,
    pub(super) requester: Requester,
    /// The line was overwritten or swept on its way: nobody may keep what arrives.
    pub(super) stale: bool,
    pub(super) sent: Ps,
}

/// A read, and the later requests that wait for it to end.
#[derive(Clone, Debug)]
struct Transaction {
    read: Read,
    waiting: Vec<Requester>,
}

/// The table of transactions. A transaction is an index into it, reused once the transaction has ended.
#[derive(Clone, Debug, Default)]
pub(crate) struct Reads {
    transactions: Vec<Transaction>,
    free: Vec<u16>,
    /// Requests that waited for a line that has arrived: the host must repeat them.
    pub(crate) again: Vec<Requester>,
    /// From sending a read to the last beat of its data on the bus, by node.
    pub(crate) latency_by_node: [Latency; 2],
    under_way: u64,
    /// Reads under way when measuring began, and reads that have ended since.
    under_way_begin: u64,
    ended: u64,
}

impl Reads {
    /// The transaction that the next [`Self::begin`] will have.
    #[inline]
    pub(super) fn next(&mut self) -> u16 {
        match self.free.last() {
            Some(&free) => free,
            None => self.new_transaction(),
        }
    }

    #[cold]
    fn new_transaction(&mut self) -> u16 {
        let new =
            u16::try_from(self.transactions.len()).expect("credits bound the reads under way");
        let read = Read {
            line: 0,
            kind: LineKind::App,
            requester: Requester::Nic { operation: 0 },
            stale: false,
            sent: Ps::ZERO,
        };
        self.transactions.push(Transaction { read, waiting: Vec::new() });
        self.free.push(new);
        new
    }

    /// A read starts under the transaction that [`Self::next`] offered.
    #[inline]
    pub(super) fn begin(&mut self, read: Read) -> u16 {
        let transaction = self.free.pop().expect("a transaction was offered");
        self.under_way += 1;
        self.transactions[usize::from(transaction)].read = read;
        transaction
    }

    /// Who a read is for.
    pub(super) fn requester(&self, transaction: u16) -> Requester {
        self.transactions[usize::from(transaction)].read.requester
    }

    /// A read has a tracker of the other socket and counts as sent from now on. Returns its line.
    pub(super) fn sent(&mut self, now: Ps, transaction: u16) -> Line {
        let read = &mut self.transactions[usize::from(transaction)].read;
        read.sent = now;
        read.line
    }

    /// The memory channel delivers the data of a read at `at`.
    #[inline]
    pub(super) fn served(&mut self, at: Ps, transaction: u16) {
        let read = &self.transactions[usize::from(transaction)].read;
        self.latency_by_node[node_of(read.line)].record(at - read.sent);
    }

    /// A request for data of a kind waits for the transaction that is fetching its line. If that is a
    /// prefetch of the same core, the request takes it over; returns whether it does. A stale prefetch
    /// is not taken over, because there is newer data to ask for.
    pub(super) fn wait(
        &mut self,
        transaction: u16,
        requester: Requester,
        core: u16,
        kind: LineKind,
    ) -> bool {
        let t = &mut self.transactions[usize::from(transaction)];
        let takes_over = t.read.requester == (Requester::Prefetch { core }) && !t.read.stale;
        if takes_over {
            (t.read.requester, t.read.kind) = (requester, kind);
        } else {
            t.waiting.push(requester);
        }
        takes_over
    }

    /// A request waits until a transaction that fetches another line has ended.
    pub(super) fn wait_behind(&mut self, transaction: u16, requester: Requester) {
        self.transactions[usize::from(transaction)].waiting.push(requester);
    }

    /// Nobody may keep what a transaction fetches: its line was overwritten or swept.
    pub(super) fn make_stale(&mut self, transaction: u16) {
        self.transactions[usize::from(transaction)].read.stale = true;
    }

    /// A transaction ends: its line has arrived, and the requests that waited for it must be repeated.
    #[inline]
    pub(super) fn end(&mut self, transaction: u16) -> Read {
        let t = &mut self.transactions[usize::from(transaction)];
        if !t.waiting.is_empty() {
            self.again.append(&mut t.waiting);
        }
        let read = t.read;
        self.free.push(transaction);
        self.under_way -= 1;
        self.ended += 1;
        read
    }

    /// Both sides of the balance since the measured time began, in which `begun` reads were sent.
    pub(super) fn balance(&self, begun: u64) -> (u64, u64) {
        (self.under_way_begin + begun, self.ended + self.under_way)
    }

    /// The latency of all reads.
    pub(crate) fn latency(&self) -> Latency {
        let mut all = Latency::default();
        self.latency_by_node.iter().for_each(|of_node| all.add(of_node));
        all
    }

    /// Starts the measured time.
    pub(super) fn reset_counts(&mut self) {
        (self.under_way_begin, self.ended) = (self.under_way, 0);
        self.latency_by_node.iter_mut().for_each(Latency::reset);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn begin(reads: &mut Reads, line: Line, requester: Requester) -> u16 {
        let offered = reads.next();
        let (kind, stale, sent) = (LineKind::App, false, Ps::ZERO);
        assert_eq!(reads.begin(Read { line, kind, requester, stale, sent }), offered);
        offered
    }

    fn core(core: u16) -> Requester {
        Requester::Core { core, register: 3, exclusive: false }
    }

    #[test]
    fn a_place_is_used_again_with_nothing_left_of_what_was_there() {
        let mut reads = Reads::default();
        let first = begin(&mut reads, 1, core(0));
        begin(&mut reads, 2, core(1));
        assert_eq!(reads.end(first).line, 1);
        assert_eq!(begin(&mut reads, 3, core(2)), first);
        assert_eq!(reads.balance(3), (3, 3));
        reads.reset_counts();
        let read = reads.end(first);
        assert_eq!((read.line, read.requester), (3, core(2)));
        assert_eq!(reads.balance(0), (2, 2));
    }

    #[test]
    fn those_who_wait_ask_again_in_their_order() {
        let mut reads = Reads::default();
        let read = begin(&mut reads, 1, core(0));
        assert!(
            !reads.wait(read, core(1), 1, LineKind::App)
                && !reads.wait(read, core(2), 2, LineKind::App)
        );
        assert_eq!(reads.end(read).requester, core(0));
        assert_eq!(reads.again, [core(1), core(2)]);
        reads.again.clear();
        begin(&mut reads, 2, core(0));
        reads.end(read);
        assert!(reads.again.is_empty());
    }

    #[test]
    fn a_core_takes_over_its_own_prefetch_if_it_can_use_it() {
        let mut reads = Reads::default();
        let read = begin(&mut reads, 1, Requester::Prefetch { core: 0 });
        assert!(!reads.wait(read, core(1), 1, LineKind::App), "another core's");
        assert!(reads.wait(read, core(0), 0, LineKind::App));
        assert_eq!(reads.end(read).requester, core(0));
        let stale = begin(&mut reads, 2, Requester::Prefetch { core: 0 });
        reads.make_stale(stale);
        assert!(!reads.wait(stale, core(0), 0, LineKind::App));
        assert!(reads.end(stale).stale);
    }
}
