//! Selects the strict tools of a request together.

use super::limits::measure::Measure;
use crate::facts::{Facts, Strictness};
use std::fmt;
use toolkit_core::definition::{ToolDefinition, ToolKind};
use toolkit_schema::__private::sort_by;

/// The tools whose schema the provider enforces (`strict: true`).
///
/// Providers limit the number and size of strict schemas in a request. A tool that cannot be strict is sent
/// without enforcement and [reported](crate::DefinitionReport::not_strict).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[non_exhaustive]
pub enum StrictTools {
    /// Tools [marked as strict](toolkit_core::ToolMetadata::strict).
    #[default]
    Marked,
    /// All tools that can be strict, unless marked otherwise.
    All,
    /// No tool.
    Never,
}

/// A tool sent without the requested enforcement.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct NotStrict {
    /// The tool's name.
    pub tool: String,
    /// Why the provider would refuse the tool as strict.
    pub reason: String,
}

impl fmt::Display for NotStrict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "tool `{}` is not strict: {}", self.tool, self.reason)
    }
}

#[derive(Debug)]
pub(crate) struct Plan {
    pub(crate) strict: Vec<bool>,
    pub(crate) refused: Vec<NotStrict>,
}

/// Selects the strict tools of a request.
///
/// A tool is not strict if its strict schema would forbid arguments that the tool accepts. This is the case
/// for maps, arbitrary values and, for Anthropic, recursion. A tool that exceeds the provider's limits is not
/// strict either.
///
/// If strict tools share limits, marked tools are selected before others. Within both groups, tools with
/// fewer optional parameters and unions come first, so that many tools can be strict; then the earlier tool.
pub(crate) fn plan(facts: &Facts, definitions: &[&ToolDefinition], wanted: StrictTools) -> Plan {
    let mut strict = vec![false; definitions.len()];
    let mut candidates = Vec::new();
    let mut refused = Vec::new();
    for (index, definition) in definitions.iter().enumerate() {
        let marked = definition.metadata.strict;
        let is_wanted = match wanted {
            StrictTools::Never => false,
            StrictTools::Marked => marked == Some(true),
            StrictTools::All => marked != Some(false),
        };
        let is_marked = marked == Some(true);
        if !is_wanted || !could_be_strict(facts.tools.strictness, definition, is_marked) {
            continue;
        }
        match judge(facts, definition) {
            Ok(measure) => candidates.push((!is_marked, measure.optional + measure.unions, index, measure)),
            Err(reason) => refused.push((index, reason)),
        }
    }
    if facts.tools.strictness == Strictness::PerRequest {
        sort_by(&mut candidates, |one, other| (one.0, one.1, one.2).cmp(&(other.0, other.1, other.2)));
    }
    let mut left = shared_limits(facts.tools.strictness);
    for (_, _, index, measure) in candidates {
        match take(&mut left, &measure) {
            Ok(()) => strict[index] = true,
            Err(reason) => refused.push((index, reason)),
        }
    }
    sort_by(&mut refused, |(one, _), (other, _)| one.cmp(other));
    let mut not_strict = Vec::with_capacity(refused.len());
    for (index, reason) in refused {
        let tool = definitions[index].name.as_str().to_owned();
        not_strict.push(NotStrict { tool, reason });
    }
    Plan { strict, refused: not_strict }
}

/// Returns whether to check a tool's schema for strictness.
///
/// Custom tools of OpenAI have no schema. Gemini enforces the schemas of all tools or none, so only marked
/// tools are checked there, to report them.
fn could_be_strict(strictness: Strictness, definition: &ToolDefinition, is_marked: bool) -> bool {
    match strictness {
        Strictness::None => false,
        Strictness::PerFunction => definition.kind == ToolKind::Function,
        Strictness::PerRequest => true,
        Strictness::AllOrNone(_) => is_marked,
    }
}

