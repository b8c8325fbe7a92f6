//! Predicates on our answer, computed from the row.

use serde_json::{Value, json};

use crate::formats::read_arguments;
use crate::known::Case;
use crate::{docstring_answers, schema_answers};

pub(crate) fn named(name: &str) -> Option<fn(&Case<'_>) -> bool> {
    Some(match name {
        "the first word once" => first_word_once,
        "the method before" => method_before,
        "the name" => the_name,
        "a short name" => short_name,
        "refused with the formats' names" => refused_with_the_formats,
        "theirs without the cache hint" => theirs_without_the_cache_hint,
        "a tool of free text" => tool_of_free_text,
        "the fields kept for the same API" => kept_fields,
        "theirs with the fields kept for the same API" => theirs_with_kept_fields,
        "the id as it came" => id_as_it_came,
        "the id with a digest" => id_with_a_digest,
        "an id of its own" => id_of_its_own,
        "a call with an id of its own" => call_with_an_id_of_its_own,
        "a function call of the same name and arguments" => function_call,
        "the arguments as they came" => arguments_as_they_came,
        "the result as JSON" => result_as_json,
        "the result as a value" => result_as_a_value,
        "the response as JSON" => response_as_json,
        "the answers in the next user message" => answers_in_the_next_message,
        "theirs without spaces in JSON" => theirs_without_spaces,
        "their text in quotes" => their_text_in_quotes,
        "refused for a name in the row" => refused_for_a_name,
        "the number of missing characters" => number_of_missing,
        "a head within the limit" => head_within_the_limit,
        "a cut with a sign" => cut_with_a_sign,
        "scores in the same order" => scores_in_order,
        _ => return docstring_answers::named(name).or_else(|| schema_answers::named(name)),
    })
}

/// The first word of each part of their lowercase answer stands once.
fn first_word_once(case: &Case<'_>) -> bool {
    let once = |part: &str| {
        let words: Vec<&str> = part.split('_').collect();
        let doubled = words.windows(2).take_while(|pair| pair[0] == pair[1]).count();
        words[doubled..].join("_")
    };
    let theirs = case.theirs.as_str().unwrap_or_default().to_lowercase();
    let parts: Vec<String> = theirs.split_inclusive(['-', '.']).map(once).collect();
    *case.ours == parts.concat()
}

/// A refusal that names an illegal name of the row.
fn refused_for_a_name(case: &Case<'_>) -> bool {
    let legal = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '.' | '-');
    let mut texts = Vec::new();
    collect_texts(case.input, &mut texts);
    let mut faulty =
        texts.iter().filter(|text| text.is_empty() || text.len() > 60 || !text.chars().all(legal));
    let refusal = case.ours.as_str().filter(|_| case.place.ends_with(".refused"));
    refusal.is_some_and(|refusal| faulty.any(|text| refusal.contains(&format!("`{text}`"))))
}

fn collect_texts<'a>(value: &'a Value, texts: &mut Vec<&'a str>) {
    match value {
        Value::String(text) => texts.push(text),
        Value::Object(fields) => fields.values().for_each(|value| collect_texts(value, texts)),
        Value::Array(values) => values.iter().for_each(|value| collect_texts(value, texts)),
        _ => {}
    }
}

/// The name of the method before, which is whole if it was unknown.
fn method_before(case: &Case<'_>) -> bool {
    let before = &case.input["before"];
    let method = before.get("method_name").filter(|method| !method.is_null());
    *case.ours == *method.unwrap_or(&before["name"])
}

fn the_name(case: &Case<'_>) -> bool {
    *case.ours == case.answer["name"]
}

/// A name of 64 characters that begins like theirs and ends with a digest.
fn short_name(case: &Case<'_>) -> bool {
    let name = case.input["ir"]["name"].as_str().unwrap_or_default();
    let ours = case.ours.to_string();
    let start = ours.find(name.get(..40).unwrap_or(name)).unwrap_or_default();
    let Some(short) = ours.get(start..start + 64) else { return false };
    is_digest(short, name) && case.theirs.to_string().replace(name, short) == ours
}

