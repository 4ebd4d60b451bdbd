//! Errors for the person who wrote the scenario: one paragraph each.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use nic2core_engine::check::Violation;

/// Where a value was given.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Place {
    /// In a file.
    File {
        /// Its name, as the user gave it.
        name: Arc<str>,
        /// From 1; absent if the file as a whole is meant.
        line: Option<usize>,
    },
    /// On the command line, as `key=value`.
    Set(Arc<str>),
    /// In data passed in by a program, which says where it got it.
    Program(Arc<str>),
    /// Nowhere: it is the default; this is where the enclosing table was given.
    Default(Box<Place>),
}

impl Place {
    /// The place that prints as `text`: a line of a file, to which names in it are relative, or
    /// else whatever a program says.
    fn from_text(text: String) -> Place {
        let line = text.rsplit_once(", line ").and_then(|(name, line)| {
            Some(Place::File { name: name.into(), line: Some(line.parse().ok()?) })
        });
        line.filter(|_| !text.starts_with("--set ")).unwrap_or(Place::Program(text.into()))
    }

    /// Whether it is an override, or a default below one.
    pub(crate) fn is_set(&self) -> bool {
        match self {
            Place::Set(_) => true,
            Place::Default(table) => table.is_set(),
            Place::File { .. } | Place::Program(_) => false,
        }
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Place::File { name, line: Some(line) } => write!(f, "{name}, line {line}"),
            Place::File { name, line: None } => f.write_str(name),
            Place::Set(text) => write!(f, "--set {text}"),
            Place::Program(source) => f.write_str(source),
            Place::Default(table) => write!(f, "{table} (by default)"),
        }
    }
}

/// Something the user gave that cannot be used. It prints as one paragraph that names the place,
/// the key, the value given and what is allowed.
#[derive(Clone, Debug, PartialEq, Eq, Hash, thiserror::Error)]
pub struct UserError {
    /// Where it was given.
    pub place: Place,
    /// The dotted key; absent if a file as a whole is meant.
    pub key: Option<String>,
    /// What was given, as it would be written in TOML.
    pub given: String,
    /// What is wrong with it: a predicate, such as "is not a known key".
    pub problem: String,
    /// What is allowed instead.
    pub allowed: String,
}

impl UserError {
    /// The paragraph without the place, for whom the place tells nothing.
    pub fn without_place(&self) -> String {
        let UserError { place: _, key, given, problem, allowed } = self;
        let key = key.as_ref().map(|key| format!("{key} = ")).unwrap_or_default();
        let end = if allowed.ends_with('?') { "" } else { "." };
        format!("{key}{given} {problem}; allowed: {allowed}{end}")
    }
}

impl fmt::Display for UserError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.place, self.without_place())
    }
}

/// Everything that was wrong, one paragraph each; never empty.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub struct UserErrors(pub Vec<UserError>);

impl fmt::Display for UserErrors {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, error) in self.0.iter().enumerate() {
            if i > 0 {
                f.write_str("\n")?;
            }
            write!(f, "{error}")?;
        }
        Ok(())
    }
}

impl From<UserError> for UserErrors {
    fn from(error: UserError) -> UserErrors {
        UserErrors(vec![error])
    }
}

/// Where every key of a scenario was given; turns what the engine refuses into [`UserErrors`].
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Origins(pub(crate) BTreeMap<String, Place>);

impl Origins {
    /// The origins that [`Origins::texts`] returned, for use with the same scenario.
    pub fn from_texts(texts: BTreeMap<String, String>) -> Origins {
        Origins(texts.into_iter().map(|(key, text)| (key, Place::from_text(text))).collect())
    }

    /// Every key that was given, and where.
    pub fn texts(&self) -> BTreeMap<String, String> {
        self.0.iter().map(|(key, place)| (key.clone(), place.to_string())).collect()
    }

