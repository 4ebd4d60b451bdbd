//! From files and overrides to a scenario that the engine accepts.

use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::sync::{Arc, LazyLock};

use nic2core_engine::check::Violation;
use nic2core_engine::config::{Scenario, validate};
use serde_json::Value as Json;

use crate::capture::locate;
use crate::check::{Wrong, check, nearest};
use crate::error::{Origins, Place, UserError, UserErrors};
use crate::files::Files;
use crate::set::{self, Set};
use crate::tree::{Node, Value};

/// The key that names the machine file.
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

/// Reads the scenario at `path`, and lays it over its machine and the overrides (`key=value`) over
/// both. A machine `name` is `name.toml` or `machines/name.toml` beside the scenario, or
/// `name.toml` in one of `machine_folders`, whichever comes first and is not itself a scenario.
///
/// # Errors
/// Everything in the files and overrides that the user has to change.
pub fn load(
    files: &dyn Files,
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
    // The base must be known before anything can be laid over it.
    let (base, sets): (Vec<_>, Vec<_>) =
        sets.into_iter().partition(|set| set.key == "machine" || set.key == BASE);
    // Laying the machine below removes this key; an override of it may be why a value is refused.
    let base_place = base.last().map(|set| set.place().clone());
    for set in base {
        set.apply(&mut root)?;
    }
    merge_machine(files, path, machine_folders, &mut root)?;
    finish(files, &root, &sets, base_place)
}

/// Checks a scenario that a program passes in as JSON text, complete with its machine, with the
/// overrides (`key=value`) laid over it. `origins` are those of the values that are unchanged from
/// the file that it was loaded from.
///
/// # Errors
/// Everything in it and in the overrides that has to be changed.
pub fn from_json(
    files: &dyn Files,
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
    let root = Node::from_json(json, "", origins);
    finish(files, &root, &sets, origins.0.get(BASE).cloned())
}

/// Lays `sets` over a tree and checks what this gives.
fn finish(
    files: &dyn Files,
    below: &Node,
    sets: &[Set],
    base_place: Option<Place>,
) -> Result<Loaded, UserErrors> {
    let (root, wrong) = laid_over(below, sets)?;
    if !wrong.errors.is_empty() {
        return Err(UserErrors(with_ranges(wrong, &root)));
    }
    let mut origins = root.origins();
    let base = base_place.as_ref().filter(|place| matches!(place, Place::Set(_))).cloned();
    origins.0.extend(base_place.map(|place| (BASE.to_owned(), place)));
    let mut scenario = typed(&root).map_err(|e| {
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
        let blamed = |v: &Violation| {
            // What the overriding base says plays a part only in what concerns the machine.
            let of_machine = v.key.starts_with("machine.") || v.allowed.contains("machine.");
            let base = base.iter().filter(|_| of_machine).cloned();
            base.chain(forbidding(below, sets, &v.key)).collect()
        };
        Err(origins.explain(&violations, |key| root.written(key), blamed))
    }
}

/// A tree with `sets` laid over it, without the keys that are left out, and what the schema does not allow in it.
fn laid_over(below: &Node, sets: &[Set]) -> Result<(Node, Wrong), UserErrors> {
    let mut root = below.clone();
    set::apply_all(sets.to_vec(), &mut root)?;
    let wrong = check(&SCHEMA, &root);
    for key in &wrong.left_out {
        if let Some(node) = root.at_mut(key) {
            node.value = Value::Null;
        }
    }
    Ok((root, wrong))
}

/// Where the overrides were given that make the value of a key impossible: those without any one of which it could be
/// simulated, or else those that make it impossible alone, or else all.
fn forbidding(below: &Node, sets: &[Set], key: &str) -> Vec<Place> {
    let holds_with = |sets: Vec<Set>| {
        laid_over(below, &sets).is_ok_and(|(root, _)| {
            typed(&root).is_ok_and(|s| validate::violations(&s).iter().all(|v| v.key != key))
        })
    };
    if !holds_with(Vec::new()) {
        return Vec::new();
    }
    let without = |gone: &Set| sets.iter().filter(|&set| set != gone).cloned().collect();
    let mut found: Vec<&Set> = sets.iter().filter(|&set| holds_with(without(set))).collect();
    if found.is_empty() {
        found = sets.iter().filter(|&set| !holds_with(vec![set.clone()])).collect();
    }
    if found.is_empty() {
        found = sets.iter().collect();
    }
    found.into_iter().map(|set| set.place().clone()).collect()
}

/// The scenario in its types, or the key whose value they refuse.
fn typed(root: &Node) -> Result<Scenario, serde_path_to_error::Error<serde_json::Error>> {
    serde_path_to_error::deserialize(root.to_json())
}

/// The errors, where numbers that their types cannot hold get the range that can be simulated:
/// this is usually narrower than the type, and the engine reports it for the nearest value that the
/// type holds.
fn with_ranges(wrong: Wrong, root: &Node) -> Vec<UserError> {
    let mut near = root.clone();
    for (key, value) in wrong.beyond {
        if let Some(node) = near.at_mut(&key) {
            node.value = value;
        }
    }
    let mut errors = wrong.errors;
    // If anything else is wrong as well, there is no scenario to check.
    let Ok(scenario) = typed(&near) else { return errors };
    let violations = validate::violations(&scenario);
    for error in &mut errors {
        if let Some(v) = violations.iter().find(|v| error.key.as_ref() == Some(&v.key)) {
            error.allowed.clone_from(&v.allowed);
        }
    }
    errors
}

/// Replaces `machine.base` by the machine that it names, with the rest of `machine` laid over it.
fn merge_machine(
    files: &dyn Files,
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

/// The machines that exist, except the file that was given, which is not one.
fn available(files: &dyn Files, folders: &[PathBuf], given: &str) -> String {
    // What else lies in the working directory are seldom machines.
    let listed = folders.iter().filter(|folder| *folder != Path::new("."));
    let mut names: Vec<String> = listed.flat_map(|f| files.names(f)).collect();
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

/// The tree of a TOML file; `None` if there is no such file.
fn read(
    files: &dyn Files,
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
        // A part of the path that is a file is no folder to look in.
        Err(e) if matches!(e.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => {
            return Ok(None);
        }
        Err(e) => return Err(unreadable(format!("cannot be read ({e})"))),
    };
    let text = String::from_utf8(bytes).map_err(|e| unreadable(format!("is not text ({e})")))?;
    Node::from_toml(&name, &text).map(Some)
}

#[cfg(test)]
mod tests;
