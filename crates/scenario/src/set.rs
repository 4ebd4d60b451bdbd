//! `--set key=value`: one key of the scenario, changed for one run.

use std::sync::Arc;

use crate::error::{Place, UserError, UserErrors};
use crate::tree::{Node, Value, forget_timings, join};

/// A parsed `--set`.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Set {
    pub(crate) key: String,
    value: Node,
}

/// Parses all overrides of a run and refuses those that contradict each other.
pub(crate) fn parse_all(texts: &[String]) -> Result<Vec<Set>, UserErrors> {
    let sets = texts.iter().map(|text| Set::parse(text)).collect::<Result<Vec<_>, _>>()?;
    for (i, later) in sets.iter().enumerate() {
        for earlier in &sets[..i] {
            contradiction(earlier, later)?;
        }
    }
    Ok(sets)
}

/// Lays all overrides over a tree: a change of standard first, because it drops the timings that are there and not
/// those set alongside it, then the others. A table goes before what is set in it.
pub(crate) fn apply_all(mut sets: Vec<Set>, root: &mut Node) -> Result<(), UserErrors> {
    let keys: Vec<String> = sets.iter().map(|set| set.key.clone()).collect();
    let is_standard = |key: &str| key.ends_with(".standard");
    sets.sort_by_key(|set| {
        let mut in_it = keys.iter().filter(|key| below(key, &set.key)).peekable();
        let is_table = in_it.peek().is_some();
        let has_standard = in_it.any(|key| is_standard(key));
        (!has_standard, !is_standard(&set.key), !is_table)
    });
    sets.into_iter().try_for_each(|set| set.apply(root))
}

/// Whether a key is in the table of another.
fn below(key: &str, table: &str) -> bool {
    key.strip_prefix(table).is_some_and(|rest| rest.starts_with('.'))
}

/// A key of a table may be set after the table, but a table that is set replaces what was set in it before.
fn contradiction(earlier: &Set, later: &Set) -> Result<(), UserErrors> {
    let same = earlier.key == later.key && earlier.value.to_json() != later.value.to_json();
    if !same && !below(&earlier.key, &later.key) {
        return Ok(());
    }
    Err(UserErrors::from(UserError {
        place: later.value.place.clone(),
        key: Some(later.key.clone()),
        given: later.value.value.to_string(),
        problem: format!("contradicts {}", earlier.value.place),
        allowed: "each key once, and a table before the keys in it".into(),
    }))
}

impl Set {
    /// Where it was given.
    pub(crate) fn place(&self) -> &Place {
        &self.value.place
    }

    fn parse(text: &str) -> Result<Set, UserErrors> {
        let place = Place::Set(Arc::from(text));
        let wrong = |problem: &str| {
            UserErrors::from(UserError {
                place: place.clone(),
                key: None,
                given: format!("{text:?}"),
                problem: problem.into(),
                allowed: "key=value with a dotted key, such as placement.io_ways=4, \
                      tenants.0.cores.count=12 or traffic.rate=\"30 Mpps\""
                    .into(),
            })
        };
        let (key, value) = text.split_once('=').ok_or_else(|| wrong("has no \"=\""))?;
        let key: Vec<&str> = key.split('.').map(str::trim).collect();
        if key.iter().any(|segment| segment.is_empty()) {
            return Err(wrong("has an empty key"));
        }
        let value = value.trim();
        let node = match Node::from_toml_value(value, &place) {
            // A value that no key takes is text: a date, for example.
            Some(Node { value: Value::Other(_), .. }) | None
                if !value.starts_with(['"', '\'', '[', '{']) =>
            {
                Node { place: place.clone(), value: Value::String(value.into()) }
            }
            Some(node) => node,
            None => return Err(wrong("has a value that is not TOML")),
        };
        Ok(Set { key: key.join("."), value: node })
    }

    /// Replaces the value at the key, creating the tables on the way to it. A table is replaced as
    /// a whole, so that keys of it can be left out.
    pub(crate) fn apply(self, root: &mut Node) -> Result<(), UserErrors> {
        let Set { key, value } = self;
        let mut node = root;
        let mut walked = String::new();
        for segment in key.split('.') {
            let wrong = |problem: String, allowed: String| {
                UserErrors::from(UserError {
                    place: value.place.clone(),
                    key: Some(key.clone()),
                    given: value.value.to_string(),
                    problem,
                    allowed,
                })
            };
            let place = &value.place;
            if let Value::Table(table) = &mut node.value
                && segment == "standard"
            {
                forget_timings(table, &value.value);
            }
            node = match &mut node.value {
                Value::Table(table) => table.entry(segment.to_owned()).or_insert_with(|| Node {
                    place: place.clone(),
                    value: Value::Table(Default::default()),
                }),
                Value::Array(array) => {
                    let len = array.len();
                    let meant = by_number(array, &walked, &key);
                    segment.parse().ok().and_then(|i: usize| array.get_mut(i)).ok_or_else(|| {
                        wrong(
                            format!("has no element \"{segment}\" in {walked} to go to"),
                            match len {
                                0 => "no element: the array is empty".into(),
                                1 => format!("element 0, the only one{meant}"),
                                _ => format!("elements 0 to {}{meant}", len - 1),
                            },
                        )
                    })?
                }
                leaf => {
                    return Err(wrong(
                        format!("goes into {walked}, which is {leaf} and no table"),
                        format!("to set {walked} itself"),
                    ));
                }
            };
            walked = join(&walked, segment);
        }
        *node = value;
        Ok(())
    }
}

