//! A schema taken apart: references followed, `allOf` merged, every keyword with the place it comes from.

use serde_json::Value;
use std::borrow::Cow;
use std::rc::Rc;

/// A JSON pointer into the original schema.
pub(super) type Path = Rc<str>;

/// One schema.
#[derive(Debug, Clone)]
pub(super) struct Node<'a> {
    pub(super) path: Path,
    pub(super) form: Form,
    pub(super) keywords: Vec<Keyword<'a>>,
}

/// How a schema is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Form {
    Object,
    /// `true`: everything is valid.
    True,
    /// `false`: nothing is.
    False,
}

#[derive(Debug, Clone)]
pub(super) struct Keyword<'a> {
    pub(super) name: &'a str,
    /// The schema it stands in.
    pub(super) path: Path,
    pub(super) part: Part<'a>,
}

/// What stands behind a keyword.
#[derive(Debug, Clone)]
pub(super) enum Part<'a> {
    /// No schema.
    Value(Cow<'a, Value>),
    One(Rc<Node<'a>>),
    List(Vec<Rc<Node<'a>>>),
    Named(Rc<Named<'a>>),
    /// A reference that stays one, to the target of this number.
    Ref(usize),
}

pub(super) type Named<'a> = Vec<(&'a str, Rc<Node<'a>>)>;

impl<'a> Node<'a> {
    pub(super) fn new(path: &Path, form: Form) -> Self {
        Self { path: path.clone(), form, keywords: Vec::new() }
    }

    pub(super) fn is_never(&self) -> bool {
        self.form == Form::False
    }

    pub(super) fn get(&self, name: &str) -> Option<&Keyword<'a>> {
        self.keywords.iter().find(|keyword| keyword.name == name)
    }

    pub(super) fn has(&self, name: &str) -> bool {
        self.get(name).is_some()
    }

    pub(super) fn value(&self, name: &str) -> Option<&Value> {
        match &self.get(name)?.part {
            Part::Value(value) => Some(value),
            _ => None,
        }
    }

    pub(super) fn text(&self, name: &str) -> Option<&str> {
        self.value(name)?.as_str()
    }

    pub(super) fn one(&self, name: &str) -> Option<&Rc<Self>> {
        match &self.get(name)?.part {
            Part::One(node) => Some(node),
            _ => None,
        }
    }

    pub(super) fn list(&self, name: &str) -> &[Rc<Self>] {
        match self.get(name).map(|keyword| &keyword.part) {
            Some(Part::List(nodes)) => nodes,
            _ => &[],
        }
    }

    pub(super) fn named(&self, name: &str) -> &[(&'a str, Rc<Self>)] {
        match self.get(name).map(|keyword| &keyword.part) {
            Some(Part::Named(named)) => named,
            _ => &[],
        }
    }

    /// The names that `required` lists.
    pub(super) fn required(&self) -> Vec<&str> {
        let names = self.value("required").and_then(Value::as_array);
        names.into_iter().flatten().filter_map(Value::as_str).collect()
    }

    /// The kinds that `type` allows; `None` if it is not there.
    pub(super) fn types(&self) -> Option<Vec<&str>> {
        Some(kinds(self.value("type")?))
    }

    /// The target of a reference that stays one.
    pub(super) fn reference(&self) -> Option<usize> {
        match self.get("$ref")?.part {
            Part::Ref(target) => Some(target),
            _ => None,
        }
    }

    pub(super) fn set(&mut self, name: &'a str, path: &Path, part: Part<'a>) {
        match self.keywords.iter_mut().find(|keyword| keyword.name == name) {
            Some(keyword) => keyword.part = part,
            None => self.keywords.push(Keyword { name, path: path.clone(), part }),
        }
        if self.form == Form::True {
            self.form = Form::Object;
        }
    }

    pub(super) fn set_value(&mut self, name: &'a str, path: &Path, value: Value) {
        self.set(name, path, Part::Value(Cow::Owned(value)));
    }

    pub(super) fn take(&mut self, name: &str) -> Option<Keyword<'a>> {
        let index = self.keywords.iter().position(|keyword| keyword.name == name)?;
        Some(self.keywords.remove(index))
    }

    /// Adds a line to the description.
    pub(super) fn note(&mut self, note: &str) {
        let path = self.path.clone();
        let description = join_lines(self.text("description"), note);
        self.set_value("description", &path, description.into());
    }
}

/// The kinds that a value of `type` lists.
pub(super) fn kinds(value: &Value) -> Vec<&str> {
    match value {
        Value::String(kind) => vec![kind],
        Value::Array(kinds) => kinds.iter().filter_map(Value::as_str).collect(),
        _ => Vec::new(),
    }
}

/// The kind of a value, as `type` calls it.
pub(super) fn kind_of(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "boolean",
        Value::Number(number) if number.is_f64() && number.as_f64().is_none_or(|n| n.fract() != 0.0) => {
            "number"
        }
        Value::Number(_) => "integer",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    }
}

/// Whether `type: kind` allows values that are of the kind `of`.
pub(super) fn allows(kind: &str, of: &str) -> bool {
    kind == of || (kind == "number" && of == "integer")
}

/// Two paragraphs; a text that is there already is not said twice.
pub(super) fn join_lines(text: Option<&str>, more: &str) -> String {
    match text {
        None | Some("") => more.to_owned(),
        Some(text) if more.is_empty() || text.contains(more) => text.to_owned(),
        Some(text) => format!("{text}\n{more}"),
    }
}

/// A name as a step of a JSON pointer.
pub(super) fn escape(name: &str) -> Cow<'_, str> {
    if name.contains(['~', '/']) {
        Cow::Owned(name.replace('~', "~0").replace('/', "~1"))
    } else {
        Cow::Borrowed(name)
    }
}
