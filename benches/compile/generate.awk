# Writes the main.rs of one of the crates that run.sh compares: `kind` is plain, ours, structs, twin, one or four, `count`
# the number of functions. The functions, and the types they take and return, are the same in all of them.

function words(text, into) { return split(text, into, " ") }

BEGIN {
    kinds = words("i64 u32 f64 bool String Option<u32> Option<String> Vec<String>", types)
    words("query limit offset city tags note depth verbose user region amount label since path mode page", names)
    words("i64 f64 String bool Result<String,String> Vec<String> Report", returns)
    has_tools = kind ~ /^(ours|structs|one|four)$/
    header()
    for (i = 0; i < count; i++) {
        describe(i)
        if (kind == "structs") params_struct("ToolParams")
        tool()
        if (kind == "twin") twin()
    }
    if (kind == "plain") main_plain()
    if (has_tools) main_tools()
    if (kind == "twin") main_twin()
}

# What function `i` is: 1 to 8 parameters, half of the functions async, every 10th takes a struct or an enum of its own.
function describe(i,   j) {
    name = "tool_" i
    params = 1 + i % 8
    is_async = int(i / 8) % 2
    returned = returns[i % 7 + 1]
    for (j = 1; j <= params; j++) {
        param[j] = names[(i + j) % 16 + 1]
        type[j] = types[(int(i / 8) + 3 * j) % kinds + 1]
    }
    if (i % 10 == 3) type[1] = "Place"
    if (i % 10 == 7) type[1] = "Unit"
    about = "Work on number " i " with what is given."
}

function about_param(j) { return "The " param[j] " that " name " should look at" }

function header() {
    print "#![allow(dead_code, unused_imports)]\n"
    print "use std::pin::{Pin, pin};"
    print "use std::task::{Context, Poll, Waker};"
    if (has_tools) print "use toolkit_ai::prelude::*;"
    print "\n#[derive(Debug, serde::Deserialize, schemars::JsonSchema)]"
    print "struct Place {\n    /// Its name.\n    name: String,\n    latitude: f64,\n    longitude: f64,\n}"
    print "\n#[derive(Debug, Clone, Copy, serde::Deserialize, schemars::JsonSchema)]"
    print "enum Unit {\n    Metric,\n    Imperial,\n}"
    print "\n#[derive(Debug, serde::Serialize)]"
    print "struct Report {\n    score: i64,\n    found: bool,\n}"
    print "\nasync fn pause() {}"
    print "\nfn finish<T>(future: Pin<&mut dyn Future<Output = T>>) -> T {"
    print "    match future.poll(&mut Context::from_waker(Waker::noop())) {"
    print "        Poll::Ready(output) => output,"
    print "        Poll::Pending => panic!(\"a tool waits\"),"
    print "    }\n}"
}

function tool(   j, owner) {
    owner = kind == "structs" ? "params." : ""
    print "\n/// " about
    if (!owner) print "///"
    if (!owner) for (j = 1; j <= params; j++) print "/// :param " param[j] ": " about_param(j)
    if (has_tools) print "#[tool]"
    printf "%sfn %s(", (is_async ? "async " : ""), name
    if (owner) printf "#[param(flatten)] params: Params%d", i
    else for (j = 1; j <= params; j++) printf "%s%s: %s", (j > 1 ? ", " : ""), param[j], type[j]
    print ") -> " returned " {"
    print "    let mut score: i64 = " i ";"
    if (is_async) print "    pause().await;"
    for (j = 1; j <= params; j++) print "    score = score.wrapping_add(" number(owner param[j], type[j]) ");"
    print "    " result() "\n}"
}

# A struct of the parameters.
function params_struct(derives,   j) {
    print "\n#[derive(" derives ")]\nstruct Params" i " {"
    for (j = 1; j <= params; j++) print "    /// " about_param(j) "\n    " param[j] ": " type[j] ","
    print "}"
}

function number(value, type) {
    if (type == "i64") return value
    if (type == "f64" || type == "bool" || type == "Unit") return value " as i64"
    if (type == "u32") return "i64::from(" value ")"
    if (type == "Option<u32>") return "i64::from(" value ".unwrap_or(1))"
    if (type == "Option<String>") return value ".map_or(0, |text| text.len() as i64)"
    if (type == "Place") return value ".name.len() as i64"
    return value ".len() as i64"
}

function result() {
    if (returned == "i64") return "score"
    if (returned == "f64") return "score as f64"
    if (returned == "String") return "score.to_string()"
    if (returned == "bool") return "score > 0"
    if (returned == "Vec<String>") return "vec![score.to_string()]"
    if (returned == "Report") return "Report { score, found: score > 0 }"
    return "if score < 0 { Err(\"less than nothing\".to_owned()) } else { Ok(score.to_string()) }"
}

