//! Checks a tree of values against the schema of the scenario.
//!
//! serde would refuse the same trees, but only at the first error, without the place inside a
//! tagged table, and with the known keys inside a sentence. The schema knows them all.

mod kinds;

use nic2core_engine::units;
use serde_json::Value as Json;

use crate::elsewhere;
use crate::error::UserError;
use crate::tree::{NONE, Node, Value, join};

/// What the schema does not allow.
#[derive(Default)]
pub(crate) struct Wrong {
    /// Everything that is wrong, for the user.
    pub(crate) errors: Vec<UserError>,
    /// Of these, the numbers that their types cannot hold: the key, and the nearest value that fits.
    pub(crate) beyond: Vec<(String, Value)>,
    /// Not wrong, but keys whose value [`NONE`] says that they are left out.
    pub(crate) left_out: Vec<String>,
}

/// Fewer letters are a part of too many keys.
const PART: usize = 4;

/// Everything in `root` that the schema does not allow.
pub(crate) fn check(schema: &Json, root: &Node) -> Wrong {
    let mut checker = Checker { all: schema, defs: &schema["$defs"], found: Wrong::default() };
    checker.node(schema, root, "");
    checker.found
}

struct Checker<'s> {
    all: &'s Json,
    defs: &'s Json,
    found: Wrong,
}

impl<'s> Checker<'s> {
    /// Whether a key that may be absent is left out; notes it.
    fn is_left_out(&mut self, node: &Node, key: &str) -> bool {
        let is = matches!(&node.value, Value::String(text) if text == NONE);
        if is {
            self.found.left_out.push(key.to_owned());
        }
        is
    }

    fn wrong(&mut self, node: &Node, key: &str, problem: &str, allowed: impl Into<String>) {
        self.found.errors.push(UserError {
            place: node.place.clone(),
            key: (!key.is_empty()).then(|| key.to_owned()),
            given: node.value.to_string(),
            problem: problem.into(),
            allowed: allowed.into(),
        });
    }

    fn node(&mut self, schema: &'s Json, node: &Node, key: &str) {
        let (schema, name) = self.resolve(schema);
        if let Some(parse) = name.and_then(quantity) {
            return self.quantity(schema, parse, node, key);
        }
        if let Some(variants) = schema["anyOf"].as_array().or(schema["oneOf"].as_array()) {
            return self.variants(variants, node, key);
        }
        let types: Vec<&str> = match &schema["type"] {
            Json::String(one) => vec![one],
            Json::Array(many) => many.iter().filter_map(Json::as_str).collect(),
            _ => return,
        };
        if types.contains(&"null") && self.is_left_out(node, key) {
            return;
        }
        match (&node.value, types.as_slice()) {
            (Value::Null, types) if types.contains(&"null") => {}
            (Value::Table(_), types) if types.contains(&"object") => self.table(schema, node, key),
            (Value::Array(items), types) if types.contains(&"array") => {
                for (i, item) in items.iter().enumerate() {
                    self.node(&schema["items"], item, &join(key, &i.to_string()));
                }
            }
            (Value::Integer(i), types) if types.contains(&"integer") => {
                let (low, high) = range(schema);
                if *i < low || *i > high {
                    let nearest = Value::Integer(*i.clamp(&low, &high));
                    self.found.beyond.push((key.to_owned(), nearest));
                    self.wrong(node, key, "is out of range", format!("{low} to {high}"));
                }
            }
            (Value::Integer(_) | Value::Float(_), types) if types.contains(&"number") => {}
            (Value::Boolean(_), types) if types.contains(&"boolean") => {}
            (Value::String(_), types) if types.contains(&"string") => {}
            // `[tenants]` instead of `[[tenants]]`.
            (Value::Table(_), types) if types.contains(&"array") => {
                let allowed = format!("an array; each of its tables begins with [[{key}]]");
                self.wrong(node, key, "is a table", allowed);
            }
            (_, types) => {
                let names = types.iter().filter(|&&t| t != "null").map(|t| type_name(t));
                let names: Vec<&str> = names.collect();
                let mut allowed = names.join(" or ");
                if let Some(keys) = schema["properties"].as_object() {
                    let keys: Vec<String> = keys.keys().map(|k| join(key, k)).collect();
                    allowed = format!("{allowed} of {}", keys.join(", "));
                }
                self.wrong(node, key, "has the wrong type", allowed);
            }
        }
    }

