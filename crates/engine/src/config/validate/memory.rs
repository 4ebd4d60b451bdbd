//! Whether all data fits into the memory of its node.

use crate::check::Check;
use crate::config::Scenario;
use crate::memory::address_space::AddressSpace;
use crate::memory::line::{LINE_BYTES, MemoryNode};
use crate::nic::config::Queues;
use crate::wire::config::TrafficConfig;

/// Checks that all data fits into the simulated address space of its node.
pub(super) fn check_memory(check: &mut Check, scenario: &Scenario) {
    /// Rings, rounding to huge pages, and the small tables of applications.
    const SMALL: u64 = 1 << 30;
    let Queues {
        object_header, metadata, headroom, buffer_size, tx_descriptors, tx_backlog, ..
    } = scenario.queues;
    let iommu = scenario.machine.iommu.as_ref();
    let pages = iommu.is_some_and(|iommu| iommu.mode.maps_at_run_time());
    let unit = u128::from(if pages { 4096 } else { LINE_BYTES });
    let line_up = |bytes: u64| u128::from(bytes).next_multiple_of(unit);
    let parts = [object_header, metadata, headroom, buffer_size];
    let stride = line_up(parts.iter().fold(0, |sum, part| sum.saturating_add(part.0)));
    let pool = scenario.queues.buffers();
    let closed_loop = scenario.traffic.as_ref().and_then(TrafficConfig::closed_loop);
    let sent = closed_loop.map_or(buffer_size, |c| c.acknowledgement);
    let queue = stride * u128::from(pool)
        + line_up(sent.0) * (u128::from(tx_descriptors) + u128::from(tx_backlog));
    // By node.
    let (mut buffers, mut data) = ([0; 2], [0; 2]);
    let [local, remote, of_queues] =
        [MemoryNode::Local, MemoryNode::Remote, scenario.queues.memory].map(|node| node as usize);
    for tenant in &scenario.tenants {
        let cores = u128::from(tenant.cores.count);
        let own = tenant.memory as usize;
        if tenant.app.settings().serves_packets() {
            buffers[of_queues] += queue * cores;
            if of_queues != own {
                // The rings are not where the tables are.
                data[of_queues] += u128::from(SMALL);
            }
        }
        data[own] +=
            u128::from(SMALL) + tenant.app.settings().bytes(tenant.cores.count, closed_loop);
    }
    let bench = scenario.dma_bench.as_ref().map_or(0, |bench| u128::from(bench.window.0));
    // Eight bytes per 4 KiB, for each of four kinds of mapping, and less for the levels above. With
    // a second node the tables span the addresses of both.
    let mapped = match scenario.machine.numa {
        Some(_) => 2 * u128::from(AddressSpace::LIMIT.0),
        None => buffers[local] + data[local] + bench,
    };
    let tables = scenario.machine.iommu.as_ref().map_or(0, |_| mapped / 100);
    data[local] += bench + tables;
    for (node, name) in [(local, "local"), (remote, "remote")] {
        let (buffers, data) = (buffers[node], data[node]);
        if buffers + data > u128::from(AddressSpace::LIMIT.0) {
            let gib = |bytes: u128| format!("{} GiB", bytes >> 30);
            let given = format!("{} of buffers and {} of data", gib(buffers), gib(data));
            let of = match scenario.machine.numa {
                Some(_) => format!(" on the {name} node"),
                None => String::new(),
            };
            let allowed = format!("{} in all{of}", AddressSpace::LIMIT);
            if buffers > data {
                // The value that is shown is the one that was written.
                check.refuse(
                    "queues.pool_buffers",
                    &given,
                    format!("{allowed}; there are {given}"),
                );
            } else {
                check.refuse("tenants", given, allowed);
            }
        }
    }
}

/// Checks that there is another socket if its memory is used.
pub(super) fn check_nodes(check: &mut Check, scenario: &Scenario) {
    if scenario.machine.numa.is_some() {
        return;
    }
    let tenants = scenario.tenants.iter().enumerate();
    let tenants = tenants.map(|(i, tenant)| (format!("tenants.{i}.memory"), tenant.memory));
    for (key, memory) in tenants.chain([("queues.memory".into(), scenario.queues.memory)]) {
        if memory == MemoryNode::Remote {
            check.refuse(
                &key,
                "remote",
                "local, because the machine has no other socket (machine.numa)",
            );
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::config::validate::violations;
    use crate::host::Host;
    use crate::testing::{forwarder, iommu_json, pcie_json};
    use serde_json::json;

    /// Nearly all of an address space of 128 GiB are transmit buffers of 48 KiB, each on pages of its own.
    #[test]
    fn what_is_accepted_fits_where_buffers_are_mapped_one_by_one() {
        let mut iommu = iommu_json(16);
        iommu["mode"] = json!("strict");
        iommu["run_time"] = json!({ "map": "100 ns", "unmap": "100 ns", "invalidation": "100 ns" });
        let scenario = forwarder(&[
            ("/machine/core/count", json!(20)),
            ("/machine/pcie", pcie_json()),
            ("/machine/iommu", iommu),
            ("/tenants/0/cores/count", json!(20)),
            ("/tenants/0/app/transmit", json!("copy")),
            ("/queues/headroom", json!("64 B")),
            ("/queues/buffer_size", json!("48 KiB")),
            ("/queues/tx_descriptors", json!(65_535)),
            ("/queues/tx_backlog", json!(65_535)),
        ]);
        assert_eq!(violations(&scenario), []);
        let refused = Host::new(&scenario, None).expect_err("the memory is smaller");
        assert_eq!(refused.key, "machine.dram.rows");
    }

    #[test]
    fn each_node_holds_as_much_as_fits_its_own_addresses() {
        let numa = json!({ "links": 3, "link_bandwidth": "166.4 Gbps", "latency": "30 ns" });
        let told = |[a, b, queues]: [&str; 3], buffers: u32| -> Vec<String> {
            // 80 GiB of logs, and 1 GiB for what is small.
            let store = |name: &str, first: u32, node: &str| {
                json!({
                    "name": name, "memory": node, "cores": { "first": first, "count": 5 },
                    "app": {
                        "kind": "kvs", "stores": "per-core", "log": "16 GiB", "keys": 1000, "buckets": 1024
                    }
                })
            };
            let scenario = forwarder(&[
                ("/machine/core/count", json!(10)),
                ("/machine/numa", numa.clone()),
                ("/tenants", json!([store("a", 0, a), store("b", 5, b)])),
                ("/queues/memory", json!(queues)),
                ("/queues/buffer_size", json!("48 KiB")),
                ("/queues/pool_buffers", json!(buffers)),
            ]);
            violations(&scenario).iter().map(ToString::to_string).collect()
        };
        for queues in ["local", "remote"] {
            assert_eq!(told(["local", "remote", queues], 128), [] as [String; 0]);
        }
        for node in ["local", "remote"] {
            let other = if node == "local" { "remote" } else { "local" };
            let told = told([node, node, other], 128);
            let wanted = format!(
                "tenants = 0 GiB of buffers and 162 GiB of data; expected 128 GiB in all on the {node} node"
            );
            assert_eq!(told, [wanted]);
        }
        // 60 GiB of buffers in ten queues, and the rings of those of the local tenant.
        assert_eq!(
            told(["local", "remote", "remote"], 1 << 17),
            [
                "tenants = 60 GiB of buffers and 82 GiB of data; expected 128 GiB in all on the remote node"
            ]
        );
    }
}
