//! Everything between a scenario file and the engine.
//!
//! [`load()`] reads a scenario, the machine file that it names and the `--set` overrides, and
//! returns either a checked [`nic2core_engine::config::Scenario`] or [`UserErrors`]: one paragraph
//! for each thing to change, with file, line, key, the value given and what is allowed. The crate
//! is generic over the keys: it learns them from the schema of the scenario's types.

mod capture;
mod check;
mod elsewhere;
mod error;
mod files;
mod load;
pub mod schema;
mod set;
mod tree;

pub use capture::read_capture;
pub use error::{Origins, Place, UserError, UserErrors};
pub use files::{Disk, Files};
pub use load::{Loaded, from_json, load};
