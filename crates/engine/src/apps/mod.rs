//! The applications: real data structures on simulated addresses, with every access they make.
//!
//! An application is functional first (see [`crate::core::op`]): it is called once for a packet,
//! does the work on its own data, and emits the accesses. The driver reads the completion and the
//! buffer's metadata beforehand, and frees the buffer afterwards.

pub mod config;
pub mod kvs;
pub mod l2fwd;
pub mod l3fwd;
pub mod snap;
pub mod stream;
pub mod xmem;

mod app;
mod copy;
mod draw;
mod sharing;

use std::ops::Range;

use serde::Serialize;

pub use self::app::{App, Packet, PacketCounters, Verdict};

use self::config::AppConfig;
use self::kvs::{Kvs, KvsCounters};
use self::l2fwd::L2fwd;
use self::l3fwd::{L3fwd, L3fwdCounters};
use self::snap::Snap;
use self::stream::{Stream, StreamCounters};
use self::xmem::{Xmem, XmemCounters};
use crate::core::op::Ops;
use crate::memory::address_space::AddressSpace;
use crate::transport::config::ClosedLoopConfig;

/// Any of the applications, dispatched statically.
#[derive(Clone, Debug)]
pub enum AnyApp {
    /// A key-value store.
    Kvs(Kvs),
    /// An L3 forwarder.
    L3fwd(L3fwd),
    /// A layer-2 forwarder.
    L2fwd(L2fwd),
    /// A network stack that reads from other machines.
    Snap(Snap),
    /// The STREAM benchmark.
    Stream(Stream),
    /// A memory benchmark.
    Xmem(Xmem),
}

/// What an application has done since its counters were reset.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[serde(tag = "kind", rename_all = "lowercase")]
pub enum AppCounters {
    /// A key-value store.
    Kvs(KvsCounters),
    /// An L3 forwarder.
    L3fwd(L3fwdCounters),
    /// A layer-2 forwarder.
    L2fwd(PacketCounters),
    /// A network stack that reads from other machines.
    Snap(PacketCounters),
    /// The STREAM benchmark.
    Stream(StreamCounters),
    /// A memory benchmark.
    Xmem(XmemCounters),
}

/// Calls a method on the application, whichever it is.
macro_rules! each {
    ($any:expr, $app:ident => $call:expr) => {
        match $any {
            AnyApp::Kvs($app) => $call,
            AnyApp::L3fwd($app) => $call,
            AnyApp::L2fwd($app) => $call,
            AnyApp::Snap($app) => $call,
            AnyApp::Stream($app) => $call,
            AnyApp::Xmem($app) => $call,
        }
    };
}

impl AppCounters {
    /// Every counter with its name.
    pub fn by_name(&self) -> Vec<(&'static str, u64)> {
        match self {
            AppCounters::Kvs(c) => vec![
                ("get_hits", c.get_hits),
                ("get_misses", c.get_misses),
                ("sets_in_place", c.sets_in_place),
                ("sets_appended", c.sets_appended),
                ("index_evictions", c.index_evictions),
                ("spikes", c.spikes),
            ],
            AppCounters::L3fwd(c) => {
                vec![("packets", c.packets), ("second_lookups", c.second_lookups)]
            }
            AppCounters::L2fwd(c) | AppCounters::Snap(c) => vec![("packets", c.packets)],
            AppCounters::Stream(c) => vec![("bytes", c.bytes)],
            AppCounters::Xmem(c) => vec![("accesses", c.accesses)],
        }
    }

    /// The work done: requests of a server, accesses of X-Mem, bytes of STREAM.
    pub fn progress(&self) -> u64 {
        match self {
            AppCounters::Kvs(c) => c.get_hits + c.get_misses + c.sets_in_place + c.sets_appended,
            AppCounters::L3fwd(c) => c.packets,
            AppCounters::L2fwd(c) | AppCounters::Snap(c) => c.packets,
            AppCounters::Stream(c) => c.bytes,
            AppCounters::Xmem(c) => c.accesses,
        }
    }
}

