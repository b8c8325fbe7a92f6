//! Checks of parameter types, so that the compiler reports each unsuitable type once.

use crate::draft::{PassMode, is_unsized};
use crate::item::{is_primitive, only_argument, peel};
use crate::model::ParamModel;
use proc_macro2::TokenStream;
use quote::{ToTokens, quote, quote_spanned};
use std::collections::{HashMap, HashSet};
use syn::spanned::Spanned;
use syn::{Type, TypePath};

/// Generates a check of the given types, and the type alias `__Checked`.
///
/// If a type cannot be a parameter, the compiler reports this error. It then knows that every type
/// `__Checked<T>` is erroneous, so it reports no further errors in the code of serde and schemars.
pub(crate) fn checks(types: &[Type]) -> TokenStream {
    let mut seen = HashSet::new();
    let checks =
        types.iter().map(|ty| innermost(ty.to_token_stream())).filter(|ty| seen.insert(ty.to_string()));
    let checks = checks.map(|ty| quote_spanned!(ty.span()=> __toolkit::is_parameter::<#ty>();));
    quote! {
        const __CHECKED: bool = {
            #(#checks)*
            true
        };
        type __Checked<T> = <() as __toolkit::Checked<T, __CHECKED>>::Type;
    }
}

/// Returns the type inside all nested `Option`, `Vec` and `Box`, except in `Box<str>` and `Box<[T]>`. The types are
/// compared in this form, so each type is checked only once.
pub(crate) fn innermost(ty: TokenStream) -> TokenStream {
    let parsed = syn::parse2::<Type>(ty.clone()).ok();
    let inner = parsed.as_ref().and_then(|ty| {
        ["Option", "Vec", "Box"].into_iter().find_map(|container| only_argument(ty, container))
    });
    inner.filter(|inner| !is_unsized(peel(inner))).map_or(ty, |inner| innermost(inner.to_token_stream()))
}

/// Marks the parameters whose type the compiler would report more than once without a check: borrowed slices,
/// and parameters whose innermost type is also the innermost type of another parameter.
pub(crate) fn mark_checked(params: &mut [ParamModel<'_>]) {
    let names: Vec<Option<String>> = params.iter().map(|param| own_type(param.ty)).collect();
    let mut counts: HashMap<&str, usize> = HashMap::new();
    names.iter().flatten().for_each(|name| *counts.entry(name).or_default() += 1);
    for (param, name) in params.iter_mut().zip(&names) {
        param.is_checked = name
            .as_deref()
            .is_some_and(|name| is_slice(param) || counts.get(name).is_some_and(|count| *count > 1));
    }
}

/// Returns `true` for `&[T]` and `Option<&[T]>`. If `T` is unsuitable, the compiler takes the decoded value
/// for a slice itself, and reports that it has no size.
fn is_slice(param: &ParamModel<'_>) -> bool {
    let inner = only_argument(param.ty, "Option").unwrap_or(param.ty);
    param.pass != PassMode::Owned && only_argument(inner, "Vec").is_some()
}

/// Returns the innermost type as text. Returns `None` for the usual types of the standard library.
fn own_type(ty: &Type) -> Option<String> {
    let inner = innermost(ty.to_token_stream());
    let is_usual = match syn::parse2::<Type>(inner.clone()).as_ref().map(peel) {
        Ok(Type::Path(TypePath { qself: None, path, .. })) => {
            path.segments.last().is_some_and(|last| is_primitive(&last.ident) || last.ident == "String")
        }
        _ => true,
    };
    (!is_usual).then(|| inner.to_string())
}
