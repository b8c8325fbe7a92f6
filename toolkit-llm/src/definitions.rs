//! The `tools` of a request. They are rendered once and shared.

use crate::codec::Codec;
use crate::declaration::{DefinitionEncoder, EncodedDefinition, Spelling, unsupported_metadata};
use crate::definition_report::{DefinitionLoss, DefinitionReport, RenamedParameter};
use crate::facts::Facts;
use crate::hosted::{HostedTool, without_secrets};
use crate::limits;
use crate::standard;
use crate::strict::{self, StrictTools};
use serde::{Serialize, Serializer};
use serde_json::Value;
use serde_json::value::{RawValue, to_raw_value};
use std::borrow::{Borrow, Cow};
use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Arc, OnceLock};
use toolkit_core::definition::{ToolDefinition, parameter_names};
use toolkit_core::name::WireNames;
use toolkit_schema::{SchemaDialect, SchemaLoss};

/// Options for encoding definitions.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default)]
#[non_exhaustive]
pub struct DefinitionOptions {
    /// The tools for which the provider enforces the schema.
    pub strict: StrictTools,
    /// Whether Gemini receives plain JSON Schema in the field `parametersJsonSchema`, without losses. Otherwise, Gemini
    /// receives its own schema subset in the field `parameters`. All models and APIs of Gemini accept this subset.
    pub json_schema: bool,
    /// Whether output schemas are sent if the API has a field for them. Output schemas cost tokens, and help
    /// models that process results in code.
    pub output_schemas: bool,
    /// Whether the model is asked for the reason of each call, unless the
    /// [metadata](toolkit_core::ToolMetadata::call_reason) of a tool decides otherwise. The tools are then
    /// published with the additional argument `call_reason`.
    /// [`ToolRegistry::with_call_reason`](toolkit_core::ToolRegistry::with_call_reason) publishes the same
    /// argument, and removes it from calls before the tool sees them.
    pub call_reason: bool,
    /// Whether deferred tools are listed even if the registry has a [tool
    /// search](toolkit_core::ToolRegistry::with_tool_search). The two tools of the tool search are then left
    /// out. This is for providers with their own tool search, which receive `defer_loading`.
    pub list_deferred: bool,
    /// Whether each reference in a schema (`$ref`) is replaced by a copy of its target. Small models and some
    /// servers behind OpenAI's or Anthropic's format do not follow references. If a type is referenced often,
    /// the copies make the schema much longer. Ollama and Gemini's own subset never receive references.
    pub inline_references: bool,
    /// Whether Anthropic loads the deferred tools found by the registry's [tool
    /// search](toolkit_core::ToolRegistry::with_tool_search). The deferred tools are then listed with
    /// `defer_loading`, and the model searches them with `discover_tools`. Write the history with
    /// [`with_tool_references`](crate::HistoryWriter::with_tool_references), so that the provider loads the
    /// found tools. For OpenAI, use [`client_tool_search`](crate::hosted::openai::client_tool_search)
    /// instead.
    pub client_search: bool,
    /// The namespaces to write for OpenAI's Responses API, each with its description. With the provider's
    /// tool search, the model first sees only the namespaces, and loads their deferred tools when it needs
    /// them.
    pub namespaces: BTreeMap<String, String>,
    /// Whether only the standard fields of the API are sent: names, descriptions and parameters of functions. Set this
    /// for servers that implement another provider's API but refuse some of its fields. All tools are then sent as
    /// functions and without enforcement, and [`encode_tool_config`](crate::ConfiguredFormat::encode_tool_config)
    /// writes only the tool choice. Everything left out is reported.
    pub standard_fields: bool,
}

impl DefinitionOptions {
    /// Groups the tools of the namespace `name` for OpenAI's Responses API. The model sees `description` as
    /// the description of the group.
    ///
    /// The tools keep their full names within the group, so their calls are dispatched as usual. Other APIs
    /// have no namespaces and receive the tools without a group.
    ///
    /// ```
    /// use toolkit_ai::name::{Separator, WireNames};
    /// use toolkit_ai::llm::{ApiFormat, DefinitionOptions};
    /// use toolkit_ai::{ToolDefinition, ToolName};
    ///
    /// let format = ApiFormat::OpenAiResponses;
    /// let name = ToolName::qualified("fs", "read", Separator::Dot)?;
    /// let read = ToolDefinition::new(name, "Reads.", serde_json::json!({"type": "object"}));
    /// let names = WireNames::new(format.name_rule(), ["fs.read"]);
    /// let options = DefinitionOptions::default().with_namespace("fs", "The files of the project.");
    /// let tools = format.encode_definitions([&read], &names, &options).to_value();
    /// assert_eq!(tools[0]["type"], "namespace");
    /// assert_eq!(tools[0]["tools"][0]["name"], "fs_read");
    /// # Ok::<(), toolkit_ai::name::NameError>(())
    /// ```
    #[must_use]
    pub fn with_namespace(mut self, name: impl Into<String>, description: impl Into<String>) -> Self {
        self.namespaces.insert(name.into(), description.into());
        self
    }
}

