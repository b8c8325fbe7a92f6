//! The rules: from a draft to a model.

use crate::diag::{Diag, hint};
use crate::draft::{Draft, DraftParam, Source, only_argument, peel, spelling};
use crate::model::{Argument, Model, ParamModel};
use proc_macro2::Span;
use quote::ToTokens;
use std::collections::HashMap;
use syn::ext::IdentExt;
use syn::spanned::Spanned;
use syn::{GenericArgument, GenericParam, LitStr, PathArguments, ReturnType, Safety, Type, TypeParamBound};

const MAX_NAME_LENGTH: usize = 128;

/// The hidden struct of the function's name would hide them from the signature.
const PRIMITIVES: &[&str] = &[
    "bool", "char", "str", "i8", "i16", "i32", "i64", "i128", "isize", "u8", "u16", "u32", "u64", "u128",
    "usize", "f32", "f64",
];

/// Checks every rule and reports every mistake. `None` if a part of the model cannot be made.
pub(crate) fn check<'a>(draft: &'a Draft<'a>, owner: Option<&'a Type>, diag: &mut Diag) -> Option<Model<'a>> {
    check_signature(draft, diag);
    check_documentation(draft, diag);
    check_names_differ(draft, diag);
    check_lane(draft, diag);
    check_flatten(draft, diag);
    let name = tool_name(draft, diag);
    let namespace = namespace(draft, diag);
    let arguments = draft.params.iter().map(|param| argument(draft, param, diag)).collect();
    let description = match &draft.attr.description {
        Some(description) => description.to_token_stream(),
        None => draft.docs.description(),
    };
    Some(Model {
        krate: draft.krate(),
        cfgs: draft.cfgs().collect(),
        vis: draft.vis,
        sig: draft.sig,
        name: name?,
        namespace,
        description,
        timeout: draft.attr.timeout,
        metadata: &draft.attr.metadata,
        registered: !draft.attr.unregistered,
        owner,
        has_receiver: draft.has_receiver,
        arguments,
    })
}

fn check_signature(draft: &Draft<'_>, diag: &mut Diag) {
    let sig = draft.sig;
    let generics = &sig.generics.params;
    if !generics.is_empty() && generics.iter().all(|param| matches!(param, GenericParam::Lifetime(_))) {
        diag.error(
            &sig.generics,
            "a tool has no lifetimes: its arguments live as long as the call; write references without one, and return an owned value such as `String` where the compiler then asks for one",
        );
    } else if !generics.is_empty() {
        diag.error(
            &sig.generics,
            "a tool cannot be generic: the model reads one schema; write the concrete type, or call this function from a tool for each type",
        );
    } else if let Some(clause) = &sig.generics.where_clause {
        diag.error(clause, "a tool cannot have a `where` clause");
    }
    if let ReturnType::Type(_, ty) = &sig.output
        && matches!(**ty, Type::Never(_))
    {
        diag.error(ty, "a tool that never returns has no result for the model");
    }
    if let ReturnType::Type(_, ty) = &sig.output
        && let Some(output) = future_output(ty)
    {
        let message = format!(
            "the model reads a value, not the future of one; write `async fn {}(…){output}`",
            sig.ident
        );
        diag.error(ty, message);
    }
    if draft.attr.name.is_none() && PRIMITIVES.iter().any(|primitive| sig.ident == primitive) {
        let message = format!(
            "a tool's function cannot have the name of a primitive type; call it `{0}_tool` and write `#[tool(name = \"{0}\")]`",
            sig.ident
        );
        diag.error(&sig.ident, message);
    }
    if let Safety::Unsafe(token) = &sig.safety {
        diag.error(token, "a tool cannot be `unsafe`: nobody checks its conditions before a model calls it");
    }
    if let Some(variadic) = &sig.variadic {
        diag.error(variadic, "a tool has a fixed list of parameters");
    }
}

