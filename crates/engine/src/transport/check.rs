//! Checks that the values of closed-loop traffic can be simulated.

use std::ops::RangeInclusive;

use super::config::{ClosedLoopConfig, NetworkConfig, ReadShare, RivalsConfig};
use super::control::MAX_DELAY;
use super::groups::{Group, mix, sizes};
use crate::check::Check;
use crate::frame::{MAX_FRAME_BYTES, MAX_LINK, MIN_FRAME_BYTES, WIRE_OVERHEAD_BYTES};
use crate::units::{BitRate, Duration, Size};

/// More lines of a kind than this (those of rivals are dashed) cannot be told apart in a plot.
const MAX_WATCHED: u32 = 16;

/// Maximum packets of open reads on a connection: 64 MiB of 4 KiB.
const MAX_OPEN_PACKETS: u64 = 16_384;
/// The same of all connections of a thread: those of the most senders with 256 packets each.
const MAX_PACKETS_OF_A_THREAD: u64 = 1 << 20;
/// Sizes of reads that are told apart.
const MAX_SIZES: usize = 64;
/// The least that is wanted from a sender: reads come within what the clock can count.
const MIN_LOAD: BitRate = BitRate(1_000);
/// Far more than any testbed has.
const MAX_SENDERS: u32 = 4096;
/// For a switch port; larger than any real one.
const MAX_BUFFER: Size = Size(1 << 40);
/// Rate of the slowest link: what full windows send takes slower ones longer than the clock goes.
pub(crate) const MIN_LINK: BitRate = BitRate(1_000_000);

impl ClosedLoopConfig {
    /// Reports values that cannot be simulated.
    pub(crate) fn check(&self, check: &mut Check) {
        let (least, most) = (Size(MIN_FRAME_BYTES.into()), Size(MAX_FRAME_BYTES.into()));
        check.within("senders", self.senders, 1..=MAX_SENDERS);
        check.within("watched", self.watched, 0..=MAX_WATCHED);
        check.within("payload", self.payload, Size(1)..=most);
        check.within("headers", self.headers, Size(0)..=most);
        check.within("acknowledgement", self.acknowledgement, least..=most);
        if (Size(1)..=most).contains(&self.payload) {
            self.check_sizes(least..=most, check);
        }
        let NetworkConfig { delay, sender_link, buffer, ecn_threshold } = &self.network;
        check.within("network.delay", *delay, Duration(1)..=MAX_DELAY);
        check.within("network.sender_link", *sender_link, MIN_LINK..=MAX_LINK);
        let frame = Size(self.frame().0.saturating_add(WIRE_OVERHEAD_BYTES.into()));
        check.within("network.buffer", *buffer, frame..=MAX_BUFFER);
        if let Some(threshold) = ecn_threshold {
            check.within("network.ecn_threshold", *threshold, Size(0)..=*buffer);
        }
        check.within("recovery.reordering", self.recovery.reordering, 1..=1000);
        check.within("recovery.min_timeout", self.recovery.min_timeout, *delay..=MAX_DELAY);
        check.within("think", self.think, Duration(0)..=MAX_DELAY);
        self.check_loads(check);
        self.check_open_packets(check);
        // It must be possible on the slowest link of those who have it.
        let others = self.rivals.as_ref().filter(|rivals| rivals.control.is_none());
        let link = others.and_then(|rivals| rivals.sender_link).unwrap_or(MAX_LINK);
        let link = valid_link(link.min(self.network.sender_link));
        check.below("control", |check| self.control.check(link, check));
        if let Some(rivals) = &self.rivals {
            check.below("rivals", |check| self.check_rivals(rivals, check));
        }
    }

