//! From files and overrides to a scenario that the engine accepts.

use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::sync::{Arc, LazyLock};

use nic2core_engine::config::{Scenario, validate};
use serde::Deserialize;
use serde_json::Value as Json;

use crate::capture::locate;
use crate::check::{Wrong, check, nearest};
use crate::error::{Origins, Place, UserError, UserErrors};
use crate::files::Files;
use crate::set;
use crate::tree::{Node, Value};

/// What names the machine file.
const BASE: &str = "machine.base";

static SCHEMA: LazyLock<Json> = LazyLock::new(|| schemars::schema_for!(Scenario).to_value());

/// A checked scenario, and where its values came from.
#[derive(Clone, Debug, PartialEq)]
pub struct Loaded {
    /// The scenario.
    pub scenario: Scenario,
    /// Where each key was given.
    pub origins: Origins,
}

/// Reads the scenario at `path`, lays it over its machine, and the overrides (`key=value`) over
/// both. A machine `name` is `name.toml` or `machines/name.toml` beside the scenario, or
/// `name.toml` in one of `machine_folders`, whichever comes first and is not itself a scenario.
///
/// # Errors
/// Everything in the files and overrides that the user has to change.
pub fn load(
    files: &impl Files,
    path: &Path,
    sets: &[String],
    machine_folders: &[PathBuf],
) -> Result<Loaded, UserErrors> {
    let sets = set::parse_all(sets)?;
    let mut root = read(files, path, None)?.ok_or_else(|| UserError {
        place: Place::File { name: path.display().to_string().into(), line: None },
        key: None,
        given: "the path".into(),
        problem: "names no file".into(),
        allowed: "a scenario file, such as scenarios/NAME.toml".into(),
    })?;
    if is_machine(&root) {
        let stem = path.file_stem().unwrap_or_default().to_string_lossy();
        return Err(UserErrors::from(UserError {
            place: Place::File { name: path.display().to_string().into(), line: None },
            key: None,
            given: "the path".into(),
            problem: "names a machine, not a scenario".into(),
            allowed: format!("a scenario, whose [machine] may say base = \"{stem}\""),
        }));
    }
    // The base has to be known before anything can be laid over it.
    let (base, sets): (Vec<_>, Vec<_>) =
        sets.into_iter().partition(|set| set.key == "machine" || set.key == BASE);
    // The key is gone when the machine is laid below; what was set of it may be why a value is refused.
    let base_place = base.last().map(|set| set.place().clone());
    for set in base {
        set.apply(&mut root)?;
    }
    merge_machine(files, path, machine_folders, &mut root)?;
    set::apply_all(sets, &mut root)?;
    finish(files, &root, base_place)
}

/// Checks a scenario that a program handed over as JSON text, complete with its machine, with the
/// overrides (`key=value`) laid over it. `origins` are those of what is still as in the file that it was
/// loaded from.
///
/// # Errors
/// Everything in it and in the overrides that has to be changed.
pub fn from_json(
    files: &impl Files,
    text: &str,
    sets: &[String],
    origins: &Origins,
) -> Result<Loaded, UserErrors> {
    let sets = set::parse_all(sets)?;
    let json = serde_json::from_str(text).map_err(|e| UserError {
        place: origins.place(""),
        key: None,
        given: "the text".into(),
        problem: format!("is not JSON ({e})"),
        allowed: "a scenario as JSON".into(),
    })?;
    let mut root = Node::from_json(json, "", origins);
    set::apply_all(sets, &mut root)?;
    finish(files, &root, origins.0.get(BASE).cloned())
}

fn finish(
    files: &impl Files,
    root: &Node,
    base_place: Option<Place>,
) -> Result<Loaded, UserErrors> {
    let wrong = check(&SCHEMA, root);
    if !wrong.errors.is_empty() {
        return Err(UserErrors(with_ranges(wrong, root)));
    }
    let mut origins = root.origins();
    origins.0.extend(base_place.map(|place| (BASE.to_owned(), place)));
    let mut scenario: Scenario = serde_path_to_error::deserialize(root.to_json()).map_err(|e| {
        let key = e.path().to_string();
        let given = root.written(&key).unwrap_or_else(|| "the value".into());
        let message = e.into_inner().to_string();
        let (problem, allowed) = message.split_once("; expected ").unwrap_or(("", &message));
        // The message repeats the value.
        let problem = problem.strip_prefix(&given).map_or("is refused", str::trim_start).into();
        origins.refuse(&key, given, problem, allowed.into())
    })?;
    let violations = validate::violations(&scenario);
    if violations.is_empty() {
        locate(files, &mut scenario, &origins);
        Ok(Loaded { scenario, origins })
    } else {
        Err(origins.explain(&violations, |key| root.written(key)))
    }
}

