//! Spellings of tool names for providers with stricter rules.

use super::MAX_NAME_LENGTH;
use crate::schema::__private::{Names, sort_by, sort_names};
use std::sync::Arc;

/// A provider's rule for names of tools or parameters.
///
/// ```
/// use toolkit_ai::name::NameRule;
///
/// let rule = NameRule::DASHES.with_max_length(32);
/// assert_eq!(rule.max_length(), 32);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct NameRule {
    /// The maximum length of a name, in characters, with room for a digest.
    max_length: usize,
    /// The accepted characters besides `A-Z a-z 0-9`: `_`, and others of ASCII.
    punctuation: &'static str,
    letter_first: bool,
}

/// The length of `_` and a digest.
const SHORTEST: usize = 9;

impl NameRule {
    /// Up to 128 characters of `A-Z a-z 0-9 _ . -`: the rule of this library and the Model Context
    /// Protocol.
    pub const TOOL_NAMES: Self =
        Self { max_length: MAX_NAME_LENGTH, punctuation: "_.-", letter_first: false };

    /// Up to 64 characters of `A-Z a-z 0-9 _ -`, accepted by every provider.
    pub const DASHES: Self = Self { max_length: 64, punctuation: "_-", letter_first: false };

    /// Up to 128 characters of `A-Z a-z 0-9 _ -`.
    pub const LONG_DASHES: Self = Self { max_length: 128, punctuation: "_-", letter_first: false };

    /// Up to 128 characters of `A-Z a-z 0-9 _ . : -`, beginning with a letter or `_`.
    pub const DOTS: Self = Self { max_length: 128, punctuation: "_.:-", letter_first: true };

    /// The rules of widely used provider APIs.
    ///
    /// A registry finds a tool by its name and by its spelling under any of them.
    pub const COMMON: &[Self] = &[Self::DASHES, Self::LONG_DASHES, Self::DOTS];

    /// Up to 64 characters of `A-Z a-z 0-9 _ . -`.
    pub const SHORT_DOTS: Self = Self { max_length: 64, punctuation: "_.-", letter_first: false };

    /// Up to 64 characters of `A-Z a-z 0-9 _`, beginning with a letter or `_`.
    pub const IDENTIFIERS: Self = Self { max_length: 64, punctuation: "_", letter_first: true };

    /// The rules of widely used provider APIs for parameters.
    ///
    /// A registry finds a parameter by its name and by its spelling under any of them.
    pub const COMMON_PARAMETERS: &[Self] = &Self::OF_PARAMETERS;

    /// [`COMMON_PARAMETERS`](Self::COMMON_PARAMETERS), with their number.
    pub(crate) const OF_PARAMETERS: [Self; 2] = [Self::SHORT_DOTS, Self::IDENTIFIERS];

    /// Sets the maximum length of a name, in characters; at least 9, the length of a digest.
    #[must_use]
    pub const fn with_max_length(self, characters: usize) -> Self {
        Self { max_length: if characters < SHORTEST { SHORTEST } else { characters }, ..self }
    }

    /// Returns the maximum length of a name, in characters.
    #[must_use]
    pub const fn max_length(&self) -> usize {
        self.max_length
    }

    pub(super) fn characters(&self) -> String {
        let mut characters = "A-Z a-z 0-9".to_owned();
        for character in self.punctuation.chars() {
            characters.extend([' ', character]);
        }
        characters
    }

    /// Returns whether the provider accepts a name.
    #[must_use]
    pub fn accepts(&self, name: &str) -> bool {
        name.starts_with(|c| self.accepts_first(c))
            && name.len() <= self.max_length
            && name.chars().all(|c| self.accepts_char(c))
    }

    /// Returns whether a name may begin with `c`, if `c` is accepted at all.
    #[must_use]
    pub fn accepts_first(&self, c: char) -> bool {
        !self.letter_first || c.is_ascii_alphabetic() || c == '_'
    }

    /// Returns whether the provider accepts a character.
    #[must_use]
    pub fn accepts_char(&self, c: char) -> bool {
        c.is_ascii_alphanumeric() || self.punctuation.contains(c)
    }

    /// Replaces each refused character with `_`, and prepends `_` if the first may not begin a name.
    ///
    /// The result may be too long or empty.
    #[must_use]
    pub fn plain(&self, name: &str) -> String {
        let plain = name.replace(|c| !self.accepts_char(c), "_");
        if plain.starts_with(|c| !self.accepts_first(c)) { format!("_{plain}") } else { plain }
    }

    /// Returns an accepted spelling of `name` that ends in a digest of it, varied by `salt`.
    #[must_use]
    pub fn hashed(&self, name: &str, salt: u64) -> String {
        let digest = format!("{:08x}", fnv1a(name, salt) as u32);
        let room = self.max_length.saturating_sub(SHORTEST);
        let mut spelled = self.plain(name);
        spelled.truncate(room);
        format!("{spelled}_{digest}")
    }
}