    /// Follows `$ref`; also returns the name of the definition that it leads to.
    fn resolve(&self, schema: &'s Json) -> (&'s Json, Option<&'s str>) {
        match schema["$ref"].as_str().and_then(|r| r.strip_prefix("#/$defs/")) {
            Some(name) => (&self.defs[name], Some(name)),
            None => (schema, None),
        }
    }

    fn quantity(&mut self, schema: &Json, parse: Parse, node: &Node, key: &str) {
        let text = match &node.value {
            Value::String(text) => text.clone(),
            other => other.to_string(),
        };
        let Err(message) = parse(&text) else {
            if !matches!(node.value, Value::String(_)) {
                self.wrong(node, key, "is no text", "the quantity in quotes");
            }
            return;
        };
        let such_as = format!("whole steps of it, such as {}", schema["examples"][0]);
        let (problem, allowed) = message.split_once("; expected ").unwrap_or((&message, &such_as));
        if let Some(most) = allowed.strip_prefix("at most ") {
            self.found.beyond.push((key.to_owned(), Value::String(most.into())));
        }
        // The message repeats the value in quotes.
        let problem = problem.strip_prefix(&format!("\"{}\" ", text.trim()));
        self.wrong(node, key, problem.unwrap_or("is no quantity"), allowed);
    }

    fn variants(&mut self, variants: &'s [Json], node: &Node, key: &str) {
        let all = variants.len();
        let variants: Vec<&Json> = variants.iter().filter(|v| v["type"] != "null").collect();
        if variants.len() < all && self.is_left_out(node, key) {
            return;
        }
        if let [only] = variants[..] {
            if node.value != Value::Null {
                self.node(only, node, key);
            }
        } else if let Some(tag) = variants.first().and_then(|v| kinds::tag_of(v)) {
            self.tagged(&variants, tag, node, key);
        } else {
            self.named(&variants, node, key);
        }
    }