/// Measures the strict schema of a tool. The error states why it cannot be strict.
fn judge(facts: &Facts, definition: &ToolDefinition) -> Result<Measure, String> {
    if let Strictness::AllOrNone(reason) = facts.tools.strictness {
        return Err(reason.to_owned());
    }
    let converted = facts.tools.dialect(true, false).convert(&definition.parameters);
    if let Some(loss) = converted.narrowed {
        return Err(loss.to_string());
    }
    let measure = Measure::new(&converted.schema);
    if facts.tools.strictness == Strictness::PerFunction {
        within_openai(&measure)?;
    }
    Ok(measure)
}

/// Checks the limits in OpenAI's guide to structured outputs.
fn within_openai(measure: &Measure) -> Result<(), String> {
    let limits = [
        ("properties", measure.properties, 5_000),
        ("levels of objects", measure.depth, 10),
        ("values of enums", measure.enum_values, 1_000),
        ("characters in one enum of more than 250 values", measure.large_enum, 15_000),
        ("characters in names and values of enums", measure.characters, 120_000),
    ];
    for (what, actual, limit) in limits {
        if actual > limit {
            return Err(format!("{actual} {what}, the provider takes {limit}"));
        }
    }
    Ok(())
}

/// A limit that all strict tools share: its name, how much of it a tool uses, and what is left.
type Share = (&'static str, fn(&Measure) -> usize, usize);

/// Returns the shared limits from Anthropic's guide to strict tools, if the API has such limits.
fn shared_limits(strictness: Strictness) -> Vec<Share> {
    match strictness {
        Strictness::PerRequest => vec![
            ("20 strict tools", |_| 1, 20),
            ("24 optional parameters of strict tools", |measure| measure.optional, 24),
            ("16 parameters of strict tools whose type is a union", |measure| measure.unions, 16),
        ],
        _ => Vec::new(),
    }
}

fn take(left: &mut [Share], measure: &Measure) -> Result<(), String> {
    for (what, cost, left) in &*left {
        if cost(measure) > *left {
            return Err(format!("a request may have {what}"));
        }
    }
    for (_, cost, left) in left {
        *left -= cost(measure);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::facts::ApiFormat;
    use serde_json::{Map, Value, json};
    use toolkit_core::definition::{TextFormat, ToolMetadata};
    use toolkit_core::name::ToolName;

    fn tool(name: &str, parameters: Value) -> ToolDefinition {
        ToolDefinition::new(ToolName::new(name).unwrap(), "", parameters)
    }

    fn marked(tool: ToolDefinition, strict: bool) -> ToolDefinition {
        let metadata = ToolMetadata::default().with_strict(strict);
        tool.with_metadata(metadata)
    }

    fn optional(name: &str, count: usize) -> ToolDefinition {
        let properties: Map<String, Value> =
            (0..count).map(|index| (format!("p{index}"), json!({"type": "string"}))).collect();
        tool(name, json!({"type": "object", "properties": properties}))
    }

    fn decide(
        format: ApiFormat,
        tools: &[ToolDefinition],
        wanted: StrictTools,
    ) -> (Vec<String>, Vec<String>) {
        let tools: Vec<&ToolDefinition> = tools.iter().collect();
        let plan = plan(format.facts(), &tools, wanted);
        let strict = tools.iter().enumerate().filter(|(index, _)| plan.strict[*index]);
        let strict = strict.map(|(_, tool)| tool.name.as_str().to_owned()).collect();
        (strict, plan.refused.iter().map(ToString::to_string).collect())
    }

    fn map() -> Value {
        json!({"type": "object", "properties": {
            "labels": {"type": "object", "additionalProperties": {"type": "string"}},
        }})
    }

    #[test]
    fn marked_tools_and_options_decide_about_strictness() {
        let tools = [marked(optional("yes", 1), true), marked(optional("no", 1), false), optional("any", 1)];
        for format in [ApiFormat::OpenAiChat, ApiFormat::OpenAiResponses, ApiFormat::Anthropic] {
            assert_eq!(decide(format, &tools, StrictTools::Marked).0, ["yes"]);
            assert_eq!(decide(format, &tools, StrictTools::All).0, ["yes", "any"]);
            assert_eq!(decide(format, &tools, StrictTools::Never), (vec![], vec![]));
        }
    }

    #[test]
    fn a_tool_is_not_strict_if_its_strict_schema_forbids_valid_arguments() {
        let tools = [tool("map", map()), optional("fine", 2)];
        let reason = "tool `map` is not strict: `additionalProperties` at /properties/labels: the provider takes no members without fixed names";
        for format in [ApiFormat::OpenAiChat, ApiFormat::Anthropic] {
            assert_eq!(
                decide(format, &tools, StrictTools::All),
                (vec!["fine".to_owned()], vec![reason.to_owned()])
            );
        }
    }

    #[test]
    fn recursion_is_strict_for_openai_only() {
        let tree =
            json!({"type": "object", "properties": {"children": {"type": "array", "items": {"$ref": "#"}}}});
        let tools = [tool("tree", tree)];
        assert_eq!(decide(ApiFormat::OpenAiChat, &tools, StrictTools::All).0, ["tree"]);
        let (strict, refused) = decide(ApiFormat::Anthropic, &tools, StrictTools::All);
        assert!(strict.is_empty());
        assert!(refused[0].contains("leads back"), "{refused:?}");
    }

    #[test]
    fn a_tool_beyond_openais_limits_is_not_strict() {
        let mut deep = json!({"type": "string"});
        for _ in 0..11 {
            deep = json!({"type": "object", "properties": {"a": deep}});
        }
        let values: Vec<String> = (0..1001).map(|index| format!("v{index}")).collect();
        let tools = [
            tool("deep", deep),
            optional("wide", 5_001),
            tool(
                "values",
                json!({"type": "object", "properties": {"v": {"type": "string", "enum": values}}}),
            ),
            optional("fine", 5_000),
        ];
        let (strict, refused) = decide(ApiFormat::OpenAiChat, &tools, StrictTools::All);
        assert_eq!(strict, ["fine"]);
        assert_eq!(
            refused,
            [
                "tool `deep` is not strict: 11 levels of objects, the provider takes 10",
                "tool `wide` is not strict: 5001 properties, the provider takes 5000",
                "tool `values` is not strict: 1001 values of enums, the provider takes 1000",
            ]
        );
    }

    #[test]
    fn anthropic_shares_its_limits_among_the_tools() {
        let many: Vec<ToolDefinition> = (0..22).map(|index| optional(&format!("t{index}"), 0)).collect();
        let (strict, refused) = decide(ApiFormat::Anthropic, &many, StrictTools::All);
        assert_eq!(strict.len(), 20);
        assert_eq!(refused[0], "tool `t20` is not strict: a request may have 20 strict tools");
        assert_eq!(decide(ApiFormat::OpenAiChat, &many, StrictTools::All).0.len(), 22);

        let costly = [optional("a", 20), optional("b", 10), optional("c", 14)];
        assert_eq!(decide(ApiFormat::Anthropic, &costly, StrictTools::All).0, ["b", "c"]);
        let costly = [marked(optional("a", 20), true), optional("b", 10), optional("c", 4)];
        assert_eq!(decide(ApiFormat::Anthropic, &costly, StrictTools::All).0, ["a", "c"]);
    }

    #[test]
    fn custom_tools_and_gemini_are_never_strict() {
        let text = marked(ToolDefinition::custom(ToolName::new("sql").unwrap(), "", TextFormat::Text), true);
        assert_eq!(
            decide(ApiFormat::OpenAiChat, std::slice::from_ref(&text), StrictTools::All),
            (vec![], vec![])
        );
        assert_eq!(decide(ApiFormat::Anthropic, &[text], StrictTools::Marked).1, Vec::<String>::new());
        let tools = [marked(optional("a", 1), true), optional("b", 1)];
        let (strict, refused) = decide(ApiFormat::Gemini, &tools, StrictTools::All);
        assert!(strict.is_empty());
        assert_eq!(refused.len(), 1, "{refused:?}");
    }
}
