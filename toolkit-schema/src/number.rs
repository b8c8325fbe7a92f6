//! Exact decimal numbers.

use std::cmp::Ordering;
use std::fmt;

/// The maximum absolute exponent, to which parsing clamps.
const FAR: i64 = i64::MAX / 4;

/// The maximum digits of an integer without exponent, which cover all Rust types.
const LONGEST: i64 = 40;

/// The exact decimal number `digits` × 10^`exponent`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Decimal {
    negative: bool,
    /// The significant digits, without zeros at either end; zero has none, no sign and the exponent 0.
    digits: String,
    exponent: i64,
}

impl Decimal {
    /// Parses a number in JSON syntax, also with leading zeros.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let (negative, absolute) = match text.strip_prefix('-') {
            Some(absolute) => (true, absolute),
            None => (false, text),
        };
        let (number, exponent) = absolute.split_once(['e', 'E']).unwrap_or((absolute, "0"));
        let (whole, fraction) = number.split_once('.').unwrap_or((number, "0"));
        let unsigned = exponent.strip_prefix(['-', '+']).unwrap_or(exponent);
        for digits in [whole, fraction, unsigned] {
            if digits.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
                return None;
            }
        }
        let far = if exponent.starts_with('-') { -FAR } else { FAR };
        let exponent = exponent.parse().unwrap_or(far).clamp(-FAR, FAR);
        let digits = [whole, fraction].concat();
        let kept = digits.trim_end_matches('0');
        let dropped = length(&digits) - length(kept) - length(fraction);
        Some(match kept.trim_start_matches('0') {
            "" => Self { negative: false, digits: String::new(), exponent: 0 },
            kept => Self { negative, digits: kept.to_owned(), exponent: exponent + dropped },
        })
    }

    /// Returns whether the number has no fraction.
    #[must_use]
    pub fn is_integer(&self) -> bool {
        self.exponent >= 0
    }

    /// Returns an integer of at most 40 digits as text without exponent.
    #[must_use]
    pub fn integer(&self) -> Option<String> {
        let zeros = usize::try_from(self.exponent).ok()?;
        if self.magnitude() > LONGEST {
            return None;
        }
        let sign = if self.negative { "-" } else { "" };
        let digits = &self.digits;
        Some(if digits.is_empty() { "0".to_owned() } else { format!("{sign}{digits}{}", "0".repeat(zeros)) })
    }

    pub(crate) fn is_multiple_of(&self, step: &Self) -> bool {
        let Ok(divisor) = step.digits.parse::<u64>().map(u128::from) else { return step.digits.is_empty() };
        let Ok(mut shift) = u64::try_from(self.exponent - step.exponent) else {
            return self.digits.is_empty();
        };
        let mut rest = 0;
        for digit in self.digits.bytes() {
            rest = (rest * 10 + u128::from(digit - b'0')) % divisor;
        }
        let mut power = 10 % divisor;
        while shift > 0 {
            if shift % 2 == 1 {
                rest = rest * power % divisor;
            }
            power = power * power % divisor;
            shift /= 2;
        }
        rest == 0
    }

    /// Returns the number of digits before the decimal point, negative for zeros after it.
    fn magnitude(&self) -> i64 {
        length(&self.digits) + self.exponent
    }

    fn sign(&self) -> i8 {
        match (self.digits.is_empty(), self.negative) {
            (true, _) => 0,
            (false, true) => -1,
            (false, false) => 1,
        }
    }
}

fn length(digits: &str) -> i64 {
    i64::try_from(digits.len()).unwrap_or(FAR)
}

impl PartialOrd for Decimal {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Decimal {
    fn cmp(&self, other: &Self) -> Ordering {
        let by_sign = self.sign().cmp(&other.sign());
        if by_sign.is_ne() {
            return by_sign;
        }
        let by_size = self.magnitude().cmp(&other.magnitude()).then_with(|| self.digits.cmp(&other.digits));
        if self.negative { by_size.reverse() } else { by_size }
    }
}

/// Writes the canonical form, which is the same for equal numbers.
impl fmt::Display for Decimal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.integer() {
            Some(integer) => f.write_str(&integer),
            None => write!(f, "{}{}e{}", if self.negative { "-" } else { "" }, self.digits, self.exponent),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn number(text: &str) -> Decimal {
        Decimal::parse(text).unwrap()
    }

    #[test]
    fn equal_numbers_have_one_canonical_form() {
        for (text, expected) in [
            ("5", "5"),
            ("5.0", "5"),
            ("-0.0", "0"),
            ("1e3", "1000"),
            ("1000.00", "1000"),
            ("-1.50", "-15e-1"),
            ("0.0015e+2", "15e-2"),
            ("1.5e-2147483648", "15e-2147483649"),
            ("12e99999999999999999999", "12e2305843009213693951"),
            ("340282366920938463463374607431768211455", "340282366920938463463374607431768211455"),
        ] {
            assert_eq!(number(text).to_string(), expected, "{text}");
        }
        for text in ["", "-", "1.", ".5", "1e", "0x1", "1 ", "+1", "1e+-1", "NaN"] {
            assert_eq!(Decimal::parse(text), None, "{text}");
        }
    }

    #[test]
    fn multiples_are_exact() {
        for (value, step, expected) in [
            ("0.3", "0.1", true),
            ("1.5", "0.25", true),
            ("1.05", "0.1", false),
            ("1e300", "3", false),
            ("3e300", "3", true),
            ("18446744073709551615", "5", true),
            ("0", "7", true),
            ("0.5", "1", false),
            ("4.35", "0.01", true),
            ("-9", "3", true),
        ] {
            assert_eq!(number(value).is_multiple_of(&number(step)), expected, "{value} {step}");
        }
    }

    proptest! {
        #[test]
        fn decimals_compare_like_integers(one: i128, other: i128, steps in 1..u64::MAX) {
            prop_assert_eq!(number(&one.to_string()).cmp(&number(&other.to_string())), one.cmp(&other));
            prop_assert_eq!(number(&one.to_string()).integer(), Some(one.to_string()));
            let is_multiple = number(&one.to_string()).is_multiple_of(&number(&steps.to_string()));
            prop_assert_eq!(is_multiple, one % i128::from(steps) == 0);
        }

        #[test]
        fn decimals_are_multiples_like_integers(
            step in 1..1_000_000_i128,
            factor in -1_000_000..1_000_000_i128,
            more in 0..3_i128,
            exponents in (-12..=12, -12..=12),
            zeros in 0..4_usize,
        ) {
            let value = step * factor + more;
            let scaled = |digits: i128, exponent: i32| digits * 10_i128.pow((exponent + 12).unsigned_abs());
            let expected = scaled(value, exponents.0) % scaled(step, exponents.1) == 0;
            let zeros = if value == 0 { 0 } else { zeros };
            let value = format!("{value}{}e{}", "0".repeat(zeros), exponents.0 - i32::try_from(zeros).unwrap());
            let step = format!("{step}e{}", exponents.1);
            prop_assert_eq!(number(&value).is_multiple_of(&number(&step)), expected, "{} {}", value, step);
        }

        #[test]
        fn decimals_compare_like_doubles(one: f64, other: f64) {
            prop_assume!(one.is_finite() && other.is_finite());
            let numbers = [one, other].map(|number| serde_json::to_string(&number).unwrap());
            prop_assert_eq!(Some(number(&numbers[0]).cmp(&number(&numbers[1]))), one.partial_cmp(&other));
        }
    }
}
