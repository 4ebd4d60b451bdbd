//! All applications: an entry here makes one available in scenarios.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::app::{App, Packet, Site, Verdict};
use super::config::Settings;
use super::kvs::Kvs;
use super::kvs::config::KvsConfig;
use super::l2fwd::{L2fwd, L2fwdConfig};
use super::l3fwd::L3fwd;
use super::l3fwd::config::L3fwdConfig;
use super::snap::{Snap, SnapConfig};
use super::stream::{Stream, StreamConfig};
use super::xmem::{Xmem, XmemConfig};
use crate::core::op::Ops;

/// For each application: its description, its name in scenarios, its type, its configuration, and how it is built. The
/// configuration has passed its check; the application reserves its regions and populates its data.
macro_rules! apps {
    ($($(#[$doc:meta])* $kind:literal => $app:ident($config:ty), $build:expr;)*) => {
        /// The application of a tenant.
        #[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
        #[serde(tag = "kind")]
        pub enum AppConfig {
            $($(#[$doc])* #[serde(rename = $kind)] $app($config),)*
        }

        impl AppConfig {
            /// The name of its kind in a scenario.
            pub(crate) fn kind(&self) -> &'static str {
                match self {
                    $(AppConfig::$app(_) => $kind,)*
                }
            }

            /// The configuration, whichever it is.
            pub(crate) fn settings(&self) -> &dyn Settings {
                match self {
                    $(AppConfig::$app(config) => config,)*
                }
            }
        }

        /// Any of the applications, dispatched statically.
        #[derive(Clone, Debug)]
        pub enum AnyApp {
            $($(#[$doc])* $app($app),)*
        }

        impl AnyApp {
            /// The application that is configured, which has passed its check.
            pub(crate) fn build(config: &AppConfig, site: Site<'_>) -> AnyApp {
                match config {
                    $(AppConfig::$app(config) => {
                        let build: fn(&$config, Site<'_>) -> $app = $build;
                        AnyApp::$app(build(config, site))
                    })*
                }
            }
        }

        impl App for AnyApp {
            fn on_packet(&mut self, rank: u32, packet: &Packet, ops: &mut Ops) -> Verdict {
                match self {
                    $(AnyApp::$app(app) => app.on_packet(rank, packet, ops),)*
                }
            }

            fn on_idle(&mut self, rank: u32, ops: &mut Ops) {
                match self {
                    $(AnyApp::$app(app) => app.on_idle(rank, ops),)*
                }
            }

            fn request_bytes(&self, seq: u64) -> Option<u32> {
                match self {
                    $(AnyApp::$app(app) => app.request_bytes(seq),)*
                }
            }

            fn counters(&self) -> Vec<(&'static str, u64)> {
                match self {
                    $(AnyApp::$app(app) => app.counters(),)*
                }
            }

            fn progress(&self) -> u64 {
                match self {
                    $(AnyApp::$app(app) => app.progress(),)*
                }
            }

            fn accesses(&self) -> u64 {
                match self {
                    $(AnyApp::$app(app) => app.accesses(),)*
                }
            }

            fn bytes_by_core(&self) -> Option<Vec<u64>> {
                match self {
                    $(AnyApp::$app(app) => app.bytes_by_core(),)*
                }
            }

            fn reset_counters(&mut self) {
                match self {
                    $(AnyApp::$app(app) => app.reset_counters(),)*
                }
            }
        }
    };
}

apps! {
    /// A MICA-style key-value store.
    "kvs" => Kvs(KvsConfig), |config, site| Kvs::new(config, site.cores(), site.seed, site.space);
    /// A forwarder of IPv4 packets by longest-prefix match.
    "l3fwd" => L3fwd(L3fwdConfig), |config, site| L3fwd::new(config, site.cores(), site.seed, site.space);
    /// A forwarder that swaps MAC addresses.
    "l2fwd" => L2fwd(L2fwdConfig), |config, _| L2fwd::new(config);
    /// A user-space network stack that reads from other machines; needs closed-loop traffic.
    "snap" => Snap(SnapConfig), |config, site| {
        let traffic = site.closed_loop.expect("the scenario's check wants closed-loop traffic");
        Snap::new(config, site.cores(), traffic, site.space)
    };
    /// The STREAM benchmark on each core, without network traffic.
    "stream" => Stream(StreamConfig), |config, site| Stream::new(config, site.on, site.space);
    /// A memory benchmark without network traffic.
    "xmem" => Xmem(XmemConfig), |config, site| Xmem::new(config, site.cores(), site.seed, site.space);
}
