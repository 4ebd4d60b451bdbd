//! Keys that are allowed but decide nothing, because of what another key says: a user who changes one
//! should hear of it.

use super::Scenario;
use crate::apps::config::AppConfig;
use crate::apps::kvs::config::Requests;
use crate::iommu::config::Mode;
use crate::memory::placement::config::Policy;

/// A key that decides nothing in a scenario.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WithoutEffect {
    /// The dotted key, such as `placement.io_ways`; what lies below it is meant too.
    pub key: String,
    /// Why, in words for the user.
    pub because: &'static str,
}

/// All keys that decide nothing in this scenario, whether they were given or not.
pub fn without_effect(scenario: &Scenario) -> Vec<WithoutEffect> {
    let Scenario { machine, placement, tenants, .. } = scenario;
    let mut found = Vec::new();
    let mut add = |key: String, because| found.push(WithoutEffect { key, because });
    if placement.policy == Policy::Dma {
        add("placement.io_ways".into(), "placement.policy = \"dma\" writes nothing to the LLC");
    }
    let drawn = |app: &AppConfig| match app {
        AppConfig::Kvs(kvs) => kvs.requests == Requests::Drawn,
        _ => false,
    };
    let mut serving = tenants.iter().filter(|t| t.app.serves_packets()).peekable();
    if serving.peek().is_some() && serving.all(|t| drawn(&t.app)) {
        let because = "the clients of the key-value store decide the sizes of their requests \
                       (app.requests = \"drawn\")";
        add("traffic.sizes".into(), because);
    }
    for (i, _) in tenants.iter().enumerate().filter(|(_, t)| drawn(&t.app)) {
        let because = "only app.requests = \"from-size\" tells a SET by its size";
        add(format!("tenants.{i}.app.set_from"), because);
    }
    if machine.numa.is_some() && !scenario.uses_remote_memory() {
        let because = "nothing lies in the memory of the other socket (queues.memory, \
                       tenants.N.memory)";
        add("machine.numa".into(), because);
    }
    if let Some(iommu) = &machine.iommu {
        if !iommu.mode.maps_at_run_time() {
            let because = "only machine.iommu.mode = \"strict\" and \"deferred\" map at run time";
            add("machine.iommu.run_time".into(), because);
        }
        if iommu.mode == Mode::Off {
            for key in [
                "iotlb",
                "paging_structures",
                "posted_queue",
                "non_posted_queue",
                "walkers",
                "step_latency",
            ] {
                add(format!("machine.iommu.{key}"), "machine.iommu.mode is \"off\"");
            }
        }
    }
    found
}