/// The given text in legal characters and eight digits of a digest.
fn is_digest(text: &str, given: &str) -> bool {
    let legal = |c: char| if c.is_ascii_alphanumeric() || matches!(c, '_' | '-') { c } else { '_' };
    let given: String = given.chars().map(legal).collect();
    let Some((start, digest)) = text.rsplit_once('_') else { return false };
    let is_hex = digest.len() == 8 && digest.chars().all(|c| matches!(c, '0'..='9' | 'a'..='f'));
    is_hex && text.len() <= 64 && (start == given || start.len() > 40 && given.starts_with(start))
}

fn refused_with_the_formats(case: &Case<'_>) -> bool {
    let provider = case.input["provider"].as_str().unwrap_or_default();
    let refused = &case.answer["refused"];
    let formats = ["openai_chat", "openai_responses", "anthropic", "gemini"];
    let lists = |text: &str| text.contains(provider) && formats.iter().all(|format| text.contains(format));
    refused[0] == refused[1] && refused[0].as_str().is_some_and(lists) && case.answer["is_read"] == false
}

/// An object with a format's name, and the row's fields that only this API has.
fn kept_fields(case: &Case<'_>) -> bool {
    is_kept(case.ours, &case.input["input"])
}

/// Their definitions with the fields that only this API has.
fn theirs_with_kept_fields(case: &Case<'_>) -> bool {
    let (Some(ours), Some(theirs)) = (case.ours.as_array(), case.theirs.as_array()) else { return false };
    let declarations = case.input["input"]["functionDeclarations"].as_array();
    let is_same = |(index, (ours, theirs)): (usize, (&Value, &Value))| {
        let mut plain = ours.clone();
        plain["metadata"] = json!({});
        let declaration = declarations.and_then(|declarations| declarations.get(index));
        plain == *theirs && declaration.is_some_and(|declaration| is_kept(&ours["metadata"], declaration))
    };
    ours.len() == theirs.len() && ours.iter().zip(theirs).enumerate().all(is_same)
}

fn is_kept(kept: &Value, declaration: &Value) -> bool {
    let formats = ["openai_chat", "openai_responses", "anthropic", "gemini"];
    let mut kept = kept.as_object().into_iter().flatten();
    let only = kept.next().filter(|(format, _)| formats.contains(&format.as_str()) && kept.next().is_none());
    only.is_some_and(|(_, fields)| is_part(fields, declaration))
}

/// Whether `declaration` has all fields; the entry without a name lists absent ones.
fn is_part(fields: &Value, declaration: &Value) -> bool {
    let is_there = |(name, value): (&String, &Value)| match (name.as_str(), value, &declaration[name]) {
        ("", Value::Array(absent), _) => {
            absent.iter().filter_map(Value::as_str).all(|name| declaration.get(name).is_none())
        }
        (_, value, given) => given == value || given.is_object() && is_part(value, given),
    };
    fields.as_object().is_some_and(|fields| fields.iter().all(is_there))
}

fn theirs_without_the_cache_hint(case: &Case<'_>) -> bool {
    crate::vectors::without(case.theirs, &["cache_control"]) == *case.ours
}

/// A neutral tool of free text, with its format as in the Responses API.
fn tool_of_free_text(case: &Case<'_>) -> bool {
    let input = &case.input["input"];
    let tool = input.get("custom").unwrap_or(input);
    let mut format = tool["format"].clone();
    if let Some(grammar) = format.get("grammar").cloned() {
        format = json!({"type": "grammar", "syntax": grammar["syntax"], "definition": grammar["definition"]});
    }
    let parameters = json!({"type": "object", "properties": {"input": {"type": "string"}}, "required": ["input"],
        "additionalProperties": false});
    *case.answer
        == json!({"type": "custom", "name": tool["name"], "description": tool["description"],
            "parameters": parameters, "required_parameters": ["input"], "metadata": {"format": format}})
}

