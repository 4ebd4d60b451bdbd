//! Quantities as a user writes them: a number and a unit in one string.
//!
//! Every type parses exactly (integers and decimal fractions, no binary rounding) and prints in the
//! largest unit that holds it as a whole number, or as a decimal fraction of the smallest. The
//! printed text is the same quantity, because scenarios are passed on as text. A missing or unknown
//! unit is an error that lists what is allowed.

use std::fmt;
use std::str::FromStr;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

use crate::time::{Clock, Ps};

/// A unit name and how many base units it holds.
type Unit = (&'static str, u64);

/// Other spellings of units, as people write them: the micro sign, the Greek letter that looks the
/// same, and data rates as SI writes them.
const SPELLINGS: [(&str, &str); 6] = [
    ("\u{b5}s", "us"),
    ("\u{3bc}s", "us"),
    ("bit/s", "bps"),
    ("kbit/s", "kbps"),
    ("Mbit/s", "Mbps"),
    ("Gbit/s", "Gbps"),
];

/// Parses `"<number> <unit>"` into base units.
fn parse(text: &str, units: &[Unit], example: &str) -> Result<u64, String> {
    let allowed = || {
        let names: Vec<&str> = units.iter().map(|u| u.0).collect();
        format!("a number and one of the units {}, such as \"{example}\"", names.join(", "))
    };
    let text = text.trim();
    let end =
        text.find(|c: char| !(c.is_ascii_digit() || c == '.' || c == '_')).unwrap_or(text.len());
    let (number, unit) = (text[..end].replace('_', ""), text[end..].trim());
    let bad = || format!("\"{text}\" is not a number with a unit; expected {}", allowed());
    if number.is_empty() {
        return Err(match text.strip_prefix('-').and_then(|t| t.trim_start().chars().next()) {
            Some('0'..='9' | '.') => format!("\"{text}\" is negative; expected {}", allowed()),
            _ => bad(),
        });
    }
    let canonical = SPELLINGS.iter().find(|s| s.0 == unit).map_or(unit, |s| s.1);
    let scale = units
        .iter()
        .find(|u| u.0 == canonical)
        .ok_or_else(|| match unit {
            "" => format!("\"{text}\" has no unit; expected {}", allowed()),
            // No unit contains a digit: a comma or an exponent ended the number.
            _ if unit.contains(|c: char| c.is_ascii_digit()) => bad(),
            _ => {
                let meant = meant(unit, units).map(|name| format!(" (did you mean {name}?)"));
                let meant = meant.unwrap_or_default();
                format!("\"{text}\" has the unknown unit \"{unit}\"{meant}; expected {}", allowed())
            }
        })?
        .1;
    let (whole, fraction) = number.split_once('.').unwrap_or((&number, ""));
    if whole.is_empty() || fraction.contains('.') || number.ends_with('.') {
        return Err(bad());
    }
    let finer = || format!("\"{text}\" is finer than the smallest step of this quantity");
    let fraction = fraction.trim_end_matches('0');
    let too_large = || {
        let (name, scale) = units.iter().max_by_key(|u| u.1).expect("a quantity has units");
        format!("\"{text}\" is too large; expected at most {} {name}", u64::MAX / scale)
    };
    let whole: u64 = whole.parse().map_err(|_| too_large())?;
    let base = u128::from(whole) * u128::from(scale);
    // More digits than fit are more than any unit can be divided into.
    let ten = 10u128.checked_pow(fraction.len() as u32).ok_or_else(finer)?;
    let part: u128 = if fraction.is_empty() { 0 } else { fraction.parse().map_err(|_| bad())? };
    let part = part.checked_mul(u128::from(scale)).ok_or_else(finer)?;
    if !part.is_multiple_of(ten) {
        return Err(finer());
    }
    u64::try_from(base + part / ten).map_err(|_| too_large())
}

/// The unit that someone means who writes `unit` in other letters, or its decimal, shorter or longer form:
/// `GHz` for `Ghz`, `MiB` for `MB`, `Gbps` for `Gb` and `Gb/s`, `us` for `usec`.
fn meant(unit: &str, units: &[Unit]) -> Option<&'static str> {
    let unit = unit.strip_suffix("ec").unwrap_or(unit);
    let bits = unit.strip_suffix("/s").unwrap_or(unit);
    units.iter().map(|u| u.0).find(|name| {
        let letters = |name: &str| name.eq_ignore_ascii_case(unit);
        letters(name) || letters(&name.replace('i', "")) || name.strip_suffix("ps") == Some(bits)
    })
}

