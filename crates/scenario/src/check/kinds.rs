//! Tables of several kinds, such as applications and congestion controls, which differ in their keys.

use serde_json::Value as Json;

use super::{Checker, known};
use crate::error::Place;
use crate::tree::{Node, Value, join};

impl<'s> Checker<'s> {
    /// One of several tables, distinguished by a key that is a constant in each.
    pub(super) fn tagged(&mut self, variants: &[&'s Json], tag: &str, node: &Node, key: &str) {
        let names: Vec<&str> =
            variants.iter().filter_map(|v| v["properties"][tag]["const"].as_str()).collect();
        let Value::Table(table) = &node.value else {
            let allowed = format!("a table whose {tag} is one of {}", names.join(", "));
            return self.wrong(node, key, "has the wrong type", allowed);
        };
        let tag_key = join(key, tag);
        match table.get(tag) {
            None => self.missing(node, &tag_key, known(&names, "")),
            Some(kind @ Node { value: Value::String(given), .. })
                if names.contains(&given.as_str()) =>
            {
                let is_it = |v: &&&Json| v["properties"][tag]["const"] == given.as_str();
                let (of_it, others) = variants.iter().partition::<Vec<&Json>, _>(is_it);
                for variant in of_it {
                    let own = self.without_keys_of(&others, variant, tag, kind, node, key);
                    self.table(variant, &own, key);
                }
            }
            Some(given) => {
                let text = if let Value::String(text) = &given.value { text } else { "" };
                self.wrong(given, &tag_key, "is not one of the known names", known(&names, text));
            }
        }
    }

    /// A table without what only tables of other kinds have. That is refused: all at once if another kind was put
    /// into a table that has the keys of its own, or else key by key.
    fn without_keys_of(
        &mut self,
        others: &[&Json],
        variant: &Json,
        tag: &str,
        kind: &Node,
        node: &Node,
        key: &str,
    ) -> Node {
        let Value::Table(table) = &node.value else { return node.clone() };
        let kinds_of = |name: &str| -> Vec<&str> {
            let have = others.iter().filter(|v| v["properties"].get(name).is_some());
            have.filter_map(|v| v["properties"][tag]["const"].as_str()).collect()
        };
        let is_own = |name: &str| variant["properties"].get(name).is_some();
        let foreign = |name: &String| !is_own(name) && !kinds_of(name).is_empty();
        let (theirs, own): (Vec<_>, Vec<_>) = table.iter().partition(|(name, _)| foreign(name));
        let keys: Vec<&str> =
            variant["properties"].as_object().into_iter().flatten().map(|(k, _)| &**k).collect();
        let is_given = |of: &Node| !matches!(of.place, Place::Default(_));
        let given = kind.value.to_string();
        // Overrides may change the kind of a file's table, or put a key of another kind beside it.
        let came_later = |of: &Node| of.place.is_set() || !kind.place.is_set();
        if theirs.iter().all(|(_, of)| is_given(of) && came_later(of)) {
            for (name, of) in theirs {
                let problem = format!("is of kind {}, not {given}", kinds_of(name).join(" or "));
                self.wrong(of, &join(key, name), &problem, keys.join(", "));
            }
        } else if !theirs.is_empty() {
            let names: Vec<&str> = theirs.iter().map(|(name, _)| &***name).collect();
            let problem = format!("does not have what is in the table: {}", names.join(", "));
            let allowed = format!(
                "{}; to change the kind, set the whole table: {key} = {{ {tag} = {given}, … }}",
                keys.join(", ")
            );
            self.wrong(kind, &join(key, tag), &problem, allowed);
        }
        let own = own.into_iter().map(|(name, of)| (name.clone(), of.clone())).collect();
        Node { place: node.place.clone(), value: Value::Table(own) }
    }
}

/// The key of a table variant whose value is a constant.
pub(super) fn tag_of(variant: &Json) -> Option<&str> {
    let properties = variant["properties"].as_object()?;
    properties.iter().find(|(_, p)| p["const"].is_string()).map(|(name, _)| name.as_str())
}

#[cfg(test)]
mod tests {
    use super::super::check;
    use super::super::tests::{Top, refused};
    use crate::set::{apply_all, parse_all};
    use crate::tree::Node;

    #[test]
    fn keys_of_another_kind_are_told_with_their_kind() {
        let two = "list = [{ kind = 'two', length = 2, depth = 1 }]";
        refused(two, "list.0.depth = 1 is of kind one, not \"two\"; allowed: kind, length.");
    }

    #[test]
    fn a_kind_that_is_put_into_a_table_of_another_is_told_once() {
        let text = "count = 1\nlist = [{ kind = 'one', depth = 1 }]";
        let mut root = Node::from_toml(&"f".into(), text).unwrap();
        let sets = parse_all(&["list.0.kind=two".to_owned()]).unwrap();
        apply_all(sets, &mut root).unwrap();
        let schema = schemars::schema_for!(Top).to_value();
        let errors: Vec<_> = check(&schema, &root).errors.iter().map(ToString::to_string).collect();
        assert_eq!(errors.len(), 2, "{errors:?}");
        assert_eq!(
            errors[0],
            "--set list.0.kind=two: list.0.kind = \"two\" does not have what is in the table: depth; allowed: kind, \
             length; to change the kind, set the whole table: list.0 = { kind = \"two\", … }."
        );
        assert!(errors[1].contains("list.0.length = nothing is given"), "{errors:?}");
    }

    #[test]
    fn a_key_that_is_put_into_a_table_of_another_kind_is_told_with_its_kind() {
        let sets = [
            &["list.0={ kind = 'two', length = 2 }", "list.0.depth=1"][..],
            &["list.0={ kind = 'two', length = 2, depth = 1 }"][..],
        ];
        for sets in sets {
            let mut root = Node::from_toml(&"f".into(), "count = 1\nlist = []").unwrap();
            let mut texts = vec!["list=[{ kind = 'two', length = 2 }]".to_owned()];
            texts.extend(sets.iter().map(|&text| text.to_owned()));
            apply_all(parse_all(&texts).unwrap(), &mut root).unwrap();
            let schema = schemars::schema_for!(Top).to_value();
            let errors: Vec<_> =
                check(&schema, &root).errors.iter().map(ToString::to_string).collect();
            assert_eq!(errors.len(), 1, "{errors:?}");
            let told = "list.0.depth = 1 is of kind one, not \"two\"; allowed: kind, length.";
            assert!(errors[0].ends_with(told), "{errors:?}");
        }
    }
}