/// The key with the number that it lacks after `walked`, as a question; empty if a number is there.
fn by_number(array: &[Node], walked: &str, key: &str) -> String {
    let rest = &key[walked.len() + 1..];
    let (segment, below) = rest.split_once('.').unwrap_or((rest, ""));
    if segment.parse::<usize>().is_ok() {
        return String::new();
    }
    let named = array.iter().position(|element| {
        let Value::Table(table) = &element.value else { return false };
        matches!(table.get("name").map(|n| &n.value), Some(Value::String(n)) if n == segment)
    });
    // If the next segment is a key of the elements, this segment stands where the number should be.
    let next = below.split('.').next().unwrap_or("");
    let replaces = array.iter().position(
        |element| matches!(&element.value, Value::Table(table) if table.contains_key(next)),
    );
    match named.or(replaces) {
        Some(i) => format!(
            "; did you mean {}?",
            join(walked, rest.replacen(segment, &i.to_string(), 1).as_str())
        ),
        None => format!("; did you mean {walked}.0.{rest}?"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn apply(file: &str, sets: &[&str]) -> Result<String, String> {
        let texts: Vec<String> = sets.iter().map(|s| (*s).to_owned()).collect();
        let mut root = Node::from_toml(&"f.toml".into(), file).map_err(|e| e.to_string())?;
        let sets = parse_all(&texts).map_err(|e| e.to_string())?;
        apply_all(sets, &mut root).map_err(|e| e.to_string())?;
        Ok(root.to_json().to_string())
    }

    #[test]
    fn values_are_toml_or_bare_text() {
        let sets =
            ["a.b=12", "a.c=30 Mpps", "d=\"1\"", "e=[1, 2]", "f = true", "g=2026-01-01", "h="];
        assert_eq!(
            apply("", &sets).unwrap(),
            r#"{"a":{"b":12,"c":"30 Mpps"},"d":"1","e":[1,2],"f":true,"g":"2026-01-01","h":""}"#
        );
    }

    #[test]
    fn elements_of_arrays_are_reached_by_number() {
        let file = "[[tenants]]\nname = 'a'\n[[tenants]]\nname = 'b'\n";
        assert_eq!(
            apply(file, &["tenants.1.name=c"]).unwrap(),
            r#"{"tenants":[{"name":"a"},{"name":"c"}]}"#
        );
        let e = apply(file, &["tenants.2.name=c"]).unwrap_err();
        assert!(e.contains("--set tenants.2.name=c") && e.contains("elements 0 to 1"), "{e}");
        for (set, meant) in [
            ("tenants.app.x=1", "elements 0 to 1; did you mean tenants.0.app.x?"),
            ("tenants.b.app.x=1", "elements 0 to 1; did you mean tenants.1.app.x?"),
            ("tenants.x.name=c", "elements 0 to 1; did you mean tenants.0.name?"),
            ("tenants.b=c", "elements 0 to 1; did you mean tenants.1?"),
        ] {
            let e = apply(file, &[set]).unwrap_err();
            assert!(e.ends_with(meant), "{e}");
        }
        let e = apply("[[tenants]]\nname = 'a'\n", &["tenants.1.name=c"]).unwrap_err();
        assert!(e.ends_with("to go to; allowed: element 0, the only one."), "{e}");
        let e = apply(file, &["tenants.0.name.x=c"]).unwrap_err();
        assert!(e.contains("goes into tenants.0.name, which is \"a\""), "{e}");
    }

    #[test]
    fn a_table_replaces_the_one_below() {
        let file = "t = { kind = 'a', x = 1 }";
        assert_eq!(apply(file, &["t={kind='a', y=2}"]).unwrap(), r#"{"t":{"kind":"a","y":2}}"#);
        assert_eq!(apply(file, &["t={}"]).unwrap(), r#"{"t":{}}"#);
        assert_eq!(apply(file, &["t.kind=b"]).unwrap(), r#"{"t":{"kind":"b","x":1}}"#);
    }

    #[test]
    fn contradictory_overrides_are_refused() {
        for pair in [["a=1", "a=2"], ["a.b=1", "a={c=1}"], ["a.b.standard=1", "a={c=1}"]] {
            let e = apply("", &pair).unwrap_err();
            assert!(e.contains(&format!("--set {}", pair[1])), "{e}");
            assert!(e.contains(&format!("contradicts --set {}", pair[0])), "{e}");
        }
        assert!(apply("", &["a=1", "a=1"]).is_ok(), "the same twice is no contradiction");
        assert!(apply("", &["a=1", "ab=2"]).is_ok(), "ab is not below a");
    }

    #[test]
    fn a_key_of_a_table_may_be_set_after_the_table() {
        let set = |sets: &[&str]| apply("a={b=0, d=0}", sets).unwrap();
        assert_eq!(set(&["a={c=1}", "a.b=2"]), r#"{"a":{"b":2,"c":1}}"#);
        // The standard of a memory drops the timings of the table, not those set alongside it.
        assert_eq!(
            set(&["a.timings={b=1}", "a.timings.c=2", "a.standard=y"]),
            r#"{"a":{"b":0,"d":0,"standard":"y","timings":{"b":1,"c":2}}}"#
        );
        assert_eq!(
            set(&["a={standard='x', timings={b=1}}", "a.timings.c=2", "a.standard=y"]),
            r#"{"a":{"standard":"y","timings":{"c":2}}}"#
        );
    }

    #[test]
    fn what_is_no_override_says_how_one_looks() {
        for text in ["a", "=1", "a..b=1", "a=[1", "a={b=1"] {
            let e = apply("", &[text]).unwrap_err();
            assert!(e.contains("key=value with a dotted key"), "{e}");
        }
    }
}