/// Prints `value` base units in the largest unit that holds it as a whole number, or else as a
/// decimal fraction of the smallest, which is a power of ten of base units.
fn print(value: u64, units: &[Unit], f: &mut fmt::Formatter<'_>) -> fmt::Result {
    let whole = units.iter().filter(|u| value.is_multiple_of(u.1) && value >= u.1);
    if let Some((name, scale)) = whole.max_by_key(|u| u.1) {
        return write!(f, "{} {name}", value / scale);
    }
    let (name, scale) = units.iter().min_by_key(|u| u.1).expect("a quantity has units");
    let (whole, part) = (value / scale, value % scale);
    if part == 0 {
        return write!(f, "{whole} {name}");
    }
    let digits = scale.ilog10() as usize;
    let fraction = format!("{part:0digits$}");
    write!(f, "{whole}.{} {name}", fraction.trim_end_matches('0'))
}

macro_rules! quantity {
    ($(#[$doc:meta])* $name:ident, $base:literal, $example:literal, [$(($unit:literal, $scale:expr)),* $(,)?]) => {
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
        pub struct $name(
            #[doc = concat!("The value in ", $base, ".")]
            pub u64,
        );

        impl $name {
            const UNITS: &'static [Unit] = &[$(($unit, $scale)),*];
        }

        impl FromStr for $name {
            type Err = String;
            fn from_str(text: &str) -> Result<Self, String> {
                parse(text, Self::UNITS, $example).map($name)
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                print(self.0, Self::UNITS, f)
            }
        }

        as_text!($name, $example);
    };
}

/// How a quantity is written in a scenario and its schema.
macro_rules! as_text {
    ($name:ident, $example:literal) => {
        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                fmt::Display::fmt(self, f)
            }
        }

        impl Serialize for $name {
            fn serialize<S: Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
                s.collect_str(self)
            }
        }

        impl<'de> Deserialize<'de> for $name {
            fn deserialize<D: Deserializer<'de>>(d: D) -> Result<Self, D::Error> {
                struct Text;
                impl de::Visitor<'_> for Text {
                    type Value = $name;
                    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                        f.write_str(concat!("a string with a unit, such as \"", $example, "\""))
                    }
                    fn visit_str<E: de::Error>(self, text: &str) -> Result<$name, E> {
                        text.parse().map_err(E::custom)
                    }
                }
                d.deserialize_any(Text)
            }
        }

        impl JsonSchema for $name {
            fn schema_name() -> std::borrow::Cow<'static, str> {
                stringify!($name).into()
            }
            fn json_schema(_: &mut SchemaGenerator) -> Schema {
                let named = |name| Self::UNITS.iter().any(|u| u.0 == name);
                let spelled = SPELLINGS.iter().filter(|s| named(s.1));
                let spelled: String = spelled.map(|s| format!("{}|", s.0)).collect();
                let units: Vec<&str> = Self::UNITS.iter().map(|u| u.0).collect();
                json_schema!({
                    "type": "string",
                    "pattern": format!("^[0-9_]+(\\.[0-9]+)? *(?:{spelled}({}))$", units.join("|")),
                    "examples": [$example],
                })
            }
        }
    };
}

const KIB: u64 = 1 << 10;

quantity!(
    /// An amount of memory or data.
    Size, "bytes", "36 MiB",
    [("B", 1), ("KiB", KIB), ("MiB", KIB << 10), ("GiB", KIB << 20)]
);

quantity!(
    /// A span of simulated time.
    Duration, "picoseconds", "5 ms",
    [("ps", 1), ("ns", 1_000), ("us", 1_000_000), ("ms", 1_000_000_000), ("s", 1_000_000_000_000)]
);

quantity!(
    /// The frequency of a clock.
    Frequency, "hertz", "3.2 GHz",
    [("Hz", 1), ("kHz", 1_000), ("MHz", 1_000_000), ("GHz", 1_000_000_000)]
);

quantity!(
    /// A rate of data on a link.
    BitRate, "bits per second", "100 Gbps",
    [("bps", 1), ("kbps", 1_000), ("Mbps", 1_000_000), ("Gbps", 1_000_000_000)]
);

quantity!(
    /// A rate of packets or requests.
    Rate, "packets per second", "26 Mpps",
    [("pps", 1), ("kpps", 1_000), ("Mpps", 1_000_000)]
);

