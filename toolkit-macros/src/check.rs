//! Checks a parsed tool function before code generation.

use crate::checked::mark_checked;
use crate::diag::{Diag, hint};
use crate::docs::{describe, is_described};
use crate::draft::{Draft, DraftParam, Source};
use crate::item::{is_primitive, only_argument, peel};
use crate::model::{Model, ParamModel};
use proc_macro2::Span;
use quote::{ToTokens, quote};
use std::collections::HashMap;
use syn::ext::IdentExt;
use syn::spanned::Spanned;
use syn::{GenericParam, LitStr, ReturnType, Safety, Type, TypeParamBound};

const MAX_NAME_LENGTH: usize = 128;

/// Checks a tool function, reports all errors, and returns its model.
pub(crate) fn check<'a>(draft: &'a Draft<'a>, diag: &mut Diag) -> Option<Model<'a>> {
    check_signature(draft, diag);
    check_documentation(draft, diag);
    check_names_differ(draft, diag);
    check_lane(draft, diag);
    check_flatten(draft, diag);
    check_effects(draft, diag);
    let name = tool_name(draft, diag);
    let mut namespace = None;
    if let Some(given) = draft.attr.namespace.name() {
        let advice = if given.value().is_empty() { "; write `namespace = none` for none" } else { "" };
        namespace = check_name("namespace", given.value(), given.span(), &['_'], advice, diag);
    }
    let mut params: Vec<_> =
        draft.params.iter().filter_map(|param| param_model(draft, param, diag)).collect();
    // A constant cannot use the type parameters of the block.
    if draft.generics().is_none() {
        mark_checked(&mut params);
    }
    let description = describe(draft.attr.description.as_ref(), &draft.docs, None);
    if draft.attr.strict_docs && !is_described(description.as_ref()) {
        let ident = &draft.sig.ident;
        diag.error(ident, format!("`{ident}` is undocumented and `strict_docs` is set; write a doc comment"));
    }
    Some(Model {
        draft,
        name: name?,
        namespace,
        description: description.unwrap_or_else(|| quote!("")),
        params,
    })
}

fn check_signature(draft: &Draft<'_>, diag: &mut Diag) {
    let sig = draft.sig;
    let ident = &sig.ident;
    let generics = &sig.generics;
    if generics.params.iter().any(|param| !matches!(param, GenericParam::Lifetime(_))) {
        diag.error(generics, format!("`{ident}` is generic, but a tool has one schema; use concrete types"));
    } else if !generics.params.is_empty() {
        let message = format!(
            "`{ident}` has lifetime parameters; write references without a lifetime and return an owned value"
        );
        diag.error(generics, message);
    } else if let Some(clause) = &generics.where_clause {
        diag.error(clause, format!("`{ident}` has a `where` clause, but a tool is not generic; remove it"));
    }
    if let ReturnType::Type(_, ty) = &sig.output {
        if matches!(**ty, Type::Never(_)) {
            diag.error(ty, format!("`{ident}` never returns; return a result for the model"));
        }
        if is_future(ty) {
            diag.error(ty, format!("`{ident}` returns a future, no result; write `async fn {ident}`"));
        }
    }
    // The marker struct `char` would shadow the primitive type.
    if draft.attr.name.is_none() && is_primitive(ident) {
        let message = format!(
            "`{ident}` is also a primitive type; name the function `{ident}_tool` and write \
             `#[tool(name = \"{ident}\")]`"
        );
        diag.error(ident, message);
    }
    if let Safety::Unsafe(token) = &sig.safety {
        diag.error(
            token,
            format!("`{ident}` is unsafe; call it from a safe tool after checking its conditions"),
        );
    }
    if let Some(variadic) = &sig.variadic {
        diag.error(variadic, format!("`{ident}` is variadic, but a tool has fixed parameters; list them"));
    }
}

