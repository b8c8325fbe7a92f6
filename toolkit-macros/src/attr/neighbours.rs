//! Words of other crates and languages, with the way to write the same here.

type Advice = (&'static [&'static str], &'static str);

const PARAM: &[Advice] = &[
    (&["ge", "gt", "le", "lt", "min", "max", "minimum", "maximum"], "write a range, as in `range = 1..=50`"),
    (
        &["min_length", "max_length", "min_len", "max_len", "min_items", "max_items", "len"],
        "write a range of lengths, as in `length = 1..=50`",
    ),
    (&["regex"], "write `pattern = \"…\"`"),
    (
        &["enum", "choices", "values", "possible_values", "literal"],
        "write `one_of = [\"a\", \"b\"]`, or make the type an enum",
    ),
    (
        &["desc", "doc", "help", "about", "title"],
        "describe the parameter in the doc comment, or write `description = \"…\"`",
    ),
    (
        &["required", "optional", "nullable"],
        "a parameter is required unless its type is `Option<T>` or it has a `default`",
    ),
    (&["default_value", "default_value_t", "default_factory"], "write `default = …`"),
    (&["name"], "write `rename = \"…\"`"),
    (&["example"], "write `examples = […]`"),
    (&["skip", "hidden", "inject", "injected"], "write `#[state]` for a value that the program provides"),
];

const TOOL: &[Advice] = &[
    (
        &["annotations", "hints"],
        "write the hints themselves: `read_only`, `destructive`, `idempotent`, `open_world`",
    ),
    (
        &["params", "parameters", "args", "arguments", "input_schema", "required", "signature"],
        "the signature and the doc comment describe the parameters, and `#[param(…)]` constrains them",
    ),
    (
        &["desc", "doc", "about", "help"],
        "the doc comment is the description; another one is `description = \"…\"`",
    ),
    (&["returns", "output", "output_schema"], "the return type decides; `Json<T>` publishes its schema"),
    (&["enabled", "disabled"], "switch a tool off with `ToolRegistry::disable`"),
];

/// Returns the advice for a word that the attribute does not have.
pub(super) fn advice(attribute: &str, word: &str) -> Option<&'static str> {
    let words = match attribute {
        "#[param]" => PARAM,
        "#[tool]" => TOOL,
        _ => return None,
    };
    words.iter().find(|(words, _)| words.contains(&word)).map(|(_, advice)| *advice)
}