    /// Checks what rivals have of their own.
    fn check_rivals(&self, rivals: &RivalsConfig, check: &mut Check) {
        if !(1..self.senders).contains(&rivals.senders) {
            let allowed = format!("at least 1, and fewer than traffic.senders ({})", self.senders);
            check.refuse("senders", rivals.senders, allowed);
        }
        if (RivalsConfig { senders: rivals.senders, ..RivalsConfig::default() }) == *rivals {
            let allowed = "also one of read, read_mix, open_reads, load, think, striped, start, stop, \
                delay, sender_link and control, in which they differ";
            check.refuse("senders", rivals.senders, allowed);
        }
        not_empty(&rivals.read_mix, check);
        let theirs = if rivals.read.is_some() { &[] } else { mix(&rivals.read_mix) };
        let own = rivals.read.is_some() || !theirs.is_empty();
        match (own, rivals.open_reads) {
            _ if self.payload.0 == 0 => {}
            (true, Some(open_reads)) => self.check_reads(rivals.read, theirs, open_reads, check),
            // What is wrong with `traffic.read` is told of that.
            (false, Some(open_reads)) => {
                let sizes = sizes(self.read, mix(&self.read_mix));
                if let Some(largest) = sizes.iter().map(|share| share.size).max()
                    && sizes.iter().all(|share| self.holds(share.size, MAX_OPEN_PACKETS))
                {
                    self.check_open_reads(largest, open_reads, check);
                }
            }
            (true, None) => {
                let most = MAX_OPEN_PACKETS / u64::from(self.open_reads.max(1));
                let with = format!(" with {} open reads (traffic.open_reads)", self.open_reads);
                self.check_each(rivals.read, theirs, most, &with, check);
            }
            (false, None) => {}
        }
        check.within("think", rivals.think.unwrap_or_default(), Duration(0)..=MAX_DELAY);
        let start = rivals.start.unwrap_or_default();
        check.within("start", start, Duration(0)..=MAX_DELAY);
        if let Some(stop) = rivals.stop
            && !(start < stop && stop <= MAX_DELAY)
        {
            let allowed = format!("more than traffic.rivals.start ({start}), up to {MAX_DELAY}");
            check.refuse("stop", stop, allowed);
        }
        if let Some(delay) = rivals.delay {
            let most = self.recovery.min_timeout;
            let what = ", the most being traffic.recovery.min_timeout";
            check.within_what("delay", delay, Duration(1)..=most, what);
        }
        if let Some(link) = rivals.sender_link {
            check.within("sender_link", link, MIN_LINK..=MAX_LINK);
        }
        if let Some(control) = &rivals.control {
            let link = valid_link(rivals.sender_link.unwrap_or(self.network.sender_link));
            check.below("control", |check| control.check(link, check));
        }
    }

    /// Checks frame and read sizes, given a valid payload.
    fn check_sizes(&self, frames: RangeInclusive<Size>, check: &mut Check) {
        if !frames.contains(&self.frame()) {
            let (least, most) = (frames.start(), frames.end());
            let allowed = format!("{least} to {most} with traffic.headers, the sizes of a frame");
            check.refuse("payload", self.payload, allowed);
        }
        not_empty(&self.read_mix, check);
        match (self.read, mix(&self.read_mix)) {
            (None, []) => {
                let allowed = "the bytes of a read, or several sizes in traffic.read_mix";
                check.refuse("read", "absent", allowed);
            }
            (read, mix) => {
                self.check_reads(read.filter(|_| mix.is_empty()), mix, self.open_reads, check)
            }
        }
    }

    /// Checks what is read on a connection, given a payload that is not 0: one size, or those of a mix.
    fn check_reads(&self, read: Option<Size>, mix: &[ReadShare], open: u32, check: &mut Check) {
        let all = self.check_each(read, mix, MAX_OPEN_PACKETS, "", check);
        if let Some(largest) = all {
            self.check_open_reads(largest, open, check);
        }
    }

    /// Checks each size of a read, which may be that of `most` packets. Returns the largest if all are valid.
    fn check_each(
        &self,
        read: Option<Size>,
        mix: &[ReadShare],
        most: u64,
        with: &str,
        check: &mut Check,
    ) -> Option<Size> {
        if mix.len() > MAX_SIZES {
            check.refuse("read_mix", mix.len(), format!("at most {MAX_SIZES} sizes"));
        }
        read.into_iter().for_each(|read| self.check_read("read", read, most, with, check));
        for (i, share) in mix.iter().enumerate() {
            self.check_read(&format!("read_mix.{i}.size"), share.size, most, with, check);
            check.within(&format!("read_mix.{i}.weight"), share.weight, 1..=u32::MAX);
            if mix[..i].iter().any(|other| other.size == share.size) {
                let allowed = "a size that no entry before has: their weights can be added";
                check.refuse(&format!("read_mix.{i}.size"), share.size, allowed);
            }
        }
        let sizes = || read.into_iter().chain(mix.iter().map(|share| share.size));
        sizes().all(|size| self.holds(size, most)).then(|| sizes().max())?
    }

    /// Checks how many reads are open on a connection, given the size of the largest.
    fn check_open_reads(&self, read: Size, open_reads: u32, check: &mut Check) {
        let what =
            format!(" with reads of {read}: at most {MAX_OPEN_PACKETS} packets of a connection");
        let most = MAX_OPEN_PACKETS.saturating_mul(self.payload.0) / read.0;
        check.within_what("open_reads", u64::from(open_reads), 1..=most, &what);
    }