fn is_future(ty: &Type) -> bool {
    let bounds = match peel(ty) {
        Type::ImplTrait(opaque) => &opaque.bounds,
        Type::TraitObject(object) => &object.bounds,
        _ => return ["Pin", "Box"].iter().any(|wrapper| only_argument(ty, wrapper).is_some_and(is_future)),
    };
    for bound in bounds {
        if let TypeParamBound::Trait(bound) = bound
            && bound.path.segments.last().is_some_and(|last| last.ident == "Future")
        {
            return true;
        }
    }
    false
}

fn check_documentation(draft: &Draft<'_>, diag: &mut Diag) {
    draft.docs.check_text(diag);
    // The field names of a flattened type are unknown here.
    if draft.params.iter().all(|param| param.attr.flatten.is_none()) {
        let mut known: Vec<String> = draft.params.iter().map(DraftParam::name).collect();
        for param in &draft.params {
            let Some(rename) = &param.attr.rename else { continue };
            if !known.contains(&rename.value()) {
                known.push(rename.value());
            }
        }
        draft.docs.check_names(&draft.sig.ident, "parameter", &known, diag);
    }
}

fn check_flatten(draft: &Draft<'_>, diag: &mut Diag) {
    let Some(flatten) = draft.params.iter().find_map(|param| param.attr.flatten.as_ref()) else { return };
    if draft.decoded().count() > 1 {
        diag.error(flatten, "`flatten` takes all arguments; move the other parameters into its type");
    }
    for param in draft.decoded() {
        param.attr.check_flatten(diag);
    }
}

/// Reports arguments of `#[tool]` without effect, and a `max_concurrency` of 0.
fn check_effects(draft: &Draft<'_>, diag: &mut Diag) {
    let attr = &draft.attr;
    let runs_in_place = draft.sig.asyncness.is_none() && attr.given_as("blocking", "true").is_none();
    let reads_deadline = draft.params.iter().any(|param| matches!(param.source, Source::Context));
    if runs_in_place
        && !reads_deadline
        && attr.timeout.is_some()
        && let Some(timeout) = attr.given("timeout")
    {
        let message = "`timeout` has no effect because a synchronous function cannot be interrupted; make the \
                       function `async`, or add `blocking`";
        diag.error(timeout, message);
    }
    if let Some(limit) = attr.given_as("max_concurrency", "0") {
        diag.error(limit, "`max_concurrency` of 0 would allow no call; write at least 1");
    }
    for (argument, effect) in [
        ("retries", "is the default; remove it"),
        ("max_result_size", "would return nothing; write at least 1"),
    ] {
        if let Some(zero) = attr.given_as(argument, "0") {
            diag.error(zero, format!("`{argument}` of 0 {effect}"));
        }
    }
    for (argument, other) in [("max_concurrency", "exclusive"), ("destructive", "read_only")] {
        if attr.given_as(argument, "false").is_none()
            && let Some(argument) = attr.given(argument)
            && let Some(other) = attr.given_as(other, "true")
        {
            diag.error(
                argument,
                format!("`{argument}` has no effect beside `{other}`; remove one of the two"),
            );
        }
    }
    for argument in ["register", "crate"] {
        if draft.owner.is_some()
            && let Some(key) = attr.given(argument)
        {
            let advice = match argument {
                "crate" => "write `#[toolset(crate = path)]`",
                _ => "methods are registered with their value; remove it",
            };
            diag.error(key, format!("`{argument}` has no effect on a method; {advice}"));
        }
    }
}

fn check_lane(draft: &Draft<'_>, diag: &mut Diag) {
    let Some(lane) = &draft.attr.lane else { return };
    let name = lane.value();
    let known: Vec<String> = draft.decoded().map(|param| schema_name(param).0).collect();
    let is_flattened = draft.params.iter().any(|param| param.attr.flatten.is_some());
    if !is_flattened && !known.contains(&name) {
        diag.error(lane, format!("`{}` has no parameter `{name}`{}", draft.sig.ident, hint(&name, &known)));
    }
}