    /// Where `key` was given; for a default, where the nearest enclosing table was given.
    ///
    /// Elements of arrays are written `tenants.0.cores` or `tenants[0].cores`.
    pub fn place(&self, key: &str) -> Place {
        let key = key.replace('[', ".").replace(']', "");
        if let Some(place) = self.0.get(&key) {
            return place.clone();
        }
        let default = |of: &Place| match of {
            Place::Default(_) => of.clone(),
            given => Place::Default(Box::new(given.clone())),
        };
        let mut table = key.as_str();
        while let Some((parent, _)) = table.rsplit_once('.') {
            if let Some(place) = self.0.get(parent) {
                return default(place);
            }
            table = parent;
        }
        self.0.get("").map_or(Place::Program("scenario".into()), default)
    }

    /// The error for a value that cannot be used, with the place where it was given.
    pub fn refuse(&self, key: &str, given: String, problem: String, allowed: String) -> UserError {
        UserError { place: self.place(key), key: Some(key.to_owned()), given, problem, allowed }
    }

    /// The errors for what the engine refused, with the places where it was given. If that was in a
    /// file, the overrides are named that make it impossible (`blamed`), or else a reason that
    /// stands in another file. `written` returns a value as the user wrote it, by its key: the
    /// engine knows a "0 ms" as 0 ps.
    pub(crate) fn explain(
        &self,
        violations: &[Violation],
        written: impl Fn(&str) -> Option<String>,
        blamed: impl Fn(&Violation) -> Vec<Place>,
    ) -> UserErrors {
        let explain = |v: &Violation| {
            let given = written(&v.key).unwrap_or_else(|| v.given.clone());
            let sets = if self.place(&v.key).is_set() { Vec::new() } else { blamed(v) };
            let mut reasons: Vec<String> = sets.iter().map(Place::to_string).collect();
            if reasons.is_empty() {
                reasons.extend(self.elsewhere(v));
            }
            let with = if reasons.is_empty() { "" } else { " with " };
            let problem = format!("cannot be simulated{with}{}", reasons.join(" "));
            self.refuse(&v.key, given, problem, v.allowed.clone())
        };
        UserErrors(violations.iter().map(explain).collect())
    }

    /// The first of the keys that the engine gives as a reason which stands in another file than the value that is
    /// refused: a scenario may set what the rest of its machine does not allow.
    fn elsewhere(&self, v: &Violation) -> Option<String> {
        let file = |key: &str| match self.0.get(key)? {
            Place::File { name, .. } => Some(name.clone()),
            _ => None,
        };
        let own = file(&v.key)?;
        let between = |c: char| !(c.is_ascii_alphanumeric() || "._".contains(c));
        // Words without a point may be tables by chance ("queues").
        let words = v.allowed.split(between).map(|word| word.trim_matches('.'));
        let mut keys = words.filter(|word| word.contains('.'));
        let key = keys.find(|key| file(key).is_some_and(|name| name != own))?;
        Some(format!("{key} of {}", self.place(key)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_default_points_at_the_table_around_it() {
        let file = |line| Place::File { name: "kvs.toml".into(), line: Some(line) };
        let origins = Origins(BTreeMap::from([
            (String::new(), file(1)),
            ("tenants.0".into(), file(7)),
            ("tenants.0.name".into(), file(8)),
            ("traffic".into(), Place::Default(Box::new(file(1)))),
        ]));
        assert_eq!(origins.place("traffic.kind").to_string(), "kvs.toml, line 1 (by default)");
        assert_eq!(origins.place("tenants[0].name"), file(8));
        assert_eq!(origins.place("tenants.0.name.x").to_string(), "kvs.toml, line 8 (by default)");
        assert_eq!(origins.place("slo.drops").to_string(), "kvs.toml, line 1 (by default)");
        assert_eq!(Origins::default().place("slo.drops").to_string(), "scenario");
        let again = Origins::from_texts(origins.texts());
        assert_eq!(again.place("tenants.0.name"), file(8));
        assert_eq!(again.place("slo.drops").to_string(), "kvs.toml, line 1 (by default)");
        let odd = ["--set traffic.file=a, line 5", "a, line x", "scenario"];
        for text in odd {
            let texts = BTreeMap::from([("traffic.file".into(), text.into())]);
            let place = Origins::from_texts(texts).place("traffic.file");
            assert_eq!(place, Place::Program(text.into()));
        }
    }
}
