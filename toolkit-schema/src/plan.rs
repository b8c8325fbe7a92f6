//! Compiled checks: what a [`Reader`] expects at each place of a JSON text.
//!
//! A plan accepts only what certainly conforms, and [`check`](crate::check) checks all else in full.

use crate::check::Origin;
use crate::index::{AddressMap, address};
use crate::json::quoted;
use crate::keyword::Keyword;
use crate::reader::{DIGITS, Reader};
use crate::reference::resolve;
use crate::types::{has_name, names, types};
use serde_json::{Map, Value};
use std::ptr;

/// The maximum number of an object's properties, limited by the bits for given ones.
pub(crate) const MOST_FIELDS: usize = 64;

/// A compiled schema.
#[derive(Debug, Clone, Default)]
pub(crate) struct Plan {
    /// The matchers, of which the first is that of the whole schema.
    pub(crate) matchers: Vec<Matcher>,
}

type At = usize;

#[derive(Debug, Clone)]
pub(crate) enum Matcher {
    /// Any value of an unchecked text.
    Free,
    /// Any value. The plan accepts single values except long numbers.
    Any,
    /// A value that the plan does not accept.
    Unknown,
    Null,
    Boolean,
    /// An integer, without a maximum if the most is that of `i64`.
    Integer {
        least: i64,
        most: i64,
        /// Whether it may have more than 64 bits.
        is_wide: bool,
    },
    /// A number with a maximum count of characters.
    Number {
        longest: usize,
    },
    Text {
        least: usize,
        most: usize,
    },
    Words(Box<[Box<str>]>),
    List {
        item: At,
        least: usize,
        most: usize,
    },
    /// An object with different names.
    Map(At),
    /// An object with only the listed names.
    Object(Box<Object>),
    /// One schema for each JSON type.
    ByType(Box<[(u8, At)]>),
}

#[derive(Debug, Clone)]
pub(crate) struct Object {
    pub(crate) fields: Box<[Field]>,
    /// A bit for each required field.
    pub(crate) required: u64,
}

#[derive(Debug, Clone)]
pub(crate) struct Field {
    pub(crate) name: Box<str>,
    /// The comma, quoted name and colon before a value that is not the first.
    pub(crate) key: Box<[u8]>,
    pub(crate) at: At,
    /// Whether `null` means that the field is absent.
    pub(crate) is_optional: bool,
}

impl Plan {
    pub(crate) fn new(root: &Value, origin: Origin) -> Self {
        let mut compiler =
            Compiler { root, origin, known: AddressMap::default(), open: Vec::new(), matchers: Vec::new() };
        compiler.compile(root);
        while let Some((at, target)) = compiler.open.pop() {
            compiler.set(at, target);
        }
        Self { matchers: compiler.matchers }
    }

    /// Returns whether a JSON text certainly conforms.
    pub(crate) fn accepts(&self, text: &str) -> bool {
        let mut reader = Reader::checked(text, self);
        reader.skip().is_ok() && reader.end().is_ok()
    }
}

struct Compiler<'a> {
    root: &'a Value,
    origin: Origin,
    /// The matchers of references, by the address of the target.
    known: AddressMap<At>,
    /// The targets to compile, kept here so that chains of references take no stack.
    open: Vec<(At, &'a Value)>,
    matchers: Vec<Matcher>,
}

impl<'a> Compiler<'a> {
    fn compile(&mut self, schema: &'a Value) -> At {
        let Some(own) = resolve(self.root, schema) else { return self.add(Matcher::Unknown) };
        if ptr::eq(own, schema) {
            let at = self.add(Matcher::Unknown);
            return self.set(at, own);
        }
        // The full check handles keywords beside a reference.
        if schema.as_object().is_none_or(|keywords| constrains(keywords, &["$ref"])) {
            return self.add(Matcher::Unknown);
        }
        if let Some(at) = self.known.get(address(own)) {
            return *at;
        }
        let at = self.add(Matcher::Unknown);
        self.known.insert(address(own), at);
        self.open.push((at, own));
        at
    }

