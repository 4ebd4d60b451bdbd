//! Everything between a scenario file and the engine.

pub mod schema;