    /// One of several names, some of which take a value: `"open"` or `{ timeout = 100 }`.
    fn named(&mut self, variants: &[&'s Json], node: &Node, key: &str) {
        let plain: Vec<&str> = variants.iter().flat_map(|v| names(v)).collect();
        let with_value =
            |name: &str| variants.iter().find(|v| v["properties"].get(name).is_some()).copied();
        let problem = match &node.value {
            Value::String(given) if plain.contains(&given.as_str()) => return,
            Value::String(_) => "is not one of the known names",
            Value::Table(table) => match table.keys().next().and_then(|name| with_value(name)) {
                Some(variant) => return self.table(variant, node, key),
                None => "is not one of the known forms",
            },
            _ => "has the wrong type",
        };
        let given = if let Value::String(given) = &node.value { given } else { "" };
        let forms = variants.iter().filter_map(|v| v["properties"].as_object()?.keys().next());
        let forms: String = forms.map(|name| format!("{{ {name} = … }}, ")).collect();
        self.wrong(node, key, problem, forms + &known(&plain, given));
    }

    fn missing(&mut self, table: &Node, key: &str, allowed: String) {
        self.found.errors.push(UserError {
            place: table.place.clone(),
            key: Some(key.to_owned()),
            given: "nothing".into(),
            problem: "is given, but the key is required".into(),
            allowed,
        });
    }

    fn table(&mut self, schema: &'s Json, node: &Node, key: &str) {
        let Value::Table(table) = &node.value else { return };
        let properties = &schema["properties"];
        let mut misspelt = Vec::new();
        for (name, child) in table {
            let child_key = join(key, name);
            if let Some(schema) = properties.get(name) {
                self.node(schema, child, &child_key);
            } else if schema["additionalProperties"] == false {
                let keys = properties.as_object().into_iter().flat_map(|p| p.keys());
                let keys: Vec<&str> = keys.map(String::as_str).collect();
                let meant = self.meant(&keys, name, &child_key);
                self.wrong(child, &child_key, "is not a known key", one_of(&keys, &meant));
                if let [only] = &meant[..] {
                    misspelt.push(only.clone());
                }
            }
        }
        let required = schema["required"].as_array().into_iter().flatten();
        // A key that is there under a misspelt name was told already.
        let absent =
            |name: &&str| !table.contains_key(*name) && !misspelt.iter().any(|given| given == name);
        for name in required.filter_map(Json::as_str).filter(absent) {
            let allowed = self.describe(&properties[name]);
            self.missing(node, &join(key, name), allowed);
        }
    }

    /// The keys that an unknown one probably stands for: those of its table that it is a part of (`descriptors`), or
    /// else those of its name in other tables, or else the one that it is a typo of.
    fn meant(&self, keys: &[&str], name: &str, key: &str) -> Vec<String> {
        let part = |of: &&&str| name.len() >= PART && of.contains(name);
        let mut meant: Vec<String> = keys.iter().filter(part).map(|of| (*of).to_owned()).collect();
        if meant.is_empty() {
            meant = elsewhere::of_name(self.all, name, key);
        }
        if meant.is_empty() {
            meant.extend(nearest(keys.iter().copied(), name).map(str::to_owned));
        }
        meant
    }

    /// What a key takes, in words.
    fn describe(&self, schema: &Json) -> String {
        let meaning = schema["description"].as_str().unwrap_or("").replace('\n', " ");
        let meaning = meaning.trim_end_matches('.');
        let definition = match schema["$ref"].as_str().and_then(|r| r.strip_prefix("#/$defs/")) {
            Some(name) => &self.defs[name],
            None => schema,
        };
        let names: Vec<&str> =
            definition["oneOf"].as_array().into_iter().flatten().flat_map(names).collect();
        let example = [schema, definition].into_iter().find_map(|s| s["examples"][0].as_str());
        let form = match (example, definition["type"].as_str()) {
            _ if !names.is_empty() => names.join(", "),
            (Some(example), _) => format!("such as \"{example}\""),
            (None, Some(one)) => type_name(one).to_owned(),
            (None, None) => "a table".to_owned(),
        };
        if meaning.is_empty() { form } else { format!("{form} ({meaning})") }
    }
}

type Parse = fn(&str) -> Result<(), String>;

/// The parser of a quantity with units, by the name of its schema.
fn quantity(name: &str) -> Option<Parse> {
    Some(match name {
        "Size" => |text| text.parse::<units::Size>().map(drop),
        "Duration" => |text| text.parse::<units::Duration>().map(drop),
        "Frequency" => |text| text.parse::<units::Frequency>().map(drop),
        "BitRate" => |text| text.parse::<units::BitRate>().map(drop),
        "TrafficRate" => |text| text.parse::<units::TrafficRate>().map(drop),
        "Share" => |text| text.parse::<units::Share>().map(drop),
        _ => return None,
    })
}

/// The names that a plain variant stands for: one with a description, or several without.
fn names(variant: &Json) -> Vec<&str> {
    let many = variant["enum"].as_array().into_iter().flatten();
    variant["const"].as_str().into_iter().chain(many.filter_map(Json::as_str)).collect()
}

/// The range of an integer: what its type can hold, or what the schema states.
fn range(schema: &Json) -> (i128, i128) {
    let (low, high) = match schema["format"].as_str() {
        Some("uint8") => (0, i128::from(u8::MAX)),
        Some("uint16") => (0, i128::from(u16::MAX)),
        Some("uint32") => (0, i128::from(u32::MAX)),
        Some("int32") => (i128::from(i32::MIN), i128::from(i32::MAX)),
        Some("int64") => (i128::from(i64::MIN), i128::from(i64::MAX)),
        _ => (0, i128::from(u64::MAX)),
    };
    let given = |key: &str| schema[key].as_i64().map(i128::from);
    (given("minimum").unwrap_or(low), given("maximum").unwrap_or(high))
}

fn type_name(json_type: &str) -> &str {
    match json_type {
        "object" => "a table",
        "array" => "an array",
        "integer" => "an integer",
        "number" => "a number",
        "boolean" => "true or false",
        "string" => "text in quotes",
        other => other,
    }
}

/// The known names, and the one that was probably meant.
fn known(names: &[&str], given: &str) -> String {
    let meant = nearest(names.iter().copied(), given).map(str::to_owned);
    one_of(names, meant.as_slice())
}

/// The names, and those of them that were probably meant.
fn one_of(names: &[&str], meant: &[String]) -> String {
    let list = names.join(", ");
    match meant {
        [] => list,
        [only] => format!("{list}; did you mean {only}?"),
        [others @ .., last] => format!("{list}; did you mean {} or {last}?", others.join(", ")),
    }
}

/// The name that `given` begins, or else the one most similar to it, if any is similar at all.
pub(crate) fn nearest<'n>(names: impl Iterator<Item = &'n str>, given: &str) -> Option<&'n str> {
    // Share of characters that stay when one name is typed for the other; a transposition counts as
    // one error. 0.6 finds "sed" for "seed", and nothing for what is not a typo.
    let given = given.to_lowercase();
    // One number is no typo of another.
    let number = |text: &str| -> String { text.chars().take_while(char::is_ascii_digit).collect() };
    let scored = names.filter(|name| number(name) == number(&given)).filter_map(|name| {
        let whole = name.to_lowercase();
        let begun = given.len() >= 3 && whole.starts_with(&given);
        let like = strsim::normalized_damerau_levenshtein(&whole, &given);
        (begun || like >= 0.6).then_some((begun, like, name))
    });
    scored.max_by(|a, b| a.0.cmp(&b.0).then(a.1.total_cmp(&b.1))).map(|s| s.2)
}

