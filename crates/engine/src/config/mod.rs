//! What a run is made of, as Rust types: the one definition of the scenario.
//!
//! From these types come the JSON Schema and the Python models. Unknown keys are refused; every
//! quantity carries its unit. Reading files and merging a machine with a scenario is the business
//! of the `nic2core-scenario` crate.

pub mod machine;
pub mod scenario;
pub mod validate;
pub mod without_effect;

pub use machine::Machine;
pub use scenario::Scenario;
