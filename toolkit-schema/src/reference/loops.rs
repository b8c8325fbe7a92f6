//! Loops of references, for providers that refuse some of them.

use super::{escape, target};
use crate::dialect::SchemaLoss;
use crate::index::{AddressMap, address};
use crate::keyword::{Role, Subschema, subschemas};
use crate::keywords::Keywords;
use crate::types::{has_name, has_type};
use serde_json::{Map, Value, json};
use std::borrow::Cow;

/// The parts of a value through which a provider allows loops, because they may be absent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LoopExits {
    /// Members that are not required.
    OptionalMembers,
    /// Members that are not required or may be `null`, and the items of arrays that may be empty.
    EmptyParts,
}

/// Changes each loop of references that leads through no part in `exits`, and returns the losses.
///
/// Properties on it are not required, and a loop without a property is cut off where it closes. Both accept
/// more values.
pub(super) fn open_loops(schema: &mut Value, exits: LoopExits) -> Vec<SchemaLoss> {
    let mut losses = Vec::new();
    let graph = Graph::new(schema, exits);
    if graph.looping().next().is_none() {
        return losses;
    }
    let required: Vec<(String, String)> = graph.looping().filter_map(|link| graph.property(link)).collect();
    for (path, name) in required {
        if let Some(Value::Object(object)) = schema.pointer_mut(&path) {
            no_longer_require(object, &name);
        }
        let reason =
            format!("`{name}` leads back to a schema around it, so the provider refuses it as required");
        losses.push(SchemaLoss::new(format!("{path}/properties/{}", escape(&name)), "required", reason));
    }
    let graph = Graph::new(schema, exits);
    let closing: Vec<(String, Value)> = graph.looping().filter_map(|link| graph.cut_off(link)).collect();
    for (path, remark) in closing {
        if let Some(schema) = schema.pointer_mut(&path) {
            *schema = remark;
        }
        let reason = "the reference leads back to a schema around it, and is cut off here";
        losses.push(SchemaLoss::new(path, "$ref", reason));
    }
    losses
}

/// Removes `name` from `required`, and says in the description of the object that each object has it.
fn no_longer_require(object: &mut Map<String, Value>, name: &str) {
    if let Some(Value::Array(required)) = object.get_mut("required") {
        required.retain(|required| required != name);
        if required.is_empty() {
            object.shift_remove("required");
        }
    }
    let property = object.get_mut("properties").and_then(|properties| properties.get_mut(name));
    if let Some(Value::Object(property)) = property {
        let description = match property.get("description").and_then(Value::as_str) {
            Some(text) => format!("{text}\nRequired."),
            None => "Required.".to_owned(),
        };
        property.set("description", description.into());
    }
}

/// The schemas of a document, and how their values contain each other.
struct Graph<'a> {
    schemas: Vec<GraphSchema<'a>>,
    links: Vec<Link<'a>>,
    /// The index in `links` of the first link of each schema; its others follow.
    first: Vec<usize>,
}

/// A schema with its JSON pointer.
struct GraphSchema<'a> {
    schema: &'a Value,
    path: String,
}

/// The step from a schema to one inside, or to a reference's target.
#[derive(Clone, Copy)]
struct Link<'a> {
    from: usize,
    to: usize,
    kind: LinkKind<'a>,
}

