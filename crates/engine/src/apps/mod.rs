//! The applications: real data structures on simulated addresses, with every access they make.
//!
//! An application is functional first (see [`crate::core::op`]): it is called once for a packet,
//! does the work on its own data, and emits the accesses. The driver reads the completion and the
//! buffer's metadata beforehand, and frees the buffer afterwards unless the application
//! keeps it.

pub(crate) mod config;
pub mod kvs;
pub mod l2fwd;
pub mod l3fwd;
pub mod snap;
pub mod stream;
pub mod xmem;

mod app;
mod copy;
mod draw;
mod reassembly;
mod registry;
mod sharing;

pub(crate) use self::app::Site;
pub use self::app::{App, Packet, Verdict};
pub use self::registry::{AnyApp, AppConfig};

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;
    use crate::core::op::{Mark, Op, Ops};
    use crate::memory::address_space::AddressSpace;
    use crate::memory::line::{Line, LineKind, lines_in};
    use crate::testing::{closed_loop_json, every};
    use crate::transport::config::ClosedLoopConfig;

    /// The contract of [`App`], for every application.
    #[test]
    fn applications_keep_to_their_regions_and_the_buffers_of_the_packet() {
        let configs = [
            r#"{"kind": "kvs", "keys": 1000, "buckets": 256, "log": "1 MiB"}"#,
            r#"{"kind": "kvs", "stores": "per-core", "keys": 100, "buckets": 16, "log": "1 MiB"}"#,
            r#"{"kind": "l3fwd", "rules": 100, "longest_prefix": 32, "tables": "per-core"}"#,
            r#"{"kind": "l3fwd", "rules": 100, "transmit": "zero-copy"}"#,
            r#"{"kind": "l2fwd"}"#,
            r#"{"kind": "snap"}"#,
            r#"{"kind": "snap", "copied": "on-completion"}"#,
            r#"{"kind": "stream", "array": "1 MiB"}"#,
            r#"{"kind": "xmem", "writes": "50 %"}"#,
        ];
        let traffic: ClosedLoopConfig = {
            let mut traffic = closed_loop_json();
            traffic.as_object_mut().expect("a table").remove("kind");
            serde_json::from_value(traffic).expect("parses")
        };
        let configs =
            configs.map(|json| (json, serde_json::from_str::<AppConfig>(json).expect("parses")));
        for config in every::<AppConfig>() {
            let tried = configs.iter().any(|(_, tried)| tried.kind() == config.kind());
            assert!(tried, "{} is not tried", config.kind());
        }
        for (json, config) in configs {
            let mut space = AddressSpace::default();
            let first = space.reserve(1);
            let closed_loop = Some(&traffic);
            let site = Site { on: 0..2, seed: 1, closed_loop, space: &mut space };
            let mut app = AnyApp::build(&config, site);
            let end = space.reserve(1);
            // Buffers at the end of the address space.
            let tx = Line::MAX - 50;
            let rx_of = |buffer: u32| tx - 100 * (buffer + 1);
            let mut touched = [HashSet::new(), HashSet::new()];
            let mut kept = HashSet::new();
            for n in 0..2000_u64 {
                let (rank, seq) = (n as u32 % 2, n / 2);
                let sent =
                    if matches!(app, AnyApp::Snap(_)) { traffic.frame().0 as u32 } else { 1024 };
                let bytes = app.request_bytes(seq).unwrap_or(sent);
                let (buffer, rx) = (n as u32, rx_of(n as u32));
                let packet = Packet { seq, rx, tx, bytes, flow: rank, buffer };
                let mut ops = Ops::new(true);
                ops.push(Op::Mark { mark: Mark::Begin, packet: 0 });
                let verdict = app.on_packet(rank, &packet, &mut ops);
                let emitted = ops.len();
                touched[rank as usize].extend(ops.iter().filter_map(|op| match op {
                    Op::Load { line, kind: LineKind::App, .. }
                    | Op::Store { line, kind: LineKind::App, .. } => Some(line),
                    _ => None,
                }));
                app.on_idle(1 - rank, &mut ops);
                let idle = ops.len() - emitted;
                assert!(idle == 0 || idle >= 100, "{json}: a slice of {idle}");
                let answer = match verdict {
                    Verdict::Reply { bytes } => bytes,
                    Verdict::Keep { bytes } => {
                        kept.insert(buffer);
                        bytes
                    }
                    Verdict::Forward | Verdict::Consume => 0,
                };
                assert!(matches!(ops.get(0), Some(Op::Mark { .. })), "{json} cleared the buffer");
                // The lines of this packet, or of a kept one in whose buffer the line lies.
                let received = |kept: &HashSet<u32>, line: Line| {
                    let holds = |b: &&u32| (rx_of(**b)..rx_of(**b) + 100).contains(&line);
                    let rx = kept.iter().find(holds).map_or(rx, |&b| rx_of(b));
                    rx..rx + lines_in(u64::from(bytes))
                };
                for op in ops.iter().skip(1) {
                    let (line, allowed) = match op {
                        Op::Load { line, kind, .. } | Op::Store { line, kind, .. } => match kind {
                            LineKind::App => (line, first + 1..end),
                            LineKind::Rx => (line, received(&kept, line)),
                            LineKind::Tx => (line, tx..tx + lines_in(u64::from(answer))),
                            other => panic!("{json}: {other:?} belongs to the driver"),
                        },
                        Op::Sweep { line } => (line, received(&kept, line)),
                        Op::Compute { .. } | Op::Delay { .. } => continue,
                        Op::Mark { mark: Mark::GiveBack, packet } => {
                            assert!(kept.remove(&packet), "{json}: gives back what it has not");
                            continue;
                        }
                        Op::Mark { .. } | Op::WriteBack { .. } | Op::Invalidate => {
                            panic!("{json}: {op:?} belongs to the driver")
                        }
                    };
                    assert!(allowed.contains(&line), "{json}: {op:?} outside {allowed:?}");
                }
            }
            let most = 2 * config.settings().keeps(&traffic) as usize;
            assert!(kept.len() <= most, "{json} keeps {} of {most}", kept.len());
            if json.contains("per-core") {
                let [a, b] = &touched;
                assert!(!a.is_empty() && !b.is_empty() && a.is_disjoint(b), "{json}: not its own");
            }
        }
    }
}
