//! Configuration of the cores of a machine.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::check::Check;
use crate::units::Frequency;

/// The cores, all alike.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Core {
    /// How many (1 to 32).
    pub count: u32,
    /// The clock of the cores and of their private caches.
    pub frequency: Frequency,
    /// Instructions dispatched (and retired) a cycle.
    pub dispatch_width: u32,
    /// Instructions in flight: reorder-buffer entries.
    pub reorder_window: u32,
    /// Line-fill buffers: lines in flight from beyond the L2.
    pub l1_miss_registers: u32,
    /// Stores whose line, or that of a store before them, the core does not own yet.
    pub store_buffer: u32,
}

/// The most cores a machine can have: a directory entry has one bit for each.
const MAX_CORES: u32 = 32;

impl Core {
    /// Reports values that cannot be simulated.
    pub(crate) fn check(&self, check: &mut Check) {
        check.within("count", self.count, 1..=MAX_CORES);
        check.clock("frequency", self.frequency);
        // The upper bounds only keep a core's allocations small; no real core comes near them.
        check.within("dispatch_width", self.dispatch_width, 1..=32);
        check.within("reorder_window", self.reorder_window, 1..=4096);
        check.within("l1_miss_registers", self.l1_miss_registers, 1..=256);
        check.within("store_buffer", self.store_buffer, 1..=1024);
    }
}
