//! Internal keywords of generated code, and the notes made from these keywords.
//!
//! A nested derive can only speak through `JsonSchema`, so it writes internal keywords. [`take_notes`] moves them out of
//! the schema. After that, no schema contains them.

use crate::fault::Fault;
use crate::index::{AddressMap, address};
use crate::keyword::each_inside;
use crate::keywords::Keywords;
use crate::reference::escape;
use crate::types::names;
use serde_json::{Map, Value};

/// The beginning of every internal keyword.
const MARK: &str = "x-toolkit-";

/// The aliases of a property, as a list of names.
const ALIASES: &str = "x-toolkit-aliases";

/// The aliases of the variants of an enum: a list on the schema of one variant, an object from aliases to names on an
/// `enum`.
pub(crate) const NAMES: &str = "x-toolkit-names";

/// Marks an `enum` or a range that the author of a parameter has added. Its Rust type may decode other values.
pub(crate) const AUTHORED: &str = "x-toolkit-authored";

/// The reason why a default cannot be published.
const FAULTY: &str = "x-toolkit-default";

/// Facts about one schema beyond its published keywords.
#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) struct Note {
    /// The further names of a property.
    pub(crate) aliases: Vec<String>,
    /// The further names of variants. On the schema of one variant, the listed value is absent.
    pub(crate) variants: Vec<(String, Option<String>)>,
    /// Whether the author of a parameter has added the `enum` or the range.
    pub(crate) is_authored: bool,
    /// The internal keywords that say so.
    keywords: Map<String, Value>,
}

/// The notes of a schema, each with the JSON pointer of its place.
#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) struct Notes(Vec<(String, Note)>);

/// The notes of a schema by the address of their place.
pub(crate) type Placed<'a> = AddressMap<&'a Note>;

impl Notes {
    /// Returns the notes by the addresses in `root`, the schema that they belong to.
    pub(crate) fn place<'a>(&'a self, root: &Value) -> Placed<'a> {
        let mut placed = Placed::default();
        for (place, note) in &self.0 {
            if let Some(schema) = root.pointer(place) {
                placed.insert(address(schema), note);
            }
        }
        placed
    }

    /// Returns the aliases of the properties of the whole object, as pairs of alias and name.
    pub(crate) fn of_root<'a>(&'a self, root: &'a Value) -> impl Iterator<Item = (&'a str, &'a str)> {
        let placed = self.place(root);
        let properties = root.get("properties").and_then(Value::as_object).into_iter().flatten();
        let of_property = move |(name, property): (&'a String, &'a Value)| {
            let note = placed.get(address(property)).copied();
            note.into_iter().flat_map(|note| &note.aliases).map(move |alias| (alias.as_str(), name.as_str()))
        };
        properties.flat_map(of_property)
    }

    /// Writes the notes back into a copy of their schema, for a change that moves their places.
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

/// Moves all internal keywords out of a schema.
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
        place.extend(["/", keyword]);
        if let Some(key) = key {
            place.extend(["/", &escape(key)]);
        }
        take(inside, place, found);
        place.truncate(here);
    });
}

/// Moves the internal keywords out of one schema.
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

/// Marks a range of the author that looks like the range of another integer type. Called before the format of the number
/// is removed.
pub(crate) fn mark_number(keywords: &mut Map<String, Value>) {
    let Some(format) = keywords.get("format").and_then(Value::as_str) else { return };
    if let Some(own) = range_of(format)
        && range_in(keywords) != own
        && is_range_of_type(keywords)
    {
        keywords.set(AUTHORED, true.into());
    }
}

/// Sets the reason why the default of a schema cannot be published.
pub(crate) fn mark_faulty(keywords: &mut Map<String, Value>, reason: String) {
    keywords.shift_remove("default");
    keywords.set(FAULTY, reason.into());
}

/// Removes all internal keywords from one schema.
pub(crate) fn strip_marks(keywords: &mut Map<String, Value>) {
    for keyword in [ALIASES, NAMES, AUTHORED, FAULTY] {
        keywords.shift_remove(keyword);
    }
}

/// The least and the greatest integer of a type. A bound other than 0 is `None` for types of 64 or more bits.
type Range = (Option<i64>, Option<i64>);

/// The integer formats of schemars, with the bounds that fit into 64 bits.
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

/// Returns the range of the integer format called `format`. For types of 64 or more bits, a bound other than 0 is
/// `None`.
pub(crate) fn range_of(format: &str) -> Option<Range> {
    RANGES.iter().find(|(name, _)| *name == format).map(|(_, range)| *range)
}

fn range_in(keywords: &Map<String, Value>) -> Range {
    let bound = |keyword: &str| keywords.get(keyword).and_then(Value::as_i64);
    (bound("minimum"), bound("maximum"))
}

/// Returns whether the range in a schema is the range of a Rust integer type. Such a type refuses all other integers.
pub(crate) fn is_range_of_type(keywords: &Map<String, Value>) -> bool {
    let range = range_in(keywords);
    RANGES.iter().any(|(_, own)| *own == range)
}