/// The errors, those of integers that their types cannot hold with what can be simulated: mostly it
/// is less than the type holds, and the engine says so of the nearest value.
fn with_ranges(wrong: Wrong, root: &Node) -> Vec<UserError> {
    let mut near = root.clone();
    for (key, value) in wrong.beyond {
        if let Some(node) = near.at_mut(&key) {
            node.value = Value::Integer(value);
        }
    }
    let mut errors = wrong.errors;
    // Where more is wrong than that, there is no scenario to ask of.
    let Ok(scenario) = Scenario::deserialize(near.to_json()) else { return errors };
    let violations = validate::violations(&scenario);
    for error in &mut errors {
        if let Some(v) = violations.iter().find(|v| error.key.as_ref() == Some(&v.key)) {
            error.allowed.clone_from(&v.allowed);
        }
    }
    errors
}

/// Replaces `machine.base` by the machine it names, with the rest of `machine` laid over it.
fn merge_machine(
    files: &impl Files,
    scenario: &Path,
    folders: &[PathBuf],
    root: &mut Node,
) -> Result<(), UserErrors> {
    let Value::Table(top) = &mut root.value else { return Ok(()) };
    let Some(Node { value: Value::Table(machine), .. }) = top.get_mut("machine") else {
        return Ok(());
    };
    let Some(base) = machine.remove("base") else { return Ok(()) };
    let beside = scenario.parent().unwrap_or(Path::new(""));
    let mut searched = vec![beside.to_owned(), beside.join("machines")];
    for folder in folders {
        if !searched.contains(folder) {
            searched.push(folder.clone());
        }
    }
    let wrong = |problem: &str, allowed: String| {
        UserErrors::from(UserError {
            place: base.place.clone(),
            key: Some(BASE.into()),
            given: base.value.to_string(),
            problem: problem.into(),
            allowed,
        })
    };
    let Value::String(name) = &base.value else {
        return Err(wrong("has the wrong type", "the name of a machine file, in quotes".into()));
    };
    let file = format!("{}.toml", name.strip_suffix(".toml").unwrap_or(name));
    let candidates = searched.iter().map(|folder| folder.join(&file)).filter(|c| c != scenario);
    let mut mistaken = None;
    for candidate in candidates {
        if let Some(mut below) = read(files, &candidate, Some(&base))? {
            // A scenario that shares its name with its machine often lies beside it.
            if is_scenario(&below) {
                mistaken.get_or_insert(candidate);
                continue;
            }
            if let Some(over) = top.remove("machine") {
                below.merge(over);
            }
            top.insert("machine".into(), below);
            return Ok(());
        }
    }
    let problem = match mistaken {
        Some(file) => format!("names {}, which is a scenario, not a machine", file.display()),
        None => "names no machine file".into(),
    };
    Err(wrong(&problem, available(files, &searched[1..], &file)))
}

/// Whether a file that was read as a machine has the tables of a scenario.
fn is_scenario(root: &Node) -> bool {
    let Value::Table(top) = &root.value else { return false };
    top.contains_key("machine") || top.contains_key("tenants")
}

/// Whether a file that was read as a scenario has the tables of a machine.
fn is_machine(root: &Node) -> bool {
    let Value::Table(top) = &root.value else { return false };
    top.contains_key("core") && top.contains_key("llc") && !is_scenario(root)
}

/// The machines there are, but for the file that was given: it is none.
fn available(files: &impl Files, folders: &[PathBuf], given: &str) -> String {
    let mut names: Vec<String> = folders.iter().flat_map(|f| files.names(f)).collect();
    names.retain(|name| name.ends_with(".toml") && name != given);
    names.sort();
    names.dedup();
    let names: Vec<&str> = names.iter().filter_map(|name| name.strip_suffix(".toml")).collect();
    let shown: Vec<String> = folders.iter().map(|f| f.display().to_string()).collect();
    let folders = shown.join(", ");
    match (names.as_slice(), nearest(names.iter().copied(), given.trim_end_matches(".toml"))) {
        ([], _) => {
            format!("a machine file beside the scenario or in {folders}, where there is none")
        }
        (_, Some(name)) => format!("{}; did you mean {name}?", names.join(", ")),
        (_, None) => {
            format!("{} (searched beside the scenario and in {folders})", names.join(", "))
        }
    }
}

