//! The fields of a mirror, the hidden copy of a type with derives.

use super::attributes::{
    attribute_arguments, is_serde_or_schemars, refuse_helpers, serde_arguments, serde_values,
};
use super::{constraining, describe, transforming};
use crate::attr::{DefaultAttr, ParamAttr, only_string};
use crate::diag::Diag;
use crate::docs::{self, Docs};
use proc_macro2::TokenStream;
use quote::{ToTokens, format_ident, quote};
use syn::ext::IdentExt;
use syn::{Attribute, Field, Generics, Path, parse_quote};

/// A type with `derive(ToolParams)`, whose fields are translated for its mirror.
pub(super) struct Owner<'a> {
    pub(super) this: &'a TokenStream,
    pub(super) docs: &'a Docs,
    /// `true` if the type is a struct with `#[serde(default)]`.
    pub(super) has_default: bool,
    /// `true` if undocumented fields are errors.
    pub(super) strict_docs: bool,
    /// The generic parameters of the type, with their bounds.
    pub(super) generics: &'a Generics,
    /// `true` if the type has neither type parameters nor lifetimes.
    pub(super) is_concrete: bool,
}

/// Translates the `#[param(…)]` attributes and doc comments of a field into attributes of serde and schemars.
pub(super) fn mirror_field(
    field: &mut Field,
    owner: &Owner<'_>,
    helpers: &mut Vec<TokenStream>,
    diag: &mut Diag,
) {
    let attr = ParamAttr::parse(&field.attrs, diag);
    refuse_helpers(&field.attrs, &["tool_params"], "a field", diag);
    attr.check_flatten(diag);
    let docs = Docs::from_attrs(&field.attrs);
    field.attrs.retain(is_serde_or_schemars);
    let is_skipped = ["skip", "skip_deserializing"]
        .iter()
        .any(|skip| serde_arguments(&field.attrs).iter().any(|(name, _)| name.is_ident(skip)));
    if let Some(key) = attr.given(|key| key != "default").filter(|_| is_skipped) {
        diag.error(key, format!("`{key}` has no effect because the model never sees this field; remove it"));
    }
    let needs_name = |key: &str| matches!(key, "default" | "rename" | "alias" | "flatten");
    if let Some(key) = attr.given(needs_name).filter(|_| field.ident.is_none()) {
        diag.error(key, format!("`{key}` has no effect because the field has no name; remove it"));
    }
    let ty = &field.ty;
    match &attr.default {
        Some(DefaultAttr::OfType(_)) => field.attrs.push(parse_quote!(#[serde(default)])),
        Some(default @ DefaultAttr::Value(_)) => {
            let make = format_ident!("__default_{}", helpers.len());
            let (path, value) = (make.to_string(), default.expr(ty));
            helpers.push(quote!(fn #make() -> #ty { #value }));
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
    if sets_list(&field.attrs) {
        field.attrs.push(parse_quote!(#[schemars(transform = __toolkit::mark_lists_of_author)]));
    }
    if attr.flatten.is_some() {
        field.attrs.push(parse_quote!(#[serde(flatten)]));
    }
    if let Some(default) = shown_default(field, &attr, owner).filter(|_| owner.is_concrete) {
        let set = transforming(helpers, quote!(__toolkit::set_default(__schema, #default);));
        field.attrs.push(parse_quote!(#[schemars(transform = #set)]));
    }
    if !attr.constraints.is_empty() {
        let constrain = constraining(helpers, &attr.constraints.calls);
        helpers.extend(attr.constraints.assertions(&field.ty.to_token_stream(), owner.generics));
        field.attrs.push(parse_quote!(#[schemars(transform = #constrain)]));
    }
    let name = field.ident.as_ref().map(|ident| ident.unraw().to_string());
    let section = owner.docs.param(|documented| name.as_deref() == Some(documented));
    let description = docs::describe(attr.description.as_ref(), &docs, section);
    if let Some(name) = name
        && owner.strict_docs
        && is_decoded_by_type(&field.attrs)
        && !docs::is_described(description.as_ref())
    {
        diag.error(
            &field.ident,
            format!("field `{name}` is undocumented and `strict_docs` is set; document it"),
        );
    }
    describe(&mut field.attrs, description);
}

/// Returns whether attributes of schemars may set allowed values that the field's type does not enforce.
///
/// This is possible with the schema of another type, or with the keywords `enum` and `const`.
fn sets_list(attrs: &[Attribute]) -> bool {
    attrs.iter().filter(|attr| attr.path().is_ident("schemars")).any(|attr| {
        let arguments = attribute_arguments(std::slice::from_ref(attr), |_| true);
        let is_of_other = |name: &Path| name.is_ident("with") || name.is_ident("schema_with");
        let text = attr.meta.to_token_stream().to_string();
        let extends = |name: &Path| {
            name.is_ident("extend") && ["\"enum\"", "\"const\""].iter().any(|list| text.contains(list))
        };
        arguments.iter().any(|(name, _)| is_of_other(name) || extends(name))
    })
}

/// Generates an expression of type `Option<Value>` for the default of a field as JSON.
///
/// The default comes from `#[param]` on the field, from serde's `default` on the field, or from serde's `default` on
/// the type. Returns `None` if the field has no default.
fn shown_default(field: &Field, attr: &ParamAttr, owner: &Owner<'_>) -> Option<TokenStream> {
    let (ty, this) = (&field.ty, owner.this);
    let of_type = || quote!(<#ty as ::core::default::Default>::default());
    if let Some(default) = &attr.default {
        let value = default.expr(ty);
        return Some(default.json(ty, &quote!({ let __default: #ty = #value; __default })));
    }
    // If the field's type is `Serialize`, schemars shows serde's default. For other types, this expression shows a
    // default that is a variant without data.
    let value = match serde_arguments(&field.attrs).into_iter().find(|(name, _)| name.is_ident("default")) {
        Some((_, None)) => of_type(),
        Some((_, Some(path))) => {
            let path = only_string(&path)?.parse::<TokenStream>().ok()?;
            quote!(#path())
        }
        None => {
            let name = field.ident.as_ref().filter(|_| owner.has_default)?;
            quote!(<#this as ::core::default::Default>::default().#name)
        }
    };
    Some(quote!(__toolkit::default_value(#value).plain_variant()))
}

/// Returns `true` if serde and schemars use the type of the field itself. Attributes such as `with` replace the type.
pub(super) fn is_decoded_by_type(attrs: &[Attribute]) -> bool {
    const OTHERS: &[&str] =
        &["with", "schema_with", "serialize_with", "deserialize_with", "skip", "skip_deserializing"];
    let arguments = attribute_arguments(attrs, is_serde_or_schemars);
    !arguments.iter().any(|(name, _)| OTHERS.iter().any(|other| name.is_ident(other)))
}
