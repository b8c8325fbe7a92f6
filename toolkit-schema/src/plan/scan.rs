//! The scan of a text that is known to be JSON, by a compiled plan.

use super::{At, MOST_FIELDS, NULL, Node, Object, Rest};

/// The number of digits that every 64-bit integer can have.
const DIGITS: usize = 18;

/// The maximum number of members of a map, which are compared with each other.
const MOST_MEMBERS: usize = 8;

/// Returns whether `text` certainly conforms to the node at `at`.
pub(super) fn accepts(nodes: &[Node], at: At, text: &str) -> bool {
    Scanner { nodes, text: text.as_bytes(), at: 0 }.value(at).is_some()
}

/// Returns the bit for the JSON type of a value that begins with `first`.
fn bit_of(first: u8) -> u8 {
    match first {
        b'n' => NULL,
        b't' | b'f' => 1 << 1,
        b'"' => 1 << 2,
        b'[' => 1 << 3,
        b'{' => 1 << 4,
        _ => 1 << 5,
    }
}

/// A position in a text that is known to be JSON.
struct Scanner<'a> {
    nodes: &'a [Node],
    text: &'a [u8],
    at: usize,
}

impl<'a> Scanner<'a> {
    /// Reads one value. Returns `None` if it does not certainly conform to the node.
    fn value(&mut self, node: At) -> Option<()> {
        let first = self.next()?;
        match self.nodes.get(node)? {
            Node::Unknown => None,
            Node::Any => self.any(first),
            Node::Null => {
                if first == b'n' {
                    self.skip(4)
                } else {
                    None
                }
            }
            Node::Boolean => match first {
                b't' => self.skip(4),
                b'f' => self.skip(5),
                _ => None,
            },
            Node::Integer { least, most } => {
                let number = self.integer(first)?;
                (*least..=*most).contains(&number).then_some(())
            }
            Node::Number { is_single } => self.number(first, *is_single),
            Node::Text { least, most } => {
                let (content, is_plain) = self.string(first)?;
                if *least == 0 && *most == usize::MAX {
                    return Some(());
                }
                let length = std::str::from_utf8(content).ok().filter(|_| is_plain)?.chars().count();
                (*least..=*most).contains(&length).then_some(())
            }
            Node::Words(words) => {
                let (content, _) = self.string(first)?;
                words.iter().any(|word| word.as_bytes() == content).then_some(())
            }
            Node::List { item, least, most } => self.list(first, *item, *least, *most),
            Node::Object(object) => self.object(first, object),
            Node::ByType(by_type) => {
                let bit = bit_of(first);
                let (_, node) = by_type.iter().find(|(bits, _)| *bits == bit)?;
                self.value(*node)
            }
        }
    }

    fn skip(&mut self, bytes: usize) -> Option<()> {
        self.at += bytes;
        Some(())
    }

    /// Skips white space and returns the next byte without consuming it.
    #[inline]
    fn next(&mut self) -> Option<u8> {
        loop {
            match *self.text.get(self.at)? {
                b' ' | b'\n' | b'\r' | b'\t' => self.at += 1,
                byte => return Some(byte),
            }
        }
    }

    /// Reads a string. Returns its content as written, and whether it has no escapes.
    #[inline]
    fn string(&mut self, first: u8) -> Option<(&'a [u8], bool)> {
        if first != b'"' {
            return None;
        }
        let start = self.at + 1;
        let mut is_plain = true;
        self.at = start;
        loop {
            match *self.text.get(self.at)? {
                b'"' => break,
                b'\\' => {
                    is_plain = false;
                    self.at += 2;
                }
                _ => self.at += 1,
            }
        }
        self.at += 1;
        Some((self.text.get(start..self.at - 1)?, is_plain))
    }

    /// Reads an integer of at most 18 digits.
    fn integer(&mut self, first: u8) -> Option<i64> {
        let is_negative = first == b'-';
        self.at += usize::from(is_negative);
        let start = self.at;
        let mut number = 0_i64;
        while let Some(digit) = self.text.get(self.at).copied().filter(u8::is_ascii_digit) {
            if self.at - start == DIGITS {
                return None;
            }
            number = number * 10 + i64::from(digit - b'0');
            self.at += 1;
        }
        let is_whole = !matches!(self.text.get(self.at), Some(b'.' | b'e' | b'E'));
        // Serde takes `-0` for a number with a fraction.
        let is_zero = is_negative && number == 0;
        (is_whole && !is_zero && self.at > start).then_some(if is_negative { -number } else { number })
    }

