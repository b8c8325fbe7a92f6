//! `#[derive(ToolParams)]`: what a parameter's type needs, in one derive.
//!
//! The type is mirrored by a hidden one that derives `Deserialize` (as serde's `remote`, so that it makes
//! values of the type itself) and `JsonSchema`. So every `#[serde(…)]` attribute means what it always means,
//! and documentation, defaults and constraints become attributes that the two derives understand.

use crate::attr::{DefaultAttr, ParamAttr, ParamsAttr};
use crate::diag::{Diag, hint};
use crate::docs::Docs;
use proc_macro2::{Group, Ident, TokenStream, TokenTree};
use quote::{ToTokens, format_ident, quote};
use syn::ext::IdentExt;
use syn::{
    Attribute, Expr, Field, Fields, Generics, Item, Path, Token, Type, WherePredicate, parenthesized,
    parse_quote,
};

pub(crate) fn expand_params(item: TokenStream) -> TokenStream {
    let mut diag = Diag::default();
    let mut mirror = match syn::parse2::<Item>(item.clone()) {
        Ok(mirror) => mirror,
        Err(error) => {
            diag.push(error);
            return diag.into_tokens(TokenStream::new());
        }
    };
    let (ident, generics, krate, helpers) = match &mut mirror {
        Item::Struct(item) => {
            let container = Container::read(&mut item.attrs, &item.ident, &mut diag);
            let mut helpers = Vec::new();
            if matches!(item.fields, Fields::Unnamed(_) | Fields::Unit) {
                diag.error(
                    &item.ident,
                    "parameters have names: `ToolParams` is for structs with named fields, and for enums",
                );
            }
            container.check_documented(item.fields.iter(), &mut diag);
            container.mirror_fields(&mut item.fields, &item.generics, &mut helpers, &mut diag);
            let bounds = default_bounds(&container.ident, &item.generics, &item.attrs, item.fields.iter());
            item.generics.make_where_clause().predicates.extend(bounds);
            if defaults_of_type(&item.attrs) {
                helpers.push(whole_default(&container.ident, &item.generics));
            }
            item.ident = format_ident!("__Mirror");
            (container.ident, item.generics.clone(), container.krate, helpers)
        }
        Item::Enum(item) => {
            let container = Container::read(&mut item.attrs, &item.ident, &mut diag);
            let mut helpers = Vec::new();
            let fields = || item.variants.iter().flat_map(|variant| &variant.fields);
            container.check_documented(fields(), &mut diag);
            let content = serde_values(&item.attrs, "content").pop();
            for variant in &mut item.variants {
                let docs = Docs::read(&variant.attrs);
                variant.attrs.retain(is_serdes);
                describe(&mut variant.attrs, (!docs.is_empty()).then(|| docs.description()));
                container.mirror_fields(&mut variant.fields, &item.generics, &mut helpers, &mut diag);
                if let (Fields::Unit, Some(content)) = (&variant.fields, &content) {
                    let no_data = constraining(&mut helpers, &quote!(__constraints.no_data(#content);));
                    variant.attrs.push(parse_quote!(#[schemars(transform = #no_data)]));
                }
            }
            let fields = item.variants.iter().flat_map(|variant| &variant.fields);
            let bounds = default_bounds(&container.ident, &item.generics, &item.attrs, fields);
            item.generics.make_where_clause().predicates.extend(bounds);
            item.ident = format_ident!("__Mirror");
            (container.ident, item.generics.clone(), container.krate, helpers)
        }
        other => {
            diag.error(other, "`ToolParams` is for structs with named fields, and for enums");
            return diag.into_tokens(TokenStream::new());
        }
    };
    let implementations = implementations(&ident, &generics, diag.is_empty());
    let body = if diag.is_empty() { quote!(#mirror #(#helpers)*) } else { TokenStream::new() };
    diag.into_tokens(quote! {
        #[allow(
            deprecated, dead_code, unused_imports, unused_qualifications, unreachable_pub, non_snake_case,
            clippy::all, clippy::pedantic
        )]
        const _: () = {
            use #krate::__private as __toolkit;
            use __toolkit::params::*;
            // What schemars makes of `with` beside `default` names it so.
            use __toolkit::serde;
            #body
            #implementations
        };
    })
}

/// What is said about the whole type.
struct Container {
    ident: Ident,
    krate: TokenStream,
    docs: Docs,
}

impl Container {
    /// Takes what the mirror must not have, and adds what it needs.
    fn read(attrs: &mut Vec<Attribute>, ident: &Ident, diag: &mut Diag) -> Self {
        let attr = ParamsAttr::read(attrs, diag);
        let docs = Docs::read(attrs);
        attrs.retain(is_serdes);
        let remote = ident.to_string();
        // First, because the attributes of a derive may only stand after it.
        attrs.insert(
            0,
            parse_quote!(#[derive(__toolkit::serde::Deserialize, __toolkit::schemars::JsonSchema)]),
        );
        attrs.push(parse_quote!(#[serde(crate = "__toolkit::serde", remote = #remote)]));
        attrs.push(parse_quote!(#[schemars(crate = "__toolkit::schemars")]));
        describe(attrs, (!docs.is_empty()).then(|| docs.description()));
        let krate = attr.krate.map_or_else(|| quote!(::toolkit), ToTokens::into_token_stream);
        Self { ident: ident.clone(), krate, docs }
    }

    /// A field that the documentation describes and the type does not have is a stale comment.
    fn check_documented<'a>(&self, fields: impl Iterator<Item = &'a Field>, diag: &mut Diag) {
        let names: Vec<String> =
            fields.filter_map(|field| Some(field.ident.as_ref()?.unraw().to_string())).collect();
        let known: Vec<&str> = names.iter().map(String::as_str).collect();
        for problem in &self.docs.parsed.problems {
            diag.push(syn::Error::new(self.docs.span(problem.line), &problem.message));
        }
        for documented in &self.docs.parsed.params {
            if !names.contains(&documented.name) {
                let hint = hint(&documented.name, &known);
                let message = format!("`{}` has no field `{}`{hint}", self.ident, documented.name);
                diag.push(syn::Error::new(self.docs.span(documented.line), message));
            }
        }
    }

    fn mirror_fields(
        &self,
        fields: &mut Fields,
        generics: &Generics,
        helpers: &mut Vec<TokenStream>,
        diag: &mut Diag,
    ) {
        let (_, ty_generics, _) = generics.split_for_impl();
        let (ident, whole) = (&self.ident, ty_generics.to_token_stream());
        for field in fields {
            // In the mirror, `Self` would be the mirror.
            let ty = without_self(field.ty.to_token_stream(), &quote!(#ident #whole));
            field.ty = Type::Verbatim(ty);
            self.mirror_field(field, helpers, diag);
        }
    }

    /// Turns what `#[param(…)]` and comments say into attributes of serde and schemars.
    fn mirror_field(&self, field: &mut Field, helpers: &mut Vec<TokenStream>, diag: &mut Diag) {
        let attr = ParamAttr::read(&field.attrs, diag);
        let docs = Docs::read(&field.attrs);
        field.attrs.retain(is_serdes);
        let ty = &field.ty;
        match &attr.default {
            Some(DefaultAttr::OfType(_)) => field.attrs.push(parse_quote!(#[serde(default)])),
            Some(default @ DefaultAttr::Value(value)) => {
                let make = format_ident!("__default_{}", helpers.len());
                let path = make.to_string();
                let value = match default.is_text() {
                    true => quote!(::core::convert::Into::into(#value)),
                    false => value.to_token_stream(),
                };
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
            // Constraints hold under each name of the field.
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
        let section =
            field.ident.as_ref().and_then(|ident| self.docs.parsed.param(&ident.unraw().to_string()));
        let description = match (&attr.description, section) {
            (Some(description), _) => Some(description.to_token_stream()),
            (None, Some(section)) if docs.is_empty() => Some(section.description.to_token_stream()),
            (None, _) => (!docs.is_empty()).then(|| docs.description()),
        };
        describe(&mut field.attrs, description);
    }
}

/// The name of a new helper that makes calls on the constraints of a schema.
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

/// Whether an attribute is for the derives of the mirror.
fn is_serdes(attr: &Attribute) -> bool {
    attr.path().is_ident("serde") || attr.path().is_ident("schemars")
}

/// The tokens of a type with another type in the place of `Self`.
fn without_self(tokens: TokenStream, this: &TokenStream) -> TokenStream {
    let mut tokens = tokens.into_iter().peekable();
    let mut replaced = TokenStream::new();
    while let Some(token) = tokens.next() {
        match token {
            TokenTree::Ident(ident) if ident == "Self" => {
                let is_path =
                    matches!(tokens.peek(), Some(TokenTree::Punct(punct)) if punct.as_char() == ':');
                replaced.extend(if is_path { quote!(<#this>) } else { this.clone() });
            }
            TokenTree::Group(group) => {
                let mut inner = Group::new(group.delimiter(), without_self(group.stream(), this));
                inner.set_span(group.span());
                replaced.extend([TokenTree::Group(inner)]);
            }
            token => replaced.extend([token]),
        }
    }
    replaced
}

/// Whether `#[serde(default)]` is said of a type or a field. `default = "path"` needs no help.
fn defaults_of_type(attrs: &[Attribute]) -> bool {
    let mut found = false;
    each_serde_argument(attrs, &mut |name, value| found |= name.is_ident("default") && value.is_none());
    found
}

/// The values that an argument of `#[serde(…)]` has, each time it is given.
fn serde_values(attrs: &[Attribute], wanted: &str) -> Vec<Expr> {
    let mut values = Vec::new();
    each_serde_argument(attrs, &mut |name, value| {
        values.extend(value.filter(|_| name.is_ident(wanted)));
    });
    values
}

fn each_serde_argument(attrs: &[Attribute], visit: &mut dyn FnMut(&Path, Option<Expr>)) {
    for attr in attrs.iter().filter(|attr| attr.path().is_ident("serde")) {
        // What serde does not understand, serde reports.
        let _ = attr.parse_nested_meta(|meta| {
            let mut value = None;
            if meta.input.peek(Token![=]) {
                value = Some(meta.value()?.parse()?);
            } else if !meta.input.is_empty() && !meta.input.peek(Token![,]) {
                let list;
                parenthesized!(list in meta.input);
                list.parse::<TokenStream>()?;
            }
            visit(&meta.path, value);
            Ok(())
        });
    }
}

/// The bounds that serde infers from `default`: on the whole type, or on the type parameters of each field
/// that has one. The mirror has them too, because schemars infers none.
fn default_bounds<'a>(
    ident: &Ident,
    generics: &Generics,
    attrs: &[Attribute],
    fields: impl Iterator<Item = &'a Field>,
) -> Vec<WherePredicate> {
    let (_, ty_generics, _) = generics.split_for_impl();
    if generics.type_params().next().is_none() {
        return Vec::new();
    }
    let defaulted: Vec<TokenStream> = fields
        .filter(|field| defaults_of_type(&field.attrs))
        .map(|field| field.ty.to_token_stream())
        .collect();
    let params = generics.type_params().map(|param| &param.ident);
    let named = params.filter(|param| defaulted.iter().any(|ty| names(ty.clone(), param)));
    let mut bounds: Vec<WherePredicate> =
        named.map(|param| parse_quote!(#param: ::core::default::Default)).collect();
    if defaults_of_type(attrs) {
        bounds.push(parse_quote!(#ident #ty_generics: ::core::default::Default));
    }
    bounds
}

/// Whether a name stands among tokens.
fn names(tokens: TokenStream, name: &Ident) -> bool {
    tokens.into_iter().any(|token| match token {
        TokenTree::Ident(ident) => ident == *name,
        TokenTree::Group(group) => names(group.stream(), name),
        _ => false,
    })
}

/// `JsonSchema` reads the fields of `Self::default()`, which only the type itself has, so the mirror has a
/// function of that name. `Deserialize` asks the mirror for the trait, and calls that of the type.
fn whole_default(ident: &Ident, generics: &Generics) -> TokenStream {
    let (impl_generics, ty_generics, where_clause) = generics.split_for_impl();
    quote! {
        impl #impl_generics __Mirror #ty_generics #where_clause {
            fn default() -> #ident #ty_generics
            where
                #ident #ty_generics: ::core::default::Default,
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

/// The type's own implementations, which ask the mirror. After a mistake they only keep its users
/// from seeing errors of their own.
fn implementations(ident: &Ident, generics: &Generics, sound: bool) -> TokenStream {
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
    let (deserialize, schema) = match sound {
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