/// A reversible mapping from names of tools or parameters to a provider's spellings.
///
/// In names that are not accepted, each refused character becomes `_`. If the result is too long or
/// collides, a digest of the full name is appended. The mapping depends only on the set of names.
///
/// ```
/// use toolkit_ai::name::{NameRule, WireNames};
///
/// let names = WireNames::new(NameRule::DASHES, ["fs.read", "add"]);
/// assert_eq!(names.spell("fs.read"), "fs_read");
/// assert_eq!(names.unspell("fs_read"), "fs.read");
/// assert_eq!(names.spell("add"), "add");
/// ```
///
/// Clones are cheap.
#[derive(Debug, Clone, Default)]
pub struct WireNames(Arc<Spellings>);

#[derive(Debug, Default)]
struct Spellings {
    /// Names and spellings, sorted by name.
    spelled: Vec<(Arc<str>, Arc<str>)>,
    /// Spellings and names, sorted by spelling.
    originals: Vec<(Arc<str>, Arc<str>)>,
}

impl WireNames {
    /// Creates the mapping for a set of names.
    #[must_use]
    pub fn new<'a>(rule: NameRule, names: impl IntoIterator<Item = &'a str>) -> Self {
        Self(Arc::new(Spellings::new(rule, &names.into_iter().collect::<Vec<_>>())))
    }

    /// Returns the spelling of `name`. A name outside of the set is returned unchanged.
    #[must_use]
    pub fn spell<'a>(&'a self, name: &'a str) -> &'a str {
        counterpart(&self.0.spelled, name).map_or(name, |spelled| spelled)
    }

    /// Returns the tool name for a `spelling` that differs from it; `None` otherwise.
    pub(crate) fn original(&self, spelling: &str) -> Option<Arc<str>> {
        counterpart(&self.0.originals, spelling).cloned()
    }

    /// Returns the name for a spelling. An unknown one is returned unchanged.
    #[must_use]
    pub fn unspell<'a>(&'a self, spelling: &'a str) -> &'a str {
        counterpart(&self.0.originals, spelling).map_or(spelling, |original| original)
    }

    /// Returns whether every name is its own spelling.
    #[must_use]
    pub fn is_identity(&self) -> bool {
        self.0.spelled.is_empty()
    }

    /// Returns all names with a changed spelling and their spellings, in no particular order.
    pub fn respelled(&self) -> impl Iterator<Item = (&str, &str)> {
        self.0.spelled.iter().map(|(name, spelling)| (&**name, &**spelling))
    }
}

impl Spellings {
    fn new(rule: NameRule, names: &[&str]) -> Self {
        let mut claims = Names::default();
        let mut refused: Vec<&str> = Vec::new();
        for name in names {
            if rule.accepts(name) {
                claims.set((*name).into(), 2);
            } else {
                refused.push(name);
            }
        }
        sort_names(&mut refused);
        refused.dedup();
        for name in &refused {
            claims.count(rule.plain(name).into());
        }

        let mut spellings = Self::default();
        for name in refused {
            let plain = rule.plain(name);
            let unique = rule.accepts(&plain) && claims.get(&plain) == Some(1);
            let spelling = if unique { plain } else { unclaimed_digest(rule, name, &mut claims) };
            let (original, spelling): (Arc<str>, Arc<str>) = (name.into(), spelling.into());
            spellings.spelled.push((original.clone(), spelling.clone()));
            spellings.originals.push((spelling, original));
        }
        sort_by(&mut spellings.originals, |(one, _), (other, _)| one.cmp(other));
        spellings
    }
}

/// Returns the second text of the pair that begins with `text`. The pairs are sorted.
fn counterpart<'a>(pairs: &'a [(Arc<str>, Arc<str>)], text: &str) -> Option<&'a Arc<str>> {
    let at = pairs.binary_search_by(|(first, _)| (**first).cmp(text)).ok()?;
    pairs.get(at).map(|(_, second)| second)
}

fn unclaimed_digest(rule: NameRule, name: &str, claims: &mut Names<'_>) -> String {
    let mut salt = 0;
    loop {
        let spelling = rule.hashed(name, salt);
        if !claims.contains(&spelling) {
            claims.set(spelling.clone().into(), 2);
            return spelling;
        }
        salt += 1;
    }
}

/// Computes the FNV-1a hash of `text`, varied by `salt`; equal in every process and on every machine.
#[must_use]
pub fn fnv1a(text: &str, salt: u64) -> u64 {
    let start = 0xcbf2_9ce4_8422_2325 ^ salt;
    text.bytes().fold(start, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3))
}
