//! The fields of a mirror.

use super::attributes::{
    attribute_arguments, has_any, is_serde_or_schemars, refuse_helpers, serde_arguments, serde_values,
};
use super::{constraining, describe, generic_transforming};
use crate::attr::{DefaultAttr, ParamAttr, default_of_type, only_string};
use crate::diag::Diag;
use crate::docs::{self, Docs};
use crate::item::type_arguments;
use proc_macro2::{Ident, Span, TokenStream};
use quote::{ToTokens, format_ident, quote, quote_spanned};
use std::collections::HashMap;
use syn::ext::IdentExt;
use syn::spanned::Spanned;
use syn::{Attribute, Field, Fields, Generics, parse_quote};

pub(super) struct Owner<'a> {
    pub(super) this: &'a TokenStream,
    pub(super) docs: &'a Docs,
    /// Whether the type is a struct with `#[serde(default)]`.
    pub(super) has_default: bool,
    pub(super) strict_docs: bool,
    pub(super) generics: &'a Generics,
}

/// Translates `#[param(…)]` and comments of a field into attributes of serde and schemars.
///
/// Returns whether the field has a description.
pub(super) fn mirror_field(
    field: &mut Field,
    owner: &Owner<'_>,
    helpers: &mut Vec<TokenStream>,
    diag: &mut Diag,
) -> bool {
    let attr = ParamAttr::parse(&field.attrs, diag);
    refuse_helpers(&field.attrs, &["tool_params"], "a field", diag);
    attr.check_flatten(diag);
    let docs = Docs::from_attrs(&field.attrs);
    field.attrs.retain(is_serde_or_schemars);
    check_effects(&attr, field, diag);
    let ty = &field.ty;
    match &attr.default {
        Some(DefaultAttr::OfType(_)) => field.attrs.push(parse_quote!(#[serde(default)])),
        Some(default @ DefaultAttr::Value(_)) => {
            let make = format_ident!("__default_{}", helpers.len());
            let (impl_generics, _, where_clause) = owner.generics.split_for_impl();
            let arguments = type_arguments(owner.generics);
            let path = quote!(#make #arguments).to_string();
            let value = default.expr(ty);
            helpers.push(quote!(fn #make #impl_generics() -> #ty #where_clause { #value }));
            field.attrs.push(parse_quote!(#[serde(default = #path)]));
        }
        None => {}
    }
    if let Some(name) = &attr.rename {
        field.attrs.push(parse_quote!(#[serde(rename = #name)]));
    }
    for alias in &attr.aliases {
        field.attrs.push(parse_quote!(#[serde(alias = #alias)]));
    }
    let aliases = serde_values(&field.attrs, "alias");
    if !aliases.is_empty() {
        // Constraints are checked for the name of the field and for its aliases.
        field.attrs.push(parse_quote!(#[schemars(extend("x-toolkit-aliases" = [#(#aliases),*]))]));
    }
    if attr.flatten.is_some() {
        field.attrs.push(parse_quote!(#[serde(flatten)]));
    }
    if let Some((default, generics)) = shown_default(field, &attr, owner) {
        let call = quote!(__toolkit::set_default(__schema, #default););
        let set = generic_transforming(helpers, &generics, call);
        let arguments = type_arguments(&generics);
        field.attrs.push(parse_quote!(#[schemars(transform = #set #arguments)]));
    }
    if !attr.constraints.is_empty() {
        let constrain = constraining(helpers, &attr.constraints.calls);
        helpers.extend(attr.constraints.assertions(&field.ty.to_token_stream(), owner.generics));
        field.attrs.push(parse_quote!(#[schemars(transform = #constrain)]));
    }
    describe_field(field, &attr, &docs, owner, diag)
}

/// Reports a name that two fields have: serde fills only the first of them.
///
/// If a rule renames all fields, only those with a name of their own are compared.
pub(super) fn check_names_differ(fields: &Fields, is_renamed: bool, diag: &mut Diag) {
    let mut taken: HashMap<String, String> = HashMap::new();
    for field in fields {
        let Some(ident) = &field.ident else { continue };
        let owner = ident.unraw().to_string();
        for (name, span) in given_names(field, ident, is_renamed) {
            let first = taken.entry(name.clone()).or_insert_with(|| owner.clone());
            if *first != owner {
                diag.error_at(
                    span,
                    format!("`{name}` names two fields, `{first}` and `{owner}`; rename one"),
                );
            }
        }
    }
}

/// Returns the name and the aliases of a field that are known here.
fn given_names(field: &Field, ident: &Ident, is_renamed: bool) -> Vec<(String, Span)> {
    const NAMELESS: &[&str] = &["flatten", "skip", "skip_deserializing"];
    let arguments = serde_arguments(&field.attrs);
    if has_any(&arguments, NAMELESS) {
        return Vec::new();
    }
    let mut names = Vec::new();
    if !is_renamed && !has_any(&arguments, &["rename"]) {
        names.push((ident.unraw().to_string(), ident.span()));
    }
    for given in serde_values(&field.attrs, "rename").into_iter().chain(serde_values(&field.attrs, "alias")) {
        if let Some(name) = only_string(&given) {
            names.push((name, given.span()));
        }
    }
    names
}

fn check_effects(attr: &ParamAttr, field: &Field, diag: &mut Diag) {
    if has_any(&serde_arguments(&field.attrs), &["skip", "skip_deserializing"])
        && let Some(key) = attr.given(|key| key != "default")
    {
        diag.error(key, format!("`{key}` has no effect because the model never sees this field; remove it"));
    }
    if field.ident.is_none()
        && let Some(key) = attr.given(|key| matches!(key, "default" | "rename" | "alias" | "flatten"))
    {
        diag.error(key, format!("`{key}` has no effect because the field has no name; remove it"));
    }
}

/// Adds the description of the field. Returns whether there is one.
fn describe_field(
    field: &mut Field,
    attr: &ParamAttr,
    docs: &Docs,
    owner: &Owner<'_>,
    diag: &mut Diag,
) -> bool {
    let name = field.ident.as_ref().map(|ident| ident.unraw().to_string());
    let section = owner.docs.param(|documented| name.as_deref() == Some(documented));
    let description = docs::describe(attr.description.as_ref(), docs, section);
    let is_described = docs::is_described(description.as_ref());
    if let Some(name) = name
        && owner.strict_docs
        && is_decoded_by_type(&field.attrs)
        && !is_described
    {
        diag.error(
            &field.ident,
            format!("field `{name}` is undocumented and `strict_docs` is set; document it"),
        );
    }
    describe(&mut field.attrs, description);
    is_described
}

/// Generates an expression for the default of a field as JSON, with the generic parameters that it needs.
///
/// The default comes from `#[param]` on the field, or from serde's `default` on the field or the type.
/// Returns `None` without a default, or if an attribute decides how it is serialized, and so whether
/// schemars shows it.
fn shown_default(field: &Field, attr: &ParamAttr, owner: &Owner<'_>) -> Option<(TokenStream, Generics)> {
    const DECISIVE: &[&str] = &[
        "flatten",
        "serialize_with",
        "skip",
        "skip_deserializing",
        "skip_serializing",
        "skip_serializing_if",
        "with",
    ];
    let arguments = serde_arguments(&field.attrs);
    if has_any(&arguments, DECISIVE) {
        return None;
    }
    let ty = &field.ty;
    let this = owner.this;
    let of_type = quote!(<#ty as ::core::default::Default>::default());
    let mut generics = owner.generics.clone();

    let given = arguments.into_iter().find(|(name, _)| name.is_ident("default"));
    let json = match (&attr.default, given) {
        (Some(default), _) => {
            if matches!(default, DefaultAttr::OfType(_)) {
                require_default(&mut generics, ty);
            }
            let value = default.expr(ty);
            default.json(&quote!({ let __default: #ty = #value; __default }))
        }
        (None, Some((key, None))) => {
            require_default(&mut generics, ty);
            default_of_type(key.span(), &of_type)
        }
        (None, Some((_, Some(path)))) => {
            let span = path.span();
            let path = only_string(&path)?.parse::<TokenStream>().ok()?;
            quote_spanned!(span=> __toolkit::default_value(#path()).toolkit_value())
        }
        (None, None) => {
            let name = field.ident.as_ref().filter(|_| owner.has_default)?;
            require_default(&mut generics, this);
            default_of_type(name.span(), &quote!(<#this as ::core::default::Default>::default().#name))
        }
    };
    Some((json, generics))
}

fn require_default(generics: &mut Generics, ty: &impl ToTokens) {
    // Without generic parameters, the compiler would report the bound twice.
    if !generics.params.is_empty() {
        generics.make_where_clause().predicates.push(parse_quote!(#ty: ::core::default::Default));
    }
}

/// Returns whether serde and schemars use the type of the field, and not an attribute such as `with`.
pub(super) fn is_decoded_by_type(attrs: &[Attribute]) -> bool {
    const OTHERS: &[&str] =
        &["with", "schema_with", "serialize_with", "deserialize_with", "skip", "skip_deserializing"];
    !has_any(&attribute_arguments(attrs, is_serde_or_schemars), OTHERS)
}
