//! The contract of a tool: the rules and checks for the arguments of every call.

use crate::check::{Checks, Origin, TOO_COMPLEX, repeated_names, rounded_integers};
use crate::closed::closed;
use crate::coerce::coerced;
use crate::default::check_defaults;
use crate::fault::{Fault, fault};
use crate::json::Json;
use crate::marks::{Notes, TakenNotes, take_notes};
use crate::normal::normal;
use crate::plan::Plan;
use crate::reader::Reader;
use crate::reference::SchemaRef;
use crate::rename::renamed;
use crate::violation::{Violation, ViolationKind};
use serde_json::Value;
use std::borrow::Cow;

/// The treatment of members that the schema does not publish.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Unpublished {
    /// Violations, at every depth.
    Refused,
    /// Dropped.
    Ignored,
    /// Passed on, because the schema may be incomplete.
    #[default]
    Kept,
}

/// The checks for the arguments of one tool. It belongs to one schema, which it does not contain.
#[derive(Debug, Clone, Default)]
pub struct Contract {
    origin: Origin,
    unpublished: Unpublished,
    notes: Notes,
    plan: Plan,
}

/// A value that a contract has read.
#[derive(Debug)]
pub struct ReadValue<'t> {
    /// The JSON text, with own names and without near misses.
    pub text: Cow<'t, str>,
    /// The violations by the value.
    pub violations: Vec<Violation>,
}

impl Contract {
    /// Makes the contract of a schema generated from Rust types, and moves its internal keywords into the
    /// contract.
    ///
    /// # Errors
    /// The schema cannot be checked, or has an invalid default.
    pub fn of_type(schema: &mut Value, unpublished: Unpublished) -> Result<Self, Fault> {
        let TakenNotes { notes, defaults, fault: unpublishable } = take_notes(schema);
        let faulty_default = unpublishable.or_else(|| check_defaults(schema, &notes, &defaults));
        let contract = Self::new(schema, Origin::RustType, unpublished, notes);
        match faulty_default.or_else(|| fault(schema, false)) {
            Some(fault) => Err(fault),
            None => Ok(contract),
        }
    }

    /// Makes the contract of any other schema.
    ///
    /// # Errors
    /// The schema cannot be checked.
    pub fn foreign(schema: &Value) -> Result<Self, Fault> {
        match fault(schema, true) {
            Some(fault) => Err(fault),
            None => Ok(Self::new(schema, Origin::Foreign, Unpublished::Kept, Notes::default())),
        }
    }

    fn new(schema: &Value, origin: Origin, unpublished: Unpublished, notes: Notes) -> Self {
        let plan = Plan::new(schema, origin);
        Self { origin, unpublished, notes, plan }
    }

    /// Returns the contract and the schema after a change. `change` gets the schema with its internal
    /// keywords, which move with their parts.
    pub fn changed(
        &self,
        schema: &Value,
        unpublished: Unpublished,
        change: impl FnOnce(&Value) -> Value,
    ) -> (Self, Value) {
        let mut schema = change(&self.notes.written_into(schema));
        let TakenNotes { notes, .. } = take_notes(&mut schema);
        (Self::new(&schema, self.origin, unpublished, notes), schema)
    }

    /// Returns the treatment of unpublished members.
    #[must_use]
    pub fn unpublished(&self) -> Unpublished {
        self.unpublished
    }

    /// Returns whether the schema was generated from Rust types.
    #[must_use]
    pub fn is_of_type(&self) -> bool {
        self.origin == Origin::RustType
    }

    /// Returns the published schema, if it differs: its objects are closed where the contract refuses
    /// members.
    #[must_use]
    pub fn published(&self, schema: &Value) -> Option<Value> {
        let refuses = self.is_of_type() && self.unpublished == Unpublished::Refused;
        if refuses { closed(schema) } else { None }
    }