fn given_id<'a>(case: &Case<'a>) -> &'a str {
    let input = case.input;
    let places = ["/ir/tool_call_id", "/tool_calls/0/id", "/input"];
    let id = places.into_iter().find_map(|place| input.pointer(place)?.as_str());
    let key = || input.get("responses")?.as_object()?.keys().next().map(String::as_str);
    id.or_else(key).unwrap_or_default()
}

const IDS: [&str; 4] = ["id", "call_id", "tool_call_id", "tool_use_id"];

fn with_id(answer: &Value, id: &str) -> Value {
    match answer {
        Value::String(_) => json!(id),
        Value::Array(parts) => parts.iter().map(|part| with_id(part, id)).collect(),
        Value::Object(fields) => {
            let fields = fields.iter().map(|(name, value)| match value {
                Value::String(_) if IDS.contains(&name.as_str()) => (name.clone(), json!(id)),
                Value::String(_) => (name.clone(), value.clone()),
                value => (name.clone(), with_id(value, id)),
            });
            fields.collect()
        }
        other => other.clone(),
    }
}

fn first_id(answer: &Value) -> Option<&str> {
    match answer {
        Value::String(id) => Some(id),
        Value::Array(parts) => parts.iter().find_map(first_id),
        Value::Object(fields) => fields.iter().find_map(|(name, value)| match value {
            Value::String(id) => IDS.contains(&name.as_str()).then_some(id.as_str()),
            value => first_id(value),
        }),
        _ => None,
    }
}

fn id_as_it_came(case: &Case<'_>) -> bool {
    with_id(case.theirs, given_id(case)) == *case.ours
}

fn id_with_a_digest(case: &Case<'_>) -> bool {
    let Some(id) = first_id(case.ours) else { return false };
    is_digest(id, given_id(case)) && with_id(case.theirs, id) == *case.ours
}

/// An id as the runtime makes them, from a digest and the call's place.
fn id_of_its_own(case: &Case<'_>) -> bool {
    is_own_id(case.ours)
}

fn is_own_id(id: &Value) -> bool {
    let parts = id.as_str().and_then(|id| id.strip_prefix("call_")?.split_once('_'));
    parts.is_some_and(|(digest, place)| {
        digest.len() == 8 && digest.chars().all(|c| c.is_ascii_hexdigit()) && place.parse::<usize>().is_ok()
    })
}

fn call_with_an_id_of_its_own(case: &Case<'_>) -> bool {
    let function = &case.input["input"]["function"];
    let wanted = json!({"id": case.ours["id"], "name": function["name"], "arguments": function["arguments"]});
    is_own_id(&case.ours["id"]) && *case.ours == read_arguments(&wanted)
}

fn function_call(case: &Case<'_>) -> bool {
    let ir = &case.input["ir"];
    *case.answer
        == json!({"type": "function_call", "call_id": ir["tool_call_id"], "name": ir["tool_name"],
            "arguments": ir["tool_input"], "status": "completed"})
}

/// The model's arguments, as text or its value.
fn arguments_as_they_came(case: &Case<'_>) -> bool {
    let call = &case.input["input"];
    let written = call.get("function").unwrap_or(call).get("arguments").unwrap_or(&Value::Null);
    let read = written.as_str().and_then(|text| serde_json::from_str(text).ok());
    *case.ours == read.unwrap_or_else(|| written.clone())
}

fn is_json_of(text: &Value, value: &Value) -> bool {
    let written = value.to_string();
    text.as_str() == Some(&*written)
}

fn result_as_json(case: &Case<'_>) -> bool {
    is_json_of(case.ours, &case.input["ir"]["result"])
}

fn result_as_a_value(case: &Case<'_>) -> bool {
    let ir = &case.input["ir"];
    let id = &ir["tool_call_id"];
    *case.ours == json!({"id": id, "name": id, "response": {"output": ir["result"]}})
}

