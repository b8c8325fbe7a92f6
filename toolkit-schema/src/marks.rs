//! Internal keywords of generated code, and the notes made from them.
//!
//! A nested derive can speak only through `JsonSchema`, so it writes internal keywords, which [`take_notes`]
//! moves out of the schema.

use crate::fault::{Fault, extend_path};
use crate::index::{AddressMap, address};
use crate::keyword::each_inside;
use crate::keywords::Keywords;

use crate::types::names;
use serde_json::{Map, Value};

/// The beginning of every internal keyword.
const MARK: &str = "x-toolkit-";

/// The aliases of a property.
const ALIASES: &str = "x-toolkit-aliases";

/// The aliases of variants: a list for one variant, or an object from aliases to names for an `enum`.
pub(crate) const NAMES: &str = "x-toolkit-names";

/// Marks an `enum` or range of the author, beyond which the Rust type may decode values.
pub(crate) const AUTHORED: &str = "x-toolkit-authored";

/// Why a default cannot be published.
const FAULTY: &str = "x-toolkit-default";

/// Facts about a schema beyond its published keywords.
#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) struct Note {
    /// The aliases of a property.
    pub(crate) aliases: Vec<String>,
    /// The aliases of variants, and the value of each, absent for a single variant.
    pub(crate) variants: Vec<(String, Option<String>)>,
    /// Whether the author has added the `enum` or range.
    pub(crate) is_authored: bool,
    /// The internal keywords that say so.
    keywords: Map<String, Value>,
}

/// The notes of a schema, each with its JSON pointer.
#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) struct Notes(Vec<(String, Note)>);

/// The notes of a schema by address.
pub(crate) type Placed<'a> = AddressMap<&'a Note>;

impl Notes {
    /// Returns the notes by the addresses in `root`, their schema.
    pub(crate) fn place<'a>(&'a self, root: &Value) -> Placed<'a> {
        let mut placed = Placed::default();
        for (place, note) in &self.0 {
            if let Some(schema) = root.pointer(place) {
                placed.insert(address(schema), note);
            }
        }
        placed
    }

    /// Returns pairs of alias and name for the properties of the whole object.
    pub(crate) fn of_root<'a>(&'a self, root: &'a Value) -> Vec<(&'a str, &'a str)> {
        let placed = self.place(root);
        let mut pairs = Vec::new();
        for (name, property) in root.get("properties").and_then(Value::as_object).into_iter().flatten() {
            let Some(note) = placed.get(address(property)) else { continue };
            for alias in &note.aliases {
                pairs.push((alias.as_str(), name.as_str()));
            }
        }
        pairs
    }

    /// Writes the notes into a copy of their schema, for a change that moves their places.
    pub(crate) fn written_into(&self, root: &Value) -> Value {
        let mut marked = root.clone();
        for (place, note) in &self.0 {
            let Some(Value::Object(keywords)) = marked.pointer_mut(place) else { continue };
            keywords.extend(note.keywords.clone());
        }
        marked
    }
}

/// The result of the first pass over a schema.
#[derive(Debug, Default)]
pub(crate) struct TakenNotes {
    pub(crate) notes: Notes,
    /// The places of schemas with a default.
    pub(crate) defaults: Vec<String>,
    /// The first default that cannot be published.
    pub(crate) fault: Option<Fault>,
}

pub(crate) fn take_notes(root: &mut Value) -> TakenNotes {
    let mut found = TakenNotes::default();
    take(root, &mut String::new(), &mut found);
    found
}

fn take(schema: &mut Value, place: &mut String, found: &mut TakenNotes) {
    let Value::Object(keywords) = schema else { return };
    if keywords.keys().any(|keyword| keyword.starts_with(MARK)) {
        take_own(keywords, place, found);
    }
    if keywords.get("default").is_some_and(|default| !default.is_null()) {
        found.defaults.push(place.clone());
    }
    each_inside(keywords, &mut |keyword, key, inside| {
        let here = place.len();
        extend_path(place, keyword, key);
        take(inside, place, found);
        place.truncate(here);
    });
}

