//! What the fuzz targets check besides the absence of panics.

use std::io;
use std::path::Path;
use std::sync::Arc;

use nic2core_engine::nic::rss::{Rss, RssConfig};
use nic2core_engine::wire::config::TrafficConfig;
use nic2core_engine::wire::{Capture, Source};
use nic2core_scenario::{Files, Origins, from_json, load};

mod whole_run;

pub use whole_run::run;

/// Reads `file` as a capture; one that is accepted must be fit for replay.
pub fn capture(file: &[u8]) {
    let Ok(capture) = Capture::parse(file) else { return };
    let capture = Arc::new(capture);
    let packets = capture.packets();
    assert!(packets.is_sorted_by_key(|p| p.at), "packets are in the order of their times");
    // 16 bytes are the shortest record of either format.
    assert!(packets.len() <= file.len() / 16, "no packet comes from nothing");

    let rss = Rss::new(&RssConfig::default(), 24, capture.flows());
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

/// A scenario and its machine.
struct Given<'b> {
    scenario: &'b [u8],
    machine: &'b [u8],
}

impl Files for Given<'_> {
    fn read(&self, path: &Path) -> io::Result<Vec<u8>> {
        match path.to_str() {
            Some("scenario.toml") => Ok(self.scenario.to_vec()),
            Some("machine.toml") => Ok(self.machine.to_vec()),
            _ => Err(io::ErrorKind::NotFound.into()),
        }
    }

    fn names(&self, _: &Path) -> Vec<String> {
        vec!["machine.toml".into()]
    }
}

/// Loads a scenario, its machine and one override, separated by zero bytes. One that is accepted
/// must read back the same from its JSON, and a refusal must say what is allowed.
pub fn scenario(input: &[u8]) {
    let mut parts = input.splitn(3, |&byte| byte == 0);
    let mut part = || parts.next().unwrap_or_default();
    let files = Given { scenario: part(), machine: part() };
    let sets: Vec<String> = match part() {
        [] => Vec::new(),
        set => vec![String::from_utf8_lossy(set).into_owned()],
    };
    match load(&files, Path::new("scenario.toml"), &sets, &[]) {
        Ok(loaded) => {
            let json = serde_json::to_string(&loaded.scenario).expect("a scenario is plain data");
            let again = from_json(&files, &json, &[], &Origins::default())
                .expect("what was loaded is allowed");
            assert_eq!(again.scenario, loaded.scenario);
        }
        Err(errors) => {
            assert!(!errors.0.is_empty(), "a refusal has a reason");
            for error in errors.0 {
                assert!(!error.problem.is_empty() && !error.allowed.is_empty(), "{error}");
            }
        }
    }
}
