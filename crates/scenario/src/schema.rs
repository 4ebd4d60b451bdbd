//! The JSON Schema of a scenario: the source of the Python models and of the reference page.

use nic2core_engine::config::Scenario;

/// The schema of [`Scenario`], pretty-printed and with a newline at the end, as in the file.
pub fn scenario_schema() -> String {
    let schema = schemars::schema_for!(Scenario);
    let mut text = serde_json::to_string_pretty(&schema).expect("a schema is plain JSON");
    text.push('\n');
    text
}
