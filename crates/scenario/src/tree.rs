//! A scenario before it is typed: a tree of values, each with the place where it was given.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use toml::de::{DeTable, DeValue};

use crate::error::{Origins, Place, UserError, UserErrors};

/// A value and where it was given.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Node {
    pub(crate) place: Place,
    pub(crate) value: Value,
}

/// A value of TOML or JSON.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Value {
    Null,
    Boolean(bool),
    /// Wide enough for `i64` and `u64`.
    Integer(i128),
    Float(f64),
    String(String),
    /// What TOML can express but no key takes: dates, integers beyond 128 bits, and floats that are
    /// not finite.
    Other(String),
    Array(Vec<Node>),
    Table(BTreeMap<String, Node>),
}

/// TOML has no null: this value leaves out a key that may be absent, whatever a file or a machine below has.
pub(crate) const NONE: &str = "none";

/// Characters of a line that an error shows: a line of a file that is not TOML may have thousands.
const SHOWN: usize = 80;

fn shortened(line: &str) -> String {
    match line.char_indices().nth(SHOWN) {
        Some((at, _)) => format!("{}...", &line[..at]),
        None => line.into(),
    }
}

/// Before a memory changes to another `standard`: drops its timings, which are in clocks of the old one.
pub(crate) fn forget_timings(memory: &mut BTreeMap<String, Node>, standard: &Value) {
    if memory.get("standard").is_some_and(|was| was.value != *standard) {
        memory.remove("timings");
    }
}

impl Node {
    /// The tree of a TOML file.
    pub(crate) fn from_toml(name: &Arc<str>, text: &str) -> Result<Node, UserErrors> {
        let place = |offset: usize| Place::File {
            name: name.clone(),
            line: Some(1 + text.as_bytes()[..offset].iter().filter(|&&b| b == b'\n').count()),
        };
        let table = DeTable::parse(text).map_err(|e| {
            let offset = e.span().map_or(0, |span| span.start.min(text.len()));
            let line = text[..offset].rfind('\n').map_or(0, |at| at + 1);
            UserErrors::from(UserError {
                place: place(offset),
                key: None,
                given: format!(
                    "\"{}\"",
                    shortened(text[line..].lines().next().unwrap_or("").trim())
                ),
                problem: format!("is not TOML ({})", e.message()),
                allowed: "`key = value` lines and `[table]` headings as in https://toml.io".into(),
            })
        })?;
        Ok(from_table(table.get_ref(), place(0), &place))
    }

    /// The tree of one TOML value, such as the right side of `--set key=value`.
    pub(crate) fn from_toml_value(text: &str, place: &Place) -> Option<Node> {
        let value = DeValue::parse(text).ok()?;
        Some(from_value(value.get_ref(), place.clone(), &|_| place.clone()))
    }

    /// The tree of JSON data that a program passed in, which knows the origin of some keys.
    pub(crate) fn from_json(json: serde_json::Value, key: &str, origins: &Origins) -> Node {
        let value = match json {
            serde_json::Value::Null => Value::Null,
            serde_json::Value::Bool(b) => Value::Boolean(b),
            serde_json::Value::Number(n) => match n.as_i128() {
                Some(i) => Value::Integer(i),
                None => Value::Float(n.as_f64().unwrap_or(f64::NAN)),
            },
            serde_json::Value::String(s) => Value::String(s),
            serde_json::Value::Array(array) => {
                let child = |(i, v)| Node::from_json(v, &join(key, &usize::to_string(&i)), origins);
                Value::Array(array.into_iter().enumerate().map(child).collect())
            }
            serde_json::Value::Object(object) => {
                let child = |(k, v): (String, serde_json::Value)| {
                    let node = Node::from_json(v, &join(key, &k), origins);
                    (k, node)
                };
                Value::Table(object.into_iter().map(child).collect())
            }
        };
        Node { place: origins.place(key), value }
    }

    /// The same value as JSON, without places.
    pub(crate) fn to_json(&self) -> serde_json::Value {
        match &self.value {
            Value::Null => serde_json::Value::Null,
            Value::Boolean(b) => (*b).into(),
            Value::Integer(i) => match (u64::try_from(*i), i64::try_from(*i)) {
                (Ok(u), _) => u.into(),
                (_, Ok(i)) => i.into(),
                _ => (*i as f64).into(),
            },
            Value::Float(x) => (*x).into(),
            Value::String(s) | Value::Other(s) => s.clone().into(),
            Value::Array(a) => a.iter().map(Node::to_json).collect::<Vec<_>>().into(),
            Value::Table(t) => {
                serde_json::Value::Object(t.iter().map(|(k, v)| (k.clone(), v.to_json())).collect())
            }
        }
    }