fn response_as_json(case: &Case<'_>) -> bool {
    let response = &case.input["input"]["functionResponse"]["response"];
    is_json_of(case.ours, response.get("output").unwrap_or(response))
}

/// Theirs, with consecutive user messages as one.
fn answers_in_the_next_message(case: &Case<'_>) -> bool {
    let mut merged: Vec<Value> = Vec::new();
    for message in case.theirs.as_array().into_iter().flatten() {
        let content = match &message["content"] {
            Value::String(text) => json!([{"type": "text", "text": text}]),
            content => content.clone(),
        };
        match merged.last_mut() {
            Some(last) if last["role"] == "user" && message["role"] == "user" => {
                let parts = [&last["content"], &content].into_iter().filter_map(Value::as_array).flatten();
                last["content"] = parts.cloned().collect();
            }
            _ => merged.push(message.clone()),
        }
    }
    *case.ours == Value::Array(merged)
}

/// Theirs, with compact JSON in texts.
fn theirs_without_spaces(case: &Case<'_>) -> bool {
    fn compact(value: &Value) -> Value {
        match value {
            Value::String(text) => {
                let read = serde_json::from_str(text)
                    .ok()
                    .filter(|read: &Value| read.is_object() || read.is_array());
                read.map_or_else(|| value.clone(), |read| json!(read.to_string()))
            }
            Value::Object(fields) => {
                fields.iter().map(|(name, value)| (name.clone(), compact(value))).collect()
            }
            other => other.clone(),
        }
    }
    compact(case.theirs) == *case.ours
}

/// Theirs as a JSON string, or as the text within.
fn their_text_in_quotes(case: &Case<'_>) -> bool {
    if case.place.ends_with(".text") {
        return is_json_of(case.ours, case.theirs);
    }
    is_json_of(&case.answer["text"], case.ours) && case.ours.is_string()
}

fn count(text: &Value) -> usize {
    text.as_str().unwrap_or_default().chars().count()
}

/// The characters of the text neither before nor after the words.
fn number_of_missing(case: &Case<'_>) -> bool {
    let kept = count(&case.answer["head"]) + count(&case.answer["tail"]);
    is_json_of(case.ours, &json!(count(&case.input["text"]) - kept))
}

/// The beginning and the words fit into the limit.
fn head_within_the_limit(case: &Case<'_>) -> bool {
    let head = &case.answer["head"];
    let limit = case.input["max_size"].as_u64();
    let Some(missing) = case.answer["missing"].as_str() else { return is_cut_with_a_sign(case, head) };
    let words = format!("\n... (truncated {missing} chars) ...").chars().count();
    let begins =
        case.input["text"].as_str().zip(head.as_str()).is_some_and(|(text, head)| text.starts_with(head));
    let is_counted = missing.parse() == Ok(count(&case.input["text"]) - count(head));
    begins
        && is_counted
        && case.answer["tail"] == ""
        && limit.is_some_and(|limit| (count(head) + words) as u64 <= limit)
}

fn cut_with_a_sign(case: &Case<'_>) -> bool {
    is_cut_with_a_sign(case, case.ours)
}

/// The beginning up to the limit, ending with `…`.
fn is_cut_with_a_sign(case: &Case<'_>, cut: &Value) -> bool {
    let text = case.input["text"].as_str().unwrap_or_default();
    let limit = case.input["max_size"].as_u64();
    let head = cut.as_str().and_then(|cut| cut.strip_suffix('…'));
    head.is_some_and(|head| text.starts_with(head)) && limit == u64::try_from(count(cut)).ok()
}

fn scores_in_order(case: &Case<'_>) -> bool {
    let scores = |list: &Value| -> Vec<f64> {
        list.as_array().into_iter().flatten().filter_map(Value::as_f64).collect()
    };
    let theirs = scores(case.theirs);
    let ours = scores(case.ours);
    theirs.len() == ours.len()
        && ours.is_sorted_by(|one, next| one >= next)
        && ours.iter().all(|score| *score > 0.0)
}
