//! What scenario files and overrides become, and what is refused.

use proptest::prelude::*;

use super::*;
use crate::files::Memory;

const KVS: &str = include_str!("../../tests/data/kvs.toml");
const BOX: &str = include_str!("../../tests/data/machines/box.toml");

fn load_text(scenario: &str, machine: &str, sets: &[&str]) -> Result<Loaded, String> {
    let files = Memory(vec![
        ("s/kvs.toml", scenario.into()),
        ("shipped/box.toml", machine.into()),
        ("shipped/README.md", Vec::new()),
    ]);
    let sets: Vec<String> = sets.iter().map(|s| (*s).to_owned()).collect();
    load(&files, Path::new("s/kvs.toml"), &sets, &["shipped".into()]).map_err(|e| e.to_string())
}

/// The scenario with one piece of its text replaced.
fn with(old: &str, new: &str) -> String {
    assert!(KVS.contains(old), "{old:?} is in the fixture");
    KVS.replacen(old, new, 1)
}

/// The place of the line of `text` that contains `mark`.
fn at(file: &str, text: &str, mark: &str) -> String {
    let line = text.lines().position(|line| line.contains(mark)).expect("the mark is there");
    format!("{file}, line {}", line + 1)
}

/// Expects a refusal with this paragraph, which blames the line that contains `mark`.
#[track_caller]
fn refused(scenario: &str, mark: &str, paragraph: &str) {
    let expected = format!("{}: {paragraph}", at("s/kvs.toml", scenario, mark));
    assert_eq!(load_text(scenario, BOX, &[]).unwrap_err(), expected);
}

#[test]
fn the_scenario_lies_over_its_machine_and_overrides_over_both() {
    let loaded = load_text(KVS, BOX, &["machine.llc.latency_cycles=40", "run.seed=7"]).unwrap();
    let llc = &loaded.scenario.machine.llc;
    assert_eq!((llc.ways, llc.latency_cycles, loaded.scenario.run.seed), (6, 40, 7));
    let place = |key| loaded.origins.place(key).to_string();
    let kvs = |mark| at("s/kvs.toml", KVS, mark);
    assert_eq!(place("machine.llc.ways"), kvs("llc.ways = 6"));
    assert_eq!(place("machine.llc.size"), at("shipped/box.toml", BOX, "6 MiB"));
    assert_eq!(place("machine.llc.latency_cycles"), "--set machine.llc.latency_cycles=40");
    assert_eq!(place("tenants[1].llc_ways.count"), kvs("llc_ways = "));
    assert_eq!(place("tenants.1.name"), kvs("\"batch\""));
    assert_eq!(place("slo.drops"), "s/kvs.toml, line 1 (by default)");
}

#[test]
fn none_leaves_out_a_key_that_may_be_absent() {
    let loaded = load_text(KVS, BOX, &["machine.pcie=none", "machine.nic.link=none"]).unwrap();
    assert!(load_text(KVS, BOX, &[]).unwrap().scenario.machine.pcie.is_some());
    assert_eq!(loaded.scenario.machine.pcie, None);
    assert_eq!(loaded.scenario.machine.nic.link, None);
    assert_eq!(loaded.origins.place("machine.pcie").to_string(), "--set machine.pcie=none");
    // A file can take back what its machine has.
    let without = with("llc.ways = 6", "llc.ways = 6\npcie = \"none\"");
    assert_eq!(load_text(&without, BOX, &[]).unwrap().scenario.machine.pcie, None);
    for (set, told) in [
        (
            "machine.llc.ways=none",
            "machine.llc.ways = \"none\" has the wrong type; allowed: an integer.",
        ),
        ("traffic=none", "traffic = none cannot be simulated; allowed: "),
    ] {
        let error = load_text(KVS, BOX, &[set]).unwrap_err();
        assert!(error.starts_with(&format!("--set {set}: {told}")), "{error}");
    }
}

