//! The `tools` of a request, rendered once and shared.

pub(crate) mod declaration;
mod limits;
mod options;
mod report;
pub(crate) mod standard;
mod strict;
pub(crate) mod tool_config;

use crate::facts::{Facts, ToolFacts};
use crate::hosted::{HostedTool, without_secrets};
use declaration::{DefinitionCodec, DefinitionEncoder, EncodedDefinition, Spelling, unsupported_metadata};
pub use limits::LimitExceeded;
pub use options::DefinitionOptions;
pub use report::{DefinitionLoss, DefinitionReport, RenamedParameter};
use serde::ser::SerializeStruct;
use serde::{Serialize, Serializer};
use serde_json::Value;
use std::borrow::{Borrow, Cow};
use std::fmt;
use std::sync::{Arc, OnceLock};
pub use strict::{NotStrict, StrictTools};
pub use tool_config::EncodedToolConfig;
use toolkit_core::definition::{ToolDefinition, parameter_names};
use toolkit_core::name::WireNames;
use toolkit_schema::__private::{RAW_VALUE, sort_by};
use toolkit_schema::{SchemaDialect, SchemaLoss};

/// The rendered JSON of one definition, reused until its spelling or strictness changes.
#[derive(Debug)]
pub struct Fragment {
    spelled: Box<str>,
    strict: bool,
    json: String,
    losses: Vec<SchemaLoss>,
    /// The parameters with another spelling, and this spelling.
    renamed: Vec<(String, String)>,
}

pub(crate) struct Renderer<'a> {
    codec: &'static dyn DefinitionCodec,
    facts: Facts,
    names: &'a WireNames,
    options: &'a DefinitionOptions,
    definitions: &'a [&'a ToolDefinition],
    plan: strict::Plan,
}

impl<'a> Renderer<'a> {
    pub(crate) fn new(
        codec: &'static dyn DefinitionCodec,
        definitions: &'a [&'a ToolDefinition],
        names: &'a WireNames,
        options: &'a DefinitionOptions,
    ) -> Self {
        let facts = if options.standard_fields { standard::facts(codec.facts()) } else { *codec.facts() };
        let plan = strict::plan(&facts, definitions, options.strict);
        Self { codec, facts, names, options, definitions, plan }
    }

    /// Returns whether an earlier `fragment` is still valid for the definition at `index`.
    pub(crate) fn holds(&self, index: usize, fragment: &Fragment) -> bool {
        let Some(definition) = self.definitions.get(index) else { return false };
        fragment.strict == self.plan.strict[index]
            && *fragment.spelled == *self.names.spell(definition.name.as_str())
    }

    /// Returns the schema dialect for a tool, with
    /// [`inline_references`](DefinitionOptions::inline_references) if set. The strict dialects and Gemini's
    /// own inline references anyway.
    const fn dialect(&self, strict: bool) -> SchemaDialect {
        match self.facts.tools.dialect(strict, self.options.json_schema) {
            SchemaDialect::OpenAi | SchemaDialect::Anthropic if self.options.inline_references => {
                SchemaDialect::Inlined
            }
            dialect => dialect,
        }
    }

    pub(crate) fn fragment(&self, index: usize) -> Fragment {
        let definition = self.definitions[index];
        let strict = self.plan.strict[index];
        let dialect = self.dialect(strict);
        let outputs = self.options.output_schemas;
        let spellings = match self.facts.tools.parameters {
            Some(rule) => parameter_names(rule, &definition.parameters),
            None => WireNames::default(),
        };
        let how = Spelling { names: self.names, strict, dialect, outputs, parameters: &spellings };
        let is_grouped = self.codec.namespace(definition, self.options).is_some();
        let own = if self.options.standard_fields { None } else { Some(self.facts.name) };
        let namespace = if is_grouped { Some("namespace") } else { None };
        let mut encoded = if self.options.standard_fields {
            let encoded = self.codec.encode_definition(&standard::definition(definition), &how);
            let mut encoder = DefinitionEncoder { definition, how: &how, losses: encoded.losses };
            encoder.report_unsupported(ToolFacts::FUNCTIONS_ONLY, Some(standard::REASON));
            EncodedDefinition { json: encoded.json, losses: encoder.losses }
        } else {
            self.codec.encode_definition(definition, &how)
        };
        encoded.losses.extend(unsupported_metadata(definition, &self.facts, [own, namespace]));
        let mut renamed = Vec::new();
        for (name, spelling) in spellings.respelled() {
            renamed.push((name.to_owned(), spelling.to_owned()));
        }
        sort_by(&mut renamed, Ord::cmp);
        Fragment {
            spelled: self.names.spell(definition.name.as_str()).into(),
            strict,
            json: encoded.json.to_string(),
            losses: encoded.losses,
            renamed,
        }
    }

    pub(crate) fn render_all(&self) -> Definitions {
        let fragments: Vec<Fragment> =
            (0..self.definitions.len()).map(|index| self.fragment(index)).collect();
        self.assemble(&fragments)
    }

    /// Returns the entries of `tools`: each definition without a namespace, and each namespace at the
    /// position of its first definition.
    fn entries<'f>(&self, fragments: &'f [impl Borrow<Fragment>]) -> Vec<Cow<'f, str>> {
        let mut groups: Vec<(Option<&str>, &ToolDefinition, Vec<&str>)> = Vec::with_capacity(fragments.len());
        for (definition, fragment) in self.definitions.iter().zip(fragments) {
            let json = fragment.borrow().json.as_str();
            let namespace = self.codec.namespace(definition, self.options);
            match groups.iter_mut().find(|(known, ..)| known.is_some() && *known == namespace) {
                Some((.., tools)) => tools.push(json),
                None => groups.push((namespace, definition, vec![json])),
            }
        }
        let mut entries = Vec::with_capacity(groups.len());
        for (namespace, first, tools) in groups {
            entries.push(match namespace {
                Some(_) => Cow::Owned(self.codec.write_namespace(first, self.options, &tools.join(","))),
                None => Cow::Borrowed(tools.first().copied().unwrap_or_default()),
            });
        }
        entries
    }

    /// Joins the fragments of all definitions, in the given order.
    pub(crate) fn assemble(&self, fragments: &[impl Borrow<Fragment>]) -> Definitions {
        let mut json = String::from("[]");
        if !fragments.is_empty() {
            let (before, after) = self.facts.fields.frame;
            json = format!("{before}{}{after}", self.entries(fragments).join(","));
        }
        let mut report = DefinitionReport {
            limits: limits::check(&self.facts, self.definitions, self.names),
            not_strict: self.plan.refused.clone(),
            ..DefinitionReport::default()
        };
        for (definition, fragment) in self.definitions.iter().zip(fragments) {
            let Fragment { losses, renamed, .. } = fragment.borrow();
            let tool = definition.name.as_str();
            for loss in losses {
                report.losses.push(DefinitionLoss { tool: tool.to_owned(), loss: loss.clone() });
            }
            for (name, spelling) in renamed.iter().cloned() {
                report.renamed.push(RenamedParameter { tool: tool.to_owned(), name, spelling });
            }
        }
        Definitions::new(json, report, self.codec)
    }
}