quantity!(
    /// A share of a whole, to a thousandth of a percent.
    Share, "hundred-thousandths", "95 %",
    [("%", 1_000)]
);

/// A rate of traffic, in either of the forms in which people state it.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum TrafficRate {
    /// In packets.
    Packets(Rate),
    /// In bits on the wire, including everything that a frame occupies there (`WIRE_OVERHEAD_BYTES`).
    Bits(BitRate),
}

impl TrafficRate {
    const UNITS: &'static [Unit] = &[
        Rate::UNITS[0],
        Rate::UNITS[1],
        Rate::UNITS[2],
        BitRate::UNITS[0],
        BitRate::UNITS[1],
        BitRate::UNITS[2],
        BitRate::UNITS[3],
    ];
}

impl FromStr for TrafficRate {
    type Err = String;
    fn from_str(text: &str) -> Result<TrafficRate, String> {
        // First with all units, so that an error names them all.
        parse(text, Self::UNITS, "26 Mpps\" or \"40 Gbps")?;
        text.parse().map(TrafficRate::Packets).or_else(|_| text.parse().map(TrafficRate::Bits))
    }
}

impl fmt::Display for TrafficRate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            TrafficRate::Packets(rate) => rate.fmt(f),
            TrafficRate::Bits(rate) => rate.fmt(f),
        }
    }
}

as_text!(TrafficRate, "26 Mpps");

impl Duration {
    /// The span as simulated time.
    pub const fn ps(self) -> Ps {
        Ps(self.0)
    }
}

impl Frequency {
    /// A clock of this frequency.
    pub fn clock(self) -> Clock {
        Clock::from_hz(self.0)
    }
}

impl Share {
    /// One: the whole.
    pub const WHOLE: Share = Share(100_000);

