//! The `tools` of a request.

use super::Anthropic;
use crate::codec::DefinitionCodec;
use crate::declaration::{Draft, respell_members};
use crate::fields::{Fields, set, text};
use serde_json::Value;

impl DefinitionCodec for Anthropic {
    fn write_definition(&self, draft: &mut Draft<'_>) -> Value {
        let metadata = &draft.definition.metadata;
        let mut tool = Fields::new();
        set(&mut tool, "name", draft.name());
        set(&mut tool, "description", draft.definition.description.as_str());
        set(&mut tool, "input_schema", draft.parameters());
        if draft.how.strict {
            set(&mut tool, "strict", true);
        }
        if metadata.defer {
            set(&mut tool, "defer_loading", true);
        }
        // The service refuses examples that are not objects. It also refuses unknown callers, such as the
        // callers of other APIs. It knows the model itself (`direct`) and the versions of its code execution.
        let is_caller = |caller: &String| caller == "direct" || caller.starts_with("code_execution_");
        let example = |_: &Value| "the API takes objects only, so the example is left out".to_owned();
        let caller = |caller: &String| format!("the API knows no caller `{caller}`, so it is left out");
        let mut examples = metadata.input_examples.clone();
        let callers = &metadata.allowed_callers;
        if let Some(names) = draft.parameter_names() {
            examples.iter_mut().filter_map(Value::as_object_mut).for_each(|it| respell_members(it, &names));
        }
        put_accepted(&mut tool, "input_examples", &examples, Value::is_object, example, draft);
        put_accepted(&mut tool, "allowed_callers", callers, is_caller, caller, draft);
        tool.into()
    }

    /// Returns the name of a tool that the provider defines and the program runs, such as `bash`. The calls of such a
    /// tool are ordinary calls.
    fn answered_by<'a>(&self, tool: &'a Value) -> Option<&'a str> {
        const CLIENT: [&str; 4] = ["bash_", "text_editor_", "memory_", "computer_2"];
        let kind = text(tool, "type");
        CLIENT.iter().any(|start| kind.starts_with(start)).then(|| text(tool, "name"))
    }
}

/// Sets the field called `name` to the accepted values, and reports all other values as losses.
///
/// If no value is accepted, the field is left out.
fn put_accepted<T: Clone + Into<Value>>(
    tool: &mut Fields,
    name: &str,
    values: &[T],
    is_accepted: impl Fn(&T) -> bool,
    reason: impl Fn(&T) -> String,
    draft: &mut Draft<'_>,
) {
    let (sent, refused): (Vec<_>, Vec<_>) =
        values.iter().enumerate().partition(|(_, value)| is_accepted(value));
    for (index, value) in refused {
        draft.lose(format!("/{name}/{index}"), name, reason(value));
    }
    if !sent.is_empty() {
        set(tool, name, sent.into_iter().map(|(_, value)| value.clone()).collect::<Vec<T>>());
    }
}