/// Otherwise the name would be taken for a key that is left out.
#[test]
fn no_key_that_may_be_absent_has_the_name_none_among_its_own() {
    fn named_none(part: &Json) -> bool {
        let named = match part["$ref"].as_str() {
            Some(reference) => &SCHEMA["$defs"][reference.rsplit('/').next().unwrap()],
            None => part,
        };
        let among = |names: &Json| names.as_array().is_some_and(|n| n.contains(&"none".into()));
        let forms = named["oneOf"].as_array().into_iter().flatten();
        named["const"] == "none" || among(&named["enum"]) || forms.into_iter().any(named_none)
    }
    fn ambiguous(part: &Json, nullable: &mut usize) -> bool {
        match part {
            Json::Object(of) => {
                let variants: Vec<&Json> = part["anyOf"].as_array().into_iter().flatten().collect();
                let types = part["type"].as_array().is_some_and(|t| t.contains(&"null".into()));
                let null = types || variants.iter().any(|v| v["type"] == "null");
                *nullable += usize::from(null);
                let own = null && (named_none(part) || variants.into_iter().any(named_none));
                // All of them, so that all are counted.
                let within: Vec<bool> = of.values().map(|v| ambiguous(v, nullable)).collect();
                own || within.contains(&true)
            }
            Json::Array(of) => {
                let within: Vec<bool> = of.iter().map(|v| ambiguous(v, nullable)).collect();
                within.contains(&true)
            }
            _ => false,
        }
    }
    assert!(named_none(&serde_json::json!({ "$ref": "#/$defs/Prefetch" })));
    let mut nullable = 0;
    assert!(!ambiguous(&SCHEMA, &mut nullable));
    assert!(nullable > 40, "{nullable}");
}

#[test]
fn what_cannot_be_simulated_is_told_as_it_was_written() {
    for (key, written, allowed) in [
        ("run.duration", "\"0 ms\"", "1 ps to 1000 s."),
        ("traffic.sizes.size", "\"0.03125 KiB\"", "60 B to"),
    ] {
        let set = format!("{key}={written}");
        let e = load_text(KVS, BOX, &[&set]).unwrap_err();
        let told = format!("{key} = {written} cannot be simulated; allowed: {allowed}");
        assert!(e.contains(&told), "{e}");
    }
}

#[test]
fn what_no_type_holds_is_told_what_can_be_simulated() {
    for (set, given, allowed) in [
        ("run.duration=99999999 s", "\"99999999 s\" is too large", "1 ps to 1000 s."),
        (
            "run.seed=99999999999999999999",
            "99999999999999999999 is out of range",
            "0 to 18446744073709551615.",
        ),
    ] {
        let error = load_text(KVS, BOX, &[set]).unwrap_err();
        let told = format!("{given}; allowed: {allowed}");
        assert!(error.ends_with(&told), "{error}, expected {told}");
    }
}

#[test]
fn a_value_in_place_of_a_table_is_told_its_keys() {
    assert_eq!(
        load_text(KVS, BOX, &["run=5"]).unwrap_err(),
        "--set run=5: run = 5 has the wrong type; allowed: a table of \
         run.seed, run.warmup, run.duration, run.sample."
    );
}

#[test]
fn another_standard_has_other_timings() {
    let slow = BOX.replacen("[dram]\n", "[dram]\ntimings = { rfc = 600 }\n", 1);
    let rfc = |scenario: &str, sets: &[&str]| {
        let dram = load_text(scenario, &slow, sets).unwrap().scenario.machine.dram;
        (dram.timings.rfc, dram.timings.faw)
    };
    let same = "machine.dram.standard=DDR4-3200AA";
    let (other, own) = ("machine.dram.standard=DDR4-2933", "machine.dram.timings.faw=40");
    assert_eq!(rfc(KVS, &[same, own]), (Some(600), Some(40)));
    assert_eq!(rfc(KVS, &[own, other]), (None, Some(40)));
    let over = format!("{KVS}\n[machine.dram]\nstandard = \"DDR4-2933\"\n");
    assert_eq!(rfc(&over, &[]), (None, None));
}

