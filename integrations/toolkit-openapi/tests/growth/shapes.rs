//! Documents by size: each asks for much with little text, also for `benches/growth.rs`.

use serde_json::{Map, Value, json};

/// A document's part, with names by its shape, except the root's.
#[derive(Default)]
pub(super) struct Part {
    paths: Map<String, Value>,
    components: Map<String, Value>,
    root: Map<String, Value>,
}

impl Part {
    fn path(mut self, path: impl Into<String>, item: Value) -> Self {
        self.paths.insert(path.into(), item);
        self
    }

    /// Adds an operation with a required JSON body.
    fn body(self, path: impl Into<String>, schema: Value) -> Self {
        self.path(path, json!({"post": body("application/json", schema, true)}))
    }

    fn paths(mut self, count: usize, name: &str, item: impl Fn(usize) -> Value) -> Self {
        self.paths.extend((0..count).map(|index| (format!("/{name}{index}"), item(index))));
        self
    }

    fn component(mut self, folder: &str, name: impl Into<String>, value: Value) -> Self {
        let folder = self.components.entry(folder).or_insert_with(|| json!({}));
        folder[name.into()] = value;
        self
    }

    fn schemas(self, count: usize, name: &str, schema: impl Fn(usize) -> Value) -> Self {
        (0..count)
            .fold(self, |part, index| part.component("schemas", format!("{name}{index}"), schema(index)))
    }

    fn root(mut self, name: &str, value: Value) -> Self {
        self.root.insert(name.to_owned(), value);
        self
    }
}

pub(super) fn document(parts: &[Part]) -> String {
    let mut root = json!({"openapi": "3.1.0", "paths": {}, "components": {}});
    for part in parts {
        for (path, item) in &part.paths {
            root["paths"][path] = item.clone();
        }
        for (folder, members) in &part.components {
            for (name, member) in members.as_object().into_iter().flatten() {
                root["components"][folder][name] = member.clone();
            }
        }
        for (name, value) in &part.root {
            root[name] = value.clone();
        }
    }
    if root.get("swagger").is_some() {
        root.as_object_mut().unwrap().remove("openapi");
    }
    root.to_string()
}

fn body(media_type: &str, schema: Value, is_required: bool) -> Value {
    json!({"requestBody": {"required": is_required, "content": {media_type: {"schema": schema}}}})
}

fn list(count: usize, item: impl Fn(usize) -> Value) -> Value {
    (0..count).map(item).collect()
}

fn object(count: usize, name: &str, member: impl Fn(usize) -> Value) -> Value {
    Value::Object((0..count).map(|index| (format!("{name}{index}"), member(index))).collect())
}

fn reference(folder: &str, name: impl std::fmt::Display) -> Value {
    json!({"$ref": format!("#/components/{folder}/{name}")})
}

fn query(name: impl Into<String>, schema: Value) -> Value {
    json!({"name": name.into(), "in": "query", "schema": schema})
}

/// An item of many paths: `item` has its operation, and the whole document `extra`.
fn shared(name: &'static str, count: usize, item: Value) -> Part {
    let part = Part::default().component("pathItems", name, item);
    part.paths(count, name, |_| reference("pathItems", name))
}

fn described(text: &str, size: usize) -> Part {
    Part::default().path(format!("/{}", text.len()), json!({"get": {"description": text.repeat(size)}}))
}

