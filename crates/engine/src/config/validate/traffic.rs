//! Traffic against the rest of the scenario.

use crate::check::Check;
use crate::config::machine::Machine;
use crate::config::scenario::{Scenario, Tenant};
use crate::nic::config::Queues;
use crate::transport::check::MIN_LINK;
use crate::units::{BitRate, Size};
use crate::wire::config::{SizesConfig, TrafficConfig};

/// Returns whether the traffic alone can be simulated.
pub(super) fn check_traffic(
    check: &mut Check,
    traffic: &TrafficConfig,
    scenario: &Scenario,
) -> bool {
    let holds = check.below("traffic", |check| traffic.check(check));
    if holds {
        check_traffic_of(check, traffic, scenario);
    }
    holds
}

/// Checks traffic against the rest of the scenario.
fn check_traffic_of(check: &mut Check, traffic: &TrafficConfig, scenario: &Scenario) {
    let Scenario { queues, machine, .. } = scenario;
    if traffic.closed_loop().is_some() {
        let link = machine.nic.link;
        if link.is_none_or(|link| link < MIN_LINK) {
            let given = link.map_or("nothing".into(), |link| link.to_string());
            let allowed = format!(
                "a rate such as \"100 Gbps\", {MIN_LINK} at least, which the switch before the server sends at"
            );
            check.refuse("machine.nic.link", given, allowed);
        }
        check_wanted(check, traffic, scenario);
    } else {
        // Cores that the machine lacks are told as such.
        let serving = scenario.serving_cores().min(machine.core.count);
        check.below("machine.nic.rss", |check| machine.nic.rss.check_reach(check, serving));
    }
    if let TrafficConfig::Backlog { depth, .. } = traffic
        && *depth > queues.rx_descriptors
    {
        let most = format!(
            "at most queues.rx_descriptors ({}), which packets wait in",
            queues.rx_descriptors
        );
        check.refuse("traffic.depth", *depth, most);
    }
    if let Some(rate) = traffic.synthetic_bit_rate() {
        check_sizes_known(check, rate, scenario);
    }
    if traffic.closed_loop().is_none()
        && scenario.serving().all(|t| t.app.settings().draws_requests())
    {
        return; // The sizes have no effect, and the messages are checked with their store.
    }
    let Some((key, size)) = largest_frame(traffic) else { return };
    let (of, room) = frame_room(queues, machine);
    if let Some(closed_loop) = traffic.closed_loop()
        && closed_loop.headers >= room
    {
        let allowed = format!("less than {of} ({room}), which has to hold a frame");
        check.refuse("traffic.headers", closed_loop.headers, allowed);
    } else if size > room {
        let allowed = match traffic.closed_loop() {
            Some(closed_loop) => {
                let most = Size(room.0.saturating_sub(closed_loop.headers.0));
                format!(
                    "at most {most}, so that {of} ({room}) holds a frame with its traffic.headers"
                )
            }
            None => format!("at most {of} ({room}), which has to hold a frame"),
        };
        check.refuse(&key, size, allowed);
    }
}

/// Reads that wait take memory, up to all that are wanted in a run: 16 bytes each.
const MAX_WANTED: u128 = 1 << 26;

/// Checks how many reads are wanted in the run, of which none may be completed.
fn check_wanted(check: &mut Check, traffic: &TrafficConfig, scenario: &Scenario) {
    let Some(config) = traffic.closed_loop() else { return };
    let time = u128::from(scenario.run.warmup.0) + u128::from(scenario.run.duration.0);
    let wanted = config
        .groups()
        .map(|g| u128::from(g.senders.len() as u64) * g.wanted_in(time))
        .sum::<u128>();
    if wanted > MAX_WANTED {
        let allowed = format!(
            "less, longer reads or a shorter run: {wanted} reads would be wanted in it, and {MAX_WANTED} at most are \
             simulated"
        );
        let load = config.groups().filter_map(|group| group.load).max().unwrap_or_default();
        check.refuse("traffic.load", load, allowed);
    }
}

/// Checks that a bit rate determines a packet rate: it does not where clients choose the packet sizes.
fn check_sizes_known(check: &mut Check, rate: BitRate, scenario: &Scenario) {
    let drawn = |tenant: &Tenant| tenant.app.settings().draws_requests();
    if let Some(i) = scenario.tenants.iter().position(drawn) {
        let allowed = format!(
            "packets per second, such as \"10 Mpps\": the sizes are those of tenants.{i}.app \
             (item, gets), whose requests are drawn; with tenants.{i}.app.requests = \
             \"from-size\" they are those of traffic.sizes"
        );
        check.refuse("traffic.rate", rate, allowed);
    }
}

/// The largest frame that can be received, and the key that limits it: a packet lies in one buffer.
pub(crate) fn frame_room(queues: &Queues, machine: &Machine) -> (&'static str, Size) {
    let room = [("queues.buffer_size", queues.buffer_size), ("machine.nic.sram", machine.nic.sram)];
    room.into_iter().min_by_key(|(_, size)| *size).expect("there are two")
}

/// The largest frame of traffic, if it is known without a capture, and the key that sets it.
fn largest_frame(traffic: &TrafficConfig) -> Option<(String, Size)> {
    if let Some(closed_loop) = traffic.closed_loop() {
        return Some(("traffic.payload".into(), closed_loop.frame()));
    }
    let (TrafficConfig::Constant { sizes, .. }
    | TrafficConfig::Poisson { sizes, .. }
    | TrafficConfig::Bursts { sizes, .. }
    | TrafficConfig::Backlog { sizes, .. }) = traffic
    else {
        return None;
    };
    match sizes {
        SizesConfig::Fixed { size } => Some(("traffic.sizes.size".into(), *size)),
        SizesConfig::Mix { of } => {
            let frames = of.iter().enumerate().map(|(i, share)| (i, share.size));
            let (i, size) = frames.max_by_key(|frame| frame.1)?;
            Some((format!("traffic.sizes.of.{i}.size"), size))
        }
    }
}