/// What stands behind the parameters of an `async fn`, in the place of `impl Future<Output = T>` or a boxed
/// `dyn Future<Output = T>`; `None` for types that are no future by their spelling.
fn future_output(ty: &Type) -> Option<String> {
    let bounds = match peel(ty) {
        Type::ImplTrait(opaque) => &opaque.bounds,
        Type::TraitObject(object) => &object.bounds,
        Type::Path(path) => {
            let last = path.path.segments.last()?;
            let is_box = ["Pin", "Box"].iter().any(|wrapper| last.ident == wrapper);
            return only_argument(ty, &last.ident.to_string()).filter(|_| is_box).and_then(future_output);
        }
        _ => return None,
    };
    let future = bounds.iter().find_map(|bound| match bound {
        TypeParamBound::Trait(bound) => bound.path.segments.last().filter(|last| last.ident == "Future"),
        _ => None,
    })?;
    let PathArguments::AngleBracketed(arguments) = &future.arguments else { return Some(String::new()) };
    let output = arguments.args.iter().find_map(|argument| match argument {
        GenericArgument::AssocType(output) => Some(spelling(&output.ty)),
        _ => None,
    });
    Some(output.map(|output| format!(" -> {output}")).unwrap_or_default())
}

/// A parameter that the documentation describes and the function does not have is a stale comment.
fn check_documentation(draft: &Draft<'_>, diag: &mut Diag) {
    for problem in &draft.docs.parsed.problems {
        diag.push(syn::Error::new(draft.docs.span(problem.line), &problem.message));
    }
    let names: Vec<String> = draft.params.iter().map(DraftParam::name).collect();
    let known: Vec<&str> = names.iter().map(String::as_str).collect();
    if draft.params.iter().any(|param| param.attr.flatten.is_some()) {
        // What is documented are fields, which the macro cannot see.
        return;
    }
    for documented in &draft.docs.parsed.params {
        if draft.params.iter().any(|param| is_documented_as(param, &documented.name)) {
            continue;
        }
        let hint = if known.is_empty() { "; it has none".to_owned() } else { hint(&documented.name, &known) };
        let message = format!("the function has no parameter `{}`{hint}", documented.name);
        diag.push(syn::Error::new(draft.docs.span(documented.line), message));
    }
}

/// Where the fields of one parameter are the arguments, there is no room for others.
fn check_flatten(draft: &Draft<'_>, diag: &mut Diag) {
    let mut seen = draft.params.iter().filter(|param| matches!(param.source, Source::Model { .. }));
    let Some(flatten) = draft.params.iter().find_map(|param| param.attr.flatten.as_ref()) else { return };
    if seen.clone().count() > 1 {
        diag.error(flatten, "with `flatten` the fields of this parameter are the arguments; put the other parameters into its type");
    } else if let Some(param) = seen.next()
        && !param.attr.is_only_flatten()
    {
        diag.error(
            flatten,
            "with `flatten` the parameter itself has no name, default or constraints; say it of its fields",
        );
    }
}

/// The lane is the value of a parameter.
fn check_lane(draft: &Draft<'_>, diag: &mut Diag) {
    let Some(lane) = &draft.attr.lane else { return };
    if draft.params.iter().any(|param| param.attr.flatten.is_some()) {
        return;
    }
    let names: Vec<String> =
        draft.params.iter().filter_map(|param| model_names(param).next()).map(|(name, _)| name).collect();
    if !names.contains(&lane.value()) {
        let known: Vec<&str> = names.iter().map(String::as_str).collect();
        diag.error(
            lane,
            format!("the function has no parameter `{}`{}", lane.value(), hint(&lane.value(), &known)),
        );
    }
}

fn is_documented_as(param: &DraftParam<'_>, name: &str) -> bool {
    param.name() == name || param.attr.rename.as_ref().is_some_and(|rename| rename.value() == name)
}

/// No two parameters may answer to one name.
fn check_names_differ(draft: &Draft<'_>, diag: &mut Diag) {
    let mut taken: HashMap<String, String> = HashMap::new();
    for param in draft.params.iter().filter(|param| matches!(param.source, Source::Model { .. })) {
        let owner = param.name();
        for (name, span) in model_names(param) {
            if name.is_empty() {
                diag.push(syn::Error::new(span, "a parameter needs a name"));
            }
            if let Some(first) = taken.insert(name.clone(), owner.clone()) {
                let message = format!("two parameters answer to `{name}`: `{first}` and `{owner}`");
                diag.push(syn::Error::new(span, message));
            }
        }
    }
}

