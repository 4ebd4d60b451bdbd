//! What a run consists of, as Rust types: the single definition of the scenario.
//!
//! The JSON Schema and the Python models are generated from these types. Unknown keys are refused;
//! every quantity carries its unit. The `nic2core-scenario` crate reads files and merges a machine
//! with a scenario.

pub mod machine;
pub mod scenario;
pub mod validate;
pub mod without_effect;

pub use machine::Machine;
pub use scenario::Scenario;
