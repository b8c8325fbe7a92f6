//! The page of documentation: HTML made from the document, without scripts and other assets.

use serde_json::Value;
use std::fmt::Write;
use toolkit_core::schema::{SchemaRef, describe};

const STYLE: &str = "body{font-family:system-ui,sans-serif;line-height:1.5;margin:2rem auto;max-width:60rem;padding:0 1rem}\
code,pre{font-family:ui-monospace,monospace}pre{overflow-x:auto}td,th{padding:.2rem 1rem .2rem 0;text-align:left;\
vertical-align:top}section{border-top:1px solid;margin-top:2rem}p,td{white-space:pre-line}";

/// The policy of the page: nothing is loaded, and only the style with this digest applies.
pub(super) const PAGE_POLICY: &str = "default-src 'none'; style-src 'sha256-lAVxBZhQnt/yn11lkKZPw97ZjRqCVIagysXX5cpe++o='; base-uri 'none'; form-action 'none'; \
frame-ancestors 'none'";

pub(super) fn page(document: &Value) -> String {
    let title = escaped(text(&document["info"]["title"]));
    let version = escaped(text(&document["info"]["version"]));
    let mut page = format!(
        "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><title>{title}</title>\
         <meta name=\"viewport\" content=\"width=device-width\"><meta name=\"color-scheme\" content=\"light dark\">\
         <style>{STYLE}</style></head>\n<body><h1>{title} {version}</h1>\n<p>{}</p>\n\
         <p>The <a href=\"openapi.json\">document</a> describes these operations for programs.</p>\n",
        escaped(text(&document["info"]["description"]))
    );
    if document.get("security").is_some() {
        page.push_str("<p>Every request needs the header <code>Authorization: Bearer …</code>.</p>\n");
    }
    for (path, item) in document["paths"].as_object().into_iter().flatten() {
        add_operation(&mut page, document, path, &item["post"]);
    }
    page.push_str("</body></html>\n");
    page
}

fn add_operation(page: &mut String, document: &Value, path: &str, operation: &Value) {
    let title = operation["summary"].as_str().map(|title| format!("<h3>{}</h3>", escaped(title)));
    let _ = writeln!(
        page,
        "<section id=\"{}\"><h2><code>POST {}</code></h2>{}<p>{}</p>",
        escaped(text(&operation["operationId"])),
        escaped(path),
        title.unwrap_or_default(),
        escaped(text(&operation["description"]))
    );
    let body = &operation["requestBody"]["content"]["application/json"];
    let arguments = referred(document, &body["schema"]);
    let properties = arguments["properties"].as_object().filter(|properties| !properties.is_empty());
    if let Some(properties) = properties {
        page.push_str("<table><tr><th>argument<th>type<th>description</tr>\n");
        let required = arguments["required"].as_array().map_or(&[][..], Vec::as_slice);
        for (name, schema) in properties {
            let is_required = required.iter().any(|required| required == name.as_str());
            let _ = writeln!(
                page,
                "<tr><td><code>{}</code><td>{}{}<td>{}</tr>",
                escaped(name),
                escaped(&kind(document, schema)),
                if is_required { "" } else { ", optional" },
                escaped(text(&schema["description"]))
            );
        }
        page.push_str("</table>\n");
    }
    for (_, example) in body["examples"].as_object().into_iter().flatten() {
        let _ = writeln!(page, "<pre>{}</pre>", escaped(&format!("{:#}", example["value"])));
    }
    let result = &operation["responses"]["200"]["content"]["application/json"]["schema"];
    for (name, schema) in [("arguments", &body["schema"]), ("result", result)] {
        if schema.get("$ref").is_some() {
            let schema = escaped(&format!("{:#}", referred(document, schema)));
            let _ = writeln!(
                page,
                "<details><summary>Schema of the {name}</summary><pre>{schema}</pre></details>"
            );
        }
    }
    page.push_str("</section>\n");
}

/// Returns the schema that a reference names, or the schema itself.
fn referred<'a>(document: &'a Value, schema: &'a Value) -> &'a Value {
    let pointer = schema["$ref"].as_str().and_then(|target| target.strip_prefix('#'));
    pointer.and_then(|pointer| document.pointer(pointer)).unwrap_or(schema)
}

/// Describes a schema's values: types, ranges, allowed values, formats and the default.
fn kind(document: &Value, schema: &Value) -> String {
    let mut words = describe(SchemaRef::new(document, schema)).unwrap_or_else(|| "any".to_owned());
    if let Some(default) = schema.get("default") {
        let _ = write!(words, ", default {default}");
    }
    words
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_policy_names_the_style() {
        let digest = data_encoding::BASE64.encode(&hmac_sha256::Hash::hash(STYLE.as_bytes()));
        assert!(PAGE_POLICY.contains(&format!("'sha256-{digest}'")), "{digest}");
    }
}