/// The tree of a TOML file; nothing if there is no such file.
fn read(
    files: &impl Files,
    path: &Path,
    named_by: Option<&Node>,
) -> Result<Option<Node>, UserErrors> {
    let name: Arc<str> = path.display().to_string().into();
    let unreadable = |problem: String| {
        UserErrors::from(UserError {
            place: named_by
                .map_or(Place::File { name: name.clone(), line: None }, |n| n.place.clone()),
            key: named_by.map(|_| BASE.into()),
            given: format!("{name:?}"),
            problem,
            allowed: "a readable TOML file in UTF-8".into(),
        })
    };
    let bytes = match files.read(path) {
        Ok(bytes) => bytes,
        Err(e) if e.kind() == ErrorKind::NotFound => return Ok(None),
        Err(e) => return Err(unreadable(format!("cannot be read ({e})"))),
    };
    let text = String::from_utf8(bytes).map_err(|e| unreadable(format!("is not text ({e})")))?;
    Node::from_toml(&name, &text).map(Some)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::files::Memory;

    const KVS: &str = include_str!("../tests/data/kvs.toml");
    const BOX: &str = include_str!("../tests/data/machines/box.toml");

    fn load_text(scenario: &str, machine: &str, sets: &[&str]) -> Result<Loaded, String> {
        let files = Memory(vec![
            ("s/kvs.toml", scenario.into()),
            ("shipped/box.toml", machine.into()),
            ("shipped/README.md", Vec::new()),
        ]);
        let sets: Vec<String> = sets.iter().map(|s| (*s).to_owned()).collect();
        load(&files, Path::new("s/kvs.toml"), &sets, &["shipped".into()]).map_err(|e| e.to_string())
    }

    /// The scenario with one piece of its text exchanged.
    fn with(old: &str, new: &str) -> String {
        assert!(KVS.contains(old), "{old:?} is in the fixture");
        KVS.replacen(old, new, 1)
    }

    /// Where the line of `text` that contains `mark` is.
    fn at(file: &str, text: &str, mark: &str) -> String {
        let line = text.lines().position(|line| line.contains(mark)).expect("the mark is there");
        format!("{file}, line {}", line + 1)
    }

    /// Refused with this paragraph, which blames the line that holds `mark`.
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
    fn a_value_in_place_of_a_table_is_told_its_keys() {
        assert_eq!(
            load_text(KVS, BOX, &["placement=ddio"]).unwrap_err(),
            "--set placement=ddio: placement = \"ddio\" has the wrong type; allowed: a table of \
             placement.policy, placement.io_ways, placement.sweeper."
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
            "{place}: placement.io_ways = 2 cannot be simulated with --set machine.llc.ways=1 --set \
             run.seed=4; allowed: "
        );
        assert!(e.contains(&told), "{e}");
        // The machine's file is another one by an override.
        let small = BOX.replacen("count = 4", "count = 1", 1);
        let e = load_text(KVS, &small, &["machine.base=box"]).unwrap_err();
        assert!(e.contains("cannot be simulated with --set machine.base=box; allowed: "), "{e}");
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
        let none =
            "a machine file beside the scenario or in s/machines, shipped, where there is none.";
        let refused = told("shipped/box.toml");
        assert!(refused.ends_with(&format!("not a machine; allowed: {none}")), "{refused}");
        let unknown = told("shipped/x.toml");
        assert!(unknown.ends_with("x (searched beside the scenario and in s/machines, shipped)."));
    }

    #[test]
    fn an_unknown_key_suggests_the_one_that_was_meant() {
        refused(
            &with("io_ways = 2", "ioways = 2"),
            "ioways",
            "placement.ioways = 2 is not a known key; allowed: policy, \
             io_ways, sweeper; did you mean io_ways?",
        );
    }

    #[test]
    fn a_wrong_unit_lists_the_right_ones() {
        refused(
            &with("2 KiB", "2 kB"),
            "2 kB",
            "queues.buffer_size = \"2 kB\" has the unit \"kB\"; allowed: a \
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
    fn contradictory_overrides_are_refused() {
        assert_eq!(
            load_text(KVS, BOX, &["run.seed=1", "run.seed=2"]).unwrap_err(),
            "--set run.seed=2: run.seed = 2 contradicts --set run.seed=1; allowed: each key once, \
             and not together with a key that contains it."
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
             is required; allowed: an integer (Stores retired or waiting for their line)."
        );
    }

    #[test]
    fn several_errors_are_several_paragraphs() {
        let e = load_text(&with("\"ddio\"", "\"ddioo\""), BOX, &["run.sed=4"]).unwrap_err();
        let (policy, seed) = e.split_once('\n').expect("two paragraphs");
        let wrong =
            "s/kvs.toml, line 13: placement.policy = \"ddioo\" is not one of the known names; ";
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
}
