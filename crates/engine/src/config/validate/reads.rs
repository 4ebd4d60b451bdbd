//! Whether the reads of the NIC can get their read requests.

use crate::check::Check;
use crate::config::Scenario;
use crate::pcie::config::Pcie;

/// Checks that each read of the NIC can get its read requests, which it takes all at once.
pub(super) fn check_read_requests(check: &mut Check, pcie: &Pcie, scenario: &Scenario) {
    let (nic, queues) = (&scenario.machine.nic, &scenario.queues);
    let Pcie { non_posted_credits: credits, max_read_request: request, .. } = pcie;
    let size = nic.descriptor_size;
    // A read covers whole lines, of which a request has a whole number.
    let most = u64::from(*credits) * request.0 / size.0;
    for (key, batch, ring) in [
        ("machine.nic.descriptor_batch", Some(nic.descriptor_batch), queues.rx_descriptors),
        ("machine.nic.tx_descriptor_batch", nic.tx_descriptor_batch, queues.tx_descriptors),
    ] {
        if let Some(batch) = batch
            && u64::from(batch.min(ring)) > most
        {
            let allowed = format!(
                "at most {most}: the NIC reads them together, and machine.pcie.non_posted_credits ({credits}) \
                 requests of machine.pcie.max_read_request ({request}) read no more descriptors of {size}"
            );
            check.refuse(key, batch, allowed);
        }
    }
    if *credits < 2 && nic.tx_descriptor_batch.is_none() {
        let allowed = "at least 2: without machine.nic.tx_descriptor_batch the NIC reads each packet together \
                       with its descriptor, which takes a request of its own";
        check.refuse("machine.pcie.non_posted_credits", credits, allowed);
    }
}

#[cfg(test)]
mod tests {
    use crate::config::validate::violations;
    use crate::testing::{forwarder, pcie_json, results};
    use serde_json::json;

    #[test]
    fn reads_that_just_get_their_requests_go_through_and_longer_ones_are_refused() {
        let with = |credits: u32, set: &[(&str, serde_json::Value)]| {
            let mut pcie = pcie_json();
            (pcie["max_read_request"], pcie["non_posted_credits"]) =
                (json!("128 B"), json!(credits));
            let fixed = [
                ("/machine/pcie", pcie),
                ("/machine/nic/descriptor_size", json!("32 B")),
                ("/traffic/sizes/size", json!("64 B")),
            ];
            forwarder(&[&fixed, set].concat())
        };
        let sends = |scenario| {
            assert_eq!(violations(&scenario), []);
            let packets = results(&scenario).packets;
            assert!(packets.transmitted > 100, "{packets:?}");
        };
        let told = |scenario| -> Vec<String> {
            violations(&scenario).iter().map(ToString::to_string).collect()
        };
        for (key, name) in [
            ("/machine/nic/descriptor_batch", "machine.nic.descriptor_batch"),
            ("/machine/nic/tx_descriptor_batch", "machine.nic.tx_descriptor_batch"),
        ] {
            // Four descriptors a request.
            sends(with(3, &[(key, json!(12))]));
            let refused = told(with(3, &[(key, json!(13))]));
            let wanted = format!("{name} = 13; expected at most 12: the NIC reads them together");
            assert!(refused.len() == 1 && refused[0].starts_with(&wanted), "{refused:?}");
            // There are never more of them than the ring has.
            let rings = ["rx", "tx"].map(|ring| (format!("/queues/{ring}_descriptors"), json!(12)));
            let [rx, tx] = &rings;
            let rings = [(rx.0.as_str(), rx.1.clone()), (tx.0.as_str(), tx.1.clone())];
            sends(with(3, &[&rings[..], &[(key, json!(13))]].concat()));
        }
        // A packet is read with its descriptor, unless that has been read before.
        let refused = told(with(1, &[]));
        let wanted = "machine.pcie.non_posted_credits = 1; expected at least 2: without";
        assert!(refused.len() == 1 && refused[0].starts_with(wanted), "{refused:?}");
        sends(with(1, &[("/machine/nic/tx_descriptor_batch", json!(4))]));
        // The benchmark reads no descriptors.
        let bench = json!({ "direction": "read", "size": "64 B", "window": "1 MiB" });
        let bench = [
            ("/traffic", json!(null)),
            ("/tenants", json!([])),
            ("/dma_bench", bench),
            ("/machine/nic/descriptor_batch", json!(256)),
        ];
        assert_eq!(violations(&with(1, &bench)), []);
    }
}