    fn set(&mut self, at: At, schema: &'a Value) -> At {
        let matcher = self.matcher(schema);
        if let Some(place) = self.matchers.get_mut(at) {
            *place = matcher;
        }
        at
    }

    fn add(&mut self, matcher: Matcher) -> At {
        self.matchers.push(matcher);
        self.matchers.len() - 1
    }

    fn matcher(&mut self, schema: &'a Value) -> Matcher {
        let keywords = match schema {
            Value::Object(keywords) => keywords,
            Value::Bool(true) => return Matcher::Any,
            _ => return Matcher::Unknown,
        };
        if !constrains(keywords, &[]) {
            return Matcher::Any;
        }
        if let Some(union) = union_of_types(keywords) {
            return self.by_type(union);
        }
        let mut kinds = types(keywords.get("type"));
        match (kinds.next(), kinds.next(), kinds.next()) {
            (Some(kind), None, _) => self.of_type(keywords, kind).unwrap_or(Matcher::Unknown),
            (Some(kind), Some("null"), None)
                if !keywords.contains_key("enum") && !keywords.contains_key("const") =>
            {
                let matcher = self.of_type(keywords, kind).unwrap_or(Matcher::Unknown);
                let inner = self.add(matcher);
                let null = self.add(Matcher::Null);
                match type_bits(kind) {
                    Some(bits) => Matcher::ByType([(bits, inner), (NULL, null)].into()),
                    None => Matcher::ByType([(NULL, null)].into()),
                }
            }
            _ => Matcher::Unknown,
        }
    }

    fn by_type(&mut self, branches: &'a [Value]) -> Matcher {
        let mut taken = 0;
        let mut by_type = Vec::with_capacity(branches.len());
        for branch in branches {
            let own = resolve(self.root, branch);
            let mut kinds = types(own.and_then(|own| own.get("type")));
            let bits = match (kinds.next().and_then(type_bits), kinds.next()) {
                (Some(bits), None) if taken & bits == 0 => bits,
                _ => return Matcher::Unknown,
            };
            taken |= bits;
            by_type.push((bits, self.compile(branch)));
        }
        Matcher::ByType(by_type.into())
    }

    /// Returns the matcher for a type, or `None` if the full check must handle the other keywords.
    fn of_type(&mut self, keywords: &'a Map<String, Value>, kind: &str) -> Option<Matcher> {
        let only = |known: &[&str]| !constrains(keywords, known);
        match kind {
            "null" if only(&["type"]) => Some(Matcher::Null),
            "boolean" if only(&["type"]) => Some(Matcher::Boolean),
            "integer" if only(&["type", "minimum", "maximum"]) => {
                let least = bound_or(keywords.get("minimum"), i64::MIN)?;
                let most = bound_or(keywords.get("maximum"), i64::MAX)?;
                // A tool with a foreign schema may round wider integers.
                let is_wide = self.origin == Origin::RustType && (least, most) == (i64::MIN, i64::MAX);
                Some(Matcher::Integer { least, most, is_wide })
            }
            "number" if only(&["type"]) => {
                // A tool with a foreign schema may round longer numbers.
                let longest = if self.origin == Origin::Foreign { DIGITS } else { usize::MAX };
                Some(Matcher::Number { longest })
            }
            "string" if only(&["type", "minLength", "maxLength"]) => {
                let least = count_or(keywords.get("minLength"), 0)?;
                let most = count_or(keywords.get("maxLength"), usize::MAX)?;
                Some(Matcher::Text { least, most })
            }
            "string" if only(&["type", "enum"]) || only(&["type", "const"]) => {
                let listed = match keywords.get("enum").and_then(Value::as_array) {
                    Some(values) => values.as_slice(),
                    None => keywords.get("const").map(std::slice::from_ref).unwrap_or_default(),
                };
                let mut words = Vec::with_capacity(listed.len());
                for word in listed {
                    words.push(word.as_str()?.into());
                }
                Some(Matcher::Words(words.into()))
            }
            "array" if only(&["type", "items", "minItems", "maxItems"]) => {
                let item = match keywords.get("items") {
                    None => self.add(Matcher::Any),
                    Some(Value::Array(_)) => return None,
                    Some(items) => self.compile(items),
                };
                let least = count_or(keywords.get("minItems"), 0)?;
                let most = count_or(keywords.get("maxItems"), usize::MAX)?;
                Some(Matcher::List { item, least, most })
            }
            "object" => self.object(keywords),
            _ => None,
        }
    }