/// The rendered `tools` of a request. Clones are cheap. Serialization copies the rendered JSON.
#[derive(Clone)]
pub struct Definitions {
    tools: Arc<Rendered>,
    report: Arc<DefinitionReport>,
    codec: &'static dyn DefinitionCodec,
}

/// The JSON as text and as value, each made from the other on demand.
#[derive(Default)]
struct Rendered {
    json: OnceLock<String>,
    value: OnceLock<Value>,
}

impl Definitions {
    fn new(json: String, report: DefinitionReport, codec: &'static dyn DefinitionCodec) -> Self {
        let tools = Rendered { json: json.into(), ..Rendered::default() };
        Self { tools: Arc::new(tools), report: Arc::new(report), codec }
    }

    /// Adds tools defined by the provider. Their JSON is not changed, except that
    /// [`client_tool_search`](crate::hosted::openai::client_tool_search) gets a description and parameters.
    ///
    /// Some of these tools are [answered](HostedTool::answered_by) by a tool of the program with a fixed
    /// name, whose definition is then left out. A hosted tool of another API is left out and reported as a
    /// loss.
    ///
    /// ```
    /// use toolkit_ai::llm::hosted::{anthropic, openai};
    /// use toolkit_ai::llm::ApiFormat;
    /// use toolkit_ai::ToolRegistry;
    ///
    /// let tools = ToolRegistry::new().definitions(ApiFormat::Anthropic);
    /// let tools = tools.with_hosted(&[anthropic::web_search(), openai::web_search()]);
    /// assert_eq!(tools.to_value()[0]["type"], "web_search_20250305");
    /// assert_eq!(tools.report().losses.len(), 1);
    /// ```
    #[must_use]
    pub fn with_hosted<'a>(&self, tools: impl IntoIterator<Item = &'a HostedTool>) -> Self {
        let mut report = (*self.report).clone();
        let mut entries = self.value().as_array().cloned().unwrap_or_default();
        for tool in tools {
            if tool.format.name() != self.codec.facts().name {
                let reason = format!("the tool is defined by the API `{}`, so it is left out", tool.format);
                let loss = SchemaLoss::new("/type", "hosted", reason);
                report.losses.push(DefinitionLoss { tool: tool.name().to_owned(), loss });
                continue;
            }
            if let Some(entry) = self.codec.hosted_entry(&tool.definition, &mut entries) {
                entries.push(entry);
            }
        }
        let tools = Rendered { value: Value::Array(entries).into(), ..Rendered::default() };
        Self { tools: Arc::new(tools), report: Arc::new(report), codec: self.codec }
    }

    /// Returns the definitions as a JSON string.
    #[must_use]
    pub fn as_json(&self) -> &str {
        self.tools.json.get_or_init(|| self.tools.value.get().unwrap_or(&Value::Null).to_string())
    }

    /// Returns the definitions as a JSON value that clones share.
    #[must_use]
    pub fn value(&self) -> &Value {
        self.tools.value.get_or_init(|| self.as_json().parse().unwrap_or_default())
    }

    /// Returns a copy of the definitions as a JSON value.
    #[must_use]
    pub fn to_value(&self) -> Value {
        self.value().clone()
    }

    /// Returns the lost settings, exceeded limits, and tools sent without enforcement.
    #[must_use]
    pub fn report(&self) -> &DefinitionReport {
        &self.report
    }
}

impl Serialize for Definitions {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        // Writes the text in the form of a `RawValue`, which would parse it once more.
        let mut raw = serializer.serialize_struct(RAW_VALUE, 1)?;
        raw.serialize_field(RAW_VALUE, self.as_json())?;
        raw.end()
    }
}

impl fmt::Display for Definitions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_json())
    }
}

impl fmt::Debug for Definitions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", without_secrets(self.to_value()))
    }
}
