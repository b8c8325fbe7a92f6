//! Checks of parameter types, which make the compiler report each unsuitable type only once.

use crate::draft::{PassMode, is_unsized};
use crate::item::{is_primitive, only_argument, peel};
use crate::model::ParamModel;
use proc_macro2::TokenStream;
use quote::{ToTokens, format_ident, quote, quote_spanned};
use std::collections::{BTreeSet, HashMap, HashSet};
use syn::spanned::Spanned;
use syn::{
    GenericArgument, PathArguments, Type, TypeArray, TypeGroup, TypeParen, TypePath, TypeReference, TypeSlice,
};

/// Generates a compile-time check that `types` can be parameters, and the type alias `__Checked`.
///
/// If the check fails, the compiler reports one error. It then treats every `__Checked<T>` as erroneous,
/// and reports no errors in the code of serde and schemars.
///
/// Of several types with one unsuitable type, such as `Foo` and `HashMap<String, Foo>`, the simplest is
/// checked first, and the others only if no such check fails.
pub(crate) fn checks(types: &[Type]) -> TokenStream {
    let mut seen = HashSet::new();
    let mut candidates = Vec::new();
    for ty in types {
        let ty = innermost(ty.to_token_stream());
        let text = ty.to_string();
        if seen.contains(&text) {
            continue;
        }
        let own = match syn::parse2(ty.clone()) {
            Ok(parsed) => own_types(&parsed),
            Err(_) => BTreeSet::new(),
        };
        let rank = (own.len(), text.contains(['<', '(', '[']), text.len(), candidates.len());
        candidates.push(Candidate { ty, own, rank });
        seen.insert(text);
    }
    let mut first = Vec::new();
    let mut later = Vec::new();
    for Candidate { ty, own, rank } in &candidates {
        if candidates.iter().any(|other| other.rank < *rank && !other.own.is_disjoint(own)) {
            let checked = quote_spanned!(ty.span()=> <() as __toolkit::Checked<#ty, __FIRST>>::Type);
            later.push(quote_spanned!(ty.span()=> __toolkit::is_parameter::<#checked>();));
        } else {
            first.push(quote_spanned!(ty.span()=> __toolkit::is_parameter::<#ty>();));
        }
    }
    let mut constants = TokenStream::new();
    if later.is_empty() {
        constants.extend(constant("__CHECKED", &first));
    } else {
        constants.extend(constant("__FIRST", &first));
        constants.extend(constant("__CHECKED", &later));
    }
    quote! {
        #constants
        type __Checked<T> = <() as __toolkit::Checked<T, __CHECKED>>::Type;
    }
}

struct Candidate {
    ty: TokenStream,
    /// The names of the [own types](own_types) in it.
    own: BTreeSet<String>,
    /// Unique, and low for simple types.
    rank: (usize, bool, usize, usize),
}

/// Generates a constant that can be evaluated only if the checks succeed.
fn constant(name: &str, checks: &[TokenStream]) -> TokenStream {
    let name = format_ident!("{name}");
    quote!(const #name: bool = { #(#checks)* true };)
}

/// Returns the type inside all nested `Option`, `Vec` and `Box`, except in `Box<str>` and `Box<[T]>`.
pub(crate) fn innermost(ty: TokenStream) -> TokenStream {
    let Ok(parsed) = syn::parse2::<Type>(ty.clone()) else { return ty };
    for container in ["Option", "Vec", "Box"] {
        if let Some(inner) = only_argument(&parsed, container)
            && !is_unsized(peel(inner))
        {
            return innermost(inner.to_token_stream());
        }
    }
    ty
}

/// Marks the parameters whose type the compiler would report more than once without a check.
///
/// These are borrowed slices, and parameters that share an [own type](own_types) with another one.
pub(crate) fn mark_checked(params: &mut [ParamModel<'_>]) {
    let names: Vec<BTreeSet<String>> = params.iter().map(|param| own_types(param.ty)).collect();
    let mut counts: HashMap<&str, usize> = HashMap::new();
    for name in names.iter().flatten() {
        *counts.entry(name).or_default() += 1;
    }
    for (param, names) in params.iter_mut().zip(&names) {
        let is_shared = names.iter().any(|name| counts.get(name.as_str()) > Some(&1));
        param.is_checked = is_shared || is_slice(param) && !names.is_empty();
    }
}

/// Returns whether the type is `&[T]` or `Option<&[T]>`.
///
/// If `T` is unsuitable, the compiler takes the decoded value for a slice, and reports that it has no
/// size.
fn is_slice(param: &ParamModel<'_>) -> bool {
    let inner = only_argument(param.ty, "Option").unwrap_or(param.ty);
    param.pass != PassMode::Owned && only_argument(inner, "Vec").is_some()
}

/// Types of the standard library that are suitable if their arguments are.
const USUAL: [&str; 13] = [
    "String", "Option", "Vec", "Box", "Arc", "Rc", "Cow", "Result", "HashMap", "BTreeMap", "HashSet",
    "BTreeSet", "VecDeque",
];

/// Returns the names of all types in a type, without paths and usual types.
fn own_types(ty: &Type) -> BTreeSet<String> {
    match ty {
        Type::Path(TypePath { path, .. }) => {
            let Some(last) = path.segments.last() else { return BTreeSet::new() };
            let mut own = match &last.arguments {
                PathArguments::AngleBracketed(arguments) => of_all(arguments.args.iter().filter_map(type_of)),
                _ => BTreeSet::new(),
            };
            if !is_primitive(&last.ident) && USUAL.iter().all(|usual| last.ident != usual) {
                own.insert(last.to_token_stream().to_string());
            }
            own
        }
        Type::Array(TypeArray { elem, .. })
        | Type::Group(TypeGroup { elem, .. })
        | Type::Paren(TypeParen { elem, .. })
        | Type::Reference(TypeReference { elem, .. })
        | Type::Slice(TypeSlice { elem, .. }) => own_types(elem),
        Type::Tuple(tuple) => of_all(tuple.elems.iter()),
        _ => BTreeSet::new(),
    }
}

fn of_all<'a>(types: impl Iterator<Item = &'a Type>) -> BTreeSet<String> {
    types.flat_map(own_types).collect()
}

fn type_of(argument: &GenericArgument) -> Option<&Type> {
    if let GenericArgument::Type(ty) = argument { Some(ty) } else { None }
}
