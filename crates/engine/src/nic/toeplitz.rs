//! The Toeplitz hash of receive-side scaling (Microsoft, "RSS Hashing Functions", Windows driver docs).

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// The longest input: two IPv6 addresses and two ports.
pub const MAX_INPUT: usize = 36;

/// The last bit of the longest input needs the 32 key bits from 287 on.
const BYTES: usize = MAX_INPUT + 4;

/// Bytes of the longest keys of any NIC (E810 and XL710; DPDK `ICE_VSIQF_HKEY`); no input reaches
/// the last ones.
const MAX_BYTES: usize = 52;

/// A hash key; as text, in the form that `ethtool -x` prints.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Key([u8; BYTES]);

impl Key {
    /// The key of Microsoft's verification suite, the default of many drivers.
    pub const MICROSOFT: Key = Key([
        0x6d, 0x5a, 0x56, 0xda, 0x25, 0x5b, 0x0e, 0xc2, 0x41, 0x67, 0x25, 0x3d, 0x43, 0xa3, 0x8f,
        0xb0, 0xd0, 0xca, 0x2b, 0xcb, 0xae, 0x7b, 0x30, 0xb4, 0x77, 0xcb, 0x2d, 0xa3, 0x80, 0x30,
        0xf2, 0x0c, 0x6a, 0x42, 0xb7, 0x3b, 0xbe, 0xac, 0x01, 0xfa,
    ]);

    /// The hash: the exclusive or, over all set bits of `input`, of the 32 key bits starting at the
    /// position of that bit.
    ///
    /// # Panics
    /// If `input` is longer than [`MAX_INPUT`], since the key would end too early.
    pub fn hash(&self, input: &[u8]) -> u32 {
        assert!(input.len() <= MAX_INPUT, "{} bytes are more than the key covers", input.len());
        let mut hash = 0;
        for (i, byte) in input.iter().enumerate() {
            // The 39 key bits that apply to the eight bits of this byte, at the top of a 64-bit word.
            let mut window = [0; 8];
            window[..5].copy_from_slice(&self.0[i..i + 5]);
            let window = u64::from_be_bytes(window);
            for bit in 0..8 {
                if byte & (0x80 >> bit) != 0 {
                    hash ^= (window << bit >> 32) as u32;
                }
            }
        }
        hash
    }
}

impl Default for Key {
    fn default() -> Key {
        Key::MICROSOFT
    }
}

/// A text that is not a valid key.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error(
    "\"{given}\" is no key of a Toeplitz hash; expected 40 to 52 bytes in hexadecimal, two digits each with \
     colons between them, as `ethtool -x` prints it (of more than 40 the first count)"
)]
pub struct KeyError {
    given: String,
}

impl FromStr for Key {
    type Err = KeyError;

    fn from_str(text: &str) -> Result<Key, KeyError> {
        let error = || KeyError { given: text.to_owned() };
        let byte = |pair: &str| {
            let digits = pair.len() == 2 && pair.bytes().all(|digit| digit.is_ascii_hexdigit());
            if digits { u8::from_str_radix(pair, 16).ok() } else { None }
        };
        let bytes: Option<Vec<u8>> = text.trim().split(':').map(byte).collect();
        let bytes = bytes.filter(|bytes| bytes.len() <= MAX_BYTES).ok_or_else(error)?;
        bytes.first_chunk().copied().map(Key).ok_or_else(error)
    }
}

impl TryFrom<String> for Key {
    type Error = KeyError;
    fn try_from(text: String) -> Result<Key, KeyError> {
        text.parse()
    }
}

impl fmt::Display for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, byte) in self.0.iter().enumerate() {
            write!(f, "{}{byte:02x}", if i == 0 { "" } else { ":" })?;
        }
        Ok(())
    }
}

impl From<Key> for String {
    fn from(key: Key) -> String {
        key.to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_key_is_read_as_ethtool_prints_it() {
        let text = Key::MICROSOFT.to_string();
        assert!(text.starts_with("6d:5a:56:da:25") && text.ends_with(":01:fa"), "{text}");
        assert_eq!(text.parse(), Ok(Key::MICROSOFT));
        assert_eq!(
            format!(" {}:{}\n", text.to_uppercase(), ["00"; 12].join(":")).parse(),
            Ok(Key::MICROSOFT)
        );
        for wrong in [
            "",
            "6d",
            &text[..117],
            &format!("{text}:"),
            &text.replace("5a", "+a"),
            &["00"; 53].join(":"),
        ] {
            let error = wrong.parse::<Key>().unwrap_err().to_string();
            assert!(error.contains("expected 40 to 52 bytes"), "{error}");
        }
    }

    proptest! {
        /// The defining property of a Toeplitz hash: it is linear over exclusive or.
        #[test]
        fn the_hash_is_linear(a: [u8; 32], b: [u8; 32]) {
            let mut sum = a;
            sum.iter_mut().zip(b).for_each(|(x, y)| *x ^= y);
            let hash = |input: [u8; 32]| Key::MICROSOFT.hash(&input);
            prop_assert_eq!(hash(sum), hash(a) ^ hash(b));
        }

        /// Bit i of the input alone yields the key bits i to i + 31.
        #[test]
        fn one_bit_shows_its_key_bits(i in 0usize..288) {
            let mut input = [0u8; MAX_INPUT];
            input[i / 8] = 0x80 >> (i % 8);
            let key_bit = |n: usize| u32::from(Key::MICROSOFT.0[n / 8] >> (7 - n % 8) & 1);
            let expected = (0..32).fold(0, |word, n| word << 1 | key_bit(i + n));
            prop_assert_eq!(Key::MICROSOFT.hash(&input), expected);
        }
    }
}
