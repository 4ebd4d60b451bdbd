//! The simulated client of the store: what request number `seq` asks for.
//!
//! A request is a pure function of the seed and its number, so that the wire, which needs the size
//! of the packet, and the store, which needs the key, agree without communicating.

use super::config::{KvsConfig, Spike};
use super::zipf::Zipf;
use crate::apps::draw::Draw;
use crate::rng::below;

/// Draws requests.
#[derive(Clone, Debug)]
pub(crate) struct Client {
    popularity: Zipf,
    keys: Draw,
    operations: Draw,
    spikes: Draw,
    warming: Draw,
    get_threshold: u64,
    spike: Option<SpikeDraw>,
}

/// A spike, in the units used for drawing it.
#[derive(Clone, Copy, Debug)]
struct SpikeDraw {
    threshold: u64,
    min_ns: u64,
    span_ns: u64,
}

impl From<&Spike> for SpikeDraw {
    fn from(spike: &Spike) -> SpikeDraw {
        let (min_ns, max_ns) = (spike.min.0 / 1_000, spike.max.0 / 1_000);
        SpikeDraw {
            threshold: spike.probability.threshold_u32(),
            min_ns,
            span_ns: max_ns - min_ns + 1,
        }
    }
}

impl Client {
    pub(crate) fn new(config: &KvsConfig, seed: u64) -> Client {
        Client {
            popularity: Zipf::new(config.keys, config.zipf),
            keys: Draw::new(seed, 0),
            operations: Draw::new(seed, 1),
            spikes: Draw::new(seed, 2),
            warming: Draw::new(seed, 3),
            get_threshold: config.gets.threshold_u32(),
            spike: config.spike.as_ref().map(SpikeDraw::from),
        }
    }

    /// The key that request `seq` names. Keys are numbered by popularity, 0 the most popular.
    #[inline]
    pub(crate) fn key(&self, seq: u64) -> u32 {
        self.popularity.rank(self.keys.at(seq))
    }

    /// Whether request `seq` is a GET.
    #[inline]
    pub(crate) fn is_get(&self, seq: u64) -> bool {
        self.operations.at(seq) >> 32 < self.get_threshold
    }

    /// The key of the `n`-th request before the run.
    #[inline]
    pub(crate) fn warming_key(&self, n: u64) -> u32 {
        self.popularity.rank(self.warming.at(n))
    }

    /// The delay of request `seq`, if it has one.
    #[inline]
    pub(crate) fn spike_ns(&self, seq: u64) -> Option<u32> {
        let spike = self.spike?;
        let draw = self.spikes.at(seq);
        // The upper half decides whether there is a delay, the lower half how long it is.
        (draw >> 32 < spike.threshold)
            .then(|| (spike.min_ns + below(draw << 32, spike.span_ns)) as u32)
    }
}