#[derive(Clone, Copy)]
enum LinkKind<'a> {
    Property(&'a str),
    Reference(&'a str),
    Other,
}

impl<'a> Graph<'a> {
    /// Lists the schemas of a document, and all links except through the parts in `exits`.
    fn new(root: &'a Value, exits: LoopExits) -> Self {
        let mut schemas = vec![GraphSchema { schema: root, path: String::new() }];
        let mut numbers = AddressMap::default();
        numbers.insert(address(root), 0);
        let mut next = 0;
        while let Some(GraphSchema { schema, path }) = schemas.get(next) {
            let mut found: Vec<GraphSchema<'a>> = Vec::new();
            for inside in subschemas(schema) {
                let path = match &inside.key {
                    Some(key) => format!("{path}/{}/{}", inside.keyword, escape(key)),
                    None => format!("{path}/{}", inside.keyword),
                };
                found.push(GraphSchema { schema: inside.schema, path });
            }
            for place in found {
                numbers.insert(address(place.schema), schemas.len());
                schemas.push(place);
            }
            next += 1;
        }
        let mut links = Vec::new();
        let mut first = Vec::new();
        for (from, GraphSchema { schema, .. }) in schemas.iter().enumerate() {
            first.push(links.len());
            if let Some(reference) = schema.get("$ref").and_then(Value::as_str)
                && let Some(&to) = target(root, reference).and_then(|target| numbers.get(address(target)))
            {
                links.push(Link { from, to, kind: LinkKind::Reference(reference) });
            }
            for inside in subschemas(schema) {
                if let Some(&to) = numbers.get(address(inside.schema))
                    && let Some(kind) = exits.link(schema, &inside)
                {
                    links.push(Link { from, to, kind });
                }
            }
        }
        Self { schemas, links, first }
    }

    /// Returns the links on loops.
    fn looping(&self) -> impl Iterator<Item = &Link<'a>> {
        let loops = self.loops();
        self.links.iter().filter(move |link| loops.get(link.from) == loops.get(link.to))
    }

    /// Returns a number for each schema, the same for schemas on the same loops.
    ///
    /// This is Kosaraju's algorithm: follow schemas to their ends, then backwards in the reverse order of
    /// these ends. It does not recurse, so long chains cannot exhaust the stack.
    fn loops(&self) -> Vec<usize> {
        let mut ended = Vec::new();
        let mut seen = vec![false; self.schemas.len()];
        for start in 0..self.schemas.len() {
            let mut open = vec![(start, 0)];
            while let Some((schema, next)) = open.pop() {
                if next == 0 && std::mem::replace(&mut seen[schema], true) {
                    continue;
                }
                match self.links.get(self.first[schema] + next).filter(|link| link.from == schema) {
                    Some(link) => open.extend([(schema, next + 1), (link.to, 0)]),
                    None => ended.push(schema),
                }
            }
        }
        let mut sources = vec![Vec::new(); self.schemas.len()];
        for link in &self.links {
            sources[link.to].push(link.from);
        }
        let mut loops = vec![usize::MAX; self.schemas.len()];
        for &start in ended.iter().rev() {
            let mut open = vec![start];
            while let Some(schema) = open.pop() {
                if loops[schema] == usize::MAX {
                    loops[schema] = start;
                    open.extend(&sources[schema]);
                }
            }
        }
        loops
    }

    /// Returns the object's path and the property's name, if the link is a property.
    fn property(&self, link: &Link<'_>) -> Option<(String, String)> {
        let LinkKind::Property(name) = link.kind else { return None };
        Some((self.schemas.get(link.from)?.path.clone(), name.to_owned()))
    }

    /// Returns the path of a reference and its replacement.
    fn cut_off(&self, link: &Link<'_>) -> Option<(String, Value)> {
        let LinkKind::Reference(reference) = link.kind else { return None };
        let name = reference.rsplit(['/', '#']).find(|part| !part.is_empty()).unwrap_or("root");
        let mut remark = json!({"description": format!("Built like `{name}`, inside which it stands.")});
        if let Some(kind) = self.schemas.get(link.to)?.schema.get("type") {
            remark["type"] = kind.clone();
        }
        Some((self.schemas.get(link.from)?.path.clone(), remark))
    }
}

impl LoopExits {
    /// Returns the kind of link to an inner schema, or `None` if values may lack this part.
    fn link<'a>(self, schema: &Value, inside: &Subschema<'a>) -> Option<LinkKind<'a>> {
        match (inside.keyword, &inside.key) {
            _ if inside.role == Role::Definitions => None,
            ("properties", Some(Cow::Borrowed(name))) => {
                let is_required = has_name(schema.get("required"), name);
                let may_lack = !is_required || self == Self::EmptyParts && may_be_null(inside.schema);
                if may_lack { None } else { Some(LinkKind::Property(name)) }
            }
            ("additionalProperties" | "unevaluatedProperties" | "patternProperties", _) => None,
            ("items", None) if self == Self::EmptyParts && may_be_empty(schema) => None,
            _ => Some(LinkKind::Other),
        }
    }
}

fn may_be_null(schema: &Value) -> bool {
    if has_type(schema.get("type"), "null") {
        return true;
    }
    for union in ["anyOf", "oneOf"] {
        for branch in schema.get(union).and_then(Value::as_array).into_iter().flatten() {
            if has_type(branch.get("type"), "null") {
                return true;
            }
        }
    }
    false
}

fn may_be_empty(schema: &Value) -> bool {
    schema.get("minItems").and_then(Value::as_u64).unwrap_or(0) == 0
}
