//! The network in front of a server that only takes time.

use super::*;
use crate::events::Events;
use crate::testing::{cases, every};
use crate::transport::config::{ReadShare, RivalsConfig};
use crate::transport::control::ControlConfig;
use crate::transport::control::dcqcn::DcqcnConfig;
use crate::transport::control::dctcp::DctcpConfig;
use crate::transport::control::swift::SwiftConfig;
use crate::transport::control::timely::TimelyConfig;
use crate::units::Duration;
use proptest::prelude::*;
use serde_json::json;

fn config(control: &ControlConfig, senders: u32, open_reads: u32) -> ClosedLoopConfig {
    serde_json::from_value(json!({
        "senders": senders, "read": "16 KiB", "open_reads": open_reads, "payload": "4 KiB",
        "headers": "332 B", "acknowledgement": "64 B",
        "network": {
            "delay": "5 us", "sender_link": "100 Gbps", "buffer": "256 KiB",
            "ecn_threshold": "64 KiB"
        },
        "control": control
    }))
    .expect("a configuration")
}

/// A server that takes `service` per packet. For the first 20 ms it holds at most `room`
/// packets and drops every `lossy`-th one.
fn run(config: &ClosedLoopConfig, service: Ps, room: u64, lossy: u64, end: Ps) -> Network {
    let mut network = Network::new(config, BitRate(100_000_000_000), 2, 1);
    let mut events = Events::default();
    let (mut free_at, mut arrived) = (Ps::ZERO, 0u64);
    loop {
        for (at, step, of) in network.due.drain(..) {
            events.push(at, (step, of));
        }
        let Some((now, (step, of))) = events.pop(end) else { break };
        match step {
            Step::Switch => network.at_switch(now, of),
            Step::Delivered => {
                network.left_switch(now, of);
                arrived += 1;
                let waiting = free_at.saturating_sub(now).0 / service.0;
                let drops = waiting >= room || arrived.is_multiple_of(lossy);
                if drops && now < Ps::from_us(20_000) {
                    network.dropped(of);
                } else {
                    free_at = free_at.max(now) + service;
                    // This test's server processes the packet at once, with the later time at
                    // which it finishes.
                    network.processed(free_at, of, free_at - now);
                    network.acknowledge(free_at, of, Hop { at: free_at, ..Hop::default() });
                }
            }
            Step::Ack => network.at_sender(now, of),
            Step::Ask => network.ask(now, of),
            Step::Asked => network.asked(now, of),
            Step::Wake => network.wake(now, of),
            Step::Timeout => network.timeout(now, of),
            Step::Timer => network.timer(now, of),
        }
        let c = &network.counts;
        let ended = c.acknowledged + c.dropped_server + c.dropped_switch;
        assert_eq!(c.sent, ended + network.in_flight());
    }
    network
}

proptest! {
    #![proptest_config(cases(24))]
    /// Whatever is lost, every packet sent is acknowledged, dropped or in flight, every packet
    /// of a read arrives in the end, and no connection stalls once losses have ended.
    #[test]
    fn nothing_is_lost_for_good(
        control in prop::sample::select(every::<ControlConfig>()),
        senders in 1u32..20,
        open_reads in 1u32..8,
        service_ns in 100u64..3000,
        room in 1u64..200,
        lossy in 2u64..1000,
        min_timeout_us in 10u64..2000,
        think_us in prop_oneof![Just(0), 1u64..1000],
        striped in any::<bool>(),
        mix in any::<bool>(),
        load_mbps in prop::option::of(100u64..2000),
        rivals in prop::option::of((1u32..20, 1u64..16, 1u32..4, any::<bool>(), 0u32..4)),
    ) {
        let mut config = config(&control, senders, open_reads);
        config.think = Duration(think_us * 1_000_000);
        config.striped = striped;
        config.load = load_mbps.map(|load| BitRate(load * 1_000_000));
        if mix {
            let share = |packets: u64, weight| ReadShare { size: Size(packets << 12), weight };
            config.read_mix = Some(vec![share(1, 6), share(70, 1), share(9, 3)]);
        }
        config.rivals = rivals.filter(|rivals| rivals.0 < senders).map(|rivals| {
            let (senders, packets, open_reads, striped, differ) = rivals;
            Box::new(RivalsConfig {
                senders,
                read: Some(Size(packets << 12)),
                open_reads: Some(open_reads),
                striped: Some(striped),
                delay: (differ == 1).then_some(Duration(3_000_000)),
                sender_link: (differ == 2).then_some(BitRate(1_000_000_000)),
                start: (differ == 3).then_some(Duration(200_000_000)),
                stop: (differ == 3).then_some(Duration(300_000_000_000)),
                ..RivalsConfig::default()
            })
        });
        config.recovery.min_timeout = Duration(min_timeout_us * 1_000_000);
        let until = |end| run(&config, Ps::from_ns(service_ns), room, lossy, end);
        let end = Ps::from_us(1_500_000);
        let network = until(end);
        let (begun, accounted) = network.begun();
        prop_assert_eq!(begun, accounted);
        // A timer is still pending, and is set to its deadline or, if the deadline has been
        // postponed since, to an earlier time.
        let armed = |c: &Connection| c.timed.is_some_and(|t| t >= end && c.deadline() >= Some(t));
        let timed = |c: &Connection| c.deadline().is_none() || armed(c);
        prop_assert!(network.connections.iter().all(timed));
        let c = &network.counts;
        prop_assert!(c.delivered + c.duplicates >= c.acknowledged);
        prop_assert!(c.delivered <= begun);
        let before = until(Ps::from_us(20_000)).receivers;
        let mut both = network.receivers.iter().zip(&before);
        prop_assert!(both.all(|(r, before)| r.asked() > before.asked()));
    }
}

