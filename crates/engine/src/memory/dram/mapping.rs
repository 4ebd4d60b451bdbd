//! Which channel, rank, bank group, bank, row and column a line lives in.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::divisor::Divisor;

/// One part of a DRAM address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Field {
    /// Row of a bank.
    Row,
    /// Bank within its bank group.
    Bank,
    /// Bank group within its rank.
    BankGroup,
    /// Rank of a channel.
    Rank,
    /// Burst within a row.
    Column,
    /// Channel.
    Channel,
}

const NAMES: [(Field, &str); 6] = [
    (Field::Row, "row"),
    (Field::Bank, "bank"),
    (Field::BankGroup, "bankgroup"),
    (Field::Rank, "rank"),
    (Field::Column, "column"),
    (Field::Channel, "channel"),
];

/// The order of the address fields, most significant first, such as `row-bank-rank-column-channel`.
///
/// Each of row, bank, rank, column and channel appears once. `bankgroup` may be placed separately; if
/// it is left out, it lies directly below `bank`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Mapping {
    /// Most significant first.
    fields: [Field; 6],
}

/// Why a text is not an address mapping.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "\"{given}\" is no order of address fields ({reason}); expected row, bank, rank, column, channel \
     (and optionally bankgroup) once each, most significant first, joined by `-`, such as \
     \"row-bank-rank-column-channel\""
)]
pub struct MappingError {
    given: String,
    reason: String,
}

impl FromStr for Mapping {
    type Err = MappingError;

    fn from_str(text: &str) -> Result<Mapping, MappingError> {
        let err = |reason: String| MappingError { given: text.to_owned(), reason };
        let own_group = text.split('-').any(|name| name == "bankgroup");
        let mut fields = Vec::with_capacity(6);
        for name in text.split('-') {
            let Some(&(field, _)) = NAMES.iter().find(|(_, n)| *n == name) else {
                return Err(err(format!("`{name}` is no field")));
            };
            if fields.contains(&field) {
                return Err(err(format!("`{name}` appears twice")));
            }
            fields.push(field);
            if field == Field::Bank && !own_group {
                fields.push(Field::BankGroup);
            }
        }
        match <[Field; 6]>::try_from(fields) {
            Ok(fields) => Ok(Mapping { fields }),
            Err(fields) => {
                let (_, missing) = NAMES
                    .iter()
                    .find(|(f, _)| !fields.contains(f))
                    .expect("unique fields, and fewer than six of them");
                Err(err(format!("`{missing}` is missing")))
            }
        }
    }
}

impl TryFrom<String> for Mapping {
    type Error = MappingError;
    fn try_from(text: String) -> Result<Mapping, MappingError> {
        text.parse()
    }
}

impl fmt::Display for Mapping {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, field) in self.fields.iter().enumerate() {
            let (_, name) = NAMES.iter().find(|(n, _)| n == field).expect("every field is named");
            write!(f, "{}{name}", if i == 0 { "" } else { "-" })?;
        }
        Ok(())
    }
}

impl From<Mapping> for String {
    fn from(mapping: Mapping) -> String {
        mapping.to_string()
    }
}

impl Default for Mapping {
    /// The order of the published curves.
    fn default() -> Mapping {
        "row-bank-rank-column-channel".parse().expect("a valid mapping")
    }
}

/// The largest numbers of banks (and bank groups) and of ranks in a channel. Arrays of them have these
/// constant powers of two as length, so that an index needs only a mask and no bounds check.
pub(super) const BANKS: usize = 256;
pub(super) const RANKS: usize = 16;

/// How many of each field a memory has.
#[derive(Clone, Copy, Debug)]
pub(super) struct Geometry {
    pub channels: u32,
    pub ranks: u32,
    pub bank_groups: u32,
    pub banks_per_group: u32,
    pub rows: u32,
    /// Bursts of 64 bytes in a row.
    pub bursts: u32,
}

impl Geometry {
    const fn size(&self, field: Field) -> u32 {
        match field {
            Field::Row => self.rows,
            Field::Bank => self.banks_per_group,
            Field::BankGroup => self.bank_groups,
            Field::Rank => self.ranks,
            Field::Column => self.bursts,
            Field::Channel => self.channels,
        }
    }
}

/// Where in its channel a line lives. The burst within the row plays no part in timing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Place {
    /// Bank of the channel: rank-major, then bank group, then bank.
    pub bank: u16,
    pub row: u32,
}

/// A field's digits in the line number: `line / unit % size`.
#[derive(Clone, Copy, Debug)]
struct Digits {
    unit: Divisor,
    size: Divisor,
    /// The same by shift and mask, if unit and size are powers of two.
    shift: u32,
    mask: u32,
}

impl Digits {
    fn new(unit: u64, size: u32) -> Digits {
        // A field above bit 31 of the line number is always zero.
        let beyond = unit > u64::from(u32::MAX);
        let (unit, size) = if beyond { (1, 1) } else { (unit as u32, size) };
        let [unit_divisor, size_divisor] = [unit, size].map(Divisor::below_2_32);
        Digits {
            unit: unit_divisor,
            size: size_divisor,
            shift: unit.trailing_zeros(),
            mask: size - 1,
        }
    }

