//! Tenants: their cores and ways, and whether they serve the packets that come.

use super::traffic::frame_room;
use crate::check::Check;
use crate::config::scenario::{CoreRange, Scenario, Tenant};
use crate::wire::config::TrafficConfig;

pub(super) fn check_tenants(check: &mut Check, scenario: &Scenario) {
    let Scenario { machine, tenants, .. } = scenario;
    if tenants.is_empty() && scenario.dma_bench.is_none() {
        check.refuse("tenants", "[]", "at least one [[tenants]] table, or a dma_bench");
    } else if !scenario.runs_on_cores() && scenario.dma_bench.is_none() {
        check.refuse("tenants", "no cores at all", "at least one core of a tenant, or a dma_bench");
    }
    for (i, tenant) in tenants.iter().enumerate() {
        let name_key = format!("tenants.{i}.name");
        if tenant.name.is_empty() || tenants[..i].iter().any(|other| other.name == tenant.name) {
            check.refuse(
                &name_key,
                format!("{:?}", tenant.name),
                "a name that no other tenant has",
            );
        }
        if tenant.name.contains(char::is_control) {
            check.refuse(
                &name_key,
                format!("{:?}", tenant.name),
                "a name without control characters",
            );
        }
        let buffer = ("queues.buffer_size", scenario.queues.buffer_size);
        check.below(&format!("tenants.{i}.app"), |check| {
            let app = tenant.app.settings();
            app.check(check);
            app.check_messages(check, frame_room(&scenario.queues, machine), buffer);
        });
        let key = format!("tenants.{i}.cores");
        let CoreRange { first, count } = tenant.cores;
        // A benchmark without cores is the baseline of a comparison.
        if tenant.runs() || tenant.app.settings().serves_packets() {
            check_range(check, &key, first, count, machine.core.count, "machine.core.count");
        }
        let overlaps = |other: &&Tenant| {
            let (a, b) = (tenant.cores, other.cores);
            let both_run = tenant.runs() && other.runs();
            both_run
                && end(a.first, a.count) > u64::from(b.first)
                && end(b.first, b.count) > u64::from(a.first)
        };
        if let Some(other) = tenants[..i].iter().find(overlaps) {
            let CoreRange { first: f, count: n } = other.cores;
            let given = format!("{{first = {first}, count = {count}}}");
            check.refuse(
                &key,
                given,
                format!("cores that no other tenant has; {} has {n} from core {f}", other.name),
            );
        }
        if let Some(ways) = tenant.llc_ways {
            let key = format!("tenants.{i}.llc_ways");
            check_range(check, &key, ways.first, ways.count, machine.llc.ways, "machine.llc.ways");
        }
    }
}

pub(super) fn check_services(check: &mut Check, scenario: &Scenario) {
    let server = scenario.serving().next();
    match (&scenario.traffic, server) {
        (None, Some(server)) => {
            check.refuse(
                "traffic",
                "nothing",
                format!("a table, because {} serves packets", server.name),
            );
        }
        (Some(_), None) if !scenario.tenants.is_empty() => {
            check.refuse("traffic", "a table", "nothing, because no tenant serves packets");
        }
        _ => {}
    }
    let closed_loop = scenario.traffic.as_ref().and_then(TrafficConfig::closed_loop);
    let mut stacks = 0;
    for (i, tenant) in
        scenario.tenants.iter().enumerate().filter(|(_, t)| t.app.settings().serves_packets())
    {
        let stack = tenant.app.settings().answers_senders();
        stacks += u32::from(stack);
        let allowed = match (closed_loop, stack) {
            (None, true) => {
                "an application that takes traffic with a source; snap needs traffic.kind = \"closed-loop\""
            }
            (Some(_), false) => "snap, which acknowledges the packets of closed-loop traffic",
            (Some(_), true) if stacks > 1 => {
                "one tenant of this kind: connections are dealt to its cores"
            }
            _ => continue,
        };
        check.refuse(&format!("tenants.{i}.app.kind"), tenant.app.kind(), allowed);
    }
}

/// Checks that packets find buffers while an application keeps as many as it ever does: it waits for them.
pub(super) fn check_kept_buffers(check: &mut Check, scenario: &Scenario) {
    let Some(traffic) = scenario.traffic.as_ref().and_then(TrafficConfig::closed_loop) else {
        return;
    };
    let buffers = scenario.queues.buffers();
    let kept = scenario.serving().map(|t| t.app.settings().keeps(traffic)).max().unwrap_or(0);
    let sizes = || {
        traffic.groups().map(|group| group.sizes.len()).zip([
            "traffic.read_mix",
            if traffic.read_mix.is_some() { "traffic.read_mix" } else { "traffic.rivals.read_mix" },
        ])
    };
    if let Some((sizes, key)) = sizes().find(|&(sizes, _)| sizes > 1 && kept > 0) {
        let allowed = "reads of one size, or tenants.*.app.copied = \"on-arrival\": otherwise packets wait for \
                       others of their read, and are told apart by number";
        check.refuse(key, format!("{sizes} sizes"), allowed);
    } else if kept > 0 && buffers <= kept {
        let allowed = format!(
            "more than {kept}: that many packets of a core can wait in their buffers for others that find none \
             (tenants.*.app.copied = \"on-completion\")"
        );
        check.refuse("queues.pool_buffers", buffers, allowed);
    }
}

fn check_range(check: &mut Check, key: &str, first: u32, count: u32, limit: u32, of: &str) {
    let count_key = format!("{key}.count");
    if count == 0 {
        check.at_least_one(&count_key, count);
    } else if first >= limit {
        check.refuse(&format!("{key}.first"), first, format!("less than {of} ({limit})"));
    } else if end(first, count) > u64::from(limit) {
        let most = limit - first;
        check.refuse(
            &count_key,
            count,
            format!("at most {most}, because {key}.first is {first} and {of} is {limit}"),
        );
    }
}

fn end(first: u32, count: u32) -> u64 {
    u64::from(first) + u64::from(count)
}
