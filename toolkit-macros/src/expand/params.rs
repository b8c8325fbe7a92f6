//! The functions that make the defaults of parameters, and the list of parameters.

use crate::attr::{Constraints, DefaultAttr};
use crate::model::{Model, ParamModel};
use proc_macro2::TokenStream;
use quote::{ToTokens, format_ident, quote, quote_spanned};
use syn::Ident;
use syn::spanned::Spanned;

pub(super) fn expand(model: &Model<'_>) -> (TokenStream, TokenStream) {
    if model.whole().is_some() {
        return (TokenStream::new(), quote!(&[]));
    }
    let defaults = model.params().enumerate().filter_map(|(index, param)| default_function(index, param));
    let params = model.params().enumerate().map(|(index, param)| describe(index, param));
    let assertions =
        model.params().flat_map(|param| param.constraints.assertions(&param.owned.to_token_stream()));
    let items = quote!(#(#defaults)* #(#assertions)*);
    (items, quote!(&[#(#params),*]))
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
    let ParamModel { owned, name, aliases, description, .. } = param;
    // What is wrong with the type is reported under the type.
    let schema = quote_spanned!(owned.span()=> __toolkit::Probe::<#owned>::schema);
    let optional = quote_spanned!(owned.span()=> __toolkit::Probe::<#owned>::OPTIONAL);
    let aliases = (!aliases.is_empty()).then(|| quote!(.with_aliases(&[#(#aliases),*])));
    let default = param.default.map(|default| {
        let make = default_ident(index);
        let source = default.source();
        quote!(.with_default(|| __toolkit::DefaultValue(#make()).to_value(), #source))
    });
    let constraints = constraints(param.constraints);
    quote!(__toolkit::Param::new(#name, #optional, #description, #schema) #aliases #default #constraints)
}

fn constraints(constraints: &Constraints) -> Option<TokenStream> {
    let calls = &constraints.calls;
    (!constraints.is_empty()).then(|| quote!(.with_constraints(|__constraints| { #calls })))
}