#[test]
fn what_the_schema_cannot_tell_is_told_with_its_value() {
    assert_eq!(
        load_text(KVS, BOX, &["machine.dram.mapping=foo"]).unwrap_err(),
        "--set machine.dram.mapping=foo: machine.dram.mapping = \"foo\" is no order of address \
         fields (`foo` is no field); allowed: row, bank, rank, column, channel (and optionally \
         bankgroup) once each, most significant first, joined by `-`, such as \
         \"row-bank-rank-column-channel\"."
    );
}

#[test]
fn a_value_that_an_override_forbids_is_told_with_the_override() {
    let e = load_text(KVS, BOX, &["machine.llc.ways=1", "run.seed=4"]).unwrap_err();
    let place = at("s/kvs.toml", KVS, "io_ways = 2");
    let told = format!(
        "{place}: placement.io_ways = 2 cannot be simulated with --set machine.llc.ways=1; allowed: "
    );
    assert!(e.contains(&told), "{e}");
    // What the file itself forbids is not the overrides' fault.
    let many = BOX.replacen("count = 4", "count = 400", 1);
    let e = load_text(KVS, &many, &["run.seed=4"]).unwrap_err();
    assert!(e.contains("machine.core.count = 400 cannot be simulated; allowed: "), "{e}");
    // Another that has no part in it is not named.
    let e =
        load_text(&with("io_ways = 2", "io_ways = 3"), BOX, &["machine.llc.ways=2", "run.seed=4"]);
    assert!(e.unwrap_err().contains("cannot be simulated with --set machine.llc.ways=2; allowed"));
    let e =
        load_text(&with("duration = \"5 ms\"", "duration = \"0 ms\""), BOX, &["machine.base=box"]);
    assert!(e.unwrap_err().contains("run.duration = \"0 ms\" cannot be simulated; allowed: "));
    // Each of two is enough by itself.
    let two = ["queues.buffer_size=512 B", "machine.nic.sram=512 B", "run.seed=4"];
    let e = load_text(KVS, BOX, &two).unwrap_err();
    let told = "cannot be simulated with --set queues.buffer_size=512 B --set machine.nic.sram=512 B; allowed";
    assert!(e.contains(&format!("tenants.0.app.item = 1 KiB {told}")), "{e}");
    // An override selects the machine's file.
    let small = BOX.replacen("count = 4", "count = 1", 1);
    let e = load_text(KVS, &small, &["machine.base=box"]).unwrap_err();
    assert!(e.contains("cannot be simulated with --set machine.base=box; allowed: "), "{e}");
}

#[test]
fn what_the_scenario_makes_impossible_in_its_machine_is_told_with_the_scenario() {
    let over = format!("{KVS}\n[machine.dram]\nstandard = \"DDR5-4800\"\n");
    let e = load_text(&over, BOX, &[]).unwrap_err();
    let place = at("s/kvs.toml", &over, "standard = \"DDR5-4800\"");
    let told = format!(
        "machine.dram.bank_groups = 4 cannot be simulated with machine.dram.standard of {place}; allowed: 8"
    );
    assert!(e.contains(&told), "{e}");
    // A reason in the same file is found beside it.
    let small = BOX.replacen("bank_groups = 4", "bank_groups = 3", 1);
    let e = load_text(KVS, &small, &[]).unwrap_err();
    assert!(e.contains("machine.dram.bank_groups = 3 cannot be simulated; allowed: "), "{e}");
}

#[test]
fn pages_that_another_key_forbids_name_it_and_their_own_size() {
    let iommu = "machine.iommu={iotlb={entries=128, ways=128}, posted_queue=8, walkers=1, \
                 paging_structures={pml4=1, pdpt=1, pd=1}, non_posted_queue=8, step_latency='1 ns', \
                 mode='strict', pages={payload='2 MiB', descriptors='4 KiB', \
                 completions='4 KiB', acknowledgements='4 KiB'}}";
    let e = load_text(KVS, BOX, &[iommu]).unwrap_err();
    let end = "machine.iommu.pages.payload = \"2 MiB\" cannot be simulated; allowed: \"4 KiB\" while \
               machine.iommu.mode is strict or deferred: these map buffer by buffer.";
    assert!(e.ends_with(end), "{e}");
}

