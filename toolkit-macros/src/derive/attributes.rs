//! The attributes of serde and schemars on a type with `derive(ToolParams)`.

use crate::diag::Diag;
use crate::draft::find_ident;
use proc_macro2::TokenStream;
use quote::{ToTokens, quote};
use syn::meta::ParseNestedMeta;
use syn::{Attribute, Expr, Field, Generics, Path, Token, WherePredicate, parenthesized, parse_quote};

pub(super) fn is_serde_or_schemars(attr: &Attribute) -> bool {
    attr.path().is_ident("serde") || attr.path().is_ident("schemars")
}

/// Returns whether there is a `#[serde(default)]` without a path, which needs a `Default` bound.
pub(super) fn has_serde_default(attrs: &[Attribute]) -> bool {
    serde_arguments(attrs).iter().any(|(name, value)| name.is_ident("default") && value.is_none())
}

pub(super) fn is_flattened(attrs: &[Attribute]) -> bool {
    has_any(&serde_arguments(attrs), &["flatten"])
}

pub(super) fn has_any(arguments: &[(Path, Option<Expr>)], names: &[&str]) -> bool {
    for (argument, _) in arguments {
        if names.iter().any(|name| argument.is_ident(name)) {
            return true;
        }
    }
    false
}

/// Returns all values of one argument in `#[serde(…)]` attributes.
pub(super) fn serde_values(attrs: &[Attribute], argument: &str) -> Vec<Expr> {
    let mut values = Vec::new();
    for (name, value) in serde_arguments(attrs) {
        if name.is_ident(argument) {
            values.extend(value);
        }
    }
    values
}

pub(super) fn serde_arguments(attrs: &[Attribute]) -> Vec<(Path, Option<Expr>)> {
    attribute_arguments(attrs, |attr| attr.path().is_ident("serde"))
}

pub(super) fn attribute_arguments(
    attrs: &[Attribute],
    is_wanted: impl Fn(&Attribute) -> bool,
) -> Vec<(Path, Option<Expr>)> {
    let mut arguments = Vec::new();
    for attr in attrs.iter().filter(|attr| is_wanted(attr)) {
        // serde reports the errors.
        let _ = attr.parse_nested_meta(|meta| add_argument(&mut arguments, meta));
    }
    arguments
}

fn add_argument(arguments: &mut Vec<(Path, Option<Expr>)>, meta: ParseNestedMeta<'_>) -> syn::Result<()> {
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
}

/// Returns the `Default` bounds that serde infers from `default`, and schemars does not.
///
/// On the type, `#[serde(default)]` adds a bound for the type, on a field for the type parameters in the
/// field's type.
pub(super) fn default_bounds<'a>(
    this: &TokenStream,
    generics: &Generics,
    attrs: &[Attribute],
    fields: impl Iterator<Item = &'a Field>,
) -> Vec<WherePredicate> {
    if generics.type_params().next().is_none() {
        return Vec::new();
    }
    let defaulted: Vec<&Field> = fields.filter(|field| has_serde_default(&field.attrs)).collect();
    let mut bounds = Vec::new();
    for param in generics.type_params() {
        let ident = &param.ident;
        let name = ident.to_string();
        if defaulted.iter().any(|field| find_ident(field.ty.to_token_stream(), &name).is_some()) {
            bounds.push(parse_quote!(#ident: ::core::default::Default));
        }
    }
    if has_serde_default(attrs) {
        bounds.push(parse_quote!(#this: ::core::default::Default));
    }
    bounds
}

/// Generates functions that let `#[serde(default)]` on a struct work for its mirror.
///
/// The derive of `JsonSchema` reads the fields of `Self::default()`. Only the struct implements `Default`,
/// so the mirror has an inherent function `default` that returns the struct. The derive of `Deserialize`
/// requires that the mirror implements `Default`, but calls only the struct's.
pub(super) fn struct_default(this: &TokenStream, generics: &Generics) -> TokenStream {
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

/// Reports helper attributes without effect on an item, which the message calls `item`.
pub(super) fn refuse_helpers(attrs: &[Attribute], helpers: &[&str], item: &str, diag: &mut Diag) {
    for attr in attrs {
        if let Some(helper) = helpers.iter().find(|helper| attr.path().is_ident(helper)) {
            diag.error(attr, format!("`#[{helper}]` has no effect on {item}; remove it"));
        }
    }
}