# The least a program needs that calls functions by name: the values come from the command line.
function main_plain(   j) {
    print "\nstruct Input(std::env::Args);\n"
    print "impl Input {"
    print "    fn text(&mut self) -> String { self.0.next().unwrap_or_default() }"
    print "    fn i64(&mut self) -> i64 { self.text().parse().unwrap_or_default() }"
    print "    fn u32(&mut self) -> u32 { self.text().parse().unwrap_or_default() }"
    print "    fn f64(&mut self) -> f64 { self.text().parse().unwrap_or_default() }"
    print "    fn bool(&mut self) -> bool { self.text() == \"true\" }"
    print "    fn optional_u32(&mut self) -> Option<u32> { self.text().parse().ok() }"
    print "    fn optional_text(&mut self) -> Option<String> { self.0.next() }"
    print "    fn texts(&mut self) -> Vec<String> { vec![self.text()] }"
    print "    fn place(&mut self) -> Place { Place { name: self.text(), latitude: self.f64(), longitude: self.f64() } }"
    print "    fn unit(&mut self) -> Unit { if self.bool() { Unit::Metric } else { Unit::Imperial } }"
    print "}"
    print "\nfn show(value: &dyn std::fmt::Debug) {\n    println!(\"{value:?}\");\n}"
    print "\nfn call(name: &str, input: &mut Input) {\n    match name {"
    for (i = 0; i < count; i++) {
        describe(i)
        printf "        \"%s\" => show(&%s%s(", name, (is_async ? "finish(pin!(" : ""), name
        for (j = 1; j <= params; j++) printf "%sinput.%s", (j > 1 ? ", " : ""), input(type[j])
        print ")" (is_async ? "))" : "") "),"
    }
    print "        _ => show(&\"no such tool\"),\n    }\n}"
    print "\nfn main() {"
    print "    let mut input = Input(std::env::args());"
    print "    input.text();"
    print "    let name = input.text();"
    print "    call(&name, &mut input);\n}"
}

function input(type) {
    if (type == "String") return "text()"
    if (type == "Option<u32>") return "optional_u32()"
    if (type == "Option<String>") return "optional_text()"
    if (type == "Vec<String>") return "texts()"
    if (type == "Place") return "place()"
    if (type == "Unit") return "unit()"
    return type "()"
}

function main_tools() {
    print "\nfn main() {"
    print "    let registry = ToolRegistry::discover().expect(\"every name is there once\");"
    print "    let mut arguments = std::env::args().skip(1);"
    print "    let (Some(name), Some(text)) = (arguments.next(), arguments.next()) else {"
    if (kind == "one") print "        println!(\"{}\", registry.definitions(ApiFormat::OpenAiChat));"
    else if (kind == "four") {
        print "        for format in ApiFormat::ALL {"
        print "            println!(\"{}\", registry.definitions(*format));"
        print "        }"
    } else {
        print "        for tool in registry.iter() {"
        print "            let definition = tool.definition();"
        print "            println!(\"{}: {} {}\", definition.name, definition.description, definition.parameters);"
        print "        }"
    }
    print "        return;"
    print "    };"
    print "    match finish(pin!(registry.call(&name, &text))) {"
    print "        Ok(output) => println!(\"{}\", output.to_text()),"
    print "        Err(error) => println!(\"{error}\"),"
    print "    }\n}"
}

# One tool by derive: a struct of its parameters, and the function that decodes it.
function twin(   j) {
    params_struct("serde::Deserialize, schemars::JsonSchema")
    print "\n" (is_async ? "async " : "") "fn call_" name "(text: &str) -> Outcome {"
    print "    let params: Params" i " = serde_json::from_str(text).map_err(|error| error.to_string())?;"
    printf "    let output = %s(", name
    for (j = 1; j <= params; j++) printf "%sparams.%s", (j > 1 ? ", " : ""), param[j]
    print ")" (is_async ? ".await" : "") (returned ~ /^Result/ ? "?" : "") ";"
    print "    serde_json::to_string(&output).map_err(|error| error.to_string())\n}"
}

function main_twin() {
    print "\ntype Outcome = Result<String, String>;"
    print "type Started<'a> = Pin<Box<dyn Future<Output = Outcome> + Send + 'a>>;"
    print "\nfn call<'a>(name: &str, text: &'a str) -> Started<'a> {\n    match name {"
    for (i = 0; i < count; i++) {
        describe(i)
        start = is_async ? "call_" name "(text)" : "std::future::ready(call_" name "(text))"
        print "        \"" name "\" => Box::pin(" start "),"
    }
    print "        _ => Box::pin(std::future::ready(Err(\"no such tool\".to_owned()))),\n    }\n}"
    print "\nfn definitions() -> Vec<(&'static str, &'static str, schemars::Schema)> {"
    print "    let makers: &[(&str, &str, fn() -> schemars::Schema)] = &["
    for (i = 0; i < count; i++) {
        describe(i)
        print "        (\"" name "\", \"" about "\", || schemars::schema_for!(Params" i ")),"
    }
    print "    ];"
    print "    makers.iter().map(|(name, about, make)| (*name, *about, make())).collect()\n}"
    print "\nfn main() {"
    print "    let mut arguments = std::env::args().skip(1);"
    print "    let (Some(name), Some(text)) = (arguments.next(), arguments.next()) else {"
    print "        for (name, about, schema) in definitions() {"
    print "            println!(\"{name}: {about} {}\", schema.as_value());"
    print "        }"
    print "        return;"
    print "    };"
    print "    match finish(call(&name, &text).as_mut()) {"
    print "        Ok(output) => println!(\"{output}\"),"
    print "        Err(error) => println!(\"{error}\"),"
    print "    }\n}"
}