#[test]
fn json_that_a_program_changed_is_checked_the_same_way() {
    let loaded = load_text(KVS, BOX, &[]).unwrap();
    let json = serde_json::to_string(&loaded.scenario).unwrap();
    let from = |text: &str| from_json(&Memory(vec![]), text, &[], &Origins::default());
    assert_eq!(from(&json).unwrap().scenario, loaded.scenario);
    let changed = json.replace("\"io_ways\":2", "\"io_ways\":0");
    let e = from(&changed).unwrap_err();
    assert!(e.to_string().starts_with("scenario: placement.io_ways = 0 cannot be"), "{e}");
    assert!(from("{").unwrap_err().to_string().contains("is not JSON"));
}

#[test]
fn what_is_set_over_json_gives_what_it_gives_over_the_file() {
    let loaded = load_text(KVS, BOX, &[]).unwrap();
    let json = serde_json::to_string(&loaded.scenario).unwrap();
    let set = |sets: &[&str]| {
        let sets: Vec<String> = sets.iter().map(|s| (*s).to_owned()).collect();
        from_json(&Memory(vec![]), &json, &sets, &loaded.origins).map_err(|e| e.to_string())
    };
    for sets in [
        &["placement.io_ways=4", "run.duration=3 ms"][..],
        &["slo={ p99 = '20 us' }"],
        &["machine.dram.timings.faw=40", "machine.dram.standard=DDR4-2933"],
    ] {
        let (over, of_file) = (set(sets).unwrap(), load_text(KVS, BOX, sets).unwrap());
        assert_eq!(over.scenario, of_file.scenario);
        let place = |key| over.origins.place(key).to_string();
        assert_eq!(place("tenants.1.name"), at("s/kvs.toml", KVS, "\"batch\""));
    }
    for sets in [&["run.seed=1", "run.seed=2"][..], &["tenants.1.name.x=1"], &["run.sed=1"]] {
        assert_eq!(set(sets).unwrap_err(), load_text(KVS, BOX, sets).unwrap_err());
    }
}

#[test]
fn a_machine_beside_the_scenario_comes_first() {
    let mut files = vec![("s/kvs.toml", KVS.into()), ("shipped/box.toml", BOX.into())];
    let cores = |files: &Memory| {
        let loaded = load(files, Path::new("s/kvs.toml"), &[], &["shipped".into()]).unwrap();
        loaded.scenario.machine.core.count
    };
    assert_eq!(cores(&Memory(files.clone())), 4);
    files.push(("s/machines/box.toml", BOX.replace("count = 4", "count = 5").into()));
    assert_eq!(cores(&Memory(files.clone())), 5);
    files.push(("s/box.toml", BOX.replace("count = 4", "count = 6").into()));
    assert_eq!(cores(&Memory(files)), 6);
}

#[test]
fn a_scenario_is_not_taken_for_a_machine() {
    let load_with = |files: Vec<(&'static str, Vec<u8>)>| {
        load(&Memory(files), Path::new("s/kvs.toml"), &[], &["shipped".into()])
    };
    let mut files = vec![("s/kvs.toml", KVS.into()), ("s/box.toml", KVS.into())];
    let line = at("s/kvs.toml", KVS, "base =");
    assert_eq!(
        load_with(files.clone()).unwrap_err().to_string(),
        format!(
            "{line}: machine.base = \"box\" names s/box.toml, which is a scenario, not a \
             machine; allowed: a machine file beside the scenario or in s/machines, shipped, \
             where there is none."
        )
    );
    files.push(("shipped/box.toml", BOX.into()));
    assert_eq!(load_with(files).unwrap().scenario.machine.core.count, 4);
}

