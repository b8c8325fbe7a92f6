//! The functions that make the defaults of parameters, and the list of parameters.

use crate::attr::DefaultAttr;
use crate::model::{Model, ParamModel};
use proc_macro2::TokenStream;
use quote::{ToTokens, format_ident, quote, quote_spanned};
use syn::Ident;
use syn::spanned::Spanned;

/// The functions that make defaults, and what has the compiler look at types.
pub(super) fn items(model: &Model<'_>) -> TokenStream {
    if model.whole().is_some() {
        return TokenStream::new();
    }
    let defaults = model.params().enumerate().filter_map(|(index, param)| default_function(index, param));
    let assertions =
        model.params().flat_map(|param| param.constraints.assertions(&param.owned.to_token_stream()));
    quote!(#(#defaults)* #(#assertions)*)
}

/// The list of parameters.
pub(super) fn expand(model: &Model<'_>) -> TokenStream {
    if model.whole().is_some() {
        return quote!(&[]);
    }
    let params = model.params().enumerate().map(|(index, param)| describe(index, param));
    quote!(&[#(#params),*])
}

/// The name of the function that makes the default of a parameter.
pub(super) fn default_ident(index: usize) -> Ident {
    format_ident!("__toolkit_default_{index}")
}

fn default_function(index: usize, param: &ParamModel<'_>) -> Option<TokenStream> {
    let (ident, ty) = (default_ident(index), param.owned);
    let value = match param.default? {
        DefaultAttr::OfType(word) => {
            quote_spanned!(word.span()=> <#ty as ::core::default::Default>::default())
        }
        DefaultAttr::Value(value) if param.default.is_some_and(DefaultAttr::is_text) => {
            quote_spanned!(value.span()=> ::core::convert::Into::into(#value))
        }
        DefaultAttr::Value(value) => value.to_token_stream(),
    };
    Some(quote!(fn #ident() -> #ty { #value }))
}

fn describe(index: usize, param: &ParamModel<'_>) -> TokenStream {
    let ParamModel { owned, span, name, description, .. } = param;
    let schema = quote_spanned!(*span=> __toolkit::Probe::<#owned>::schema);
    let extras = extras(index, param);
    quote!(__toolkit::ParamSpec { name: #name, description: #description, schema: #schema, extras: #extras })
}

/// What few parameters have.
fn extras(index: usize, param: &ParamModel<'_>) -> TokenStream {
    let ParamModel { aliases, constraints, .. } = param;
    if aliases.is_empty() && param.default.is_none() && constraints.is_empty() {
        return quote!(__toolkit::None);
    }
    let default = param.default.map(|default| {
        let (make, source) = (default_ident(index), default.source());
        quote! {
            __toolkit::ParamDefault {
                value: || __toolkit::DefaultValue(#make()).to_value(),
                source: #source,
            }
        }
    });
    let calls = &constraints.calls;
    let constrain = (!constraints.is_empty()).then(|| quote!(|__constraints| { #calls }));
    let (default, constrain) = (option(default), option(constrain));
    quote! {
        __toolkit::Some(&__toolkit::ParamExtras {
            aliases: &[#(#aliases),*],
            default: #default,
            constrain: #constrain,
        })
    }
}

fn option(value: Option<TokenStream>) -> TokenStream {
    value.map_or_else(|| quote!(__toolkit::None), |value| quote!(__toolkit::Some(#value)))
}