    fn number(&mut self, first: u8, is_single: bool) -> Option<()> {
        if !matches!(first, b'-' | b'0'..=b'9') {
            return None;
        }
        let start = self.at;
        let is_part = |byte: &u8| matches!(byte, b'-' | b'+' | b'.' | b'e' | b'E' | b'0'..=b'9');
        while self.text.get(self.at).is_some_and(is_part) {
            self.at += 1;
        }
        let written = self.text.get(start..self.at)?;
        let may_overflow =
            is_single && (written.len() > 30 || written.iter().any(|byte| matches!(byte, b'e' | b'E')));
        (!may_overflow).then_some(())
    }

    /// Reads any value that holds neither an object nor a long number.
    fn any(&mut self, first: u8) -> Option<()> {
        match first {
            b'n' | b't' => self.skip(4),
            b'f' => self.skip(5),
            b'"' => self.string(first).map(drop),
            b'[' => {
                self.at += 1;
                if self.next()? == b']' {
                    return self.skip(1);
                }
                loop {
                    let first = self.next()?;
                    self.any(first)?;
                    if self.ends(b']')? {
                        return Some(());
                    }
                }
            }
            b'{' => None,
            _ => {
                let start = self.at;
                self.number(first, false)?;
                (self.at - start <= DIGITS).then_some(())
            }
        }
    }

    /// Reads the comma or the closing bracket after a part. Returns whether it was the closing bracket.
    #[inline]
    fn ends(&mut self, close: u8) -> Option<bool> {
        let byte = self.next()?;
        self.at += 1;
        Some(byte == close)
    }

    fn list(&mut self, first: u8, item: At, least: usize, most: usize) -> Option<()> {
        if first != b'[' {
            return None;
        }
        self.at += 1;
        let mut count = 0;
        if self.next()? == b']' {
            self.at += 1;
        } else {
            loop {
                self.value(item)?;
                count += 1;
                if self.ends(b']')? {
                    break;
                }
            }
        }
        (least..=most).contains(&count).then_some(())
    }

    fn object(&mut self, first: u8, object: &Object) -> Option<()> {
        if first != b'{' {
            return None;
        }
        self.at += 1;
        let (mut seen, mut guess) = (0_u64, 0);
        let mut others: Vec<&[u8]> = Vec::new();
        if self.next()? == b'}' {
            self.at += 1;
            return (object.required == 0).then_some(());
        }
        loop {
            let index = match object.fields.get(guess) {
                Some(field) if self.accepts_name(&field.name) => Some(guess),
                _ => self.other_name(object, &mut others)?,
            };
            self.next()?;
            self.at += 1;
            match index.and_then(|index| Some((index, object.fields.get(index)?))) {
                Some((index, field)) => {
                    let bit = 1_u64 << (index % MOST_FIELDS);
                    if seen & bit != 0 {
                        return None;
                    }
                    seen |= bit;
                    guess = index + 1;
                    if field.is_optional && self.next()? == b'n' {
                        self.at += 4;
                    } else {
                        self.value(field.at)?;
                    }
                }
                None => match object.rest {
                    Rest::Each(node) => self.value(node)?,
                    Rest::Refused => return None,
                },
            }
            if self.ends(b'}')? {
                break;
            }
        }
        (seen & object.required == object.required).then_some(())
    }

    /// Consumes the name of a member if it is `name`.
    #[inline]
    fn accepts_name(&mut self, name: &str) -> bool {
        if self.next() != Some(b'"') {
            return false;
        }
        let start = self.at + 1;
        let end = start + name.len();
        let is_same = self.text.get(end) == Some(&b'"') && self.text.get(start..end) == Some(name.as_bytes());
        if is_same {
            self.at = end + 1;
        }
        is_same
    }

    /// Reads the name of a member. Returns the index of its field, or `Some(None)` for another name. Returns `None` if
    /// the name is written with escapes, refused, or repeated.
    fn other_name(&mut self, object: &Object, others: &mut Vec<&'a [u8]>) -> Option<Option<usize>> {
        let first = self.next()?;
        let (name, is_plain) = self.string(first)?;
        if !is_plain {
            return None;
        }
        let index = object.fields.iter().position(|field| field.name.as_bytes() == name);
        if index.is_none() {
            if others.len() == MOST_MEMBERS || others.contains(&name) {
                return None;
            }
            others.push(name);
        }
        Some(index)
    }
}