impl AnyApp {
    /// The application of a tenant on these cores, its regions reserved in `space`, its data
    /// populated. The configuration has passed [`AppConfig::check`]; `traffic` is the run's, if it is
    /// closed-loop. No two tenants of a run have the same `seed`.
    ///
    /// # Panics
    /// If a stack that reads from other machines has no closed-loop traffic.
    pub fn build(
        config: &AppConfig,
        on: Range<u32>,
        seed: u64,
        traffic: Option<&ClosedLoopConfig>,
        space: &mut AddressSpace,
    ) -> AnyApp {
        let cores = on.end - on.start;
        match config {
            AppConfig::Kvs(config) => AnyApp::Kvs(Kvs::new(config, cores, seed, space)),
            AppConfig::L3fwd(config) => AnyApp::L3fwd(L3fwd::new(config, cores, seed, space)),
            AppConfig::L2fwd(config) => AnyApp::L2fwd(L2fwd::new(config)),
            AppConfig::Snap(config) => {
                let traffic = traffic.expect("the scenario's check wants closed-loop traffic");
                AnyApp::Snap(Snap::new(config, cores, traffic, space))
            }
            AppConfig::Stream(config) => AnyApp::Stream(Stream::new(config, on, space)),
            AppConfig::Xmem(config) => AnyApp::Xmem(Xmem::new(config, cores, seed, space)),
        }
    }

    /// What the application has done since its counters were reset.
    pub fn counters(&self) -> AppCounters {
        match self {
            AnyApp::Kvs(app) => AppCounters::Kvs(app.counters()),
            AnyApp::L3fwd(app) => AppCounters::L3fwd(app.counters()),
            AnyApp::L2fwd(app) => AppCounters::L2fwd(app.counters()),
            AnyApp::Snap(app) => AppCounters::Snap(app.counters()),
            AnyApp::Stream(app) => AppCounters::Stream(app.counters()),
            AnyApp::Xmem(app) => AppCounters::Xmem(app.counters()),
        }
    }

    /// Sets the counters to zero when measuring begins.
    pub fn reset_counters(&mut self) {
        each!(self, app => app.reset_counters());
    }
}

impl App for AnyApp {
    fn on_packet(&mut self, rank: u32, packet: &Packet, ops: &mut Ops) -> Verdict {
        each!(self, app => app.on_packet(rank, packet, ops))
    }

    fn on_idle(&mut self, rank: u32, ops: &mut Ops) {
        each!(self, app => app.on_idle(rank, ops));
    }

    fn request_bytes(&self, seq: u64) -> Option<u32> {
        each!(self, app => app.request_bytes(seq))
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;
    use crate::core::op::{Mark, Op};
    use crate::memory::line::{Line, LineKind, lines_in};
    use crate::testing::closed_loop_json;

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
            r#"{"kind": "stream", "array": "1 MiB"}"#,
            r#"{"kind": "xmem", "writes": "50 %"}"#,
        ];
        let traffic: ClosedLoopConfig = {
            let mut traffic = closed_loop_json();
            traffic.as_object_mut().expect("a table").remove("kind");
            serde_json::from_value(traffic).expect("parses")
        };
        for json in configs {
            let config: AppConfig = serde_json::from_str(json).expect("parses");
            let mut space = AddressSpace::default();
            let first = space.reserve(1);
            let mut app = AnyApp::build(&config, 0..2, 1, Some(&traffic), &mut space);
            let end = space.reserve(1);
            // Buffers at the end of the address space.
            let (rx, tx) = (Line::MAX - 100, Line::MAX - 50);
            let mut touched = [HashSet::new(), HashSet::new()];
            for seq in 0..2000 {
                let rank = seq as u32 % 2;
                let sent =
                    if matches!(app, AnyApp::Snap(_)) { traffic.frame().0 as u32 } else { 1024 };
                let bytes = app.request_bytes(seq).unwrap_or(sent);
                let packet = Packet { seq, rx, tx, bytes, flow: 0, handle: 0 };
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
                    Verdict::Forward | Verdict::Consume => 0,
                };
                assert!(matches!(ops.get(0), Some(Op::Mark { .. })), "{json} cleared the buffer");
                for op in ops.iter().skip(1) {
                    let (line, allowed) = match op {
                        Op::Load { line, kind, .. } | Op::Store { line, kind, .. } => match kind {
                            LineKind::App => (line, first + 1..end),
                            LineKind::Rx => (line, rx..rx + lines_in(u64::from(bytes))),
                            LineKind::Tx => (line, tx..tx + lines_in(u64::from(answer))),
                            other => panic!("{json}: {other:?} belongs to the driver"),
                        },
                        Op::Sweep { line } => (line, rx..rx + lines_in(u64::from(bytes))),
                        Op::Compute { .. } | Op::Delay { .. } => continue,
                        Op::Mark { .. } | Op::WriteBack { .. } => panic!("{json}: {op:?}"),
                    };
                    assert!(allowed.contains(&line), "{json}: {op:?} outside {allowed:?}");
                }
            }
            if json.contains("per-core") {
                let [a, b] = &touched;
                assert!(!a.is_empty() && !b.is_empty() && a.is_disjoint(b), "{json}: not its own");
            }
        }
    }
}
