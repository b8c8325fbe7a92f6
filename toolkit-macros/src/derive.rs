//! The derive macro `ToolParams`, which combines `Deserialize`, `JsonSchema` and constraints.
//!
//! The macro generates a mirror: a hidden copy of the type with `derive(Deserialize, JsonSchema)`. The mirror names the
//! type as serde's `remote`, so serde decodes values of the type itself and every `#[serde(…)]` attribute keeps its
//! meaning. Documentation, defaults and constraints become attributes that the two derives understand.

mod attributes;
mod beside;
mod field;

use crate::attr::{ToolParamsAttr, tool_params};
use crate::checked::checks;
use crate::diag::Diag;
use crate::docs::Docs;
use crate::draft::check_owned;
use crate::expand::without_lints;
use crate::item::replace_self;
use attributes::{
    attribute_arguments, default_bounds, has_serde_default, is_flattened, is_serde_or_schemars,
    refuse_helpers, serde_arguments, serde_values, struct_default,
};
use beside::Beside;
use field::{Owner, is_decoded_by_type, mirror_field};
use proc_macro2::{Ident, TokenStream};
use quote::{ToTokens, format_ident, quote};
use std::mem;
use syn::ext::IdentExt;
use syn::{Attribute, Fields, Generics, Item, ItemEnum, ItemStruct, Type, Variant, Visibility, parse_quote};

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
    let is_struct = matches!(mirror, Item::Struct(_));
    let mut has_other = false;
    let (attrs, ident, generics, mut fields) = match &mut mirror {
        Item::Struct(ItemStruct { vis, attrs, ident, generics, fields, .. }) => {
            *vis = Visibility::Inherited;
            if !matches!(fields, Fields::Named(_)) {
                diag.error(&ident, UNSUPPORTED);
            }
            (attrs, ident, generics, vec![fields])
        }
        Item::Enum(ItemEnum { vis, attrs, ident, generics, variants, .. }) => {
            *vis = Visibility::Inherited;
            if variants.is_empty() {
                diag.error(
                    &ident,
                    format!("`{ident}` has no variants, so the model can send no value of it; add one"),
                );
            }
            let content = serde_values(attrs, "content").pop();
            let is_other = |variant: &Variant| {
                serde_arguments(&variant.attrs).iter().any(|(name, _)| name.is_ident("other"))
            };
            has_other = variants.iter().any(is_other);
            let is_untagged = |attrs: &[Attribute]| {
                serde_arguments(attrs).iter().any(|(name, _)| name.is_ident("untagged"))
            };
            let has_names = !is_untagged(attrs);
            let fields = variants.iter_mut().map(|variant| {
                variant.ident = without_lints(variant.ident.clone());
                let docs = Docs::from_attrs(&variant.attrs);
                refuse_helpers(&variant.attrs, &["param", "tool_params"], "a variant", &mut diag);
                variant.attrs.retain(is_serde_or_schemars);
                describe(&mut variant.attrs, docs.description());
                let aliases = serde_values(&variant.attrs, "alias");
                if has_names && !aliases.is_empty() && !is_untagged(&variant.attrs) {
                    variant
                        .attrs
                        .push(parse_quote!(#[schemars(extend("x-toolkit-names" = [#(#aliases),*]))]));
                }
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
    let ToolParamsAttr { krate, strict_docs } = tool_params(attrs, &mut diag);
    let beside = Beside::refuse(&mut diag);
    refuse_helpers(attrs, &["param"], "a type", &mut diag);
    let docs = Docs::from_attrs(attrs);
    let has_default = has_serde_default(attrs);
    mirror_attrs(attrs, &docs);
    let field_names = fields.iter().flat_map(|fields| fields.iter());
    let field_names = field_names.filter_map(|field| Some(field.ident.as_ref()?.unraw().to_string()));
    docs.check_text(&mut diag);
    docs.check_names(ident, "field", &field_names.collect::<Vec<_>>(), &mut diag);
    let (_, ty_generics, _) = generics.split_for_impl();
    let this = quote!(#ident #ty_generics);
    let is_plain = fields.iter().all(|fields| matches!(fields, Fields::Unit));
    // Helper functions cannot use the type parameters of the mirror.
    let is_concrete = generics.params.is_empty();
    let owner = Owner {
        this: &this,
        docs: &docs,
        has_default: is_struct && has_default,
        strict_docs,
        generics: &generics.clone(),
    };
    let mut checked = Vec::new();
    let mut is_sized = true;
    let mut all_described = true;
    for field in fields.iter_mut().flat_map(|fields| fields.iter_mut()) {
        field.vis = Visibility::Inherited;
        if is_decoded_by_type(&field.attrs) {
            is_sized &= check_owned(&field.ty, &mut diag);
        }
        // Inside the mirror, `Self` would refer to the mirror.
        field.ty = Type::Verbatim(replace_self(field.ty.to_token_stream(), &this, &|_| quote!(<#this>)));
        all_described &= mirror_field(field, &owner, &mut helpers, &mut diag);
        field.ident = field.ident.take().map(without_lints);
        if is_concrete && is_decoded_by_type(&field.attrs) {
            let ty = mem::replace(&mut field.ty, Type::Verbatim(TokenStream::new()));
            field.ty = parse_quote!(__Checked<#ty>);
            checked.push(ty);
        }
    }
    let all_fields = || fields.iter().flat_map(|fields| fields.iter());
    let is_described = docs.description().is_some()
        || attribute_arguments(attrs, is_serde_or_schemars)
            .iter()
            .any(|(name, _)| name.is_ident("description"));
    if is_struct && !is_described && all_fields().any(|field| is_flattened(&field.attrs)) {
        attrs.insert(1, parse_quote!(#[schemars(transform = __toolkit::remove_description)]));
    }
    if is_struct && !checked.is_empty() {
        attrs.push(parse_quote!(#[serde(remote = "__Target")]));
        helpers.push(quote!(type __Target = __Checked<#this>;));
    } else {
        let remote = ident.to_string();
        attrs.push(parse_quote!(#[serde(remote = #remote)]));
    }
    if !checked.is_empty() {
        helpers.push(checks(&checked));
    }
    if is_plain && is_concrete && !is_struct {
        helpers.push(quote!(impl __toolkit::PlainVariants for #this {}));
    }
    // With a catch-all variant, the listed values are only examples.
    if is_plain && !is_struct && !has_other {
        attrs.push(parse_quote!(#[schemars(transform = __toolkit::constants_to_enum)]));
    }
    let bounds = default_bounds(&this, generics, attrs, all_fields());
    generics.make_where_clause().predicates.extend(bounds);
    if has_serde_default(attrs) {
        helpers.push(struct_default(&this, generics));
    }
    let ident = mem::replace(ident, format_ident!("__Mirror"));
    // The traits need a type with a fixed size.
    let implementations = is_sized.then(|| implementations(&ident, generics, beside, diag.is_empty()));
    let body = if diag.is_empty() { quote!(#mirror #(#helpers)*) } else { TokenStream::new() };
    let warnings = (is_struct && !all_described).then(|| docs.warnings());
    diag.into_tokens(quote! {
        #warnings
        #[allow(deprecated, unused_qualifications, clippy::all, clippy::nursery, clippy::pedantic)]
        const _: () = {
            use #krate::__private as __toolkit;
            use __toolkit::params::*;
            // The code generated by schemars for `with` beside `default` refers to `serde`.
            use __toolkit::serde;
            #body
            #implementations
        };
    })
}

/// Replaces the attributes of the original type with the attributes of its mirror, the hidden copy with derives.
fn mirror_attrs(attrs: &mut Vec<Attribute>, docs: &Docs) {
    attrs.retain(is_serde_or_schemars);
    // The derive comes first, because its helper attributes may only follow it.
    let derive = parse_quote!(#[derive(__toolkit::serde::Deserialize, __toolkit::schemars::JsonSchema)]);
    attrs.insert(0, derive);
    // The type may set `crate` itself, for its other derives of serde and schemars.
    for (name, path) in [("serde", "__toolkit::serde"), ("schemars", "__toolkit::schemars")] {
        let arguments = attribute_arguments(attrs, |attr| attr.path().is_ident(name));
        if !arguments.iter().any(|(argument, _)| argument.is_ident("crate")) {
            let name = format_ident!("{name}");
            attrs.push(parse_quote!(#[#name(crate = #path)]));
        }
    }
    describe(attrs, docs.description());
}

/// Adds a helper function that applies constraints to a schema, and returns the name of that function. `calls` contains
/// its statements.
fn constraining(helpers: &mut Vec<TokenStream>, calls: &TokenStream) -> Ident {
    let constraints = quote!(let __constraints = &mut __toolkit::Constraints::of(__schema););
    transforming(helpers, quote!(#constraints #calls))
}

/// Adds a helper function that changes `__schema` with the code in `body`. Returns the name of that function.
fn transforming(helpers: &mut Vec<TokenStream>, body: TokenStream) -> Ident {
    generic_transforming(helpers, &Generics::default(), body)
}

/// Adds a helper function like [`transforming`]. `body` may use `generics`.
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

/// Generates implementations of `Deserialize` and `JsonSchema` that call the implementations of `__Mirror`.
///
/// If `is_valid` is `false`, placeholders are generated, so that code using the type causes no further
/// errors. A trait that another derive implements is left out.
fn implementations(ident: &Ident, generics: &Generics, beside: Beside, is_valid: bool) -> TokenStream {
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
    let deserialize = (!beside.has_deserialize).then(|| {
        quote! {
            impl #decode_generics __toolkit::serde::Deserialize<'de> for #ident #ty_generics #decode_where {
                fn deserialize<D>(deserializer: D) -> ::core::result::Result<Self, D::Error>
                where
                    D: __toolkit::serde::Deserializer<'de>,
                {
                    #deserialize
                }
            }
        }
    });
    let schema = (!beside.has_schema).then(|| quote! {
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
    });
    quote!(#deserialize #schema)
}
