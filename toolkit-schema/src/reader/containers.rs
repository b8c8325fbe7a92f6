//! Lists and objects, read part by part, each with its matcher.

use super::{FREE, ReadError, Reader};
use crate::plan::{MOST_FIELDS, Matcher, Object};
use serde::de::{DeserializeSeed, MapAccess, SeqAccess};
use std::borrow::Cow;

/// The maximum number of a map's members, which are compared with each other.
const MOST_MEMBERS: usize = 8;

/// The fields of an object that is being read.
#[derive(Debug)]
struct Fields<'t> {
    object: &'t Object,
    /// A bit for each field that has been read.
    seen: u64,
    /// The likely next field, because models mostly follow the schema's order.
    guess: usize,
}

impl<'t> Fields<'t> {
    fn new(object: &'t Object) -> Self {
        Self { object, seen: 0, guess: 0 }
    }

    /// Reads the name and colon of the next field, and returns its index, or `None` after the last.
    #[inline]
    fn next(&mut self, reader: &mut Reader<'t>) -> Result<Option<usize>, ReadError> {
        let is_first = self.seen == 0;
        let mut index = self.guess;
        let mut field = self.object.fields.get(index);
        if let Some(guess) = field
            && let Some(key) = guess.key.get(usize::from(is_first)..)
            && reader.rest().starts_with(key)
        {
            reader.at += key.len();
        } else if reader.part_follows(b'}', is_first)? {
            index = self.other_field(reader)?;
            field = self.object.fields.get(index);
        } else {
            return Ok(None);
        }
        let Some(field) = field else { return Err(reader.refuse()) };
        let bit = 1_u64 << (index % MOST_FIELDS);
        if self.seen & bit != 0 {
            return Err(reader.refuse());
        }
        self.seen |= bit;
        self.guess = index + 1;
        if field.is_optional && reader.peek()? == b'n' {
            reader.expected = &FREE;
        } else {
            reader.expect(field.at);
        }
        Ok(Some(index))
    }

    #[inline(never)]
    fn other_field(&self, reader: &mut Reader<'t>) -> Result<usize, ReadError> {
        let name = reader.string()?;
        reader.colon()?;
        let index = self.object.fields.iter().position(|field| *field.name == *name);
        index.ok_or_else(|| reader.refuse())
    }

    /// Refuses the object if a required field has not been read.
    #[inline]
    fn end(&self, reader: &mut Reader<'t>) -> Result<(), ReadError> {
        let is_complete = self.seen & self.object.required == self.object.required;
        if is_complete { Ok(()) } else { Err(reader.refuse()) }
    }
}

/// The arguments of a call that are being read.
#[derive(Debug)]
pub struct Arguments<'r, 't> {
    reader: &'r mut Reader<'t>,
    fields: Fields<'t>,
}

impl<'r, 't> Arguments<'r, 't> {
    /// Begins to read the arguments of a call.
    ///
    /// # Errors
    /// The value is no object, or the plan accepts no objects with fields.
    #[inline]
    pub fn open(reader: &'r mut Reader<'t>) -> Result<Self, ReadError> {
        match reader.begin()? {
            (b'{', Matcher::Object(object)) => {
                reader.descend()?;
                Ok(Self { reader, fields: Fields::new(object) })
            }
            _ => Err(reader.refuse()),
        }
    }

    /// Returns the index of the parameter whose value comes next, or `None` after the last.
    ///
    /// # Errors
    /// The plan refuses the argument, or a required one is missing.
    #[inline]
    pub fn next_parameter(&mut self) -> Result<Option<usize>, ReadError> {
        let next = self.fields.next(self.reader)?;
        if next.is_none() {
            self.fields.end(self.reader)?;
        }
        Ok(next)
    }

    /// Returns whether an argument for `index` has been read.
    #[must_use]
    pub fn has(&self, index: usize) -> bool {
        index < MOST_FIELDS && self.fields.seen >> index & 1 == 1
    }

    /// Returns the reader, for the value of the argument.
    #[must_use]
    pub fn reader(&mut self) -> &mut Reader<'t> {
        self.reader
    }
}

/// The members of an object that is being read.
#[derive(Debug)]
pub(crate) struct Members<'r, 't> {
    reader: &'r mut Reader<'t>,
    rule: MembersRule<'t>,
    is_first: bool,
    is_closed: bool,
}

/// The plan's rule for the members of an object.
#[derive(Debug)]
enum MembersRule<'t> {
    /// Any members.
    Free,
    /// Members with different names.
    Map { item: &'t Matcher, names: Vec<Cow<'t, str>> },
    /// Only these members, each at most once.
    Fields(Fields<'t>),
}

impl<'r, 't> Members<'r, 't> {
    /// Reads the opening bracket of an object.
    pub(super) fn open(reader: &'r mut Reader<'t>, matcher: &'t Matcher) -> Result<Self, ReadError> {
        let rule = match matcher {
            Matcher::Object(object) => MembersRule::Fields(Fields::new(object)),
            Matcher::Free => MembersRule::Free,
            Matcher::Map(item) => {
                let item = reader.matchers.get(*item).unwrap_or(&Matcher::Unknown);
                MembersRule::Map { item, names: Vec::new() }
            }
            _ => return Err(reader.refuse()),
        };
        reader.descend()?;
        Ok(Self { reader, rule, is_first: true, is_closed: false })
    }

