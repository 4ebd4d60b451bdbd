//! Longest-prefix match by DIR-24-8, as in DPDK's `rte_lpm`.
//!
//! Gupta, Lin, McKeown, "Routing Lookups in Hardware at Memory Access Speeds", INFOCOM 1998; DPDK
//! Programmer's Guide, "LPM Library". `tbl24` has one 4-byte entry for each value of an address's
//! upper 24 bits. Where prefixes longer than 24 bits lie below it, the entry names a group of 256
//! entries in `tbl8`, one for each value of the last 8 bits. A look-up reads one or two entries.

use std::sync::Arc;

/// A rule: addresses that begin with the upper `length` bits of `prefix` go to `next_hop`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Rule {
    /// The prefix; bits below its length are zero.
    pub(crate) prefix: u32,
    /// Bits of the prefix, 1 to 32.
    pub(crate) length: u32,
    /// Where the packet goes.
    pub(crate) next_hop: u32,
}

impl Rule {
    /// The bits of an address that the prefix leaves open.
    pub(crate) fn host_mask(self) -> u32 {
        u32::MAX.checked_shr(self.length).unwrap_or(0)
    }
}

/// A table entry is in use.
const VALID: u32 = 1 << 31;
/// A `tbl24` entry that names a group of `tbl8` instead of a next hop.
const EXTENDED: u32 = 1 << 30;
/// The next hop, or the group.
const INDEX: u32 = (1 << 24) - 1;
/// Entries of a `tbl8` group.
const GROUP: u32 = 256;

/// The tables; immutable, shared by clones.
#[derive(Clone, Debug)]
pub(crate) struct Lpm {
    tbl24: Arc<Vec<u32>>,
    tbl8: Arc<Vec<u32>>,
}

/// The entries that a look-up reads, by number, and what it finds.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Lookup {
    /// Entry of `tbl24`.
    pub(crate) tbl24: u32,
    /// Entry of `tbl8`, if the first names a group.
    pub(crate) tbl8: Option<u32>,
    /// The next hop, if a rule matches.
    pub(crate) next_hop: Option<u32>,
}

impl Lpm {
    /// Entries of `tbl24`.
    pub(crate) const TBL24_ENTRIES: u32 = 1 << 24;

    /// The tables for a set of rules; of equal prefixes the last one applies.
    pub(crate) fn new(mut rules: Vec<Rule>) -> Lpm {
        // Shorter prefixes first, so that a longer one overwrites its part.
        rules.sort_by_key(|rule| rule.length);
        let mut tbl24 = vec![0u32; Self::TBL24_ENTRIES as usize];
        let mut tbl8: Vec<u32> = Vec::new();
        for rule in rules {
            let entry = VALID | rule.next_hop;
            let (first, last) = (rule.prefix, rule.prefix | rule.host_mask());
            if rule.length <= 24 {
                tbl24[(first >> 8) as usize..=(last >> 8) as usize].fill(entry);
                continue;
            }
            let parent = &mut tbl24[(first >> 8) as usize];
            if *parent & EXTENDED == 0 {
                // The new group starts with the entry that the whole 24-bit block had.
                let group = tbl8.len() as u32 / GROUP;
                tbl8.resize(tbl8.len() + GROUP as usize, *parent);
                *parent = VALID | EXTENDED | group;
            }
            let base = (*parent & INDEX) * GROUP;
            tbl8[(base + first % GROUP) as usize..=(base + last % GROUP) as usize].fill(entry);
        }
        Lpm { tbl24: Arc::new(tbl24), tbl8: Arc::new(tbl8) }
    }

    /// Entries of `tbl8`.
    pub(crate) fn tbl8_entries(&self) -> u32 {
        self.tbl8.len() as u32
    }

    /// Looks an address up.
    #[inline]
    pub(crate) fn lookup(&self, address: u32) -> Lookup {
        let index = address >> 8;
        let mut entry = self.tbl24[index as usize];
        let mut second = None;
        if entry & EXTENDED != 0 {
            let index = (entry & INDEX) * GROUP + address % GROUP;
            second = Some(index);
            entry = self.tbl8[index as usize];
        }
        let next_hop = (entry & VALID != 0).then_some(entry & INDEX);
        Lookup { tbl24: index, tbl8: second, next_hop }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::cases;
    use proptest::prelude::*;

    fn naive(rules: &[Rule], address: u32) -> Option<u32> {
        let matching = rules.iter().filter(|rule| address & !rule.host_mask() == rule.prefix);
        // Of equal maxima, `max_by_key` takes the last.
        matching.max_by_key(|rule| rule.length).map(|rule| rule.next_hop)
    }

    /// Rules crowded into a few blocks, so that they nest and share groups.
    fn rule() -> impl Strategy<Value = Rule> {
        (0u32..4, 0u32..4, any::<u16>(), 8u32..=32, 0u32..1 << 24).prop_map(
            |(a, b, rest, length, next_hop)| {
                let rule = Rule { prefix: a << 24 | b << 16 | u32::from(rest), length, next_hop };
                Rule { prefix: rule.prefix & !rule.host_mask(), ..rule }
            },
        )
    }

    proptest! {
        #![proptest_config(cases(64))]
        #[test]
        fn tables_agree_with_the_definition_of_longest_prefix(
            rules in prop::collection::vec(rule(), 0..60),
            addresses in prop::collection::vec(0u32..5 << 24, 50),
        ) {
            let lpm = Lpm::new(rules.clone());
            // The ends of each rule and their neighbours are where tables go wrong.
            let ends = rules.iter().flat_map(|rule| {
                let last = rule.prefix | rule.host_mask();
                [rule.prefix, last, rule.prefix.wrapping_sub(1), last.wrapping_add(1)]
            });
            for address in addresses.into_iter().chain(ends) {
                let found = lpm.lookup(address);
                prop_assert_eq!(found.next_hop, naive(&rules, address), "{:#x}", address);
            }
        }
    }

    #[test]
    fn a_look_up_reads_a_second_entry_only_below_a_long_prefix() {
        let lpm = Lpm::new(vec![
            Rule { prefix: 0x0A00_0000, length: 8, next_hop: 1 },
            Rule { prefix: 0x0A01_0280, length: 25, next_hop: 2 },
        ]);
        let found = lpm.lookup(0x0A01_0281);
        assert_eq!(found, Lookup { tbl24: 0x0A_0102, tbl8: Some(0x81), next_hop: Some(2) });
        let found = lpm.lookup(0x0A01_0201);
        assert_eq!(found, Lookup { tbl24: 0x0A_0102, tbl8: Some(0x01), next_hop: Some(1) });
        let found = lpm.lookup(0x0A01_0301);
        assert_eq!(found, Lookup { tbl24: 0x0A_0103, tbl8: None, next_hop: Some(1) });
        assert_eq!(lpm.lookup(0x0B00_0000).next_hop, None);
    }
}
