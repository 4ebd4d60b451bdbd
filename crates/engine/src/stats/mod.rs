//! What is counted, and the one result type of a run.

pub mod results;