#[test]
fn a_refused_machine_is_not_recommended_and_each_folder_is_named_once() {
    let told = |machine: &'static str| {
        let files = vec![("s/kvs.toml", KVS.into()), (machine, KVS.into())];
        let folders = ["shipped", "s/machines", "shipped"].map(PathBuf::from);
        let loaded = load(&Memory(files), Path::new("s/kvs.toml"), &[], &folders);
        loaded.unwrap_err().to_string()
    };
    let none = "a machine file beside the scenario or in s/machines, shipped, where there is none.";
    let refused = told("shipped/box.toml");
    assert!(refused.ends_with(&format!("not a machine; allowed: {none}")), "{refused}");
    let unknown = told("shipped/x.toml");
    assert!(unknown.ends_with("x (searched beside the scenario and in s/machines, shipped)."));
}

#[test]
fn an_unknown_key_suggests_the_one_that_was_meant() {
    refused(
        &with("[run]", "[run]\nwarmpu = 2"),
        "warmpu",
        "run.warmpu = 2 is not a known key; allowed: seed, \
         warmup, duration, sample; did you mean warmup?",
    );
}

#[test]
fn a_wrong_unit_lists_the_right_ones() {
    refused(
        &with("2 KiB", "2 kB"),
        "2 kB",
        "queues.buffer_size = \"2 kB\" has the unknown unit \"kB\" (did you mean KiB?); allowed: a \
         number and one of the units B, KiB, MiB, GiB, such as \"36 MiB\".",
    );
    refused(
        &with("\"2 KiB\"", "2048"),
        "buffer_size",
        "queues.buffer_size = 2048 has no unit; allowed: a number and \
         one of the units B, KiB, MiB, GiB, such as \"36 MiB\".",
    );
}

#[test]
fn zero_ways_and_more_ways_than_exist_are_refused() {
    refused(
        &with("io_ways = 2", "io_ways = 0"),
        "io_ways",
        "placement.io_ways = 0 cannot be simulated; allowed: 1 to 6, the \
         ways of the LLC (machine.llc.ways).",
    );
    refused(
        &with("io_ways = 2", "io_ways = 7"),
        "io_ways",
        "placement.io_ways = 7 cannot be simulated; allowed: 1 to 6, the \
         ways of the LLC (machine.llc.ways).",
    );
    refused(
        &with("llc.ways = 6", "llc.ways = 0"),
        "llc.ways",
        "machine.llc.ways = 0 cannot be simulated; allowed: 1 to 32.",
    );
}

#[test]
fn a_ring_of_size_zero_is_refused() {
    refused(
        &with("rx_descriptors = 1024", "rx_descriptors = 0"),
        "rx_descriptors",
        "queues.rx_descriptors = 0 cannot be simulated; allowed: 1 \
         to 65535.",
    );
}

#[test]
fn a_missing_machine_file_lists_those_there_are() {
    refused(
        &with("base = \"box\"", "base = \"bocks\""),
        "base",
        "machine.base = \"bocks\" names no machine file; allowed: box \
         (searched beside the scenario and in s/machines, shipped).",
    );
    refused(
        &with("base = \"box\"", "base = \"boxx\""),
        "base",
        "machine.base = \"boxx\" names no machine file; allowed: box; did \
         you mean box?",
    );
    assert_eq!(
        load(&Memory(vec![]), Path::new("no.toml"), &[], &[]).unwrap_err().to_string(),
        "no.toml: the path names no file; allowed: a scenario file, such as \
         scenarios/NAME.toml."
    );
}

#[test]
fn keys_of_a_policy_are_checked_whatever_the_policy() {
    for key in ["placement.ddio_headers.lines", "placement.ddio_l2.packets"] {
        let set = format!("{key}=0");
        let told = format!("--set {set}: {key} = 0 cannot be simulated; allowed: at least 1.");
        assert_eq!(load_text(KVS, BOX, &[&set]).unwrap_err(), told);
    }
}

#[test]
fn contradictory_overrides_are_refused() {
    assert_eq!(
        load_text(KVS, BOX, &["run.seed=1", "run.seed=2"]).unwrap_err(),
        "--set run.seed=2: run.seed = 2 contradicts --set run.seed=1; allowed: each key once, \
         and a table before the keys in it."
    );
}