setters! { DefinitionOptions:
    /// Sets the tools for which the provider enforces the schema.
    with_strict(strict: StrictTools) = strict;
    /// Sets whether Gemini receives plain JSON Schema.
    with_json_schema(json_schema: bool) = json_schema;
    /// Sets whether output schemas are sent.
    with_output_schemas(output_schemas: bool) = output_schemas;
    /// Sets whether the model is asked for a call reason.
    with_call_reason(call_reason: bool) = call_reason;
    /// Sets whether Anthropic loads the deferred tools found by the registry's tool search.
    with_client_search(client_search: bool) = client_search;
    /// Sets whether deferred tools are listed even if the registry has a tool search.
    with_list_deferred(list_deferred: bool) = list_deferred;
    /// Sets whether each reference in a schema is replaced by a copy of its target.
    with_inline_references(inline_references: bool) = inline_references;
    /// Sets whether only the standard fields of the API are sent.
    with_standard_fields(standard_fields: bool) = standard_fields;
}

/// The rendered JSON of one definition. It is reused until the spelling of the tool name or the strictness of
/// the tool changes.
#[derive(Debug)]
pub struct Fragment {
    spelled: Box<str>,
    strict: bool,
    json: String,
    losses: Vec<SchemaLoss>,
    /// The names of parameters that are sent in another spelling, each with this spelling.
    renamed: Vec<(String, String)>,
}

/// Renders the definitions of one request.
pub(crate) struct Renderer<'a> {
    codec: &'static dyn Codec,
    facts: Facts,
    names: &'a WireNames,
    options: &'a DefinitionOptions,
    definitions: &'a [&'a ToolDefinition],
    plan: strict::Plan,
}

