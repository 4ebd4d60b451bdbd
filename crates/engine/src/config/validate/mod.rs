//! What the types of a scenario cannot express: value ranges of components, and relations between them.

mod memory;
mod reads;
mod sums;
mod tenants;
mod traffic;

use self::memory::{check_memory, check_nodes};
use self::reads::check_read_requests;
use self::sums::check_sums;
use self::tenants::{check_kept_buffers, check_services, check_tenants};
use self::traffic::check_traffic;
use super::scenario::Scenario;
use crate::check::{self, Violation};

pub(crate) use self::traffic::frame_room;

/// Everything that is wrong with a scenario; empty if it can be simulated.
pub fn violations(scenario: &Scenario) -> Vec<Violation> {
    check::violations(|check| {
        let Scenario { machine, traffic, dma_bench, placement, queues, tenants: _, run, slo } =
            scenario;
        if !check.below("machine", |check| machine.check(check)) {
            // Checks relative to an impossible machine would only repeat its errors.
            return;
        }
        check.below("placement", |check| placement.check(machine.llc.ways, check));
        let queues_hold = check.below("queues", |check| queues.check(check));
        let traffic_holds = match traffic {
            Some(traffic) => check_traffic(check, traffic, scenario),
            None => true,
        };
        if let Some(bench) = dma_bench {
            check.that(
                traffic.is_none(),
                "dma_bench",
                "a table",
                "nothing beside traffic: the device does one or the other",
            );
            check.below("dma_bench", |check| {
                bench.check(&machine.nic, machine.pcie.as_ref(), check);
            });
        }
        check_tenants(check, scenario);
        check_services(check, scenario);
        if queues_hold
            && let Some(pcie) = &machine.pcie
            && scenario.serving().next().is_some()
        {
            check_read_requests(check, pcie, scenario);
        }
        // What applications need for impossible traffic has no meaning, or no bound.
        if queues_hold && traffic_holds {
            check_kept_buffers(check, scenario);
            check_memory(check, scenario);
        }
        check_nodes(check, scenario);
        if check.below("run", |check| run.check(check)) {
            check_sums(check, scenario);
        }
        check.below("slo", |check| slo.check(check));
    })
}

#[cfg(test)]
mod tests {
    use super::violations;
    use crate::host::Host;
    use crate::testing::{closed_loop_json, forwarder, iommu_json};
    use serde_json::json;

    /// Messages show a value as it is written in a scenario, not under another name.
    #[test]
    fn a_value_that_is_a_name_is_told_as_such() {
        let mut iommu = iommu_json(8);
        iommu["mode"] = json!("strict");
        iommu["pages"]["payload"] = json!("2 MiB");
        for (key, value, given) in [
            ("/machine/dram/density", json!("32Gb"), "machine.dram.density = 32Gb; expected 4Gb"),
            ("/machine/iommu", iommu, "machine.iommu.pages.payload = 2 MiB; expected \"4 KiB\""),
            ("/traffic", closed_loop_json(), "tenants.0.app.kind = l3fwd; expected snap"),
        ] {
            let link = ("/machine/nic/link", json!("100 Gbps"));
            let found = violations(&forwarder(&[link, (key, value)]));
            let told: Vec<String> = found.iter().map(ToString::to_string).collect();
            assert!(told.iter().any(|t| t.starts_with(given)), "{told:?}, expected {given}");
        }
    }

    #[test]
    fn the_switch_of_a_closed_loop_sends_at_least_a_megabit_a_second() {
        let with = |link: serde_json::Value| {
            let closed_loop = ("/traffic", closed_loop_json());
            let found = violations(&forwarder(&[("/machine/nic/link", link), closed_loop]));
            let told = found.iter().map(ToString::to_string);
            told.filter(|t| t.starts_with("machine.nic.link")).collect::<Vec<_>>()
        };
        assert_eq!(with(json!("1 Mbps")), [] as [String; 0]);
        for (link, given) in [(json!("1 bps"), "1 bps"), (json!(null), "nothing")] {
            let allowed = "a rate such as \"100 Gbps\", 1 Mbps at least, which the switch before the server sends at";
            assert_eq!(with(link), [format!("machine.nic.link = {given}; expected {allowed}")]);
        }
    }

    #[test]
    fn private_caches_have_a_bound_together_and_the_llc_takes_a_cycle() {
        let told = |key: &str, value: serde_json::Value| {
            let found = violations(&forwarder(&[(key, value)]));
            found.iter().map(ToString::to_string).collect::<Vec<_>>()
        };
        assert_eq!(told("/machine/l2/size", json!("1 GiB")), [] as [String; 0]);
        assert_eq!(
            told("/machine/l2/size", json!("2 GiB")),
            ["machine.l2.size = 2 GiB; expected at most 2 GiB for all 2 cores together"]
        );
        assert_eq!(told("/machine/llc/latency_cycles", json!(1)), [] as [String; 0]);
        assert_eq!(
            told("/machine/llc/latency_cycles", json!(0)),
            ["machine.llc.latency_cycles = 0; expected 1 to 100000"]
        );
    }

    #[test]
    fn a_superqueue_has_a_bound() {
        let of = |lines: u32| {
            violations(&forwarder(&[("/machine/l2/superqueue", json!(lines))]))
                .iter()
                .map(ToString::to_string)
                .collect::<Vec<_>>()
        };
        assert_eq!(of(4096), [] as [String; 0]);
        assert_eq!(of(u32::MAX), ["machine.l2.superqueue = 4294967295; expected 1 to 4096"]);
    }

    /// A host that is built without this check reports the same.
    #[test]
    fn an_impossible_memory_names_its_key_when_it_is_built() {
        let error = Host::new(&forwarder(&[("/machine/dram/ranks", json!(17))]), None).err();
        let error = error.expect("17 ranks are too many");
        assert_eq!((error.key.as_str(), error.given.as_str()), ("machine.dram.ranks", "17"));
    }
}