    fn is_binary(&self) -> bool {
        self.unit.n.is_power_of_two() && self.size.n.is_power_of_two()
    }

    #[inline]
    fn of(&self, line: u32, binary: bool) -> u32 {
        if binary {
            (line >> self.shift) & self.mask
        } else {
            self.size.divide(self.unit.divide(line).0).1
        }
    }
}

/// The mapping of one memory, ready for use. Lines beyond the capacity wrap.
#[derive(Clone, Debug)]
pub(super) struct AddressMap {
    row: Digits,
    bank: Digits,
    bank_group: Digits,
    rank: Digits,
    channel: Digits,
    bank_groups: u32,
    banks_per_group: u32,
    /// Whether the channel, and whether all fields, are found by shift and mask.
    binary_channel: bool,
    binary: bool,
}

impl AddressMap {
    pub(super) fn new(mapping: &Mapping, geometry: &Geometry) -> AddressMap {
        let digits = |wanted: Field| {
            let below = mapping.fields.iter().rev().take_while(|f| **f != wanted);
            let unit: u64 = below.map(|f| u64::from(geometry.size(*f))).product();
            Digits::new(unit, geometry.size(wanted))
        };
        let [row, bank, bank_group, rank, channel] =
            [Field::Row, Field::Bank, Field::BankGroup, Field::Rank, Field::Channel].map(digits);
        AddressMap {
            binary: [row, bank, bank_group, rank].iter().all(Digits::is_binary),
            binary_channel: channel.is_binary(),
            row,
            bank,
            bank_group,
            rank,
            channel,
            bank_groups: geometry.bank_groups,
            banks_per_group: geometry.banks_per_group,
        }
    }

    #[inline]
    pub(super) fn channel(&self, line: u32) -> usize {
        self.channel.of(line, self.binary_channel) as usize
    }

    #[inline]
    pub(super) fn place(&self, line: u32) -> Place {
        // One branch for all fields, so that the usual case is one test and four shifts.
        let of = |binary: bool| {
            let rank = self.rank.of(line, binary);
            let group = rank * self.bank_groups + self.bank_group.of(line, binary);
            let bank = group * self.banks_per_group + self.bank.of(line, binary);
            // At most 256 banks.
            Place { bank: bank as u16, row: self.row.of(line, binary) }
        };
        if self.binary { of(true) } else { of(false) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn geometry() -> Geometry {
        Geometry { channels: 2, ranks: 4, bank_groups: 2, banks_per_group: 4, rows: 64, bursts: 8 }
    }

    #[test]
    fn the_default_order_puts_neighbours_in_other_channels_then_in_one_row() {
        let map = AddressMap::new(&Mapping::default(), &geometry());
        assert_eq!((map.channel(0), map.channel(1)), (0, 1));
        assert_eq!(map.place(2), map.place(0), "same row, next burst");
        // 2 channels * 8 bursts further: next rank, that is 8 banks further on.
        assert_eq!(map.place(16), Place { bank: 8, row: 0 });
        // 4 ranks further: next bank group, four banks on; then the next bank.
        assert_eq!(map.place(64), Place { bank: 4, row: 0 });
        assert_eq!(map.place(128), Place { bank: 1, row: 0 });
        assert_eq!(map.place(512), Place { bank: 0, row: 1 });
    }

    #[test]
    fn a_bankgroup_can_stand_by_itself() {
        let mapping: Mapping = "row-rank-bank-column-bankgroup-channel".parse().unwrap();
        let map = AddressMap::new(&mapping, &geometry());
        assert_eq!(map.place(2), Place { bank: 4, row: 0 });
        assert_eq!(mapping.to_string().parse::<Mapping>().unwrap(), mapping);
    }

    #[test]
    fn errors_name_what_is_wrong() {
        let err = |text: &str| text.parse::<Mapping>().unwrap_err().to_string();
        assert!(err("row-bank-rank-colum-channel").contains("`colum` is no field"));
        assert!(err("row-bank-rank-rank-column-channel").contains("`rank` appears twice"));
        assert!(err("row-bank-rank-channel").contains("`column` is missing"));
    }

    proptest! {
        /// Every line within the capacity has a place of its own, and lines beyond it wrap.
        #[test]
        fn the_map_is_a_bijection(
            sizes in prop::array::uniform6(1u32..7),
            order in Just([0usize, 1, 2, 3, 4, 5]).prop_shuffle(),
        ) {
            let [channels, ranks, bank_groups, banks_per_group, rows, bursts] = sizes;
            let g = Geometry { channels, ranks, bank_groups, banks_per_group, rows, bursts };
            let mapping = Mapping { fields: order.map(|i| NAMES[i].0) };
            let map = AddressMap::new(&mapping, &g);
            let capacity: u32 = sizes.iter().product();
            let mut count = std::collections::BTreeMap::new();
            for line in 0..capacity {
                let p = map.place(line);
                prop_assert!(map.channel(line) < channels as usize);
                prop_assert!(p.row < rows && u32::from(p.bank) < ranks * bank_groups * banks_per_group);
                *count.entry((map.channel(line), p.bank, p.row)).or_insert(0) += 1;
                prop_assert_eq!(map.place(line + capacity), p);
            }
            prop_assert!(count.values().all(|n| *n == bursts));
        }
    }
}