fn check_names_differ(draft: &Draft<'_>, diag: &mut Diag) {
    let mut taken: HashMap<String, String> = HashMap::new();
    for param in draft.decoded() {
        let owner = param.name();
        let aliases = param.attr.aliases.iter().map(|alias| (alias.value(), alias.span()));
        for (name, span) in std::iter::once(schema_name(param)).chain(aliases) {
            if name.is_empty() {
                diag.error_at(span, "a parameter name cannot be empty");
            }
            if let Some(first) = taken.insert(name.clone(), owner.clone()) {
                diag.error_at(
                    span,
                    format!("`{name}` names two parameters, `{first}` and `{owner}`; rename one"),
                );
            }
        }
    }
}

fn schema_name(param: &DraftParam<'_>) -> (String, Span) {
    match &param.attr.rename {
        Some(rename) => (rename.value(), rename.span()),
        None => (param.name(), param.ident.span()),
    }
}

fn tool_name(draft: &Draft<'_>, diag: &mut Diag) -> Option<String> {
    let ident = &draft.sig.ident;
    let (name, span, advice) = match &draft.attr.name {
        Some(name) => (name.value(), name.span(), ""),
        None => (ident.unraw().to_string(), ident.span(), "; set it with `#[tool(name = \"…\")]`"),
    };
    check_name("tool name", name, span, &['_', '.', '-'], advice, diag)
}

/// Reports a name that is empty, too long, or has characters other than ASCII letters, digits and
/// `punctuation`.
fn check_name(
    kind: &str,
    name: String,
    span: Span,
    punctuation: &[char],
    advice: &str,
    diag: &mut Diag,
) -> Option<String> {
    let is_allowed = |c: char| c.is_ascii_alphanumeric() || punctuation.contains(&c);
    if (1..=MAX_NAME_LENGTH).contains(&name.len()) && name.chars().all(is_allowed) {
        return Some(name);
    }
    let allowed: String = punctuation.iter().map(|c| format!(" {c}")).collect();
    let replaced: String = name.replace(|c| !is_allowed(c), "_").chars().take(MAX_NAME_LENGTH).collect();
    let example = match replaced.trim_matches('_') {
        "" => "my_tool",
        example => example,
    };
    let message = format!(
        "{kind} `{name}` must be 1 to {MAX_NAME_LENGTH} of the characters A-Z a-z 0-9{allowed}, for example \
         `{example}`{advice}"
    );
    diag.error_at(span, message);
    None
}

/// Converts a parameter, or returns `None` for context and state, which are not part of the schema.
fn param_model<'a>(
    draft: &'a Draft<'a>,
    param: &'a DraftParam<'a>,
    diag: &mut Diag,
) -> Option<ParamModel<'a>> {
    let Source::Arguments { ty, pass } = &param.source else {
        if let Some(key) = param.attr.given(|_| true) {
            diag.error(
                key,
                "`#[param]` has no effect because the model never sees this parameter; remove it",
            );
        }
        return None;
    };
    let name = param.name();
    let renamed = param.attr.rename.as_ref().map(LitStr::value);
    let section = draft.docs.param(|documented| documented == name || renamed.as_deref() == Some(documented));
    let description = describe(param.attr.description.as_ref(), &param.docs, section);
    if draft.attr.strict_docs && param.attr.flatten.is_none() && !is_described(description.as_ref()) {
        diag.error(
            param.ident,
            format!("parameter `{name}` is undocumented and `strict_docs` is set; document it"),
        );
    }
    Some(ParamModel {
        ident: param.ident,
        ty,
        span: ty.span(),
        pass: *pass,
        name: renamed.unwrap_or(name),
        description: description.unwrap_or_else(|| "".to_token_stream()),
        attr: &param.attr,
        is_checked: false,
    })
}
