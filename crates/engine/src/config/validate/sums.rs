//! Whether what is summed over a run fits its counters.

use crate::check::Check;
use crate::config::Scenario;
use crate::core::config::Core;
use crate::memory::line::LINE_BYTES;
use crate::units::Duration;

/// Checks that what is summed over time fits 64 bits: what is in use x ps, and the slots of a core.
pub(super) fn check_sums(check: &mut Check, scenario: &Scenario) {
    let Scenario { machine, queues, run, .. } = scenario;
    let (sram, llc) = (machine.nic.sram, machine.llc.size);
    let ring = queues.rx_descriptors.max(queues.tx_descriptors);
    let tlps = machine.pcie.as_ref().map_or(0, |pcie| pcie.posted_credits);
    let credits = machine.nic.write_credits.max(tlps);
    let (most, what) = [
        (sram.0, format!("the bytes of machine.nic.sram ({sram})")),
        (llc.0 / LINE_BYTES, format!("the lines of machine.llc.size ({llc})")),
        (
            u64::from(ring) * u64::from(machine.core.count),
            format!("the descriptors of all queues ({ring} of each core)"),
        ),
        (u64::from(credits), format!("the credits of DMA writes ({credits})")),
    ]
    .into_iter()
    .max_by_key(|(most, _)| *most)
    .expect("there are some");
    let longest = whole_ms(u64::MAX / most.max(1));
    if run.duration > longest {
        let allowed = format!("at most {longest}: {what} in use are added up over it");
        check.refuse("run.duration", run.duration, allowed);
    }
    let Core { frequency, dispatch_width, .. } = &machine.core;
    let slots = frequency.clock().divided(u64::from(*dispatch_width));
    let longest = whole_ms(slots.longest().0 / SEARCHED);
    for (key, given) in [("run.warmup", run.warmup), ("run.duration", run.duration)] {
        if given > longest {
            let allowed = format!(
                "at most {longest} with machine.core.frequency ({frequency}) and dispatch_width \
                 ({dispatch_width}), in whose slots it is counted"
            );
            check.refuse(key, given, allowed);
        }
    }
}

/// How many times the longer of `run.warmup` and `run.duration` a server may run: a peak search warms it
/// up twice, and each probe lets it settle before it measures. Doubled for cores that run ahead. (Probes that
/// hold go on from the last one, so a search could run longer, but not within hundreds of seconds.)
const SEARCHED: u64 = 8;

fn whole_ms(ps: u64) -> Duration {
    const MS: u64 = 1_000_000_000;
    Duration(ps / MS * MS)
}

#[cfg(test)]
mod tests {
    use crate::config::validate::violations;
    use crate::testing::forwarder;
    use serde_json::json;

    #[test]
    fn what_is_added_up_over_a_run_fits_its_counters() {
        let refused = |keys: &[(&str, serde_json::Value)]| -> Vec<String> {
            let found = violations(&forwarder(keys));
            found.iter().map(ToString::to_string).collect()
        };
        let tiny = [
            ("/machine/nic/sram", json!("4 KiB")),
            ("/queues/pool_buffers", json!(65_535)),
            ("/run/sample", json!("1 s")),
        ];
        let with = |key: &'static str, value: serde_json::Value, seconds: &str| {
            let run = [(key, value), ("/run/duration", json!(seconds))];
            refused(&[&tiny[..], &run[..]].concat())
        };
        // 2^64 ps over the 65535 descriptors of each of two cores, and over this many credits.
        assert_eq!(with("/queues/rx_descriptors", json!(65_535), "140 s"), [] as [String; 0]);
        assert_eq!(
            with("/queues/rx_descriptors", json!(65_535), "141 s"),
            [
                "run.duration = 141 s; expected at most 140739 ms: the descriptors of all queues (65535 of \
              each core) in use are added up over it"
            ]
        );
        let told = with("/machine/nic/write_credits", json!(4_000_000_000_u32), "6 ms");
        assert!(
            told[0].contains("at most 4 ms: the credits of DMA writes (4000000000)"),
            "{told:?}"
        );
        // 9973 MHz (a prime) x 31 are 309163 slots per microsecond, and 2^64 ps over that are 59.7 s.
        let fast = [("/machine/core/frequency", json!("9973 MHz"))];
        let slots = |width: u32, seconds: &str| {
            let run =
                [("/machine/core/dispatch_width", json!(width)), ("/run/duration", json!(seconds))];
            refused(&[&tiny[..], &fast[..], &run[..]].concat())
        };
        assert_eq!(slots(31, "7 s"), [] as [String; 0]);
        let told = slots(31, "8 s");
        assert!(told[0].starts_with("run.duration = 8 s; expected at most 7"), "{told:?}");
        assert!(told[0].contains("machine.core.frequency (9973 MHz) and dispatch_width (31)"));
    }
}