fn model_names(param: &DraftParam<'_>) -> impl Iterator<Item = (String, Span)> {
    let name = match &param.attr.rename {
        Some(rename) => (rename.value(), rename.span()),
        None => (param.name(), param.ident.span()),
    };
    let aliases = param.attr.aliases.iter().map(|alias| (alias.value(), alias.span()));
    std::iter::once(name).chain(aliases)
}

fn tool_name(draft: &Draft<'_>, diag: &mut Diag) -> Option<String> {
    let (name, span, advice) = match &draft.attr.name {
        Some(name) => (name.value(), name.span(), ""),
        None => (
            draft.sig.ident.unraw().to_string(),
            draft.sig.ident.span(),
            "; give it one with `#[tool(name = \"…\")]`",
        ),
    };
    let legal = is_legal(&name, |byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'.' | b'-'));
    if legal {
        return Some(name);
    }
    let message = format!(
        "tool name `{name}` must be 1 to {MAX_NAME_LENGTH} of the characters A-Z a-z 0-9 _ . -, for example `{}`{advice}",
        legal_spelling(&name)
    );
    diag.push(syn::Error::new(span, message));
    None
}

fn namespace(draft: &Draft<'_>, diag: &mut Diag) -> Option<String> {
    let literal: &LitStr = draft.attr.namespace.as_ref()?;
    let namespace = literal.value();
    if is_legal(&namespace, |byte| byte.is_ascii_alphanumeric() || byte == b'_') {
        return Some(namespace);
    }
    let message = format!(
        "namespace `{namespace}` must be 1 to {MAX_NAME_LENGTH} of the characters A-Z a-z 0-9 _, for example `{}`",
        legal_spelling(&namespace).replace(['.', '-'], "_")
    );
    diag.push(syn::Error::new(literal.span(), message));
    None
}

fn is_legal(name: &str, legal: impl Fn(u8) -> bool) -> bool {
    (1..=MAX_NAME_LENGTH).contains(&name.len()) && name.bytes().all(legal)
}

fn legal_spelling(name: &str) -> String {
    let legal = |c: char| if c.is_ascii_alphanumeric() || matches!(c, '_' | '.' | '-') { c } else { '_' };
    let spelled: String = name.chars().map(legal).take(MAX_NAME_LENGTH).collect();
    let spelled = spelled.trim_matches('_');
    if spelled.is_empty() { "my_tool".to_owned() } else { spelled.to_owned() }
}

fn argument<'a>(draft: &'a Draft<'a>, param: &'a DraftParam<'a>, diag: &mut Diag) -> Argument<'a> {
    let (owned, lending) = match &param.source {
        Source::Model { owned, lending } => (owned, *lending),
        Source::Context => {
            check_unseen(param, "the context", diag);
            return Argument::Context;
        }
        Source::State { ty, form } => {
            check_unseen(param, "a state", diag);
            return Argument::State { ty, form: *form };
        }
    };
    let documented =
        draft.docs.parsed.params.iter().find(|documented| is_documented_as(param, &documented.name));
    let description = match (&param.attr.description, documented) {
        (Some(description), _) => description.to_token_stream(),
        (None, Some(documented)) if param.docs.is_empty() => documented.description.to_token_stream(),
        (None, _) => param.docs.description(),
    };
    let undocumented = param.attr.description.is_none()
        && param.docs.is_empty()
        && documented.is_none_or(|documented| documented.description.is_empty());
    if draft.attr.strict_docs && undocumented {
        diag.error(
            param.ident,
            format!("parameter `{}` is not documented, which `strict_docs` demands", param.name()),
        );
    }
    let (name, _) = model_names(param).next().unwrap_or_else(|| (param.name(), param.ident.span()));
    Argument::Param(Box::new(ParamModel {
        ident: param.ident,
        owned,
        span: owned.span(),
        lending,
        name,
        aliases: param.attr.aliases.iter().map(LitStr::value).collect(),
        description,
        default: param.attr.default.as_ref(),
        constraints: &param.attr.constraints,
        flatten: param.attr.flatten.is_some(),
    }))
}

/// The model never sees what the program gives, so there is nothing to say about it.
fn check_unseen(param: &DraftParam<'_>, what: &str, diag: &mut Diag) {
    if !param.attr.is_empty() {
        diag.error(param.ty, format!("the model never sees {what}: `#[param]` says nothing here"));
    }
}