/// With a round trip of 80 us, the first estimate gives a timeout of 240 us, later ones less,
/// down to 100.
#[test]
fn a_deadline_that_is_left_behind_goes_off_at_once() {
    let two = DctcpConfig { initial_cwnd: 2.0, max_cwnd: 2.0, ..DctcpConfig::default() };
    let mut config = config(&ControlConfig::Dctcp(two), 1, 2);
    config.network.delay = Duration(40_000_000);
    config.recovery.min_timeout = Duration(100_000_000);
    for lossy in 2..20 {
        let network = run(&config, Ps::from_ns(1), 10_000, lossy, Ps::from_us(40_000));
        assert!(network.counts.timeouts > 0, "a window of two has no other recovery");
        // Without losses in the last 20 ms: two packets per 80 us, less some time to recover.
        let delivered = network.by_connection.iter().map(|of| of.delivered);
        assert!(delivered.min() > Some(400), "one of {lossy}: {:?}", network.counts.delivered);
    }
}

/// One to each queue.
#[test]
fn a_sender_shares_its_link_among_its_connections() {
    let timely = ControlConfig::Timely(TimelyConfig::default());
    let config = config(&timely, 2, 1);
    let network = Network::new(&config, BitRate(100_000_000_000), 5, 1);
    let share = BitRate(config.network.sender_link.0 / 5);
    assert_eq!(network.connections.len(), 10);
    assert!(network.connections.iter().all(|c| c.rate() == Some(share)));
}

/// Bringing pacing forward leaves the event at its old time scheduled.
#[test]
fn a_time_that_was_brought_forward_is_no_time_to_send() {
    let swift = ControlConfig::Swift(SwiftConfig::default());
    let mut network = Network::new(&config(&swift, 1, 2), BitRate(100_000_000_000), 1, 1);
    let (begin, ..) = network.due.pop().expect("the first read is due");
    for (now, sends) in [(begin + Ps(1), false), (begin, true), (begin, false)] {
        network.wake(now, 0);
        assert_eq!(!network.due.is_empty(), sends, "at {now:?}");
        network.due.clear();
    }
}

#[test]
fn swift_keeps_the_delay_of_a_slow_server_at_its_target_without_loss() {
    // 40 connections to a server that handles half of the link's rate.
    let config = config(&ControlConfig::Swift(SwiftConfig::default()), 20, 4);
    let service = Ps::from_ns(712);
    let network = run(&config, service, 10_000, u64::MAX, Ps::from_us(20_000));
    let c = &network.counts;
    assert_eq!((c.dropped_server, c.dropped_switch), (0, 0));
    let delay = c.endpoint.mean_ns();
    assert!((80_000.0..120_000.0).contains(&delay), "{delay}");
    let connections = network.by_connection(Ps::from_us(20_000));
    let sum = |of: fn(&ConnectionResults) -> f64| connections.iter().map(of).sum::<f64>();
    let by_host = sum(|c| c.cut_by_host.expect("Swift has a window for it"));
    let by_path = sum(|c| c.cut_by_path);
    assert!(by_host > 100.0 * by_path, "{by_host}, {by_path}");
    assert_eq!(sum(|c| c.cut_by_losses), 0.0);
    let rate = c.delivered as f64 * 712e-9 / 0.02;
    assert!(rate > 0.97, "{rate} of what the server can do");
}

/// Little's law: a read is open, or its thread thinks.
#[test]
fn a_thread_that_thinks_asks_for_less() {
    let mut config = config(&ControlConfig::Dctcp(DctcpConfig::default()), 10, 3);
    config.think = Duration(300_000_000);
    let end = Ps::from_us(100_000);
    let network = run(&config, Ps::from_ns(1), 10_000, u64::MAX, end);
    let read = network.reads();
    let open = read.count() as f64 * (read.mean_ns() + 300e3) / end.as_ns_f64();
    assert!((open / (2.0 * 10.0 * 3.0) - 1.0).abs() < 0.02, "{open}");
    assert!((10e3..50e3).contains(&read.mean_ns()), "{}", read.mean_ns());
    assert_eq!(network.by_group()[0].blocks.count(), 0);
}