    fn object(&mut self, keywords: &'a Map<String, Value>) -> Option<Matcher> {
        if constrains(keywords, &["type", "properties", "required", "additionalProperties"]) {
            return None;
        }
        let properties = keywords.get("properties").and_then(Value::as_object);
        let rest = keywords.get("additionalProperties");
        if properties.is_none_or(Map::is_empty) && !keywords.contains_key("required") {
            match rest {
                Some(Value::Bool(false)) => {}
                Some(rest) => return Some(Matcher::Map(self.compile(rest))),
                None if self.origin == Origin::Foreign => {
                    return Some(Matcher::Map(self.add(Matcher::Any)));
                }
                None => {}
            }
        }
        let mut fields = Vec::new();
        let mut required = 0;
        for (index, (name, property)) in properties.into_iter().flatten().enumerate().take(MOST_FIELDS + 1) {
            let at = self.compile(property);
            let is_required = has_name(keywords.get("required"), name);
            let has_default = !property.get("default").is_none_or(Value::is_null);
            let is_optional = self.origin == Origin::RustType && !is_required && !has_default;
            required |= u64::from(is_required) << (index % MOST_FIELDS);
            let key = format!(",{}:", quoted(name)).into_bytes().into();
            fields.push(Field { name: name.as_str().into(), key, at, is_optional });
        }
        let listed = names(keywords.get("required")).count();
        let is_complete = listed == usize::try_from(required.count_ones()).unwrap_or_default();
        let is_small = fields.len() <= MOST_FIELDS;
        if !is_small || !is_complete {
            return None;
        }
        Some(Matcher::Object(Box::new(Object { fields: fields.into(), required })))
    }
}

/// Returns the branches of a schema that is only a union.
fn union_of_types(keywords: &Map<String, Value>) -> Option<&Vec<Value>> {
    let keyword = ["anyOf", "oneOf"].into_iter().find(|keyword| keywords.contains_key(*keyword))?;
    if constrains(keywords, &[keyword]) { None } else { keywords.get(keyword)?.as_array() }
}

fn count_or(value: Option<&Value>, otherwise: usize) -> Option<usize> {
    match value {
        Some(count) => usize::try_from(count.as_u64()?).ok(),
        None => Some(otherwise),
    }
}

/// Returns the bound in `value`, unless the full check must handle it at the end of the range.
fn bound_or(value: Option<&Value>, otherwise: i64) -> Option<i64> {
    match value {
        Some(bound) => bound.as_i64().filter(|bound| *bound != otherwise),
        None => Some(otherwise),
    }
}

/// Returns whether a keyword other than `known` constrains values.
pub(crate) fn constrains(keywords: &Map<String, Value>, known: &[&str]) -> bool {
    for keyword in keywords.keys().map(String::as_str) {
        let is_remark = matches!(keyword, "$defs" | "definitions") || Keyword::is_annotation(keyword);
        if !is_remark && !known.contains(&keyword) {
            return true;
        }
    }
    false
}

/// The bit of the JSON type `null`.
pub(crate) const NULL: u8 = 1;

/// Returns the bit of a JSON type, one for both integers and numbers.
fn type_bits(kind: &str) -> Option<u8> {
    match kind {
        "null" => Some(NULL),
        "boolean" => Some(1 << 1),
        "string" => Some(1 << 2),
        "array" => Some(1 << 3),
        "object" => Some(1 << 4),
        "integer" | "number" => Some(1 << 5),
        _ => None,
    }
}