pub(super) type Shape = (&'static str, usize, fn(usize) -> Part);

/// Shapes in which many paths share what grows with their number.
pub(super) const SHARED: &[Shape] = &[
    ("operations of a shared path", 40, |size| {
        let methods = ["get", "put", "post", "delete", "options", "head", "patch", "trace"];
        let mut item: Value = methods.iter().map(|method| ((*method).to_owned(), json!({}))).collect();
        item["parameters"] = list(40, |index| query(format!("p{index}"), json!({"type": "string"})));
        shared("many", size, item)
    }),
    ("a shared path that is too large", 80, |size| {
        let properties = object(10 * size, "p", |_| json!({}));
        shared(
            "large",
            size,
            json!({"post": body("application/json", json!({"properties": properties}), true)}),
        )
    }),
    ("shared text", 80, |size| {
        shared("text", size, json!({"get": {"description": "<p>   </p>".repeat(8 * size)}}))
    }),
    ("shared values", 80, |size| {
        let values = list(4 * size, |index| json!(format!("value {index}")));
        shared("values", size, json!({"get": {"parameters": [query("v", json!({"enum": values}))]}}))
    }),
    ("shared answers, tags and names", 100, |size| {
        let responses = object(size, "4", |_| json!({"description": "text".repeat(10)}));
        let tags = list(size, |index| json!(format!("tag {index}")));
        let operation = json!({"responses": responses, "tags": tags, "operationId": "id ".repeat(size)});
        shared("answers", size, json!({"get": operation}))
    }),
    ("shared answer schema", 80, |size| {
        let properties = object(4 * size, "p", |_| json!({"type": "string"}));
        let content = json!({"application/json": {"schema": {"properties": properties}}});
        shared("output", size, json!({"get": {"responses": {"200": {"content": content}}}}))
    }),
    ("security for all", 200, |size| {
        let part = Part::default().root("security", list(size, |index| json!({format!("s{index}"): []})));
        part.paths(size, "secured", |_| json!({"get": {}}))
    }),
    ("media types of Swagger", 200, |size| {
        let types = list(size, |index| json!(format!("text/{index}")));
        let part = Part::default().root("swagger", json!("2.0")).root("produces", types.clone());
        let operation = |count| {
            json!({
                "responses": object(count, "4", |_| json!({})),
                "parameters": [{"name": "b", "in": "body", "schema": {}}],
            })
        };
        let part = part.root("consumes", types).path("/types", json!({"post": operation(size)}));
        part.paths(size, "type", |_| json!({"post": operation(1)}))
    }),
    ("servers", 200, |size| {
        let servers = list(size, |index| json!({"url": format!("https://{index}.example")}));
        shared("server", size, json!({"get": {}, "servers": servers}))
    }),
    ("parameters of a path with many methods", 200, |size| {
        let parameters = list(size, |index| query(format!("p{index}"), json!({})));
        let item =
            json!({"parameters": parameters, "additionalOperations": object(size, "M", |_| json!({}))});
        Part::default().path("/methods", item)
    }),
];

/// Shapes of single operations: name, smaller size, and part.
pub(super) const SHAPES: &[Shape] = &[
    ("parameters", 1_500, |size| {
        let parameters = list(size, |index| query(format!("p{index}"), json!({})));
        Part::default().path("/parameters", json!({"get": {"parameters": parameters}}))
    }),
    ("parameters of one visible name", 300, |size| {
        let hidden = |index: usize| format!("{index:b}").replace('0', "\u{200b}").replace('1', "\u{2060}");
        let parameters = list(size, |index| query(format!("same{}", hidden(index)), json!({})));
        Part::default().path("/visible", json!({"get": {"parameters": parameters}}))
    }),
    ("headers beside security schemes", 500, |size| {
        let header = |index| json!({"name": format!("x-{index}"), "in": "header"});
        let scheme = |index| json!({"type": "apiKey", "in": "header", "name": format!("X-{}", index * 2)});
        let part = Part::default().path("/headers", json!({"get": {"parameters": list(size, header)}}));
        (0..size)
            .fold(part, |part, index| part.component("securitySchemes", format!("s{index}"), scheme(index)))
    }),
    ("names in a path", 100, |size| {
        let names: String = (0..size).map(|index| format!("/{{n{index}}}")).collect();
        let parameters = list(size, |index| json!({"name": format!("n{index}"), "in": "path"}));
        Part::default().path(names, json!({"get": {"parameters": parameters}}))
    }),
    ("one long name", 800, |size| {
        Part::default().path(
            format!("/{}", "n".repeat(size)),
            json!({"get": {
                "parameters": list(size / 10, |index| query(format!("q{index}"), json!({}))),
            }}),
        )
    }),
    ("variables of a server", 8, |size| {
        let variable = |index: usize| json!({"default": format!("{{v{}}}", index + 1).repeat(2)});
        let server = json!({"url": "http://{v0}", "variables": object(size, "v", variable)});
        Part::default().root("servers", json!([server])).path("/server", json!({"get": {}}))
    }),
    ("breadth of one allOf", 4, |size| {
        let parts = list(size, |_| reference("schemas", "Self"));
        let part = Part::default().component("schemas", "Self", json!({"allOf": parts, "required": ["a"]}));
        let operation = json!({"get": {"parameters": [query("q", reference("schemas", "Self"))]}});
        part.path("/self", operation).body("/self-body", reference("schemas", "Self"))
    }),
    ("breadth of allOf in levels", 16, |size| {
        let breadth = size.isqrt();
        let next = |index: usize, part: usize| format!("L{}", breadth * (index / breadth + 1) + part);
        let level = |index| {
            json!({"type": "object", "required": ["a"], "allOf": list(breadth, |part| {
                reference("schemas", next(index, part))
            })})
        };
        let part = Part::default().schemas(breadth * 7, "L", |index| {
            if index < breadth * 6 { level(index) } else { json!({"type": "object"}) }
        });
        part.body("/levels", reference("schemas", "L0"))
    }),
    ("allOf of one base", 200, |size| {
        let base = json!({"properties": object(size, "p", |_| json!({"readOnly": true}))});
        let one = |index| {
            json!({
                "required": [format!("p{index}")], "allOf": [reference("schemas", "Base")],
            })
        };
        let part = Part::default().component("schemas", "Base", base).schemas(size, "Sub", one);
        part.body("/subs", json!({"oneOf": list(size, |index| reference("schemas", format!("Sub{index}")))}))
    }),
    ("definitions", 400, |size| {
        let properties = object(size, "p", |index| reference("schemas", format!("D{index}")));
        let part = Part::default().schemas(size, "D", |_| json!({"type": "string"}));
        part.body("/definitions", json!({"properties": properties}))
    }),
    ("definitions in a chain", 400, |size| {
        let next =
            |index: usize| json!({"properties": {"next": reference("schemas", format!("C{}", index + 1))}});
        Part::default().schemas(size, "C", next).body("/chain", reference("schemas", "C0"))
    }),
    ("identifiers", 500, |size| {
        let schema = |index: usize| json!({"$id": format!("i{index}"), "$anchor": "a", "type": "string"});
        let properties = object(size, "p", |index| json!({"$ref": format!("i{index}#a")}));
        let part = Part::default().schemas(size, "I", schema);
        part.body("/identifiers", json!({"properties": properties}))
            .root("$self", json!("https://a.example/"))
    }),
    ("values of a discriminator", 100, |size| {
        let mapping = object(size, "v", |index| json!(format!("B{}", index * 7 % size)));
        let part = Part::default().schemas(size, "B", |_| json!({"type": "object"}));
        part.body(
            "/discriminator",
            json!({
                "oneOf": list(size, |index| reference("schemas", format!("B{index}"))),
                "discriminator": {"propertyName": "kind", "mapping": mapping},
            }),
        )
    }),
    ("required members of an optional body", 300, |size| {
        let required = list(size, |index| json!(format!("m{index}")));
        let schema = json!({"properties": object(size, "m", |_| json!({})), "required": required});
        Part::default().path("/optional", json!({"post": body("application/json", schema, false)}))
    }),
    ("encodings of a form", 400, |size| {
        let schema = json!({"properties": object(size, "m", |_| json!({"type": "string"}))});
        let mut operation = body("multipart/form-data", schema, true);
        let encodings = object(size, "m", |_| json!({"contentType": "text/plain"}));
        operation["requestBody"]["content"]["multipart/form-data"]["encoding"] = encodings;
        Part::default().path("/form", json!({"post": operation}))
    }),
    ("open links", 10_000, |size| described("[a](b", size)),
    ("ends of links", 10_000, |size| described("](", size)),
    ("open tags", 10_000, |size| described("<a ", size)),
    ("open comments", 10_000, |size| described("<!--", size)),
];

/// A text's name, smaller size, and function.
type Text = (&'static str, usize, fn(usize) -> String);

/// YAML documents: name, smaller size, and text.
pub(super) const YAML: &[Text] = &[
    ("brackets", 4_000, |size| format!("openapi: 3.1.0\nx-a: {}", "[".repeat(size))),
    ("brackets with items", 2_000, |size| format!("openapi: 3.1.0\nx-a: {}", "[a,\n ".repeat(size))),
    ("braces", 2_000, |size| format!("openapi: 3.1.0\nx-a: {}", "{a: ".repeat(size))),
    ("brackets that close", 1_000, |size| {
        format!("openapi: 3.1.0\nx-a: {}{}", "[".repeat(100), "a,".repeat(size))
    }),
    ("brackets with anchors", 2_000, |size| format!("openapi: 3.1.0\nx-a: {}", "[&a !b ".repeat(size))),
    ("brackets in text", 2_000, |size| format!("openapi: 3.1.0\nx-a: |\n  {}", "[a](b ".repeat(size))),
    ("brackets behind a block", 2_000, |size| {
        format!("openapi: 3.1.0\nx-a: |2\n   a\nx-b: {}", "[".repeat(size))
    }),
    ("lists in lists", 4_000, |size| format!("openapi: 3.1.0\nx-a:\n {}a", "- ".repeat(size))),
    ("keys of keys", 4_000, |size| format!("openapi: 3.1.0\nx-a:\n {}a", "? ".repeat(size))),
    ("aliases of a text", 500, |size| {
        format!("openapi: 3.1.0\nx-a: &a {}\nx-b: [{}1]", "text ".repeat(size), "*a, ".repeat(size))
    }),
    ("aliases of a list", 500, |size| {
        format!("openapi: 3.1.0\nx-a: &a [{}1]\nx-b: [{}1]", "1, ".repeat(size), "*a, ".repeat(size))
    }),
    ("aliases in examples", 500, |size| {
        let members: String = (0..size).map(|index| format!("m{index}: *a, ")).collect();
        format!("openapi: 3.1.0\nx-a: &a [{}1]\nexample: {{{members}}}", "1, ".repeat(size))
    }),
    ("anchors", 1_000, |size| {
        let anchors: String = (0..size).map(|index| format!("&a{index} 1, *a{index}, ")).collect();
        format!("openapi: 3.1.0\nx-a: [{anchors}1]")
    }),
];