    /// Returns pairs of alias and name for the properties of the whole object.
    pub fn aliases<'a>(&'a self, schema: &'a Value) -> impl Iterator<Item = (&'a str, &'a str)> {
        self.notes.of_root(schema).into_iter()
    }

    /// Reads JSON that must certainly conform to the schema.
    #[must_use]
    pub fn reader<'t>(&'t self, text: &'t str) -> Reader<'t> {
        Reader::checked(text, &self.plan)
    }

    /// Returns whether `text` certainly conforms to a foreign schema, and so is [normal](Self::normal).
    #[must_use]
    pub fn is_normal(&self, text: &str) -> bool {
        !self.is_of_type() && self.plan.accepts(text)
    }

    /// Returns the names that the schema lists for the object in `text`, also those that other members would
    /// allow.
    #[must_use]
    pub fn member_names<'a>(&'a self, schema: &'a Value, text: &str) -> Vec<&'a str> {
        match Json::parse(text) {
            Ok(object) => self.checks(schema).member_names(schema, &object),
            Err(_) => Vec::new(),
        }
    }

    fn checks<'a>(&'a self, root: &'a Value) -> Checks<'a> {
        Checks {
            root,
            origin: self.origin,
            placed: self.notes.place(root),
            refuses_unpublished: self.unpublished == Unpublished::Refused,
            refuses_unclear: false,
        }
    }

    /// Reads the JSON value at the path `at` by a part of the schema. Aliases become own names. With
    /// `coerce`, near misses are coerced in a value with violations.
    #[must_use]
    pub fn read<'t>(&self, schema: SchemaRef<'_>, value: &Json<'t>, at: &str, coerce: bool) -> ReadValue<'t> {
        let checks = self.checks(schema.root);
        let schema = schema.schema;
        let own = renamed(&checks, schema, value);
        let parsed = own.as_deref().map(Json::parse);
        let read = if let Some(Ok(renamed)) = &parsed { renamed } else { value };
        let violations = self.violations(&checks, schema, read, at);
        if !violations.is_empty()
            && coerce
            && let Some(near) = coerced(&checks, schema, read)
        {
            return self.read_near(&checks, schema, near, at);
        }
        ReadValue { text: own.map_or(Cow::Borrowed(value.text), Cow::Owned), violations }
    }

    /// Reads a coerced value, which may reveal more aliases, such as those of a struct in a string.
    fn read_near<'t, 'a>(
        &self,
        checks: &Checks<'a>,
        schema: &'a Value,
        near: String,
        at: &str,
    ) -> ReadValue<'t> {
        let own = Json::parse(&near).ok().and_then(|value| renamed(checks, schema, &value));
        let text = own.unwrap_or(near);
        let violations = match Json::parse(&text) {
            Ok(value) => self.violations(checks, schema, &value, at),
            Err(_) => vec![Violation::new(at, ViolationKind::Constraint, TOO_COMPLEX)],
        };
        ReadValue { text: Cow::Owned(text), violations }
    }

    fn violations<'a>(
        &self,
        checks: &Checks<'a>,
        schema: &'a Value,
        value: &Json<'_>,
        at: &str,
    ) -> Vec<Violation> {
        let mut found = checks.violations(schema, value, at);
        found.extend(repeated_names(value, at));
        if found.is_empty() && self.origin == Origin::Foreign {
            found = rounded_integers(value, at);
        }
        found
    }

    /// Returns the violations that only count if a rule reads the text: lists that a Rust type may decode as
    /// a struct.
    #[must_use]
    pub fn unclear(&self, schema: &Value, text: &str) -> Vec<Violation> {
        let is_union = self.is_of_type() && text.contains('[');
        let checks = Checks { refuses_unclear: true, ..self.checks(schema) };
        if is_union { checks.violations_in_text(schema, text) } else { Vec::new() }
    }

    /// Returns a violation for each integer in a [read](Self::read) text that a [`Value`] would round.
    #[must_use]
    pub fn rounded(&self, text: &str) -> Vec<Violation> {
        match Json::parse(text) {
            Ok(value) => rounded_integers(&value, ""),
            Err(_) => Vec::new(),
        }
    }

    /// Returns the normal form of a [read](Self::read) value: without absent or ignored members, and with the
    /// published defaults.
    ///
    /// A value of a foreign schema keeps its text, because such defaults are remarks.
    #[must_use]
    pub fn normal<'t>(&self, schema: SchemaRef<'_>, text: &'t str) -> Cow<'t, str> {
        if !self.is_of_type() {
            return text.into();
        }
        match Json::parse(text) {
            Ok(value) => normal(&self.checks(schema.root), schema.schema, &value).into(),
            Err(_) => text.into(),
        }
    }
}
