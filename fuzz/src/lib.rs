//! What the fuzz targets check, apart from the absence of panics.

use std::sync::Arc;

use nic2core_engine::nic::rss::{Rss, RssConfig};
use nic2core_engine::wire::config::TrafficConfig;
use nic2core_engine::wire::{Capture, Source};

/// Reads `file` as a capture; one that is accepted must be fit to be replayed.
pub fn capture(file: &[u8]) {
    let Ok(capture) = Capture::parse(file) else { return };
    let capture = Arc::new(capture);
    let packets = capture.packets();
    assert!(packets.is_sorted_by_key(|p| p.at), "packets are in the order of their times");
    // 16 bytes are the shortest record of either format.
    assert!(packets.len() <= file.len() / 16, "no packet comes from nothing");

    let rss = Rss::new(&RssConfig::default(), 24, capture.flows()).expect("128 entries reach 24");
    let replay = TrafficConfig::Replay { file: "fuzz".into(), rate: None };
    let Ok((Source::Timed(mut arrivals), _)) = replay.build(0, Some(capture.clone())) else {
        return;
    };
    let mut last = arrivals.next();
    for _ in packets {
        let next = arrivals.next();
        assert!(next.at >= last.at, "{next:?} after {last:?}");
        assert!(rss.queue(next.flow) < 24, "{next:?} reaches a queue");
        last = next;
    }
}