#[test]
fn a_block_takes_as_long_as_its_slowest_read_and_meets_its_own_packets_in_the_switch() {
    let mut config = config(&ControlConfig::Dctcp(DctcpConfig::default()), 8, 1);
    let all = |config: &ClosedLoopConfig| {
        let network = run(config, Ps::from_ns(1), 10_000, u64::MAX, Ps::from_us(20_000));
        let [GroupCounts { reads, blocks, .. }] = network.by_group() else { panic!("one group") };
        (network.counts.dropped_switch, reads.clone(), blocks.clone())
    };
    let mut large = config.clone();
    large.network.buffer = Size(4 << 20);
    large.striped = true;
    let (independent, striped) = (all(&config), all(&large));
    let (read, block) = (striped.1.mean_ns(), striped.2.mean_ns());
    assert_eq!(striped.2.count(), striped.1.count() / 8);
    assert!(block > read && block < 2.0 * read, "{block}, {read}");
    assert_eq!((striped.0, independent.2.count()), (0, 0));
    // Two queues' blocks of 128 KiB each, for which the port has half of the room.
    config.network.buffer = Size(128 << 10);
    let (few, ..) = all(&config);
    config.striped = true;
    let (many, ..) = all(&config);
    assert!(many > 4 * few, "{many} {few}");
}

/// The sender's control fills the link with a queue near the switch's threshold of 64 KiB, where the reads would fill 256.
fn fills_the_link_with_a_short_queue(control: &ControlConfig) -> Network {
    let config = config(control, 4, 4);
    let network = run(&config, Ps::from_ns(1), 10_000, u64::MAX, Ps::from_us(20_000));
    let c = &network.counts;
    assert!(c.marked > 0);
    // 64 KiB take 5.2 us, on top of the path's 10 us.
    let fabric = c.fabric.mean_ns();
    assert!((11_000.0..21_000.0).contains(&fabric), "{fabric}");
    let gbps = c.delivered as f64 * 4096.0 * 8.0 / 20e6;
    assert!(gbps > 85.0, "{gbps} Gbps");
    let connection = &network.by_connection(Ps::from_us(20_000))[0];
    assert!(connection.cut_by_path > 1.0, "{}", connection.cut_by_path);
    network
}

#[test]
fn dctcp_keeps_the_queue_of_the_switch_near_the_threshold() {
    let dctcp = ControlConfig::Dctcp(DctcpConfig::default());
    let network = fills_the_link_with_a_short_queue(&dctcp);
    let connection = &network.by_connection(Ps::from_us(20_000))[0];
    assert_eq!((connection.cut_by_host, connection.cut_by_losses), (None, 0.0));
}

/// Without its timer a rate that marks have cut would stay where it is.
#[test]
fn dcqcn_keeps_the_queue_of_the_switch_near_the_threshold() {
    fills_the_link_with_a_short_queue(&ControlConfig::Dcqcn(DcqcnConfig::default()));
}

/// A notification puts the timer off, and its event at the old time is none.
#[test]
fn a_timer_that_was_put_off_fires_once_at_its_new_time() {
    let dcqcn = DcqcnConfig { notification_interval: Duration(0), ..DcqcnConfig::default() };
    let mut network =
        Network::new(&config(&ControlConfig::Dcqcn(dcqcn), 1, 1), BitRate(100_000_000_000), 1, 1);
    let us = |us| Ps::from_us(us);
    let marked = Datagram { marked: true, ..Datagram::new(0, 0, 0, us(0)) };
    let gbps = |network: &Network| network.connections[0].rate().unwrap().0 / 1_000_000_000;
    let timers = |network: &mut Network| {
        let due: Vec<_> = network.due.drain(..).filter(|due| due.1 == Step::Timer).collect();
        due.iter().map(|due| due.0).collect::<Vec<_>>()
    };
    for at in [us(0), us(10)] {
        network.connections[0].on_ack(at, &marked);
        network.send(at, 0);
    }
    // The first notification's timer is set, and the second one puts it off.
    assert_eq!((timers(&mut network), gbps(&network)), (vec![us(55)], 25));
    network.timer(us(55), 0);
    assert_eq!((timers(&mut network), gbps(&network)), (vec![us(65)], 25));
    network.timer(us(60), 0);
    assert_eq!((timers(&mut network), gbps(&network)), (vec![], 25));
    network.timer(us(65), 0);
    assert_eq!((timers(&mut network), gbps(&network)), (vec![us(120)], 37));
}
