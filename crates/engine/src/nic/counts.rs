//! Counters per queue, since no queue can use another's descriptors.

use crate::stats::occupancy::{Occupancy, Starvation};
use crate::time::Ps;

/// Descriptor reads; each queue has one at a time.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Fetches {
    pub(crate) count: u64,
    /// Total time from the request until the data is at the NIC.
    pub(crate) time: Ps,
}

impl Fetches {
    pub(crate) fn ended(&mut self, took: Ps) {
        self.count += 1;
        self.time += took;
    }
}

/// Counters of a receive queue.
#[derive(Clone, Debug, Default)]
pub(crate) struct ReceiveCounts {
    /// Packets that arrived for this queue.
    pub(crate) offered: u64,
    /// Packets for it that were dropped, in the SRAM or for lack of a descriptor.
    pub(crate) dropped: u64,
    /// Descriptors that hold a packet, or that the NIC does not yet know to be posted again.
    pub(crate) used: Occupancy,
    /// Descriptors that the NIC knows of but has not read yet.
    pub(crate) unfetched: Occupancy,
    /// Time in which packets waited for a descriptor or were dropped for lack of one.
    pub(crate) starved: Starvation,
    pub(crate) fetches: Fetches,
    /// Visible packets that the core has not begun, those of a burst that it has taken included.
    pub(crate) waiting: Occupancy,
}

impl ReceiveCounts {
    /// Starts the measured time. (Every field is named, so that none can be forgotten.)
    pub(super) fn reset(&mut self, now: Ps) {
        let ReceiveCounts { offered, dropped, used, unfetched, starved, fetches, waiting } = self;
        for used in [used, unfetched, waiting] {
            used.reset(now);
        }
        starved.reset(now);
        (*offered, *dropped, *fetches) = Default::default();
    }
}

/// Counters of a transmit queue.
#[derive(Clone, Debug, Default)]
pub(crate) struct TransmitCounts {
    /// Descriptors that the driver has taken and not reclaimed yet.
    pub(crate) used: Occupancy,
    /// Time in which packets waited for the core while the core waited for a descriptor.
    pub(crate) starved: Starvation,
    /// Packets whose doorbell has reached the NIC but whose data it has not requested.
    pub(crate) unread: Occupancy,
    /// Reads of descriptors alone, without packet data.
    pub(crate) fetches: Fetches,
    /// The part of their time in which they waited for PCIe or were carried.
    pub(crate) fetching_on_link: Ps,
    /// Whether the NIC wants to read descriptors, is reading them, or has yet to get data of those last read.
    pub(crate) turn: Occupancy,
}