    /// The share as a threshold for a uniform 32-bit draw: `draw < threshold` holds this often.
    pub const fn threshold_u32(self) -> u64 {
        (self.0 << 32) / 100_000
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn decimal_fractions_are_exact() {
        assert_eq!("3.2 GHz".parse(), Ok(Frequency(3_200_000_000)));
        assert_eq!("1.25 MiB".parse(), Ok(Size(1_310_720)));
        assert_eq!("0.1 ns".parse(), Ok(Duration(100)));
        assert_eq!("0.1 %".parse(), Ok(Share(100)));
        assert_eq!("100Gbps".parse(), Ok(BitRate(100_000_000_000)));
        assert_eq!("0.10000000000000000000 us".parse(), Ok(Duration(100_000)));
        assert_eq!("0.0000152587890625 MiB".parse(), Ok(Size(16)));
        for digits in ["3".repeat(38), "3".repeat(60)] {
            let error = format!("0.{digits} us").parse::<Duration>().unwrap_err();
            assert!(error.ends_with("is finer than the smallest step of this quantity"), "{error}");
        }
        // As other programs print a third.
        let error = "0.3333333333333333 us".parse::<Duration>().unwrap_err();
        assert_eq!(
            error,
            "\"0.3333333333333333 us\" is finer than the smallest step of this quantity"
        );
    }

    #[test]
    fn other_spellings_are_read_and_printed_as_one() {
        for micro in ["4 \u{b5}s", "4 \u{3bc}s", "4us"] {
            assert_eq!(micro.parse::<Duration>().unwrap().to_string(), "4 us");
        }
        for (text, printed) in [
            ("2.5 Gbit/s", "2500 Mbps"),
            ("10 Mbit/s", "10 Mbps"),
            ("1 kbit/s", "1 kbps"),
            ("7 bit/s", "7 bps"),
        ] {
            assert_eq!(text.parse::<BitRate>().unwrap().to_string(), printed);
        }
        assert!("1 Gbit/s".parse::<Rate>().is_err(), "of another quantity");
    }

    #[test]
    fn a_number_that_is_none_is_not_taken_for_a_unit() {
        for text in ["2,7 GHz", "1e3 GHz", "2 7 GHz", "2. GHz"] {
            let error = text.parse::<Frequency>().unwrap_err();
            assert!(
                error.starts_with(&format!("\"{text}\" is not a number with a unit")),
                "{error}"
            );
        }
    }

    #[test]
    fn a_unit_in_other_letters_is_recognised() {
        let meant = |error: String, name: &str| {
            assert!(error.contains(&format!(" (did you mean {name}?); expected ")), "{error}");
        };
        meant("2.6 Ghz".parse::<Frequency>().unwrap_err(), "GHz");
        meant("32 MB".parse::<Size>().unwrap_err(), "MiB");
        meant("40 Gb".parse::<TrafficRate>().unwrap_err(), "Gbps");
        meant("100 Gb/s".parse::<BitRate>().unwrap_err(), "Gbps");
        meant("100 usec".parse::<Duration>().unwrap_err(), "us");
        meant("5 MS".parse::<Duration>().unwrap_err(), "ms");
    }

    #[test]
    fn quantities_are_printed_in_the_largest_unit_that_holds_them() {
        for text in ["36 MiB", "1280 KiB", "1 B", "0 B"] {
            assert_eq!(text.parse::<Size>().unwrap().to_string(), text);
        }
        for text in ["95 %", "0 %", "0.5 %", "12.5 %", "0.001 %", "100 %"] {
            assert_eq!(text.parse::<Share>().unwrap().to_string(), text);
        }
        assert_eq!("1.28 ms".parse::<Duration>().unwrap().to_string(), "1280 us");
        assert_eq!("3.2 GHz".parse::<Frequency>().unwrap().to_string(), "3200 MHz");
    }

    #[test]
    fn a_rate_of_traffic_is_of_packets_or_of_bits() {
        for (text, rate) in [
            ("26 Mpps", TrafficRate::Packets(Rate(26_000_000))),
            ("60 Gbps", TrafficRate::Bits(BitRate(60_000_000_000))),
        ] {
            assert_eq!(text.parse(), Ok(rate));
            assert_eq!(rate.to_string(), text);
            assert_eq!(serde_json::from_str::<TrafficRate>(&format!("{text:?}")).unwrap(), rate);
        }
        assert_eq!("1 Mbit/s".parse(), Ok(TrafficRate::Bits(BitRate(1_000_000))));
        let e = "60 GB".parse::<TrafficRate>().unwrap_err();
        assert!(
            e.ends_with(
                "pps, kpps, Mpps, bps, kbps, Mbps, Gbps, such as \"26 Mpps\" or \"40 Gbps\""
            ),
            "{e}"
        );
        assert!(e.starts_with("\"60 GB\" has the unknown unit \"GB\"; expected "), "{e}");
    }

    proptest! {
        /// Scenarios are passed on as text: what is printed is the same to the last base unit.
        #[test]
        fn what_is_printed_parses_back(value: u64) {
            // Few random numbers are a multiple of a unit.
            for value in [value, value % 100_001, value / 1_000_000 * 1_000_000, value >> 20 << 20] {
                prop_assert_eq!(Size(value).to_string().parse(), Ok(Size(value)));
                prop_assert_eq!(Duration(value).to_string().parse(), Ok(Duration(value)));
                prop_assert_eq!(Frequency(value).to_string().parse(), Ok(Frequency(value)));
                prop_assert_eq!(BitRate(value).to_string().parse(), Ok(BitRate(value)));
                prop_assert_eq!(Rate(value).to_string().parse(), Ok(Rate(value)));
                prop_assert_eq!(Share(value).to_string().parse(), Ok(Share(value)));
            }
        }
    }

    #[test]
    fn a_wrong_unit_says_which_are_right() {
        let e = "5 MB".parse::<Size>().unwrap_err();
        assert!(e.contains("\"MB\"") && e.contains("MiB"), "{e}");
        assert!("5".parse::<Size>().unwrap_err().contains("no unit"));
        for negative in ["-5 MiB", "-5", "- .5 MiB"] {
            let e = negative.parse::<Size>().unwrap_err();
            assert!(e.starts_with(&format!("\"{negative}\" is negative; expected a num")), "{e}");
        }
        for text in ["GiB", "much", "-GiB", ""] {
            let e = text.parse::<Size>().unwrap_err();
            assert!(e.contains("is not a number with a unit"), "{e}");
        }
        assert!("0.5 B".parse::<Size>().unwrap_err().contains("finer"));
        let e = "99999999999999999 GiB".parse::<Size>().unwrap_err();
        assert!(e.ends_with("is too large; expected at most 17179869183 GiB"), "{e}");
        assert_eq!("17179869183 GiB".parse(), Ok(Size(17_179_869_183 << 30)));
        assert!("1.2.3 GiB".parse::<Size>().is_err());
    }
}