    /// Checks what is wanted of each sender against its link.
    fn check_loads(&self, check: &mut Check) {
        let what = ", the most being the rate of a sender's link";
        let mut limit = |key: &str, load: Option<BitRate>, link: BitRate| {
            if let Some(load) = load {
                check.within_what(key, load, MIN_LOAD..=valid_link(link), what);
            }
        };
        let links = || self.groups().map(|group| group.link);
        match self.rivals.as_ref().and_then(|rivals| rivals.load.zip(links().last())) {
            Some((load, link)) => {
                limit("load", self.load, self.network.sender_link);
                limit("rivals.load", Some(load), link);
            }
            None => limit("load", self.load, links().min().unwrap_or(MAX_LINK)),
        }
    }

    /// Checks how many packets of open reads a thread may have on all its connections.
    fn check_open_packets(&self, check: &mut Check) {
        let each = |g: &Group<'_>| g.largest_read().0.div_ceil(self.payload.0.max(1)).max(1);
        let packets = |g: &Group<'_>| {
            let all = each(g).saturating_mul(g.open_reads.into());
            all.saturating_mul(g.senders.len() as u64)
        };
        let all = self.groups().map(|g| packets(&g)).fold(0, u64::saturating_add);
        let Some((most, key)) = self.groups().zip(["", "rivals."]).max_by_key(|(g, _)| packets(g))
        else {
            return;
        };
        if all <= MAX_PACKETS_OF_A_THREAD {
            return;
        }
        let why = format!(
            ": with {} senders and reads of {} {all} packets of a thread can be open, and {MAX_PACKETS_OF_A_THREAD} at \
             most are simulated",
            most.senders.len(),
            most.largest_read()
        );
        if most.open_reads == 1 {
            check.refuse(
                &format!("{key}senders"),
                most.senders.len(),
                format!("fewer, or smaller reads{why}"),
            );
        } else {
            let own = self.rivals.as_ref().is_some_and(|rivals| rivals.open_reads.is_some());
            let key = if own { key } else { "" };
            check.refuse(&format!("{key}open_reads"), most.open_reads, format!("fewer{why}"));
        }
    }

    /// Whether a read is one of whole packets, at most `most` of them.
    fn holds(&self, read: Size, most: u64) -> bool {
        read.0.is_multiple_of(self.payload.0) && (1..=most).contains(&(read.0 / self.payload.0))
    }

    /// Checks the size of a read, which may be that of `most` packets.
    fn check_read(&self, key: &str, read: Size, most: u64, with: &str, check: &mut Check) {
        if read.0 == 0 || !read.0.is_multiple_of(self.payload.0) {
            let allowed = format!("a multiple of traffic.payload ({})", self.payload);
            check.refuse(key, read, allowed);
        } else {
            let most = Size(most.saturating_mul(self.payload.0));
            check.within_what(key, read, self.payload..=most, with);
        }
    }
}

/// The rate of a link, or one near it that can be simulated: what is wrong with it is told once.
fn valid_link(link: BitRate) -> BitRate {
    link.clamp(MIN_LINK, MAX_LINK)
}

