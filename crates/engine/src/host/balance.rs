//! The balances of a run: what went in came out or is still inside. Checked in release builds too.

use super::Host;
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
    let m = &host.meters;
    let mut balances = vec![
        Balance {
            what: "packets".into(),
            entered: m.in_path_begin + m.offered,
            accounted: m.completed + m.dropped_sram + m.dropped_no_descriptor + m.in_path,
        },
        Balance {
            what: "packets in the path".into(),
            entered: m.in_path,
            accounted: host.packets.iter().filter(|p| !p.ended).count() as u64,
        },
        Balance {
            what: "packets to transmit".into(),
            entered: host.tx.in_flight,
            accounted: host.packets.iter().filter(|p| p.sending).count() as u64,
        },
        Balance {
            what: "NIC SRAM bytes".into(),
            entered: host.rx.sram_used,
            accounted: host.packets.iter().filter(|p| p.in_sram).map(|p| u64::from(p.bytes)).sum(),
        },
    ];
    let held = host.packets.iter().filter(|p| p.buffer.is_some()).count() as u64;
    let config = &host.scenario.queues;
    let buffers = u64::from(config.pool_buffers.unwrap_or(config.rx_descriptors));
    balances.push(Balance {
        what: "receive buffers".into(),
        entered: buffers * host.queues.len() as u64,
        accounted: held + host.queues.iter().map(|q| q.idle_buffers()).sum::<u64>(),
    });
    let memory = host.memory.balance();
    balances.push(Balance {
        what: "memory reads".into(),
        entered: memory.reads_sent,
        accounted: memory.reads_done,
    });
    balances.push(Balance {
        what: "memory writes".into(),
        entered: memory.writes_sent,
        accounted: memory.writes_done,
    });
    balances
}
