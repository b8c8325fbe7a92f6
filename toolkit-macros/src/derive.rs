//! The derive macro `ToolParams`, which combines `Deserialize`, `JsonSchema` and constraints.
//!
//! It generates a mirror: a hidden copy of the type with `derive(Deserialize, JsonSchema)`. The mirror
//! names the type as serde's `remote`, so serde decodes the type itself and every `#[serde(…)]` attribute
//! keeps its meaning. Documentation, defaults and constraints become attributes of the two derives.

mod attributes;
mod field;
mod mirror;

use crate::attr::{ToolParamsAttr, tool_params};
use crate::diag::Diag;
use crate::docs::Docs;
use attributes::{has_serde_default, refuse_helpers};
use field::Owner;
use mirror::Mirror;
use proc_macro2::{Ident, TokenStream};
use quote::{format_ident, quote};
use std::mem;
use syn::ext::IdentExt;
use syn::{Attribute, Generics, Item, parse_quote};

pub(crate) fn expand_params(item: TokenStream) -> TokenStream {
    let mut diag = Diag::default();
    let mut item = match syn::parse2::<Item>(item) {
        Ok(item) => item,
        Err(error) => {
            diag.push(error);
            return diag.into_tokens(TokenStream::new());
        }
    };
    let Some(mut mirror) = Mirror::read(&mut item, &mut diag) else {
        return diag.into_tokens(TokenStream::new());
    };
    let ToolParamsAttr { krate, strict_docs } = tool_params(mirror.attrs, &mut diag);
    refuse_helpers(mirror.attrs, &["param"], "a type", &mut diag);
    let docs = Docs::from_attrs(mirror.attrs);
    mirror.check_docs(&docs, &mut diag);
    let generics = mirror.generics.clone();
    let this = mirror.this();
    let owner = Owner {
        this: &this,
        docs: &docs,
        has_default: mirror.is_struct && has_serde_default(mirror.attrs),
        strict_docs,
        generics: &generics,
    };
    mirror.translate_fields(&owner, &mut diag);
    mirror.write_attrs(&owner);
    mirror.add_defaults(&this);
    let Mirror { ident, generics, helpers, is_struct, is_sized, is_described, .. } = mirror;
    let name = mem::replace(ident, format_ident!("__Mirror"));
    let mut impls = TokenStream::new();
    // The traits need a type with a fixed size.
    if is_sized {
        impls = implementations(&name, generics, diag.is_empty());
    }
    let mut body = TokenStream::new();
    if diag.is_empty() {
        body = quote!(#item #(#helpers)*);
    }
    let mut warnings = TokenStream::new();
    if is_struct && !is_described {
        warnings = docs.warnings();
    }
    diag.into_tokens(quote! {
        #warnings
        #[allow(deprecated, unused_qualifications, clippy::all, clippy::nursery, clippy::pedantic)]
        const _: () = {
            use #krate::__private as __toolkit;
            use __toolkit::params::*;
            // The code of schemars for `with` beside `default` refers to `serde`.
            use __toolkit::serde;
            #body
            #impls
        };
    })
}

/// Adds a helper function that applies constraints to a schema by `calls`, and returns its name.
fn constraining(helpers: &mut Vec<TokenStream>, calls: &TokenStream) -> Ident {
    let constraints = quote!(let __constraints = &mut __toolkit::Constraints::of(__schema););
    transforming(helpers, quote!(#constraints #calls))
}

/// Adds a helper function that changes `__schema` by `body`, and returns its name.
fn transforming(helpers: &mut Vec<TokenStream>, body: TokenStream) -> Ident {
    generic_transforming(helpers, &Generics::default(), body)
}

/// Adds a helper function like [`transforming`], whose `body` may use `generics`.
fn generic_transforming(helpers: &mut Vec<TokenStream>, generics: &Generics, body: TokenStream) -> Ident {
    let transform = format_ident!("__transform_{}", helpers.len());
    let (impl_generics, _, where_clause) = generics.split_for_impl();
    helpers.push(quote! {
        fn #transform #impl_generics(__schema: &mut __toolkit::schemars::Schema) #where_clause {
            #body
        }
    });
    transform
}

fn describe(attrs: &mut Vec<Attribute>, description: Option<TokenStream>) {
    if let Some(description) = description {
        attrs.push(parse_quote!(#[schemars(description = #description)]));
    }
}

/// Generates implementations of `Deserialize` and `JsonSchema` that call those of `__Mirror`.
///
/// Without `is_valid`, they are placeholders, so that code using the type causes no further errors.
fn implementations(ident: &Ident, generics: &Generics, is_valid: bool) -> TokenStream {
    let (_, ty_generics, _) = generics.split_for_impl();
    let mut decode = generics.clone();
    decode.params.insert(0, parse_quote!('de));
    let mut describe = generics.clone();
    for param in generics.type_params() {
        let param = &param.ident;
        decode.make_where_clause().predicates.push(parse_quote!(#param: __toolkit::serde::Deserialize<'de>));
        describe.make_where_clause().predicates.push(parse_quote!(#param: __toolkit::schemars::JsonSchema));
    }
    let (decode_generics, _, decode_where) = decode.split_for_impl();
    let (describe_generics, _, describe_where) = describe.split_for_impl();
    let arguments = generics.type_params().map(|param| &param.ident);
    let name = ident.unraw().to_string();
    let path = quote!(::core::module_path!());
    let (deserialize, schema) = if is_valid {
        (
            quote!(__Mirror::deserialize(deserializer)),
            quote!(<__Mirror #ty_generics as __toolkit::schemars::JsonSchema>::json_schema(generator)),
        )
    } else {
        (quote!(loop {}), quote!(loop {}))
    };
    quote! {
        impl #decode_generics __toolkit::serde::Deserialize<'de> for #ident #ty_generics #decode_where {
            fn deserialize<D>(deserializer: D) -> ::core::result::Result<Self, D::Error>
            where
                D: __toolkit::serde::Deserializer<'de>,
            {
                #deserialize
            }
        }

        impl #describe_generics __toolkit::schemars::JsonSchema for #ident #ty_generics #describe_where {
            fn schema_name() -> ::std::borrow::Cow<'static, str> {
                __toolkit::type_name(#name, &[#(<#arguments as __toolkit::schemars::JsonSchema>::schema_name()),*])
            }

            fn schema_id() -> ::std::borrow::Cow<'static, str> {
                ::std::borrow::Cow::Owned(::std::format!("{}::{}", #path, <Self as __toolkit::schemars::JsonSchema>::schema_name()))
            }

            fn json_schema(generator: &mut __toolkit::schemars::SchemaGenerator) -> __toolkit::schemars::Schema {
                #schema
            }
        }
    }
}
