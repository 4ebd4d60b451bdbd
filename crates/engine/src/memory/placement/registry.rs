//! All placement policies: an entry here makes one available in scenarios.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::ddio::Ddio;
use super::ddio_headers::{DdioHeaders, DdioHeadersKeys};
use super::ddio_l2::{DdioL2, DdioL2Keys};
use super::dma::Dma;
use super::ideal_ddio::IdealDdio;
use super::{DmaWrite, Place, Written};
use crate::check::Check;
use crate::memory::caches::Caches;
use crate::memory::line::LineKind;

/// For each policy: its description, its name in scenarios and its type; of one with keys of its own, the table of
/// `placement` that holds them, and their type.
macro_rules! policies {
    ($($(#[$doc:meta])* $kind:literal => $name:ident $(, $table:ident: $keys:ty)?;)*) => {
        /// A placement policy for DMA writes of the NIC.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
        pub enum Policy {
            $($(#[$doc])* #[serde(rename = $kind)] $name,)*
        }

        /// Where the data of received packets goes.
        #[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
        #[serde(deny_unknown_fields)]
        pub struct Placement {
            /// The policy.
            pub policy: Policy,
            /// Number of LLC ways in which `ddio`, `ddio-headers` and `ddio-l2` may allocate, and in which `ideal-ddio`
            /// may allocate data other than packets; they are the lowest-numbered ways. No effect with `dma`.
            #[serde(default = "Placement::default_io_ways")]
            pub io_ways: u32,
            /// Whether consumed buffers are swept (the `clsweep` instruction and the `SweepBuffer` flag of
            /// transmit work-queue entries).
            #[serde(default)]
            pub sweeper: bool,
            $($(
                #[doc = concat!("What only `policy = \"", $kind, "\"` reads.")]
                #[serde(default)]
                pub $table: $keys,
            )?)*
        }

        impl Placement {
            /// Reports values that cannot be simulated with an LLC of `llc_ways` ways.
            pub(crate) fn check(&self, llc_ways: u32, check: &mut Check) {
                let what = ", the ways of the LLC (machine.llc.ways)";
                check.within_what("io_ways", self.io_ways, 1..=llc_ways.max(1), what);
                $($(check.below(stringify!($table), |check| $name::check(&self.$table, check));)?)*
            }

            /// The tables of policies that decide nothing, and why; `packets` says whether any go to the LLC.
            pub(crate) fn idle_tables(&self, packets: bool) -> Vec<(&'static str, &'static str)> {
                let mut idle = Vec::new();
                $($(
                    if self.policy != Policy::$name {
                        let because = concat!("only placement.policy = \"", $kind, "\" reads it");
                        idle.push((stringify!($table), because));
                    } else if !packets {
                        idle.push((stringify!($table), "no packets go to the LLC"));
                    }
                )?)*
                idle
            }
        }

        impl Policy {
            #[inline]
            pub(crate) fn keeps_aside(self, kind: LineKind) -> bool {
                match self {
                    $(Policy::$name => $name::keeps_aside(kind),)*
                }
            }
        }

        /// The policy in force, with its state.
        #[derive(Clone, Debug)]
        pub(crate) enum Placer {
            $($name($name),)*
        }

        impl Placer {
            pub(crate) fn new(config: &Placement) -> Placer {
                match config.policy {
                    // Without a table of keys this is `&()`, its type for a policy that has none.
                    $(Policy::$name => Placer::$name(Place::new(&($(config.$table.clone())?))),)*
                }
            }

            #[inline]
            pub(crate) fn keeps_aside(&self, kind: LineKind) -> bool {
                match self {
                    $(Placer::$name(_) => $name::keeps_aside(kind),)*
                }
            }

            #[inline]
            pub(crate) fn write(&mut self, caches: &mut Caches, write: DmaWrite) -> Written {
                // From here on the newest value of the line is that of the device.
                #[cfg(test)]
                caches.shadowed(|shadow| shadow.store(write.line));
                match self {
                    $(Placer::$name(policy) => policy.write(caches, write),)*
                }
            }
        }
    };
}

policies! {
    /// To memory; cached copies are invalidated.
    "dma" => Dma;
    /// To the LLC: updated in place if the LLC holds the line in any way, otherwise allocated in the
    /// I/O ways.
    "ddio" => Ddio;
    /// The first lines of each packet (its headers), descriptors and completions as `ddio`; the other lines of
    /// packets as `dma`.
    "ddio-headers" => DdioHeaders, ddio_headers: DdioHeadersKeys;
    /// As `ddio`; lines of packets also go up into the L2 of the core that will read them, unless many packets
    /// wait for it.
    "ddio-l2" => DdioL2, ddio_l2: DdioL2Keys;
    /// To a separate, infinite cache: received packets never take part in the LLC or in memory traffic
    /// (Sweeper paper, section III).
    "ideal-ddio" => IdealDdio;
}

impl Placement {
    /// DDIO's default of two ways (Sweeper paper, section II-A).
    const fn default_io_ways() -> u32 {
        2
    }
}

impl Placer {
    /// Conventional DMA, which has no keys.
    pub(crate) const DMA: Placer = Placer::Dma(Dma);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{every, placement};

    /// As labels of runs expect.
    #[test]
    fn a_table_has_the_name_of_its_policy() {
        let names = every::<Policy>().into_iter().flat_map(|policy| {
            let idle = placement(policy).idle_tables(false);
            idle.into_iter()
                .filter(|(_, because)| because.starts_with("no packets"))
                .map(move |(table, _)| (table, serde_json::to_value(policy).expect("a name")))
        });
        let names: Vec<_> = names.collect();
        assert!(names.len() > 1, "{names:?}");
        for (table, policy) in names {
            assert_eq!(policy.as_str().map(|name| name.replace('-', "_")).as_deref(), Some(table));
        }
    }
}