impl TransmitCounts {
    /// Starts the measured time, like [`ReceiveCounts::reset`].
    pub(super) fn reset(&mut self, now: Ps) {
        let TransmitCounts { used, starved, unread, fetches, fetching_on_link, turn } = self;
        for used in [used, unread, turn] {
            used.reset(now);
        }
        starved.reset(now);
        (*fetches, *fetching_on_link) = Default::default();
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use crate::stats::results::QueueResults;
    use crate::testing::{forwarder, pcie_json, results};

    /// Forwards one flow at a rate that its queue cannot carry, with the given keys set.
    fn one_flow(set: &[(&str, serde_json::Value)]) -> (QueueResults, f64) {
        let one = [
            ("/machine/pcie", pcie_json()),
            ("/traffic/flows", json!(1)),
            ("/traffic/rate", json!("20 Mpps")),
            ("/traffic/sizes/size", json!("64 B")),
        ];
        let r = results(&forwarder(&[&one, set].concat()));
        let (idle, busy): (Vec<_>, Vec<_>) = r.queues.into_iter().partition(|q| q.offered == 0);
        assert_eq!((idle.len(), busy.len()), (1, 1));
        let q = &idle[0];
        let unused =
            [q.received, q.rx_busy_ps, q.rx_waited_ps, q.sent, q.tx_busy_ps, q.tx_unread_ps];
        assert_eq!(unused, [0; 6], "{q:?}");
        assert!(busy[0].offered > busy[0].received && busy[0].received >= r.packets.completed - 8);
        (busy[0].clone(), r.measured_ns * 1e3)
    }

    #[test]
    fn a_receive_queue_that_is_short_has_none_that_the_nic_could_use() {
        let (q, span) = one_flow(&[("/queues/rx_descriptors", json!(4))]);
        let used = (q.rx_busy_ps + q.rx_unfetched_ps) as f64 / span;
        assert!((3.9..=4.0).contains(&used), "{used} of 4: {q:?}");
        assert!(q.tx_starved_ps == 0, "{q:?}");
    }

    #[test]
    fn a_send_queue_that_is_short_has_all_in_use_while_packets_wait() {
        let (q, span) = one_flow(&[("/queues/tx_descriptors", json!(2))]);
        let used = q.tx_busy_ps as f64 / span;
        assert!((1.8..=2.0).contains(&used), "{used} of 2: {q:?}");
        assert!(q.tx_starved_ps as f64 > 0.9 * span, "{q:?}");
        assert!(q.tx_unread_ps as f64 / span < 0.1, "{q:?}");
        assert_eq!(q.tx_fetches, 0);
    }

    /// With 32 packets at a time, the last is still being sent when the core comes back for more.
    #[test]
    fn a_core_that_is_busy_with_packets_does_not_wait_for_descriptors() {
        let (q, _) = one_flow(&[
            ("/tenants/0/app", json!({ "kind": "l2fwd", "packet_instructions": 20_000 })),
            ("/queues/tx_descriptors", json!(32)),
            ("/queues/tx_completion_batch", json!(1)),
            ("/queues/burst", json!(32)),
        ]);
        assert!(q.sent > 20 && q.sent < q.offered / 2, "{q:?}");
        assert_eq!(q.tx_starved_ps, 0, "{q:?}");
    }

    /// Hardly anything else uses the link: a request of 24 bytes and a descriptor of 64 with 20 of header, at 118.9 Gbit/s.
    #[test]
    fn reads_of_descriptors_are_on_the_link_for_as_long_as_it_carries_them() {
        let r = results(&forwarder(&[
            ("/machine/pcie", pcie_json()),
            ("/machine/nic/tx_descriptor_batch", json!(1)),
            ("/traffic/sizes/size", json!("64 B")),
            ("/traffic/rate", json!("0.2 Mpps")),
        ]));
        for q in r.queues {
            let each = q.tx_fetching_link_ps as f64 / 1e3 / q.tx_fetches as f64;
            assert!(
                (0.99..1.05).contains(&(each / (8.0 * (24.0 + 84.0) / 118.9))),
                "{each} ns: {q:?}"
            );
            assert!(q.tx_fetching_link_ps < q.tx_fetching_ps / 20, "{q:?}");
        }
    }

    #[test]
    fn a_send_queue_that_reads_its_descriptors_one_by_one_loses_two_round_trips_a_packet() {
        let (q, span) = one_flow(&[("/machine/nic/tx_descriptor_batch", json!(1))]);
        assert!(q.tx_fetches.abs_diff(q.sent) <= 1, "{q:?}");
        // One for the descriptor, which is as long as one for the 64 bytes of the packet.
        let fetching = q.tx_fetching_ps as f64 / span;
        assert!((0.49..=0.51).contains(&fetching), "{fetching}: {q:?}");
        assert!((0.99..=1.0).contains(&(q.tx_turn_ps as f64 / span)), "{q:?}");
        // All but a few of the descriptors in use wait for that.
        assert!(q.tx_unread_ps as f64 > 0.9 * q.tx_busy_ps as f64, "{q:?}");
    }

    /// With and without a link or a wire, which data crosses one after the other.
    #[test]
    fn the_next_descriptors_are_read_when_the_data_of_the_last_is_at_the_nic() {
        for pcie in [json!(null), pcie_json()] {
            for link in [json!(null), json!("100 Gbps")] {
                let r = results(&forwarder(&[
                    ("/machine/pcie", pcie.clone()),
                    ("/machine/nic/link", link.clone()),
                    ("/machine/nic/tx_descriptor_batch", json!(4)),
                    ("/traffic/sizes/size", json!("64 B")),
                    ("/traffic/rate", json!("4 Mpps")),
                ]));
                for q in r.queues {
                    let turn = q.tx_turn_ps as f64 / q.tx_fetching_ps as f64;
                    assert!((1.9..2.2).contains(&turn), "{pcie} {link}: {turn} of {q:?}");
                }
            }
        }
    }
}