#[test]
fn an_error_in_the_machine_names_the_machine_file() {
    let e = load_text(KVS, &BOX.replace("\"6 MiB\"", "\"6 MB\""), &[]).unwrap_err();
    let llc = at("shipped/box.toml", BOX, "6 MiB");
    assert!(e.starts_with(&format!("{llc}: machine.llc.size = \"6 MB\" has")), "{e}");
    let e = load_text(KVS, &BOX.replace("store_buffer = 56", ""), &[]).unwrap_err();
    assert_eq!(
        e,
        "shipped/box.toml, line 5: machine.core.store_buffer = nothing is given, but the key \
         is required; allowed: an integer (Stores whose line, or that of a store before them, the core does not own yet)."
    );
}

#[test]
fn several_errors_are_several_paragraphs() {
    let e = load_text(&with("\"ddio\"", "\"ddioo\""), BOX, &["run.sed=4"]).unwrap_err();
    let (policy, seed) = e.split_once('\n').expect("two paragraphs");
    let wrong = "s/kvs.toml, line 13: placement.policy = \"ddioo\" is not one of the known names; ";
    assert!(policy.starts_with(wrong) && policy.ends_with("; did you mean ddio?"), "{policy}");
    assert_eq!(
        seed,
        "--set run.sed=4: run.sed = 4 is not a known key; allowed: seed, warmup, duration, \
         sample; did you mean seed?"
    );
}

#[test]
fn a_machine_in_place_of_a_scenario_is_one_error() {
    assert_eq!(
        load_text(BOX, BOX, &[]).unwrap_err(),
        "s/kvs.toml: the path names a machine, not a scenario; allowed: a scenario, whose \
         [machine] may say base = \"kvs\"."
    );
}

#[test]
fn a_key_without_its_table_and_another_case_are_found() {
    let e = load_text(KVS, BOX, &["io_ways=4"]).unwrap_err();
    assert!(e.ends_with("slo; did you mean placement.io_ways?"), "{e}");
    let e = load_text(KVS, BOX, &["rate=20 Mpps"]).unwrap_err();
    assert!(e.ends_with("slo; did you mean traffic.rate?"), "{e}");
    let e = load_text(KVS, BOX, &["placement.replacement=lru"]).unwrap_err();
    assert!(e.contains("; did you mean machine.") && e.contains("machine.llc.replacement"), "{e}");
    assert!(e.contains(" or machine."), "{e}");
    let e = load_text(KVS, BOX, &["queues.descriptors=5"]).unwrap_err();
    assert!(e.ends_with("; did you mean rx_descriptors or tx_descriptors?"), "{e}");
    let e = load_text(KVS, BOX, &["placement.policy=DDIO"]).unwrap_err();
    assert!(e.ends_with("; did you mean ddio?"), "{e}");
}

#[test]
fn what_is_not_toml_names_the_line() {
    let e = load_text(&with("io_ways = 2", "io_ways = = 2"), BOX, &[]).unwrap_err();
    let line = at("s/kvs.toml", KVS, "io_ways");
    assert!(e.starts_with(&format!("{line}: \"io_ways = = 2\" is not TOML (")), "{e}");
    let e = load_text(&format!("a = {}", "[".repeat(5000)), BOX, &[]).unwrap_err();
    let shown = format!("\"a = {}...\" is not TOML (", "[".repeat(76));
    assert!(e.contains(&shown) && e.len() < 300, "{e}");
}

proptest! {
    #[test]
    fn any_text_is_a_scenario_or_an_error(text in "\\PC*") {
        let _ = load_text(&text, BOX, &[]);
    }

    #[test]
    fn a_damaged_scenario_is_a_scenario_or_an_error(
        at in 0..KVS.len(), length in 0..12usize, new in "[a-z0-9.=\"'{}\\[\\]\n -]{0,8}",
    ) {
        let mut text = KVS.to_owned();
        text.replace_range(at..(at + length).min(KVS.len()), &new);
        let _ = load_text(&text, BOX, &[]);
    }

    #[test]
    fn any_override_is_an_override_or_an_error(
        set in "(machine|tenants|run|placement|queues)(\\.[a-z0-9_]{1,8}){0,3}=.{0,12}",
    ) {
        let _ = load_text(KVS, BOX, &[&set]);
    }
}
