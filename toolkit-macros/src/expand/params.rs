//! Generation of parameter specifications and defaults.

use crate::checked::checks;
use crate::draft::PassMode;
use crate::item::{only_argument, type_arguments};
use crate::model::{Model, ParamModel};
use proc_macro2::TokenStream;
use quote::{ToTokens, format_ident, quote, quote_spanned};
use syn::{Ident, Type};

/// Generates a function for each default, and assertions that types support their constraints.
pub(super) fn helper_items(model: &Model<'_>) -> TokenStream {
    if model.struct_args().is_some() {
        return TokenStream::new();
    }
    let generics = model.draft.generics().cloned().unwrap_or_default();
    let (impl_generics, _, where_clause) = generics.split_for_impl();
    let mut items = TokenStream::new();
    for (index, param) in model.params.iter().enumerate() {
        let Some(default) = &param.attr.default else { continue };
        let ident = default_ident(index);
        let ty = param.ty;
        let value = default.expr(ty);
        items.extend(quote!(fn #ident #impl_generics() -> #ty #where_clause { #value }));
    }
    for param in &model.params {
        items.extend(param.attr.constraints.assertions(&param.ty.to_token_stream(), &generics));
    }
    let checked: Vec<Type> =
        model.params.iter().filter(|param| param.is_checked).map(|param| param.ty.clone()).collect();
    if !checked.is_empty() {
        items.extend(checks(&checked));
    }
    items
}

pub(super) fn specs(model: &Model<'_>) -> TokenStream {
    if model.struct_args().is_some() {
        return quote!(&[]);
    }
    let mut specs = Vec::with_capacity(model.params.len());
    for (index, param) in model.params.iter().enumerate() {
        let ParamModel { name, description, .. } = param;
        let ty = param.decoded();
        let schema_name = if is_shared(param) { "toolkit_shared_schema" } else { "toolkit_schema" };
        let method = Ident::new(schema_name, param.span);
        let schema = quote_spanned!(param.span=> __toolkit::Parameter::<#ty>::#method);
        // A literal follows the name in one text, because each further text costs every program a pointer.
        let literal = syn::parse2::<syn::LitStr>(description.clone()).map(|literal| literal.value());
        let text = match &literal {
            Ok(description) if !description.is_empty() => format!("{name}\n{description}"),
            _ => name.clone(),
        };
        let expression = if literal.is_err() { Some(description) } else { None };
        let extras = extras(model, index, param, expression);
        specs.push(quote!(__toolkit::ParamSpec {
            text: #text,
            schema: #schema,
            extras: #extras
        }));
    }
    quote!(&[#(#specs),*])
}

/// Returns whether the type is usually meant for state: a reference other than a slice, or an `Arc`, also
/// in an `Option`.
fn is_shared(param: &ParamModel<'_>) -> bool {
    let inner = only_argument(param.ty, "Option").unwrap_or(param.ty);
    let is_reference = matches!(param.pass, PassMode::Ref | PassMode::OptionRef);
    is_reference && only_argument(inner, "Vec").is_none() || only_argument(inner, "Arc").is_some()
}

/// Returns the name of the function for the default of the parameter at `index`.
fn default_ident(index: usize) -> Ident {
    format_ident!("__toolkit_default_{index}")
}

/// Returns the path of the function for the default of the parameter at `index`.
///
/// In a generic `impl` block, it includes the type and constant arguments of the block.
pub(super) fn default_path(model: &Model<'_>, index: usize) -> TokenStream {
    let ident = default_ident(index);
    let arguments = model.draft.generics().and_then(type_arguments);
    quote!(#ident #arguments)
}

/// Generates the aliases, default, constraints and non-literal description of a parameter.
fn extras(
    model: &Model<'_>,
    index: usize,
    param: &ParamModel<'_>,
    description: Option<&TokenStream>,
) -> TokenStream {
    let attr = param.attr;
    let has_settings = !attr.aliases.is_empty() || attr.default.is_some() || !attr.constraints.is_empty();
    if !has_settings && description.is_none() {
        return quote!(__toolkit::None);
    }
    let aliases = attr.aliases.iter().map(syn::LitStr::value);
    let mut default = quote!(__toolkit::None);
    if let Some(given) = &attr.default {
        let make = default_path(model, index);
        let json = given.json(&quote!(#make()));
        default = quote!(__toolkit::Some(|| #json));
    }
    let mut constrain = quote!(__toolkit::None);
    let calls = &attr.constraints.calls;
    if !calls.is_empty() {
        constrain = quote!(__toolkit::Some(|__constraints| { #calls }));
    }
    let description = match description {
        Some(expression) => expression.clone(),
        None => quote!(""),
    };
    quote! {
        __toolkit::Some(&__toolkit::ParamExtras {
            description: #description,
            aliases: &[#(#aliases),*],
            default: #default,
            constrain: #constrain,
        })
    }
}
