use serde::Serialize;

#[derive(Serialize)]
struct Definition<'a, P> {
    r#type: &'static str,
    function: Function<'a, P>,
}

#[derive(Serialize)]
struct Function<'a, P> {
    name: &'a str,
    description: &'a str,
    parameters: P,
}

/// Writes names, descriptions and schemas as the Chat API's tools.
pub fn chat_definitions<'a, P: Serialize>(tools: impl Iterator<Item = (&'a str, &'a str, P)>) -> String {
    let definitions: Vec<_> = tools
        .map(|(name, description, parameters)| Definition {
            r#type: "function",
            function: Function { name, description, parameters },
        })
        .collect();
    serde_json::to_string(&definitions).unwrap_or_default()
}
