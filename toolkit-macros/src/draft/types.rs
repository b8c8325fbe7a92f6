//! What the type of a parameter says: what to decode, and how the function takes it.

use super::Source;
use crate::diag::Diag;
use proc_macro2::{TokenStream, TokenTree};
use quote::{ToTokens, quote, quote_spanned};
use syn::spanned::Spanned;
use syn::{GenericArgument, Ident, PathArguments, Type, TypePath, TypeReference};

/// How a function takes a value that was decoded.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Lending {
    /// `T`: it is the function's own.
    Given,
    /// `&T`.
    Reference,
    /// `Option<&T>`.
    Optional,
    /// `Option<&T>` where the decoded type is another, as `String` is for `&str`.
    OptionalDeref,
}

impl Lending {
    /// The argument of the call, made of the variable that holds the value.
    pub(crate) fn argument(self, value: &Ident, name: &Ident) -> TokenStream {
        match self {
            Self::Given => value.into_token_stream(),
            Self::Reference => {
                let borrow = quote_spanned!(name.span()=> &);
                quote!(#borrow #value)
            }
            Self::Optional => quote!(#value.as_ref()),
            Self::OptionalDeref => quote!(#value.as_deref()),
        }
    }
}

/// Reports a type that no model can give a value for.
pub(super) fn read_type(ty: &Type, diag: &mut Diag) -> Option<Source> {
    if last_segment_is(ty, "ToolContext") || only_argument(ty, "Option").is_some_and(is_context_reference) {
        diag.error(ty, "every call has a context; take it as `&ToolContext`");
        return None;
    }
    let (reference, optional) = match (peel(ty), only_argument(ty, "Option").map(peel)) {
        (Type::Reference(reference), _) => (reference, false),
        (_, Some(Type::Reference(reference))) => (reference, true),
        _ => {
            let source = || Source::Model { owned: Box::new(ty.clone()), lending: Lending::Given };
            return only_owned(ty, ty, diag).then(source);
        }
    };
    if !is_plain(reference, diag) {
        return None;
    }
    let inner = peel(&reference.elem);
    if !optional && last_segment_is(inner, "ToolContext") {
        return Some(Source::Context);
    }
    if !only_owned(inner, ty, diag) {
        return None;
    }
    let (owned, lending) = match (optional, owned_form(inner)) {
        (false, owned) => (owned.unwrap_or_else(|| inner.clone()), Lending::Reference),
        (true, None) => (optional_of(inner, ty), Lending::Optional),
        (true, Some(owned)) => (optional_of(&owned, ty), Lending::OptionalDeref),
    };
    Some(Source::Model { owned: Box::new(owned), lending })
}

fn is_plain(reference: &TypeReference, diag: &mut Diag) -> bool {
    if let Some(mutable) = &reference.mutability {
        diag.error(
            mutable,
            "the arguments of a call are lent for reading; take the value itself to change it",
        );
        return false;
    }
    if let Some(lifetime) = &reference.lifetime {
        diag.error(
            lifetime,
            "the arguments live as long as the call; write the reference without a lifetime",
        );
        return false;
    }
    true
}

/// `ty` is what stands in the signature: mistakes are shown there.
fn optional_of(inner: &Type, ty: &Type) -> Type {
    syn::parse_quote_spanned!(ty.span()=> ::core::option::Option<#inner>)
}

/// The type that is decoded for a type without a size; `None` for all others, which are decoded themselves.
fn owned_form(ty: &Type) -> Option<Type> {
    match ty {
        Type::Slice(slice) => {
            let item = &slice.elem;
            Some(syn::parse_quote!(::std::vec::Vec<#item>))
        }
        ty if last_segment_is(ty, "str") => Some(syn::parse_quote!(::std::string::String)),
        ty if last_segment_is(ty, "Path") => Some(syn::parse_quote!(::std::path::PathBuf)),
        _ => None,
    }
}

/// `T` of `name<T>`.
pub(crate) fn only_argument<'a>(ty: &'a Type, name: &str) -> Option<&'a Type> {
    let Type::Path(TypePath { qself: None, path, .. }) = peel(ty) else { return None };
    let last = path.segments.last().filter(|last| last.ident == name)?;
    let PathArguments::AngleBracketed(arguments) = &last.arguments else { return None };
    match arguments.args.first()? {
        GenericArgument::Type(ty) if arguments.args.len() == 1 => Some(ty),
        _ => None,
    }
}

/// The type without the invisible or visible parentheses that other macros put around it.
pub(crate) fn peel(ty: &Type) -> &Type {
    match ty {
        Type::Group(group) => peel(&group.elem),
        Type::Paren(paren) => peel(&paren.elem),
        ty => ty,
    }
}

fn last_segment_is(ty: &Type, name: &str) -> bool {
    match peel(ty) {
        Type::Path(TypePath { qself: None, path, .. }) => {
            path.segments.last().is_some_and(|last| last.ident == name)
        }
        _ => false,
    }
}

fn is_context_reference(ty: &Type) -> bool {
    match peel(ty) {
        Type::Reference(reference) => last_segment_is(&reference.elem, "ToolContext"),
        ty => last_segment_is(ty, "ToolContext"),
    }
}

/// Reports what can never be decoded, at the token that makes it so.
/// `whole` is the type as it stands in the signature.
fn only_owned(ty: &Type, whole: &Type, diag: &mut Diag) -> bool {
    let is_self = |token: &TokenTree| matches!(token, TokenTree::Ident(ident) if ident == "Self");
    if holds(ty, &|ty| matches!(ty, Type::ImplTrait(_))) {
        diag.error(
            ty,
            "a parameter of a tool needs a concrete type, because the model reads its schema; write the type of the values, such as `String` or `Vec<String>`",
        );
    } else if let Some(token) = find(ty.to_token_stream(), &is_self) {
        let message = "`#[tool]` alone goes on a free function, where there is no `Self`; put `#[toolset]` on the `impl` block to make tools of its functions";
        diag.error(token, message);
    } else if holds(ty, &|ty| matches!(ty, Type::Reference(_))) {
        let spelling = owned_spelling(whole);
        diag.error(whole, format!("a reference inside a type cannot be decoded; write `{spelling}`"));
    } else {
        return true;
    }
    false
}

/// Whether the type, or one inside it, is as wanted. Lengths of arrays and other expressions are no types.
fn holds(ty: &Type, wanted: &dyn Fn(&Type) -> bool) -> bool {
    let ty = peel(ty);
    wanted(ty)
        || match ty {
            Type::Reference(reference) => holds(&reference.elem, wanted),
            Type::Slice(slice) => holds(&slice.elem, wanted),
            Type::Array(array) => holds(&array.elem, wanted),
            Type::Tuple(tuple) => tuple.elems.iter().any(|ty| holds(ty, wanted)),
            Type::Path(path) => path.path.segments.iter().any(|segment| match &segment.arguments {
                PathArguments::AngleBracketed(arguments) => arguments
                    .args
                    .iter()
                    .any(|argument| matches!(argument, GenericArgument::Type(ty) if holds(ty, wanted))),
                _ => false,
            }),
            _ => false,
        }
}

/// The first token, at any depth, that is wanted.
pub(crate) fn find(tokens: TokenStream, wanted: &dyn Fn(&TokenTree) -> bool) -> Option<TokenTree> {
    tokens.into_iter().find_map(|token| match token {
        TokenTree::Group(group) => find(group.stream(), wanted),
        token => wanted(&token).then_some(token),
    })
}

/// `Vec<String>` for `Vec<&str>`.
fn owned_spelling(ty: &Type) -> String {
    match peel(ty) {
        Type::Reference(reference) => format!("&{}", owned_spelling(&reference.elem)),
        ty => {
            let mut ty = ty.clone();
            make_owned(&mut ty);
            spelling(&ty)
        }
    }
}

/// The tokens without most of the blanks that nobody writes.
pub(crate) fn spelling(tokens: &impl ToTokens) -> String {
    let spaced = tokens.to_token_stream().to_string();
    spaced.replace(" < ", "<").replace(" >", ">").replace(" ,", ",").replace(" :: ", "::")
}

fn make_owned(ty: &mut Type) {
    match ty {
        Type::Reference(reference) => {
            let mut inner = match peel(&reference.elem) {
                Type::Slice(slice) => {
                    let item = &slice.elem;
                    syn::parse_quote!(Vec<#item>)
                }
                inner if last_segment_is(inner, "str") => syn::parse_quote!(String),
                inner if last_segment_is(inner, "Path") => syn::parse_quote!(PathBuf),
                inner => inner.clone(),
            };
            make_owned(&mut inner);
            *ty = inner;
        }
        Type::Path(path) => {
            for segment in &mut path.path.segments {
                let PathArguments::AngleBracketed(arguments) = &mut segment.arguments else { continue };
                for argument in &mut arguments.args {
                    if let GenericArgument::Type(ty) = argument {
                        make_owned(ty);
                    }
                }
            }
        }
        Type::Slice(slice) => make_owned(&mut slice.elem),
        Type::Tuple(tuple) => tuple.elems.iter_mut().for_each(make_owned),
        Type::Array(array) => make_owned(&mut array.elem),
        Type::Group(group) => make_owned(&mut group.elem),
        Type::Paren(paren) => make_owned(&mut paren.elem),
        _ => {}
    }
}
