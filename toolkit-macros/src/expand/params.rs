//! The list of parameters, and the functions that make their defaults.

use super::option;
use crate::attr::DefaultAttr;
use crate::model::{Model, ParamModel};
use proc_macro2::TokenStream;
use quote::{ToTokens, format_ident, quote, quote_spanned};
use syn::spanned::Spanned;
use syn::{Expr, ExprLit, Ident, Lit};

pub(super) fn expand(model: &Model<'_>, private: &TokenStream) -> TokenStream {
    let defaults = model.params().enumerate().filter_map(|(index, param)| default_function(index, param));
    let params = model.params().enumerate().map(|(index, param)| describe(index, param, private));
    quote! {
        #(#defaults)*

        static __TOOLKIT_PARAMS: &[#private::Param] = {
            use #private::{DefaultValueBySerialize as _, ProbePlain as _};
            &[#(#params),*]
        };
    }
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
        DefaultAttr::Value(value) if is_text(value) => {
            quote_spanned!(value.span()=> <#ty as ::core::convert::From<&str>>::from(#value))
        }
        DefaultAttr::Value(value) => value.to_token_stream(),
    };
    Some(quote!(fn #ident() -> #ty { #value }))
}

/// A literal text is what people write as the default of a `String`.
fn is_text(value: &Expr) -> bool {
    matches!(value, Expr::Lit(ExprLit { lit: Lit::Str(_), .. }))
}

fn describe(index: usize, param: &ParamModel<'_>, private: &TokenStream) -> TokenStream {
    let ParamModel { owned, name, aliases, description, .. } = param;
    let probe = quote_spanned!(owned.span()=> #private::Probe::<#owned>);
    let required = match param.default {
        Some(_) => quote!(false),
        None => quote!(!#probe::OPTIONAL),
    };
    let schema = quote_spanned!(owned.span()=> #probe::schema);
    let default = option(param.default.map(|default| {
        let make = default_ident(index);
        let source = match default {
            DefaultAttr::OfType(_) => "the type's own".to_owned(),
            DefaultAttr::Value(value) => value.to_token_stream().to_string(),
        };
        quote! {
            #private::ParamDefault {
                value: || #private::DefaultValue(#make()).to_value(),
                source: #source,
            }
        }
    }));
    quote! {
        #private::Param {
            name: #name,
            aliases: &[#(#aliases),*],
            required: #required,
            description: #description,
            schema: #schema,
            default: #default,
        }
    }
}