    /// Lays `over` on top: tables key by key, everything else as a whole. A table keeps the place
    /// where it was first given. If a memory changes its `standard`, its `timings` are dropped,
    /// because they are in clocks of the old one.
    pub(crate) fn merge(&mut self, over: Node) {
        match (&mut self.value, over.value) {
            (Value::Table(table), Value::Table(over)) => {
                if let Some(standard) = over.get("standard") {
                    forget_timings(table, &standard.value);
                }
                for (key, node) in over {
                    match table.get_mut(&key) {
                        Some(below) => below.merge(node),
                        None => {
                            table.insert(key, node);
                        }
                    }
                }
            }
            (value, over_value) => {
                *value = over_value;
                self.place = over.place;
            }
        }
    }

    /// The value of a key as it was written; `None` for a table, an array or a default.
    pub(crate) fn written(&self, key: &str) -> Option<String> {
        let below = key.split('.').try_fold(self, |node, name| match &node.value {
            Value::Table(table) => table.get(name),
            Value::Array(array) => array.get(name.parse::<usize>().ok()?),
            _ => None,
        })?;
        match below.value {
            Value::Null => Some(NONE.to_owned()),
            Value::Table(_) | Value::Array(_) => None,
            _ => Some(below.value.to_string()),
        }
    }

    /// The node at a key below this one.
    pub(crate) fn at_mut(&mut self, key: &str) -> Option<&mut Node> {
        key.split('.').try_fold(self, |node, name| match &mut node.value {
            Value::Table(table) => table.get_mut(name),
            Value::Array(array) => array.get_mut(name.parse::<usize>().ok()?),
            _ => None,
        })
    }

    /// Where every key below this node was given.
    pub(crate) fn origins(&self) -> Origins {
        fn collect(node: &Node, key: &str, origins: &mut BTreeMap<String, Place>) {
            origins.insert(key.to_owned(), node.place.clone());
            match &node.value {
                Value::Table(table) => {
                    for (name, child) in table {
                        collect(child, &join(key, name), origins);
                    }
                }
                Value::Array(array) => {
                    for (i, child) in array.iter().enumerate() {
                        collect(child, &join(key, &i.to_string()), origins);
                    }
                }
                _ => {}
            }
        }
        let mut origins = BTreeMap::new();
        collect(self, "", &mut origins);
        Origins(origins)
    }
}

/// `key.name`, or `name` at the root.
pub(crate) fn join(key: &str, name: &str) -> String {
    if key.is_empty() { name.to_owned() } else { format!("{key}.{name}") }
}

fn from_table(table: &DeTable<'_>, place: Place, at: &impl Fn(usize) -> Place) -> Node {
    let children = table.iter().map(|(key, value)| {
        let place = at(key.span().start);
        (key.get_ref().clone().into_owned(), from_value(value.get_ref(), place, at))
    });
    Node { place, value: Value::Table(children.collect()) }
}

fn from_value(value: &DeValue<'_>, place: Place, at: &impl Fn(usize) -> Place) -> Node {
    let value = match value {
        DeValue::String(s) => Value::String(s.clone().into_owned()),
        DeValue::Integer(i) => match i128::from_str_radix(i.as_str(), i.radix()) {
            Ok(i) => Value::Integer(i),
            Err(_) => Value::Other(i.as_str().to_owned()),
        },
        DeValue::Float(x) => match x.as_str().parse() {
            Ok(finite) if f64::is_finite(finite) => Value::Float(finite),
            _ => Value::Other(x.as_str().to_owned()),
        },
        DeValue::Boolean(b) => Value::Boolean(*b),
        DeValue::Datetime(d) => Value::Other(d.to_string()),
        DeValue::Array(a) => Value::Array(
            a.iter().map(|v| from_value(v.get_ref(), at(v.span().start), at)).collect(),
        ),
        DeValue::Table(t) => return from_table(t, place, at),
    };
    Node { place, value }
}

/// As it would be written in TOML, shortened to one line.
impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Value::Null => f.write_str("null"),
            Value::Boolean(b) => write!(f, "{b}"),
            Value::Integer(i) => write!(f, "{i}"),
            Value::Float(x) => write!(f, "{x:?}"),
            Value::String(s) => {
                let mut chars = s.chars();
                let short: String = chars.by_ref().take(60).collect();
                let rest = if chars.next().is_some() { "…" } else { "" };
                write!(f, "{:?}", short + rest)
            }
            Value::Other(d) => f.write_str(d),
            Value::Array(a) if a.is_empty() => f.write_str("[]"),
            Value::Array(a) => write!(f, "[an array of {}]", a.len()),
            Value::Table(t) => {
                let keys: Vec<&str> = t.keys().map(String::as_str).take(4).collect();
                let rest = if t.len() > 4 { ", …" } else { "" };
                write!(f, "{{{}{rest}}}", keys.join(", "))
            }
        }
    }
}