#[cfg(test)]
mod tests {
    use schemars::JsonSchema;
    use serde::Deserialize;

    use super::*;

    #[test]
    fn a_name_that_is_only_begun_is_found_before_others_that_are_similar() {
        let nearest =
            |given: &str| nearest(["burst", "rx_descriptors", "rx_delay"].into_iter(), given);
        assert_eq!(nearest("rx_desc"), Some("rx_descriptors"));
        assert_eq!(nearest("rx_dely"), Some("rx_delay"));
        assert_eq!((nearest("rx"), nearest("headroom")), (None, None));
    }

    /// A key of every form that the schema of a scenario can have.
    #[derive(Deserialize, JsonSchema)]
    #[serde(deny_unknown_fields)]
    #[expect(dead_code, reason = "only its schema is used")]
    pub(super) struct Top {
        /// How many.
        count: u32,
        size: Option<units::Size>,
        #[serde(default)]
        share: f64,
        #[serde(default)]
        flag: bool,
        #[serde(default)]
        list: Vec<Tagged>,
        rule: Option<Rule>,
        app: Option<Boxed>,
    }

    #[derive(Deserialize, JsonSchema)]
    #[serde(tag = "kind", rename_all = "kebab-case", deny_unknown_fields)]
    #[expect(dead_code, reason = "only its schema is used")]
    enum Tagged {
        One { depth: u32 },
        Two { length: u32 },
    }

    #[derive(Deserialize, JsonSchema)]
    #[serde(rename_all = "kebab-case")]
    #[expect(dead_code, reason = "only its schema is used")]
    enum Rule {
        /// Never.
        Open,
        /// Always.
        Closed,
        /// After so many.
        CloseAfter(u32),
    }

    #[derive(Deserialize, JsonSchema)]
    #[serde(tag = "kind", rename_all = "kebab-case")]
    #[expect(dead_code, reason = "only its schema is used")]
    enum Boxed {
        Store(Store),
    }

    #[derive(Deserialize, JsonSchema)]
    #[serde(deny_unknown_fields)]
    #[expect(dead_code, reason = "only its schema is used")]
    struct Store {
        keys: u32,
    }

    fn errors(toml: &str) -> Vec<String> {
        let schema = schemars::schema_for!(Top).to_value();
        let root = Node::from_toml(&"f".into(), toml).unwrap();
        check(&schema, &root).errors.iter().map(ToString::to_string).collect()
    }