fn take_own(keywords: &mut Map<String, Value>, place: &str, found: &mut TakenNotes) {
    let faulty = keywords.shift_remove(FAULTY);
    let mut marks = Map::new();
    for mark in [ALIASES, NAMES, AUTHORED] {
        if let Some(value) = keywords.shift_remove(mark) {
            marks.insert(mark.to_owned(), value);
        }
    }
    if !marks.is_empty() {
        let note = Note {
            aliases: names(marks.get(ALIASES)).map(str::to_owned).collect(),
            variants: variants(marks.get(NAMES)),
            is_authored: marks.contains_key(AUTHORED),
            keywords: marks,
        };
        found.notes.0.push((place.to_owned(), note));
    }
    if let Some(Value::String(reason)) = faulty
        && found.fault.is_none()
    {
        found.fault =
            Some((format!("#{place}/default"), format!("the default is no valid argument: {reason}")));
    }
}

fn variants(declared: Option<&Value>) -> Vec<(String, Option<String>)> {
    match declared {
        Some(Value::Object(named)) => {
            named.iter().map(|(alias, name)| (alias.clone(), name.as_str().map(str::to_owned))).collect()
        }
        listed => names(listed).map(|alias| (alias.to_owned(), None)).collect(),
    }
}

/// Marks an author's range that looks like another integer type's, while the format is present.
pub(crate) fn mark_number(keywords: &mut Map<String, Value>) {
    let Some(format) = keywords.get("format").and_then(Value::as_str) else { return };
    if let Some(own) = range_of(format)
        && range_in(keywords) != own
        && is_range_of_type(keywords)
    {
        keywords.set(AUTHORED, true.into());
    }
}

pub(crate) fn mark_faulty(keywords: &mut Map<String, Value>, reason: String) {
    keywords.shift_remove("default");
    keywords.set(FAULTY, reason.into());
}

pub(crate) fn strip_marks(keywords: &mut Map<String, Value>) {
    for keyword in [ALIASES, NAMES, AUTHORED, FAULTY] {
        keywords.shift_remove(keyword);
    }
}

/// The least and greatest integer of a type; from 64 bits on, a bound other than 0 is `None`.
type Range = (Option<i64>, Option<i64>);

/// The integer formats of schemars.
const RANGES: [(&str, Range); 12] = [
    ("int8", (Some(i8::MIN as i64), Some(i8::MAX as i64))),
    ("int16", (Some(i16::MIN as i64), Some(i16::MAX as i64))),
    ("int32", (Some(i32::MIN as i64), Some(i32::MAX as i64))),
    ("uint8", (Some(0), Some(u8::MAX as i64))),
    ("uint16", (Some(0), Some(u16::MAX as i64))),
    ("uint32", (Some(0), Some(u32::MAX as i64))),
    ("uint64", (Some(0), None)),
    ("uint128", (Some(0), None)),
    ("uint", (Some(0), None)),
    ("int64", (None, None)),
    ("int128", (None, None)),
    ("int", (None, None)),
];

/// Returns the range of an integer format.
pub(crate) fn range_of(format: &str) -> Option<Range> {
    let (_, range) = RANGES.iter().find(|(name, _)| *name == format)?;
    Some(*range)
}

fn range_in(keywords: &Map<String, Value>) -> Range {
    let bound = |keyword: &str| keywords.get(keyword).and_then(Value::as_i64);
    (bound("minimum"), bound("maximum"))
}

/// Returns whether a schema has the range of a Rust integer type, which refuses all other integers.
pub(crate) fn is_range_of_type(keywords: &Map<String, Value>) -> bool {
    let range = range_in(keywords);
    RANGES.iter().any(|(_, own)| *own == range)
}