    /// Returns the reader, for the value of the member.
    pub(super) fn reader(&mut self) -> &mut Reader<'t> {
        self.reader
    }

    /// Reads the name and colon of the next member, or returns `None` after the last.
    pub(super) fn next_name(&mut self) -> Result<Option<Cow<'t, str>>, ReadError> {
        let reader = &mut *self.reader;
        if let MembersRule::Fields(fields) = &mut self.rule {
            let next = fields.next(reader)?;
            self.is_closed = next.is_none();
            let field = next.and_then(|index| fields.object.fields.get(index));
            return Ok(field.map(|field| Cow::Borrowed(&*field.name)));
        }
        if !reader.part_follows(b'}', self.is_first)? {
            self.is_closed = true;
            return Ok(None);
        }
        self.is_first = false;
        let name = reader.string()?;
        reader.colon()?;
        reader.expected = match &mut self.rule {
            MembersRule::Map { item, names } => {
                if names.len() == MOST_MEMBERS || names.contains(&name) {
                    return Err(reader.refuse());
                }
                names.push(name.clone());
                item
            }
            _ => &FREE,
        };
        Ok(Some(name))
    }

    /// Ends an object after its last member.
    ///
    /// # Errors
    /// More members follow, or a required one is missing.
    pub(super) fn close(mut self) -> Result<(), ReadError> {
        if !self.is_closed && self.next_name()?.is_some() {
            return Err(serde::de::Error::custom("trailing characters"));
        }
        self.reader.levels += 1;
        if let MembersRule::Fields(fields) = &self.rule { fields.end(self.reader) } else { Ok(()) }
    }
}

impl<'t> MapAccess<'t> for &mut Members<'_, 't> {
    type Error = ReadError;

    #[inline]
    fn next_key_seed<K: DeserializeSeed<'t>>(&mut self, seed: K) -> Result<Option<K::Value>, ReadError> {
        match self.next_name()? {
            Some(name) => seed.deserialize(super::key::Key(name)).map(Some),
            None => Ok(None),
        }
    }

    #[inline]
    fn next_value_seed<V: DeserializeSeed<'t>>(&mut self, seed: V) -> Result<V::Value, ReadError> {
        seed.deserialize(&mut *self.reader)
    }
}

/// The items of a list that is being read.
#[derive(Debug)]
pub(crate) struct Items<'r, 't> {
    reader: &'r mut Reader<'t>,
    item: &'t Matcher,
    least: usize,
    most: usize,
    count: usize,
    is_closed: bool,
}

impl<'r, 't> Items<'r, 't> {
    /// Reads the opening bracket of a list.
    #[inline]
    pub(super) fn open(reader: &'r mut Reader<'t>, matcher: &'t Matcher) -> Result<Self, ReadError> {
        let (item, least, most) = match matcher {
            Matcher::List { item, least, most } => {
                (reader.matchers.get(*item).unwrap_or(&Matcher::Unknown), *least, *most)
            }
            Matcher::Free => (&FREE, 0, usize::MAX),
            _ => return Err(reader.refuse()),
        };
        reader.descend()?;
        Ok(Self { reader, item, least, most, count: 0, is_closed: false })
    }

    /// Returns whether another item comes next.
    pub(crate) fn next(&mut self) -> Result<bool, ReadError> {
        if !self.reader.part_follows(b']', self.count == 0)? {
            self.is_closed = true;
            return Ok(false);
        }
        self.count += 1;
        self.reader.expected = self.item;
        Ok(true)
    }

    pub(crate) fn reader(&mut self) -> &mut Reader<'t> {
        self.reader
    }

    /// Ends a list after its last item.
    pub(crate) fn close(mut self) -> Result<(), ReadError> {
        if !self.is_closed && self.next()? {
            return Err(serde::de::Error::custom("trailing characters"));
        }
        self.reader.levels += 1;
        let is_accepted = (self.least..=self.most).contains(&self.count);
        if is_accepted { Ok(()) } else { Err(self.reader.refuse()) }
    }
}

impl<'t> SeqAccess<'t> for &mut Items<'_, 't> {
    type Error = ReadError;

    #[inline]
    fn next_element_seed<T: DeserializeSeed<'t>>(&mut self, seed: T) -> Result<Option<T::Value>, ReadError> {
        if self.next()? { seed.deserialize(&mut *self.reader).map(Some) } else { Ok(None) }
    }
}

impl<'t> Reader<'t> {
    /// Reads the opening bracket of a list or an object.
    #[inline]
    fn descend(&mut self) -> Result<(), ReadError> {
        let Some(levels) = self.levels.checked_sub(1) else {
            return Err(serde::de::Error::custom("recursion limit exceeded"));
        };
        self.levels = levels;
        self.at += 1;
        Ok(())
    }

    /// Reads a comma or the closing bracket, and returns whether another part follows.
    #[inline]
    fn part_follows(&mut self, close: u8, is_first: bool) -> Result<bool, ReadError> {
        let next = self.peek()?;
        if next == close {
            self.at += 1;
            return Ok(false);
        }
        if !is_first {
            if next != b',' {
                return Err(self.refuse());
            }
            self.at += 1;
            // A comma before the bracket is no JSON.
            if self.peek()? == close {
                return Err(self.refuse());
            }
        }
        Ok(true)
    }

    #[inline]
    fn rest(&self) -> &'t [u8] {
        self.text.as_bytes().get(self.at..).unwrap_or_default()
    }

    #[inline]
    fn colon(&mut self) -> Result<(), ReadError> {
        self.peek()?;
        if self.accept(b':') { Ok(()) } else { Err(self.refuse()) }
    }
}
