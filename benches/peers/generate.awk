# Writes the tools of a program for one contestant, and the function that registers them; `contestants/KIND/many.rs`
# stands before them. `kind` is a contestant or plain, `count` the number of tools. The functions do the same in all
# programs. They are `async` if the framework takes nothing else, and otherwise every other eight are.

BEGIN {
    type_count = split("i64 u32 f64 bool String Option<u32> Option<String> Vec<String>", types, " ")
    split("query limit offset city tags note depth verbose user region amount label since path mode page", names, " ")
    print ""
    always_async = kind ~ /^(tools-rs|swiftide|adk-rust)$/
    if (kind == "rmcp") print "#[rmcp::tool_router]\nimpl Server {"
    for (i = 0; i < count; i++) {
        describe(i)
        if (kind == "floor") floor()
        else if (kind == "rmcp") rmcp()
        else if (kind == "swiftide") swiftide()
        else if (kind == "adk-rust") adk()
        else function_with_parameters()
    }
    if (kind == "rmcp") {
        print "}\n"
        for (i = 0; i < count; i++) { describe(i); params_struct("JsonSchema, Deserialize") }
    }
    register()
}

# Function `i`: 1 to 8 parameters.
function describe(i,   j) {
    name = "tool_" i
    pascal = "Tool" i
    params = 1 + i % 8
    is_async = always_async || int(i / 8) % 2
    keyword = is_async ? "async fn" : "fn"
    for (j = 1; j <= params; j++) {
        param[j] = names[(i + j) % 16 + 1]
        type[j] = types[(int(i / 8) + 3 * j) % type_count + 1]
    }
    about = "Work on number " i " with what is given."
}

function about_param(j) { return "The " param[j] " that " name " should look at" }

function number(value, type) {
    if (type == "i64") return value
    if (type == "f64" || type == "bool") return value " as i64"
    if (type == "u32") return "i64::from(" value ")"
    if (type == "Option<u32>") return "i64::from(" value ".unwrap_or(1))"
    if (type == "Option<String>") return value ".map_or(0, |text| text.len() as i64)"
    return value ".len() as i64"
}

function body(owner, before, after,   j) {
    print "    let mut score: i64 = " i ";"
    if (is_async) print "    pause().await;"
    for (j = 1; j <= params; j++) print "    score = score.wrapping_add(" number(owner param[j], type[j]) ");"
    print "    " before "score.to_string()" after "\n}\n"
}

function params_struct(derives,   j) {
    print "#[derive(" derives ")]\nstruct Params" i " {"
    for (j = 1; j <= params; j++) print "    /// " about_param(j) "\n    " param[j] ": " type[j] ","
    print "}\n"
}

# plain, toolkit, llm-tool, tools-rs, rig: the parameters are those of the function.
function function_with_parameters(   j) {
    print "/// " about
    if (kind == "toolkit") {
        print "///"
        for (j = 1; j <= params; j++) print "/// :param " param[j] ": " about_param(j)
    }
    if (kind == "toolkit" || kind == "tools-rs") print "#[tool]"
    if (kind == "llm-tool") print "#[llm_tool]"
    if (kind == "rig") print "#[rig_tool]"
    if (kind != "plain") print "#[allow(clippy::too_many_arguments)]"
    print keyword " " name "("
    for (j = 1; j <= params; j++) {
        if (kind == "llm-tool" || kind == "rig") print "    /// " about_param(j)
        print "    " param[j] ": " type[j] ","
    }
    if (kind == "rig") {
        print ") -> Result<String, ToolExecutionError> {"
        body("", "Ok(", ")")
    } else {
        print ") -> String {"
        body("", "", "")
    }
}

function floor() {
    params_struct("Deserialize, JsonSchema")
    print "async fn " name "(text: &str) -> Outcome {"
    print "    let params: Params" i " = serde_json::from_str(text)?;"
    body("params.", "serde_json::to_string(&", ")")
}

function rmcp() {
    print "    /// " about
    print "    #[rmcp::tool]"
    print "    " keyword " " name "(&self, Parameters(params): Parameters<Params" i ">) -> String {"
    body("params.", "", "")
}

function swiftide(   j) {
    print "#[swiftide::tool(\n    description = \"" about "\","
    for (j = 1; j <= params; j++)
        printf "    param(name = \"%s\", description = \"%s\"%s),\n", param[j], about_param(j), \
            (type[j] ~ /^Option/ ? ", required = false" : "")
    print ")]\n#[allow(clippy::too_many_arguments)]\nasync fn " name "("
    print "    _context: &dyn AgentContext,"
    for (j = 1; j <= params; j++) print "    " param[j] ": " type[j] ","
    print ") -> Result<ToolOutput, ToolError> {"
    body("", "Ok(ToolOutput::text(", "))")
}

function adk() {
    params_struct("Deserialize, JsonSchema")
    print "/// " about
    print "#[tool]"
    print "async fn " name "(params: Params" i ") -> Result<Value, AdkError> {"
    body("params.", "Ok(Value::String(", "))")
}

# What is not collected by the framework itself.
function register() {
    if (kind == "plain") {
        print "async fn call(name: &str, input: &mut Input) -> String {\n    match name {"
        each("", "")
        print "        _ => \"no such tool\".to_owned(),\n    }\n}"
    }
    if (kind == "floor") {
        print "fn tools() -> Vec<Tool> {\n    vec!["
        each("", "")
        print "    ]\n}"
    }
    if (kind == "llm-tool") {
        print "fn registry() -> ToolRegistry {\n    ToolRegistry::new()"
        each("        .with_tool(", ")")
        print "}"
    }
    if (kind == "rig") {
        print "fn tools() -> ToolSet {\n    let mut tools = ToolSet::default();"
        each("    tools.add_tool(", ");")
        print "    tools\n}"
    }
    if (kind == "adk-rust") {
        print "fn tools() -> Vec<Arc<dyn Tool>> {\n    vec!["
        each("        Arc::new(", "),")
        print "    ]\n}"
    }
    if (kind == "swiftide") {
        print "fn tools() -> Vec<Box<dyn Tool>> {\n    vec!["
        for (i = 0; i < count; i++) { describe(i); print "        " name "()," }
        print "    ]\n}"
    }
}

function each(before, after,   j) {
    for (i = 0; i < count; i++) {
        describe(i)
        if (kind == "plain") {
            printf "        \"%s\" => %s(", name, name
            for (j = 1; j <= params; j++) printf "%sinput.%s", (j > 1 ? ", " : ""), input(type[j])
            print ")" (is_async ? ".await," : ",")
        } else if (kind == "floor") {
            print "        (\"" name "\", \"" about "\", schema_for!(Params" i "), |text| Box::pin(" name "(text))),"
        } else {
            print before pascal after
        }
    }
}

function input(type) {
    if (type == "String") return "text()"
    if (type == "Option<u32>") return "optional_u32()"
    if (type == "Option<String>") return "optional_text()"
    if (type == "Vec<String>") return "texts()"
    return type "()"
}
