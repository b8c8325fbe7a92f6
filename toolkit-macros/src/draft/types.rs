//! Types of parameters: what to decode, and how to pass it to the function.

use super::Source;
use crate::diag::Diag;
use crate::item::{only_argument, peel};
use proc_macro2::{TokenStream, TokenTree};
use quote::{ToTokens, quote, quote_spanned};
use syn::spanned::Spanned;
use syn::{GenericArgument, Ident, PathArguments, Type, TypePath, TypeReference};

/// The conversion of a decoded value into the function's argument.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum PassMode {
    /// A decoded `T` is passed as `T`.
    Owned,
    /// A decoded `T` is passed as `&T`.
    Ref,
    /// A decoded `Option<T>` is passed as `Option<&T>`.
    OptionRef,
    /// A decoded `Option<T>` is passed as `Option<&T::Target>`, such as `Option<String>` as
    /// `Option<&str>`.
    OptionDeref,
}

impl PassMode {
    /// Generates the argument from the variable `value`, with errors at the parameter's `name`.
    pub(crate) fn argument(self, value: &Ident, name: &Ident) -> TokenStream {
        match self {
            Self::Owned => value.into_token_stream(),
            Self::Ref => {
                let borrow = quote_spanned!(name.span()=> &);
                quote!(#borrow #value)
            }
            Self::OptionRef => quote!(::core::option::Option::as_ref(&#value)),
            Self::OptionDeref => quote!(::core::option::Option::as_deref(&#value)),
        }
    }
}

/// Parses the type of a parameter, or reports that arguments cannot be decoded for it.
pub(super) fn parse_type(ty: &Type, diag: &mut Diag) -> Option<Source> {
    if refuse_unsized(ty, true, diag) {
        return None;
    }
    let option = only_argument(ty, "Option").map(peel);
    let is_plain_reference = matches!(peel(ty), Type::Reference(reference) if reference.mutability.is_none());
    if is_context(option.unwrap_or(ty)) && !is_plain_reference {
        diag.error(ty, "`ToolContext` is available in every call; take it as `&ToolContext`");
        return None;
    }
    let (reference, optional) = match (peel(ty), option) {
        (Type::Reference(reference), _) => (reference, false),
        (_, Some(Type::Reference(reference))) => (reference, true),
        _ if is_decodable(ty, ty, diag) => {
            return Some(Source::Arguments { ty: Box::new(ty.clone()), pass: PassMode::Owned });
        }
        _ => return None,
    };
    if !is_plain(reference, diag) {
        return None;
    }
    let inner = peel(&reference.elem);
    if !optional && last_segment_is(inner, "ToolContext") {
        return Some(Source::Context);
    }
    if !is_decodable(inner, ty, diag) {
        return None;
    }
    // Errors must point at the type in the signature.
    let option_of = |inner: &Type| syn::parse_quote_spanned!(ty.span()=> ::core::option::Option<#inner>);
    let (owned, pass) = match (optional, owned_form(inner)) {
        (false, owned) => (owned.unwrap_or_else(|| inner.clone()), PassMode::Ref),
        (true, None) => (option_of(inner), PassMode::OptionRef),
        (true, Some(owned)) => (option_of(&owned), PassMode::OptionDeref),
    };
    Some(Source::Arguments { ty: Box::new(owned), pass })
}

/// Returns the advice for a parameter in the form of another crate, such as `State<Db>` of axum.
pub(super) fn foreign_parameter(ty: &Type) -> Option<String> {
    if let Some(inner) = only_argument(ty, "Parameters") {
        let spelled = short_spelling(inner);
        return Some(format!("take the value itself: `#[param(flatten)] arguments: {spelled}`"));
    }
    for extractor in ["State", "Extension", "Data"] {
        if let Some(inner) = only_argument(ty, extractor) {
            let spelled = short_spelling(inner);
            return Some(format!("take the value itself: `#[state] name: &{spelled}`"));
        }
    }
    let shared = only_argument(ty, "Arc");
    let pointee = match peel(shared.unwrap_or(ty)) {
        Type::Reference(reference) => &*reference.elem,
        inner => inner,
    };
    if last_segment_is(pointee, "RunContext")
        || only_argument(pointee, "RequestContext").is_some()
        || shared.is_some_and(|inner| last_segment_is(inner, "ToolContext"))
    {
        return Some(
            "the context of a call, with its run and its caller, is taken as `&ToolContext`".to_owned(),
        );
    }
    None
}

pub(super) fn is_context(ty: &Type) -> bool {
    match peel(ty) {
        Type::Reference(reference) => last_segment_is(&reference.elem, "ToolContext"),
        ty => last_segment_is(ty, "ToolContext"),
    }
}

fn is_plain(reference: &TypeReference, diag: &mut Diag) -> bool {
    if let Some(mutable) = &reference.mutability {
        diag.error(mutable, "a tool parameter cannot be a mutable reference; take the value itself");
    }
    // The check of the signature reports other lifetimes, which are parameters of the function.
    if let Some(lifetime) = &reference.lifetime
        && lifetime.ident == "static"
    {
        diag.error(lifetime, format!("lifetime `{lifetime}` is not allowed on a tool parameter; remove it"));
        return false;
    }
    reference.mutability.is_none()
}

/// Returns the owned form of an unsized type, such as `String` for `str`.
fn owned_form(ty: &Type) -> Option<Type> {
    match ty {
        Type::Slice(slice) => {
            let item = &slice.elem;
            Some(syn::parse_quote_spanned!(item.span()=> ::std::vec::Vec<#item>))
        }
        ty if last_segment_is(ty, "str") => Some(syn::parse_quote!(::std::string::String)),
        ty if last_segment_is(ty, "Path") => Some(syn::parse_quote!(::std::path::PathBuf)),
        _ => None,
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

/// Returns whether `ty` has no `impl Trait`, `Self`, reference, or map that JSON cannot have, or else
/// reports it.
///
/// `full` is the complete type of the parameter.
fn is_decodable(ty: &Type, full: &Type, diag: &mut Diag) -> bool {
    if any_part(&mut ty.clone(), &|ty| matches!(ty, Type::ImplTrait(_))) {
        diag.error(
            ty,
            "`impl Trait` has no schema; write a concrete type, such as `String` or `Vec<String>`",
        );
    } else if let Some(word) = find_ident(ty.to_token_stream(), "Self") {
        diag.error(word, "`Self` is not available to a free function; put `#[toolset]` on the `impl` block");
    } else if has_reference(ty) {
        refuse_reference(full, &owned_spelling(full), diag);
    } else {
        return !refuse_keys(ty, diag);
    }
    false
}

/// Reports maps whose keys are lists, at any depth: in JSON, keys are texts.
fn refuse_keys(ty: &Type, diag: &mut Diag) -> bool {
    const MAPS: [&str; 3] = ["HashMap", "BTreeMap", "IndexMap"];
    let is_map = MAPS.iter().any(|map| last_segment_is(ty, map));
    let mut ty = ty.clone();
    let mut is_refused = false;
    for (index, part) in parts(&mut ty).into_iter().enumerate() {
        if is_map && index == 0 && is_list(part) {
            let key = spelling(part);
            let message =
                format!("`{key}` cannot be a key, because keys are texts in JSON; take a `Vec` of a struct");
            diag.error(&*part, message);
            is_refused = true;
        }
        is_refused |= refuse_keys(part, diag);
    }
    is_refused
}

fn is_list(ty: &Type) -> bool {
    const LISTS: [&str; 4] = ["Vec", "VecDeque", "HashSet", "BTreeSet"];
    matches!(peel(ty), Type::Tuple(_) | Type::Array(_)) || LISTS.iter().any(|list| last_segment_is(ty, list))
}

/// Reports a type without a fixed size, such as `[T]`, also inside an `Option` or a `Vec`.
///
/// With `may_borrow`, the message may suggest a reference.
fn refuse_unsized(ty: &Type, may_borrow: bool, diag: &mut Diag) -> bool {
    let Some(inner) = unsized_part(ty) else { return false };
    let name = spelling(inner);
    let advice = match owned_form(inner) {
        Some(owned) if may_borrow && is_unsized(peel(ty)) => {
            format!("`&{name}` or `{}`", short_spelling(&owned))
        }
        Some(owned) => format!("`{}`", short_spelling(&owned)),
        None => "a concrete type".to_owned(),
    };
    diag.error(inner, format!("`{name}` has no fixed size; write {advice}"));
    true
}

/// Finds a type without a fixed size, perhaps nested in `Option` and `Vec`.
fn unsized_part(ty: &Type) -> Option<&Type> {
    let ty = peel(ty);
    if is_unsized(ty) { Some(ty) } else { container_argument(ty).and_then(unsized_part) }
}

fn container_argument(ty: &Type) -> Option<&Type> {
    ["Option", "Vec"].into_iter().find_map(|name| only_argument(ty, name))
}

/// Returns whether the type is a slice, `str` or a trait object.
pub(crate) fn is_unsized(ty: &Type) -> bool {
    match ty {
        Type::Slice(_) | Type::TraitObject(_) => true,
        Type::Path(path) => path.path.is_ident("str"),
        _ => false,
    }
}

/// Returns a replacement for a type without a fixed size, to prevent further errors.
pub(super) fn sized_form(ty: &Type) -> Option<Type> {
    unsized_part(ty)?;
    if is_unsized(peel(ty)) {
        return Some(syn::parse_quote!(&#ty));
    }
    let mut sized = ty.clone();
    replace_unsized(&mut sized);
    Some(sized)
}

fn replace_unsized(ty: &mut Type) {
    if is_unsized(peel(ty))
        && let Some(owned) = owned_form(peel(ty))
    {
        *ty = owned;
    } else if container_argument(ty).is_some() {
        for part in parts(ty) {
            replace_unsized(part);
        }
    }
}

/// Reports a field type with a reference, with a map that JSON cannot have, or without a fixed size.
///
/// Returns `false` only for the last.
pub(crate) fn check_owned(ty: &Type, diag: &mut Diag) -> bool {
    if refuse_unsized(ty, false, diag) {
        return false;
    }
    if has_reference(ty) {
        let mut owned = ty.clone();
        make_owned(&mut owned);
        refuse_reference(ty, &short_spelling(&owned), diag);
    }
    refuse_keys(ty, diag);
    true
}

fn has_reference(ty: &Type) -> bool {
    any_part(&mut ty.clone(), &|ty| matches!(ty, Type::Reference(_)))
}

fn refuse_reference(ty: &Type, owned: &str, diag: &mut Diag) {
    diag.error(ty, format!("a reference inside of a type cannot be decoded; write `{owned}`"));
}

/// Returns the types directly inside a type, such as `T` in `Vec<T>`, but not those in expressions.
fn parts(ty: &mut Type) -> Vec<&mut Type> {
    match ty {
        Type::Reference(reference) => vec![&mut reference.elem],
        Type::Slice(slice) => vec![&mut slice.elem],
        Type::Array(array) => vec![&mut array.elem],
        Type::Group(group) => vec![&mut group.elem],
        Type::Paren(paren) => vec![&mut paren.elem],
        Type::Tuple(tuple) => tuple.elems.iter_mut().collect(),
        Type::Path(path) => {
            let mut types = Vec::new();
            for segment in &mut path.path.segments {
                let PathArguments::AngleBracketed(arguments) = &mut segment.arguments else { continue };
                for argument in &mut arguments.args {
                    if let GenericArgument::Type(ty) = argument {
                        types.push(ty);
                    }
                }
            }
            types
        }
        _ => Vec::new(),
    }
}

fn any_part(ty: &mut Type, is_wanted: &dyn Fn(&Type) -> bool) -> bool {
    is_wanted(ty) || parts(ty).into_iter().any(|part| any_part(part, is_wanted))
}

pub(crate) fn find_ident(tokens: TokenStream, name: &str) -> Option<Ident> {
    for token in tokens {
        match token {
            TokenTree::Group(group) => {
                if let Some(ident) = find_ident(group.stream(), name) {
                    return Some(ident);
                }
            }
            TokenTree::Ident(ident) if ident == name => return Some(ident),
            _ => {}
        }
    }
    None
}

/// Returns the text of a type with owned types for inner references, such as `Vec<String>` for
/// `Vec<&str>`.
fn owned_spelling(ty: &Type) -> String {
    if let Type::Reference(reference) = peel(ty) {
        return format!("&{}", owned_spelling(&reference.elem));
    }
    let mut ty = ty.clone();
    make_owned(&mut ty);
    short_spelling(&ty)
}

/// Returns the text of a type without the module paths of [`owned_form`].
fn short_spelling(ty: &Type) -> String {
    let mut text = spelling(ty);
    for module in ["vec", "string", "path"] {
        text = text.replace(&format!(":: std::{module}::"), "");
    }
    text
}

fn make_owned(ty: &mut Type) {
    while let Type::Reference(reference) = peel(ty) {
        let inner = peel(&reference.elem);
        *ty = owned_form(inner).unwrap_or_else(|| inner.clone());
    }
    for part in parts(ty) {
        make_owned(part);
    }
}

pub(crate) fn spelling(tokens: &impl ToTokens) -> String {
    let spaced = tokens.to_token_stream().to_string();
    spaced.replace(" < ", "<").replace(" >", ">").replace(" ,", ",").replace(" :: ", "::")
}