impl<'a> Renderer<'a> {
    pub(crate) fn new(
        codec: &'static dyn Codec,
        definitions: &'a [&'a ToolDefinition],
        names: &'a WireNames,
        options: &'a DefinitionOptions,
    ) -> Self {
        let facts = if options.standard_fields { standard::facts(codec.facts()) } else { *codec.facts() };
        let plan = strict::plan(&facts, definitions, options.strict);
        Self { codec, facts, names, options, definitions, plan }
    }

    /// Returns whether `fragment`, from an earlier rendering, is still valid for the definition at `index`.
    pub(crate) fn holds(&self, index: usize, fragment: &Fragment) -> bool {
        let Some(definition) = self.definitions.get(index) else { return false };
        fragment.strict == self.plan.strict[index]
            && *fragment.spelled == *self.names.spell(definition.name.as_str())
    }

    /// Returns the schema dialect for a tool. If [`inline_references`](DefinitionOptions::inline_references)
    /// is set, references are replaced by their targets. The strict dialects and Gemini's own dialect do this
    /// anyway.
    const fn dialect(&self, strict: bool) -> SchemaDialect {
        match self.facts.dialect(strict, self.options.json_schema) {
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
        let parameters = self.facts.parameters.map(|rule| parameter_names(rule, &definition.parameters));
        let parameters = &parameters.unwrap_or_default();
        let how = Spelling { names: self.names, strict, dialect, outputs, parameters };
        let is_grouped = self.codec.namespace(definition, self.options).is_some();
        let own = (!self.options.standard_fields).then_some(self.facts.name);
        let is_sent = |key: &str| Some(key) == own || is_grouped && key == "namespace";
        let mut encoded = if self.options.standard_fields {
            let encoded = self.codec.encode_definition(&standard::definition(definition), &how);
            let mut encoder = DefinitionEncoder { definition, how: &how, losses: encoded.losses };
            encoder.report_unsupported(Facts::FUNCTIONS_ONLY, Some(standard::REASON));
            EncodedDefinition { json: encoded.json, losses: encoder.losses }
        } else {
            self.codec.encode_definition(definition, &how)
        };
        encoded.losses.extend(unsupported_metadata(definition, &self.facts, is_sent));
        let renamed = parameters.respelled().map(|(name, spelling)| (name.to_owned(), spelling.to_owned()));
        let mut renamed: Vec<_> = renamed.collect();
        renamed.sort_unstable();
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

    /// Returns the entries of the list `tools`. There is one entry for each definition without a namespace,
    /// and one entry for each namespace at the position of its first definition.
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
        let entry = |(namespace, first, tools): (Option<&str>, &ToolDefinition, Vec<&'f str>)| match namespace
        {
            Some(_) => Cow::Owned(self.codec.write_namespace(first, self.options, &tools.join(","))),
            None => Cow::Borrowed(tools.first().copied().unwrap_or_default()),
        };
        groups.into_iter().map(entry).collect()
    }

    /// Joins the fragments of all definitions into the `tools` of a request, in the given order.
    pub(crate) fn assemble(&self, fragments: &[impl Borrow<Fragment>]) -> Definitions {
        let mut json = String::from("[]");
        if !fragments.is_empty() {
            let (before, after) = self.facts.frame;
            json = format!("{before}{}{after}", self.entries(fragments).join(","));
        }
        let mut report = DefinitionReport {
            limits: limits::check(&self.facts, self.definitions, self.names),
            not_strict: self.plan.refused.clone(),
            ..DefinitionReport::default()
        };
        for (definition, fragment) in self.definitions.iter().zip(fragments) {
            let Fragment { losses, renamed, .. } = fragment.borrow();
            let tool = || definition.name.as_str().to_owned();
            report
                .losses
                .extend(losses.iter().map(|loss| DefinitionLoss { tool: tool(), loss: loss.clone() }));
            report.renamed.extend(renamed.iter().cloned().map(|(name, spelling)| RenamedParameter {
                tool: tool(),
                name,
                spelling,
            }));
        }
        Definitions::new(json, report, self.codec)
    }
}

/// The rendered `tools` of a request. Clones are cheap. Serialization copies the rendered JSON into the
/// request.
#[derive(Clone)]
pub struct Definitions {
    tools: Arc<Rendered>,
    report: Arc<DefinitionReport>,
    codec: &'static dyn Codec,
}

/// The same JSON as text and as value. Each is made from the other when it is first needed.
#[derive(Default)]
struct Rendered {
    json: OnceLock<Box<RawValue>>,
    value: OnceLock<Value>,
}

impl Definitions {
    fn new(json: String, report: DefinitionReport, codec: &'static dyn Codec) -> Self {
        let tools = Rendered::default();
        // The text is a list, so it is valid.
        RawValue::from_string(json).into_iter().for_each(|json| drop(tools.json.set(json)));
        Self { tools: Arc::new(tools), report: Arc::new(report), codec }
    }

    /// Adds tools defined by the provider, such as its web search. Their JSON is not changed, except that
    /// [`client_tool_search`](crate::hosted::openai::client_tool_search) gets a description and parameters.
    ///
    /// The program runs some of these tools: an ordinary tool with a fixed name
    /// [answers](HostedTool::answered_by) the calls. The definition of the ordinary tool is then left out,
    /// because the provider's definition replaces it. A hosted tool of another API is left out and reported
    /// as a loss.
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
        self.raw().get()
    }

    fn raw(&self) -> &RawValue {
        let text = || self.tools.value.get().and_then(|value| to_raw_value(value).ok());
        self.tools.json.get_or_init(|| text().unwrap_or_else(|| RawValue::NULL.to_owned()))
    }

    /// Returns the definitions as a JSON value, which all clones share.
    #[must_use]
    pub fn value(&self) -> &Value {
        self.tools.value.get_or_init(|| serde_json::from_str(self.as_json()).unwrap_or_default())
    }

    /// Returns the definitions as a JSON value of their own.
    #[must_use]
    pub fn to_value(&self) -> Value {
        self.value().clone()
    }

    /// Returns the report of losses, exceeded limits, and tools sent without enforcement.
    #[must_use]
    pub fn report(&self) -> &DefinitionReport {
        &self.report
    }
}

impl Serialize for Definitions {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.raw().serialize(serializer)
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