    #[track_caller]
    pub(super) fn refused(toml: &str, expected: &str) {
        assert_eq!(errors(&format!("count = 1\n{toml}")), [format!("f, line 2: {expected}")]);
    }

    #[test]
    fn every_form_is_accepted() {
        let none: [String; 0] = [];
        let full = "count = 1\nsize = '4 KiB'\nshare = 1\nflag = true\nrule = { close-after = 4 }\n\
                    app = { kind = 'store', keys = 3 }\n\
                    list = [{ kind = 'one', depth = 1 }, { kind = 'two', length = 2 }]";
        assert_eq!(errors(full), none);
        assert_eq!(errors("count = 1\nrule = 'open'\nshare = 0.5"), none);
    }

    #[test]
    fn a_missing_key_says_what_it_takes() {
        assert_eq!(
            errors(""),
            ["f, line 1: count = nothing is given, but the key is required; allowed: an integer \
              (How many)."]
        );
    }

    #[test]
    fn a_required_key_that_is_misspelt_is_told_once() {
        assert_eq!(
            errors("cuont = 1"),
            ["f, line 1: cuont = 1 is not a known key; allowed: count, size, share, flag, list, \
              rule, app; did you mean count?"]
        );
        assert_eq!(errors("other = 1").len(), 2, "nothing tells that this is the count");
    }

    #[test]
    fn a_wrong_type_or_range_names_the_right_one() {
        refused("flag = 1", "flag = 1 has the wrong type; allowed: true or false.");
        refused("share = '1'", "share = \"1\" has the wrong type; allowed: a number.");
        refused("list = 3", "list = 3 has the wrong type; allowed: an array.");
        refused(
            "[list]\na = 1",
            "list = {a} is a table; allowed: an array; each of its tables begins with [[list]].",
        );
        refused("share = 2026-01-01", "share = 2026-01-01 has the wrong type; allowed: a number.");
        for no_number in ["nan", "-inf", "1e400"] {
            refused(
                &format!("share = {no_number}"),
                &format!("share = {no_number} has the wrong type; allowed: a number."),
            );
        }
        assert_eq!(
            errors("count = -1"),
            ["f, line 1: count = -1 is out of range; allowed: 0 to 4294967295."]
        );
        assert_eq!(
            errors("count = 1.5"),
            ["f, line 1: count = 1.5 has the wrong type; allowed: an integer."]
        );
        refused(
            "size = '0.3 B'",
            "size = \"0.3 B\" is finer than the smallest step of this quantity; allowed: whole \
             steps of it, such as \"36 MiB\".",
        );
    }

    #[test]
    fn a_tagged_table_is_checked_by_its_tag() {
        refused(
            "list = [{ depth = 1 }]",
            "list.0.kind = nothing is given, but the key is required; allowed: one, two.",
        );
        refused(
            "list = [{ kind = 'tow', depth = 1 }]",
            "list.0.kind = \"tow\" is not one of the known names; allowed: one, two; did you mean \
             two?",
        );
        refused(
            "list = [{ kind = 'one', depht = 1, depth = 2 }]",
            "list.0.depht = 1 is not a known key; allowed: kind, depth; did you mean depth?",
        );
        refused(
            "list = ['one']",
            "list.0 = \"one\" has the wrong type; allowed: a table whose kind is one of one, two.",
        );
        refused(
            "app = { kind = 'store', keys = 1, kys = 2 }",
            "app.kys = 2 is not a known key; allowed: kind, keys; did you mean keys?",
        );
    }

    #[test]
    fn names_and_forms_are_listed() {
        let allowed = "allowed: { close-after = … }, open, closed";
        refused(
            "rule = 'close'",
            &format!(
                "rule = \"close\" is not one of the known names; {allowed}; did you mean closed?"
            ),
        );
        refused(
            "rule = { after = 3 }",
            &format!("rule = {{after}} is not one of the known forms; {allowed}."),
        );
        refused("rule = 3", &format!("rule = 3 has the wrong type; {allowed}."));
        refused(
            "rule = { close-after = 'x' }",
            "rule.close-after = \"x\" has the wrong type; allowed: an integer.",
        );
    }
}
