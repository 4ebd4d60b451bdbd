//! The balances of a run: what went in came out or is still inside. Checked in release builds too.

use super::{Event, Host};
use crate::nic::queue::QueuePair;
use crate::stats::results::Balance;

/// All balances, or the first that does not hold.
pub(super) fn check(host: &Host) -> Result<Vec<Balance>, String> {
    let balances = all(host);
    for b in &balances {
        if !b.holds() {
            return Err(format!(
                "conservation of {}: {} entered, {} are accounted for",
                b.what, b.entered, b.accounted
            ));
        }
    }
    host.memory.caches.check().map_err(|e| format!("coherence: {e}"))?;
    Ok(balances)
}

fn all(host: &Host) -> Vec<Balance> {
    let balance =
        |what: &str, entered, accounted| Balance { what: what.into(), entered, accounted };
    let packets = |wanted: fn(&super::packets::Packet) -> bool| {
        host.packets.iter().filter(|p| wanted(p)).count() as u64
    };
    let m = &host.meters;
    let ended = m.completed + m.dropped();
    let in_sram = host.packets.iter().filter(|p| p.in_sram).map(|p| u64::from(p.bytes)).sum();
    let config = &host.scenario.queues;
    let queues = host.queues.len() as u64;
    let buffers = u64::from(config.buffers());
    let idle_buffers = host.queues.iter().map(|q| q.idle_buffers()).sum::<u64>();
    let rings: u64 = host.queues.iter().map(|q| u64::from(q.rx.without_packet())).sum();
    let sending = host.queues.iter().map(|q| u64::from(q.tx.in_use())).sum::<u64>();
    let waiting = host.queues.iter().map(|q| q.tx.backlog() as u64).sum::<u64>();
    let sent = host.queues.iter().map(|q| q.tx.unreclaimed() as u64).sum::<u64>();
    let rung = |of: fn(&QueuePair) -> u32| host.queues.iter().map(|q| u64::from(of(q))).sum();
    let doorbells = doorbells(host);
    let reports = events(host).filter(|e| matches!(e, Event::TransmitComplete { .. })).count()
        as u64
        * u64::from(config.tx_completion_batch);
    let (write_lines, write_tlps) = writes_in_flight(host);
    let (read_lines, requests) = host.reads.held();
    let memory = host.memory.balance();
    let io = host.memory.counts.all_io();
    let mut balances = vec![
        balance("packets", m.in_path_begin + m.offered, ended + m.in_path),
        balance("packets in the path", m.in_path, packets(|p| !p.ended)),
        balance("packets to transmit", host.tx.in_flight, packets(|p| p.unsent > 0)),
        balance(
            "packets to post for transmission",
            host.tx.unposted,
            packets(|p| p.ended && p.to_send && p.unsent == 0),
        ),
        balance("NIC SRAM bytes", host.rx.sram.in_use(), in_sram),
        balance(
            "packets without descriptor",
            host.queues.iter().map(|q| u64::from(q.rx.without_descriptor())).sum(),
            packets(|p| p.in_sram && p.buffer.is_none()),
        ),
        balance(
            "receive buffers",
            buffers * queues,
            packets(|p| p.buffer.is_some()) + idle_buffers,
        ),
        balance(
            "receive descriptors",
            u64::from(config.rx_descriptors) * queues,
            rings + packets(|p| p.in_ring),
        ),
        balance("transmit descriptors", sending + waiting, packets(|p| p.to_send) + sent),
        balance("DMA write line credits", host.writes.lines.in_use(), write_lines),
        balance("DMA write TLP credits", host.writes.tlps.in_use(), write_tlps),
        balance("DMA read line credits", host.reads.lines.in_use(), read_lines),
        balance("DMA read requests", host.reads.requests.in_use(), requests),
        balance("doorbells under way, receive", rung(|q| q.rx.rung()), doorbells.0),
        balance("doorbells under way, transmit", rung(|q| q.tx.rung()), doorbells.1),
        balance("reports of sent packets", rung(|q| q.tx.reporting()), reports),
        balance("lines written by DMA, by where they went", io.written, io.went_somewhere()),
        balance("memory reads", memory.reads_sent, memory.reads_done),
        balance("memory writes", memory.writes_sent, memory.writes_done),
    ];
    if let Some(closed_loop) = &host.closed_loop {
        let carries = |e: &&Event| matches!(e, Event::Network { step, .. } if step.carries());
        let carried = host.events.iter().filter(carries).count() as u64;
        balances.extend(closed_loop.balances(carried));
    }
    if let Some(iommu) = &host.iommu {
        let (counts, begin) = (&iommu.walkers.counts, iommu.in_flight_begin);
        let (queued, walking) = iommu.walkers.in_flight();
        let misses: u64 = iommu.lookups.iter().map(|l| l.misses).sum();
        balances.push(balance("IOTLB misses", begin.0 + misses, counts.started + queued));
        balances.push(balance("page walks", begin.1 + counts.started, counts.finished + walking));
    }
    balances
}

