//! The parts of a definition made on first use: contract and output schema.

use crate::output::{OutputForm, OutputType};
use crate::schema::__private::{Contract, Fault, output_schema};
use serde_json::Value;
use std::fmt;
use std::sync::{Arc, OnceLock};

/// The contract of a tool, made with the tool from Rust types, or from the schema on first use.
#[derive(Clone, Default)]
pub(super) struct ContractCell(OnceLock<Arc<Result<Contract, Fault>>>);

impl ContractCell {
    pub(super) fn of(&self, schema: &Value) -> &Result<Contract, Fault> {
        self.0.get_or_init(|| Arc::new(Contract::foreign(schema)))
    }

    pub(super) fn made(contract: Result<Contract, Fault>) -> Self {
        Self(OnceLock::from(Arc::new(contract)))
    }
}

/// Definitions with equal schemas are equal, whether or not their contracts are made.
#[expect(clippy::missing_trait_methods, reason = "`ne` is never written by hand")]
impl PartialEq for ContractCell {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl fmt::Debug for ContractCell {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.0.get().is_some() { "made" } else { "not made" })
    }
}

/// The output's form, and its schema generated on first use.
#[derive(Clone, Default)]
pub(super) struct OutputSchema {
    of_type: Option<OutputType>,
    made: OnceLock<Option<Value>>,
}

impl OutputSchema {
    pub(super) fn known(schema: Value) -> Self {
        Self { of_type: None, made: OnceLock::from(Some(schema)) }
    }

    pub(super) const fn of_type(of_type: Option<OutputType>) -> Self {
        Self { of_type, made: OnceLock::new() }
    }

    pub(super) fn get(&self) -> Option<&Value> {
        self.made.get_or_init(|| self.generated()).as_ref()
    }

    fn generated(&self) -> Option<Value> {
        self.of_type?.schema.and_then(output_schema)
    }

    /// Returns the form of the output; JSON if there is a schema.
    pub(super) fn form(&self) -> Option<OutputForm> {
        match self.of_type {
            Some(of_type) => Some(of_type.form),
            None => self.get().map(|_| OutputForm::Json),
        }
    }
}

#[expect(clippy::missing_trait_methods, reason = "`ne` is never written by hand")]
impl PartialEq for OutputSchema {
    fn eq(&self, other: &Self) -> bool {
        self.form() == other.form() && self.get() == other.get()
    }
}

impl fmt::Debug for OutputSchema {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.get().fmt(f)
    }
}
