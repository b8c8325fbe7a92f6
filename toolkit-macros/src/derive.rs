//! The derive macro `ToolParams`: `Deserialize`, `JsonSchema` and constraints in one.
//!
//! The type is mirrored by a hidden one with `derive(Deserialize, JsonSchema)`. The mirror has the type as serde's
//! `remote`, so it makes values of the type itself and every `#[serde(…)]` attribute keeps its meaning.
//! Documentation, defaults and constraints become attributes of the two derives.

use crate::attr::{DefaultAttr, ParamAttr, tool_params_crate};
use crate::diag::Diag;
use crate::docs::{self, Docs};
use crate::draft::find_token;
use crate::item::replace_self;
use proc_macro2::{Ident, TokenStream, TokenTree};
use quote::{ToTokens, format_ident, quote};
use std::mem;
use syn::ext::IdentExt;
use syn::{
    Attribute, Expr, Field, Fields, Generics, Item, ItemEnum, ItemStruct, Path, Token, Type, WherePredicate,
    parenthesized, parse_quote,
};

const UNSUPPORTED: &str =
    "`ToolParams` supports structs with named fields and enums, because parameters have names";

pub(crate) fn expand_params(item: TokenStream) -> TokenStream {
    let mut diag = Diag::default();
    let mut mirror = match syn::parse2::<Item>(item) {
        Ok(mirror) => mirror,
        Err(error) => {
            diag.push(error);
            return diag.into_tokens(TokenStream::new());
        }
    };
    let mut helpers = Vec::new();
    let (attrs, ident, generics, mut fields) = match &mut mirror {
        Item::Struct(ItemStruct { attrs, ident, generics, fields, .. }) => {
            if !matches!(fields, Fields::Named(_)) {
                diag.error(&ident, UNSUPPORTED);
            }
            (attrs, ident, generics, vec![fields])
        }
        Item::Enum(ItemEnum { attrs, ident, generics, variants, .. }) => {
            let content = serde_values(attrs, "content").pop();
            let fields = variants.iter_mut().map(|variant| {
                let docs = Docs::from_attrs(&variant.attrs);
                variant.attrs.retain(is_serde_or_schemars);
                describe(&mut variant.attrs, docs.description());
                if let (Fields::Unit, Some(content)) = (&variant.fields, &content) {
                    let no_data = constraining(&mut helpers, &quote!(__constraints.no_data(#content);));
                    variant.attrs.push(parse_quote!(#[schemars(transform = #no_data)]));
                }
                &mut variant.fields
            });
            (attrs, ident, generics, fields.collect())
        }
        other => {
            diag.error(other, UNSUPPORTED);
            return diag.into_tokens(TokenStream::new());
        }
    };
    let krate = tool_params_crate(attrs, &mut diag);
    let docs = Docs::from_attrs(attrs);
    mirror_attrs(attrs, ident, &docs);
    let field_names = fields.iter().flat_map(|fields| fields.iter());
    let field_names = field_names.filter_map(|field| Some(field.ident.as_ref()?.unraw().to_string()));
    docs.check_text(&mut diag);
    docs.check_names(ident, "field", &field_names.collect::<Vec<_>>(), &mut diag);
    let (_, ty_generics, _) = generics.split_for_impl();
    let this = quote!(#ident #ty_generics);
    for field in fields.iter_mut().flat_map(|fields| fields.iter_mut()) {
        // In the mirror, `Self` would be the mirror.
        field.ty = Type::Verbatim(replace_self(field.ty.to_token_stream(), &this));
        mirror_field(field, &docs, &mut helpers, &mut diag);
    }
    let bounds = default_bounds(&this, generics, attrs, fields.iter().flat_map(|fields| fields.iter()));
    generics.make_where_clause().predicates.extend(bounds);
    if has_serde_default(attrs) {
        helpers.push(struct_default(&this, generics));
    }
    let ident = mem::replace(ident, format_ident!("__Mirror"));
    let implementations = implementations(&ident, generics, diag.is_empty());
    let body = if diag.is_empty() { quote!(#mirror #(#helpers)*) } else { TokenStream::new() };
    diag.into_tokens(quote! {
        #[allow(
            deprecated, dead_code, unused_imports, unused_qualifications, unreachable_pub, non_snake_case,
            clippy::all, clippy::pedantic
        )]
        const _: () = {
            use #krate::__private as __toolkit;
            use __toolkit::params::*;
            // The code of schemars for `with` beside `default` names serde so.
            use __toolkit::serde;
            #body
            #implementations
        };
    })
}

/// Replaces the attributes of the type with those of the mirror.
fn mirror_attrs(attrs: &mut Vec<Attribute>, ident: &Ident, docs: &Docs) {
    attrs.retain(is_serde_or_schemars);
    // First, because helper attributes of a derive may only stand after it.
    let derive = parse_quote!(#[derive(__toolkit::serde::Deserialize, __toolkit::schemars::JsonSchema)]);
    attrs.insert(0, derive);
    let remote = ident.to_string();
    attrs.push(parse_quote!(#[serde(crate = "__toolkit::serde", remote = #remote)]));
    attrs.push(parse_quote!(#[schemars(crate = "__toolkit::schemars")]));
    describe(attrs, docs.description());
}

/// Translates `#[param(…)]` and comments of a field into attributes of serde and schemars.
fn mirror_field(field: &mut Field, owner: &Docs, helpers: &mut Vec<TokenStream>, diag: &mut Diag) {
    let attr = ParamAttr::parse(&field.attrs, diag);
    let docs = Docs::from_attrs(&field.attrs);
    field.attrs.retain(is_serde_or_schemars);
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
        // Constraints apply under each name of the field.
        field.attrs.push(parse_quote!(#[schemars(extend("x-toolkit-aliases" = [#(#aliases),*]))]));
    }
    if attr.flatten.is_some() {
        field.attrs.push(parse_quote!(#[serde(flatten)]));
    }
    if !attr.constraints.is_empty() {
        let constrain = constraining(helpers, &attr.constraints.calls);
        helpers.extend(attr.constraints.assertions(&field.ty.to_token_stream()));
        field.attrs.push(parse_quote!(#[schemars(transform = #constrain)]));
    }
    let name = field.ident.as_ref().map(|ident| ident.unraw().to_string());
    let section = owner.param(|documented| name.as_deref() == Some(documented));
    describe(&mut field.attrs, docs::describe(attr.description.as_ref(), &docs, section));
}

/// Adds a helper function applying constraints to a schema; returns its name.
fn constraining(helpers: &mut Vec<TokenStream>, calls: &TokenStream) -> Ident {
    let constrain = format_ident!("__constrain_{}", helpers.len());
    helpers.push(quote! {
        fn #constrain(__schema: &mut __toolkit::schemars::Schema) {
            let __constraints = &mut __toolkit::Constraints::of(__schema);
            #calls
        }
    });
    constrain
}

fn is_serde_or_schemars(attr: &Attribute) -> bool {
    attr.path().is_ident("serde") || attr.path().is_ident("schemars")
}

/// Returns `true` for `#[serde(default)]`; `default = "path"` needs no bounds.
fn has_serde_default(attrs: &[Attribute]) -> bool {
    serde_arguments(attrs).iter().any(|(name, value)| name.is_ident("default") && value.is_none())
}

/// Returns all values of an argument of `#[serde(…)]`.
fn serde_values(attrs: &[Attribute], argument: &str) -> Vec<Expr> {
    let arguments = serde_arguments(attrs).into_iter();
    arguments.filter(|(name, _)| name.is_ident(argument)).filter_map(|(_, value)| value).collect()
}

fn serde_arguments(attrs: &[Attribute]) -> Vec<(Path, Option<Expr>)> {
    let mut arguments = Vec::new();
    for attr in attrs.iter().filter(|attr| attr.path().is_ident("serde")) {
        // serde reports the errors.
        let _ = attr.parse_nested_meta(|meta| {
            let mut value = None;
            if meta.input.peek(Token![=]) {
                value = Some(meta.value()?.parse()?);
            } else if !meta.input.is_empty() && !meta.input.peek(Token![,]) {
                let list;
                parenthesized!(list in meta.input);
                list.parse::<TokenStream>()?;
            }
            arguments.push((meta.path, value));
            Ok(())
        });
    }
    arguments
}

/// Returns the bounds inferred by serde from `default`, because schemars infers none.
///
/// They apply to the type itself, or to the type parameters of each field with a default.
fn default_bounds<'a>(
    this: &TokenStream,
    generics: &Generics,
    attrs: &[Attribute],
    fields: impl Iterator<Item = &'a Field>,
) -> Vec<WherePredicate> {
    if generics.type_params().next().is_none() {
        return Vec::new();
    }
    let defaulted: Vec<&Field> = fields.filter(|field| has_serde_default(&field.attrs)).collect();
    let is_defaulted = |param: &&Ident| {
        let is_param = |token: &TokenTree| matches!(token, TokenTree::Ident(ident) if ident == *param);
        defaulted.iter().any(|field| find_token(field.ty.to_token_stream(), &is_param).is_some())
    };
    let params = generics.type_params().map(|param| &param.ident).filter(is_defaulted);
    let mut bounds: Vec<WherePredicate> =
        params.map(|param| parse_quote!(#param: ::core::default::Default)).collect();
    if has_serde_default(attrs) {
        bounds.push(parse_quote!(#this: ::core::default::Default));
    }
    bounds
}

/// Generates the defaults of the mirror for `#[serde(default)]` on a struct.
///
/// `JsonSchema` reads the fields of `Self::default()`, implemented by the type alone, so the mirror has an
/// inherent function of that name. `Deserialize` requires the trait of the mirror, but calls that of the type.
fn struct_default(this: &TokenStream, generics: &Generics) -> TokenStream {
    let (impl_generics, ty_generics, where_clause) = generics.split_for_impl();
    quote! {
        impl #impl_generics __Mirror #ty_generics #where_clause {
            fn default() -> #this
            where
                #this: ::core::default::Default,
            {
                ::core::default::Default::default()
            }
        }

        impl #impl_generics ::core::default::Default for __Mirror #ty_generics #where_clause {
            fn default() -> Self {
                loop {}
            }
        }
    }
}

fn describe(attrs: &mut Vec<Attribute>, description: Option<TokenStream>) {
    if let Some(description) = description {
        attrs.push(parse_quote!(#[schemars(description = #description)]));
    }
}

/// Generates the implementations of the type by way of the mirror.
///
/// With errors they are placeholders, so that code using the type causes no further errors.
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
    let (name, path) = (ident.unraw().to_string(), quote!(::core::module_path!()));
    let (deserialize, schema) = match is_valid {
        true => (
            quote!(__Mirror::deserialize(deserializer)),
            quote!(<__Mirror #ty_generics as __toolkit::schemars::JsonSchema>::json_schema(generator)),
        ),
        false => (quote!(loop {}), quote!(loop {})),
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
                ::std::borrow::Cow::Owned(::std::format!("{}::{}", #path, Self::schema_name()))
            }

            fn json_schema(generator: &mut __toolkit::schemars::SchemaGenerator) -> __toolkit::schemars::Schema {
                #schema
            }
        }
    }
}
