//! Where else in a scenario there are keys of a name: `rate` is `traffic.rate`.

use serde_json::Value as Json;

use crate::tree::join;

/// The most keys that are worth naming; a name that more have says little.
const MOST: usize = 4;

/// The keys of this name in the whole schema, in its order, except at `key`; none if there are many.
pub(crate) fn of_name(schema: &Json, name: &str, key: &str) -> Vec<String> {
    let mut found = Vec::new();
    walk(&schema["$defs"], schema, "", name, &mut found);
    // Another kind of the same table has it.
    found.retain(|of| of != &first_elements(key));
    if found.len() > MOST { Vec::new() } else { found }
}

fn walk(defs: &Json, schema: &Json, key: &str, name: &str, found: &mut Vec<String>) {
    let reference = schema["$ref"].as_str().and_then(|r| r.strip_prefix("#/$defs/"));
    let schema = reference.map_or(schema, |name| &defs[name]);
    for (child, of) in schema["properties"].as_object().into_iter().flatten() {
        let child_key = join(key, child);
        if child == name && !found.contains(&child_key) {
            found.push(child_key.clone());
        }
        walk(defs, of, &child_key, name, found);
    }
    for variants in ["anyOf", "oneOf"] {
        for variant in schema[variants].as_array().into_iter().flatten() {
            walk(defs, variant, key, name, found);
        }
    }
    if schema["items"].is_object() {
        walk(defs, &schema["items"], &join(key, "0"), name, found);
    }
}

/// A key with the first element of each array in place of any other.
fn first_elements(key: &str) -> String {
    let part = |part| if str::parse::<usize>(part).is_ok() { "0" } else { part };
    key.split('.').map(part).collect::<Vec<_>>().join(".")
}

#[cfg(test)]
mod tests {
    use super::*;
    use nic2core_engine::config::Scenario;

    #[test]
    fn keys_of_a_name_are_found_in_all_tables_and_kinds() {
        let schema = schemars::schema_for!(Scenario).to_value();
        let named = |name, key| of_name(&schema, name, key);
        assert_eq!(named("rate", "rate"), ["traffic.rate"]);
        assert_eq!(named("rx_descriptors", "nic.rx_descriptors"), ["queues.rx_descriptors"]);
        assert_eq!(named("zipf", "zipf"), ["tenants.0.app.zipf"]);
        let caches =
            ["l1d", "l2", "llc", "iommu.iotlb"].map(|c| format!("machine.{c}.replacement"));
        let mut found = named("replacement", "replacement");
        found.sort();
        let mut expected = caches.to_vec();
        expected.sort();
        assert_eq!(found, expected);
        // Where it stands, another kind has it; and so many tables have a kind that it says nothing.
        assert_eq!(named("zipf", "tenants.3.app.zipf"), [""; 0]);
        assert_eq!(named("kind", "kind"), [""; 0]);
        assert_eq!(named("nothing", "nothing"), [""; 0]);
    }
}