/// All pending events: scheduled, held back before the LLC, or waiting for a translation.
fn events(host: &Host) -> impl Iterator<Item = &Event> {
    let translating = host.iommu.iter().flat_map(|iommu| iommu.waiting());
    host.events.iter().chain(&host.held_back).chain(translating)
}

/// Lines and TLPs of DMA writes that hold credits: in flight, held back, or done with the credits
/// on their way back.
fn writes_in_flight(host: &Host) -> (u64, u64) {
    // Including those that wait for room in a channel's queue.
    let late = (host.memory.backend.late_writes.inside(), 0);
    events(host).map(Event::write_credits).fold(late, |all, one| (all.0 + one.0, all.1 + one.1))
}

/// Receive descriptors and packets to transmit whose doorbell is on its way to the NIC.
fn doorbells(host: &Host) -> (u64, u64) {
    let rung = |event: &Event| match *event {
        Event::ReceiveDoorbell { descriptors, .. } => (u64::from(descriptors), 0),
        Event::TransmitDoorbell { packets, .. } => (0, u64::from(packets)),
        _ => (0, 0),
    };
    events(host).map(rung).fold((0, 0), |all, one| (all.0 + one.0, all.1 + one.1))
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use crate::testing::{forwarder, iommu_json, pcie_json, run};
    use crate::time::Ps;

    /// An overloaded host, with packets everywhere on the path, at a moment when some wait for
    /// their core and some are being written.
    fn busy_host() -> Host {
        let mut host = overloaded(&[]);
        let waits = |host: &Host| host.queues.iter().any(|q| !q.rx.visible().is_empty());
        while !waits(&host) || writes_in_flight(&host).0 == 0 {
            step(&mut host);
        }
        host
    }

    fn overloaded(set: &[(&str, Value)]) -> Host {
        let pcie = ("/machine/pcie", pcie_json());
        run(&forwarder(&[&[pcie, ("/traffic/rate", "45 Mpps".into())], set].concat()))
    }

    fn step(host: &mut Host) {
        host.run_until(host.now() + Ps::from_ns(100));
        assert!(host.now() < Ps::from_us(1000), "{:?}", all(host));
    }

    /// What the run reports after `fault`.
    fn caught(fault: impl FnOnce(&mut Host)) -> String {
        let mut host = busy_host();
        assert!(host.results().is_ok());
        fault(&mut host);
        host.results().expect_err("the fault is seen")
    }

    #[test]
    fn every_balance_has_something_in_it_now_and_then() {
        let mut host = overloaded(&[
            ("/machine/iommu", iommu_json(8)),
            ("/queues/tx_descriptors", json!(2)),
            ("/queues/tx_backlog", json!(8)),
        ]);
        let mut empty = [true; 21];
        while empty.contains(&true) {
            let balances = host.results().unwrap().conservation;
            assert_eq!(balances.len(), empty.len());
            empty.iter_mut().zip(&balances).for_each(|(empty, b)| *empty &= b.entered == 0);
            step(&mut host);
        }
        assert!(busy_host().results().unwrap().packets.dropped_sram > 0);
    }

    #[test]
    fn a_packet_dropped_without_count_is_caught() {
        let fault = caught(|host| host.meters.dropped_sram -= 1);
        assert!(fault.contains("conservation of packets: "), "{fault}");
    }

    #[test]
    fn a_written_line_that_no_outcome_counts_is_caught() {
        let fault = caught(|host| host.memory.counts.io[0].written += 1);
        assert!(fault.contains("lines written by DMA, by where they went"), "{fault}");
    }

    #[test]
    fn a_packet_forgotten_in_the_path_is_caught() {
        let fault = caught(|host| {
            let waits = host.queues.iter_mut().find(|q| !q.rx.visible().is_empty());
            let (packet, _) = waits.expect("a packet waits").rx.take();
            host.packets.remove(packet);
        });
        assert!(fault.contains("packets in the path"), "{fault}");
    }

    #[test]
    fn a_leaked_buffer_is_caught() {
        let fault = caught(|host| {
            let visible = host.queues.iter().find_map(|q| q.rx.visible().front().copied());
            host.packets.at(visible.expect("a packet waits")).buffer = None;
        });
        assert!(fault.contains("receive buffers"), "{fault}");
    }

    #[test]
    fn a_descriptor_posted_twice_is_caught() {
        let faults: [fn(&mut Host); 2] = [
            |host| host.queues[0].rx.count_unposted_twice(),
            |host| drop(host.queues[0].rx.write_descriptors(1)),
        ];
        for fault in faults.map(caught) {
            assert!(fault.contains("receive descriptors"), "{fault}");
        }
        let fault = caught(|host| host.queues[0].rx.admit());
        assert!(fault.contains("packets without descriptor"), "{fault}");
    }

    #[test]
    fn a_packet_that_waits_in_software_to_be_sent_is_not_forgotten() {
        let fault = caught(|host| host.tx.unposted += 1);
        assert!(fault.contains("packets to post for transmission"), "{fault}");
    }

    #[test]
    fn a_lost_doorbell_or_report_is_caught() {
        for direction in ["receive", "transmit"] {
            let fault = caught(|host| {
                let queue = &mut host.queues[1];
                if direction == "receive" {
                    queue.rx.lose_doorbell()
                } else {
                    queue.tx.lose_doorbell()
                }
            });
            assert!(fault.contains(direction) && fault.contains("doorbells"), "{fault}");
        }
        let fault = caught(|host| host.queues[0].tx.report_without_event());
        assert!(fault.contains("reports of sent packets"), "{fault}");
    }

    #[test]
    fn a_leaked_credit_of_each_kind_is_caught() {
        let fault = caught(|host| host.writes.lines.give_back(Ps::ZERO, 1));
        assert!(fault.contains("write line credits"), "{fault}");
        let fault = caught(|host| host.writes.tlps.give_back(Ps::ZERO, 1));
        assert!(fault.contains("write TLP credits"), "{fault}");
        let fault = caught(|host| host.reads.lines.take(Ps::ZERO, 1));
        assert!(fault.contains("read line credits"), "{fault}");
        let fault = caught(|host| host.reads.requests.give_back(Ps::ZERO, 1));
        assert!(fault.contains("read requests"), "{fault}");
    }

    #[test]
    fn a_lost_write_and_an_invented_read_are_caught() {
        let fault = caught(|host| host.memory.backend.lose_a_write());
        assert!(fault.contains("memory writes"), "{fault}");
        let fault = caught(|host| {
            use crate::memory::line::LineKind;
            use crate::memory::traffic::{Agent, Cause};
            host.memory.traffic[0][0].count(Cause::new(Agent::Cpu, LineKind::App));
        });
        assert!(fault.contains("memory reads"), "{fault}");
    }

    #[test]
    fn an_incoherent_cache_is_caught() {
        let fault = caught(|host| host.memory.caches.forget_a_private_line());
        assert!(fault.contains("coherence"), "{fault}");
    }
}