/// Refuses a mix of nothing.
fn not_empty(given: &Option<Vec<ReadShare>>, check: &mut Check) {
    if given.as_ref().is_some_and(Vec::is_empty) {
        check.refuse("read_mix", "[]", "at least one entry of a size and a weight");
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::check::ensure;
    use crate::transport::config::tests::config;

    #[test]
    fn what_is_wrong_is_named_with_what_is_allowed() {
        let wrong = |config: ClosedLoopConfig| ensure(|check| config.check(check));
        assert_eq!(wrong(config("/senders", json!(1))), Ok(()));
        for (pointer, value, key) in [
            ("/senders", json!(0), "senders"),
            ("/read", json!("10 KiB"), "read"),
            ("/read", json!("0 B"), "read"),
            ("/payload", json!("0 B"), "payload"),
            ("/payload", json!("256 KiB"), "payload"),
            ("/open_reads", json!(0), "open_reads"),
            ("/open_reads", json!(4097), "open_reads"),
            ("/read", json!(null), "read"),
            ("/read_mix", json!([{"size": "10 KiB", "weight": 1}]), "read_mix.0.size"),
            ("/read_mix", json!([{"size": "4 KiB", "weight": 0}]), "read_mix.0.weight"),
            ("/read_mix", json!([{"size": "65 MiB", "weight": 1}]), "read_mix.0.size"),
            ("/read_mix", json!([]), "read_mix"),
            (
                "/read_mix",
                json!([{"size": "4 KiB", "weight": 1}, {"size": "4 KiB", "weight": 2}]),
                "read_mix.1.size",
            ),
            ("/load", json!("1 bps"), "load"),
            ("/load", json!("101 Gbps"), "load"),
            ("/acknowledgement", json!("10 B"), "acknowledgement"),
            ("/network/delay", json!("0 ns"), "network.delay"),
            ("/network/buffer", json!("4 KiB"), "network.buffer"),
            ("/network/ecn_threshold", json!("5 MiB"), "network.ecn_threshold"),
            ("/recovery", json!({"min_timeout": "1 us"}), "recovery.min_timeout"),
            ("/control", json!({"kind": "swift", "max_mdf": 1.0}), "control.max_mdf"),
            ("/control", json!({"kind": "swift", "min_cwnd": 0.0}), "control.min_cwnd"),
            ("/control", json!({"kind": "swift", "flow_max_cwnd": 0.1}), "control.flow_max_cwnd"),
            ("/control", json!({"kind": "swift", "max_cwnd": 0.0001}), "control.max_cwnd"),
            (
                "/control",
                json!({"kind": "swift", "endpoint_target": "0 us"}),
                "control.endpoint_target",
            ),
            ("/control", json!({"kind": "dctcp", "gain": 0.0}), "control.gain"),
            ("/control", json!({"kind": "timely", "ewma": 0.0}), "control.ewma"),
            ("/control", json!({"kind": "timely", "beta": 1.1}), "control.beta"),
            ("/control", json!({"kind": "timely", "delta": "0 bps"}), "control.delta"),
            (
                "/control",
                json!({"kind": "timely", "low_threshold": "2 s"}),
                "control.low_threshold",
            ),
            (
                "/control",
                json!({"kind": "timely", "high_threshold": "49 us"}),
                "control.high_threshold",
            ),
            ("/control", json!({"kind": "timely", "min_rtt": "0 ns"}), "control.min_rtt"),
            (
                "/control",
                json!({"kind": "timely", "hyperactive_after": 0}),
                "control.hyperactive_after",
            ),
            ("/control", json!({"kind": "timely", "segment": 0}), "control.segment"),
            ("/control", json!({"kind": "timely", "max_decrease": 1.1}), "control.max_decrease"),
            ("/control", json!({"kind": "timely", "loss_decrease": 1.1}), "control.loss_decrease"),
            ("/control", json!({"kind": "timely", "min_rate": "1 kbps"}), "control.min_rate"),
            (
                "/control",
                json!({"kind": "timely", "initial_rate": "1 Mbps"}),
                "control.initial_rate",
            ),
            // The sender's link has 100 Gbps.
            ("/control", json!({"kind": "timely", "min_rate": "101 Gbps"}), "control.min_rate"),
            (
                "/control",
                json!({"kind": "timely", "initial_rate": "101 Gbps"}),
                "control.initial_rate",
            ),
            ("/control", json!({"kind": "dcqcn", "gain": 0.0}), "control.gain"),
            (
                "/control",
                json!({"kind": "dcqcn", "notification_interval": "2 s"}),
                "control.notification_interval",
            ),
            ("/control", json!({"kind": "dcqcn", "alpha_timer": "0 us"}), "control.alpha_timer"),
            (
                "/control",
                json!({"kind": "dcqcn", "increase_timer": "99 ns"}),
                "control.increase_timer",
            ),
            ("/control", json!({"kind": "dcqcn", "byte_counter": "0 B"}), "control.byte_counter"),
            ("/control", json!({"kind": "dcqcn", "recoveries": 1001}), "control.recoveries"),
            (
                "/control",
                json!({"kind": "dcqcn", "additive_increase": "0 bps"}),
                "control.additive_increase",
            ),
            (
                "/control",
                json!({"kind": "dcqcn", "hyper_increase": "0 bps"}),
                "control.hyper_increase",
            ),
            ("/control", json!({"kind": "dcqcn", "min_rate": "101 Gbps"}), "control.min_rate"),
            (
                "/control",
                json!({"kind": "hpcc", "target_utilisation": 1.1}),
                "control.target_utilisation",
            ),
            ("/control", json!({"kind": "hpcc", "max_stage": 1001}), "control.max_stage"),
            ("/control", json!({"kind": "hpcc", "base_rtt": "0 us"}), "control.base_rtt"),
            ("/control", json!({"kind": "hpcc", "flows": 0}), "control.flows"),
            ("/control", json!({"kind": "hpcc", "loss_decrease": 1.1}), "control.loss_decrease"),
            ("/control", json!({"kind": "hpcc", "min_cwnd": 0.0}), "control.min_cwnd"),
            ("/control", json!({"kind": "hpcc", "max_cwnd": 0.0001}), "control.max_cwnd"),
            (
                "/control",
                json!({"kind": "hpcc", "max_cwnd": 4.0, "initial_cwnd": 5.0}),
                "control.initial_cwnd",
            ),
            ("/think", json!("2 s"), "think"),
            ("/rivals", json!({"senders": 40, "open_reads": 2}), "rivals.senders"),
            ("/rivals", json!({"senders": 4}), "rivals.senders"),
            ("/rivals", json!({"senders": 1, "read": "6 KiB"}), "rivals.read"),
            ("/rivals", json!({"senders": 1, "open_reads": 4097}), "rivals.open_reads"),
            ("/rivals", json!({"senders": 1, "read": "65 MiB"}), "rivals.read"),
            (
                "/rivals",
                json!({"senders": 1, "read_mix": [{"size": "6 KiB", "weight": 1}]}),
                "rivals.read_mix.0.size",
            ),
            ("/rivals", json!({"senders": 1, "read_mix": []}), "rivals.read_mix"),
            ("/rivals", json!({"senders": 1, "load": "1 bps"}), "rivals.load"),
            ("/rivals", json!({"senders": 1, "think": "2 s"}), "rivals.think"),
            ("/rivals", json!({"senders": 1, "start": "2 s"}), "rivals.start"),
            ("/rivals", json!({"senders": 1, "start": "3 ms", "stop": "3 ms"}), "rivals.stop"),
            ("/rivals", json!({"senders": 1, "delay": "0 ns"}), "rivals.delay"),
            ("/rivals", json!({"senders": 1, "delay": "2 ms"}), "rivals.delay"),
            ("/rivals", json!({"senders": 1, "sender_link": "1 kbps"}), "rivals.sender_link"),
            (
                "/rivals",
                json!({"senders": 1, "control": {"kind": "dctcp", "gain": 0.0}}),
                "rivals.control.gain",
            ),
        ] {
            let error = wrong(config(pointer, value.clone())).expect_err(pointer);
            assert_eq!(error.key, key, "{pointer} = {value}");
            assert!(!error.allowed.is_empty());
        }
        let mut many = config("/senders", json!(200));
        many.read = Some(Size(32 << 20));
        let error = wrong(many).expect_err("1.6 million packets would be open");
        assert_eq!((&*error.key, &*error.given), ("senders", "200"));
        assert!(
            error.allowed.starts_with(
                "fewer, or smaller reads: with 200 senders and reads of 32 MiB 1638400"
            )
        );
        let mut many =
            config("/rivals", json!({ "senders": 30, "read": "4 MiB", "open_reads": 100 }));
        many.open_reads = 2;
        let error = wrong(many).expect_err("3 million packets would be open");
        assert_eq!((&*error.key, &*error.given), ("rivals.open_reads", "100"));
        // What rivals inherit may be too much for their own link.
        let mut slow = config("/rivals", json!({ "senders": 1, "sender_link": "1 Gbps" }));
        slow.load = Some(BitRate(2_000_000_000));
        let error = wrong(slow.clone()).expect_err("more than a sender's link");
        assert_eq!((&*error.key, &*error.given), ("load", "2 Gbps"));
        slow.rivals.as_mut().unwrap().load = Some(BitRate(500_000_000));
        assert_eq!(wrong(slow), Ok(()));
        // The number of open reads is that of the others, so the size is what is wrong.
        let mut inherits = config("/open_reads", json!(16));
        let rivals = |read: &str| serde_json::from_value(json!({ "senders": 1, "read": read }));
        inherits.rivals = Some(rivals("8 MiB").expect("parses"));
        let error = wrong(inherits.clone()).expect_err("128 MiB would be open");
        assert_eq!(error.key, "rivals.read");
        assert_eq!(error.allowed, "4 KiB to 4 MiB with 16 open reads (traffic.open_reads)");
        inherits.rivals = Some(rivals("4 MiB").expect("parses"));
        assert_eq!(wrong(inherits), Ok(()));
    }
}
