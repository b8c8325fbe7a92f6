//! `#[toolset]` on an `impl` block: its methods that are marked `#[tool]` become tools.

use crate::attr::{ToolAttr, ToolsetAttr};
use crate::diag::Diag;
use crate::docs::Docs;
use crate::draft::{Draft, Place, peel};
use crate::item::FunctionItem;
use crate::{check, expand};
use proc_macro2::TokenStream;
use quote::{ToTokens, quote};
use syn::{Attribute, ImplItem, ImplItemFn, ItemImpl, LitStr, Meta, Type, TypePath};

pub(crate) fn expand_toolset(attr: TokenStream, item: TokenStream) -> TokenStream {
    let mut diag = Diag::default();
    let attr = ToolsetAttr::read(attr, &mut diag);
    let mut block = match syn::parse2::<ItemImpl>(item.clone()) {
        Ok(block) => block,
        Err(_) => {
            diag.error(&item, "`#[toolset]` goes on an `impl` block");
            return diag.into_tokens(item);
        }
    };
    check_block(&block, &mut diag);
    let functions = take_functions(&mut block, &mut diag);
    if functions.is_empty() {
        diag.error(&block.self_ty, "no method is marked `#[tool]`, so there is no tool in this set");
    }
    let namespace = attr.namespace.or_else(|| own_name(&block.self_ty));
    let krate = attr.krate.map_or_else(|| quote!(::toolkit), ToTokens::into_token_stream);
    let description = Docs::read(&block.attrs).description();

    let mut drafts = Vec::new();
    for (tokens, function) in &functions {
        let mut attr = ToolAttr::read(tokens.clone(), &mut diag);
        attr.namespace = attr.namespace.or_else(|| namespace.clone());
        drafts.push(Draft::read(attr, function, Place::Toolset, &mut diag));
    }
    let models: Vec<_> =
        drafts.iter().filter_map(|draft| check::check(draft, Some(&block.self_ty), &mut diag)).collect();
    // After a mistake the set has no tools, so that its users see no errors of their own.
    let models = if diag.is_empty() { models.as_slice() } else { &[] };
    let generated = expand::toolset(&krate, &block.self_ty, &description, models);
    diag.into_tokens(quote!(#block #generated))
}

fn check_block(block: &ItemImpl, diag: &mut Diag) {
    if !block.generics.params.is_empty() {
        diag.error(&block.generics, "a set of tools cannot be generic: write the block for a concrete type");
    }
    if let Some((path, _)) = &block.trait_ {
        diag.error(path, "`#[toolset]` goes on an `impl` block of the type itself, not of a trait");
    }
}

/// The marked functions with the arguments of their marks. What is left in the block is plain Rust.
fn take_functions(block: &mut ItemImpl, diag: &mut Diag) -> Vec<(TokenStream, FunctionItem)> {
    let owner = (*block.self_ty).clone();
    let mut functions = Vec::new();
    for item in &mut block.items {
        if let ImplItem::Verbatim(tokens) = item
            && let Ok(function) = FunctionItem::read(tokens.clone())
            && function.attrs.iter().any(is_mark)
        {
            let function = function.with_body(diag);
            *item = syn::parse_quote!(#function);
        }
        let ImplItem::Fn(function) = item else { continue };
        let Some(at) = function.attrs.iter().position(is_mark) else { continue };
        let mark = function.attrs.remove(at);
        let tokens = match mark.meta {
            Meta::List(list) => list.tokens,
            Meta::Path(_) | Meta::NameValue(_) => TokenStream::new(),
        };
        let ImplItemFn { attrs, vis, sig, block, .. } = &*function;
        let whole = FunctionItem::new(attrs.clone(), vis.clone(), sig.clone(), block.to_token_stream());
        function.sig = whole.without_our_attributes().sig;
        functions.push((tokens, whole.with_self_named(&owner)));
    }
    functions
}

fn is_mark(attr: &Attribute) -> bool {
    attr.path().segments.last().is_some_and(|last| last.ident == "tool")
}

/// The name of the type, which is normalised later.
fn own_name(ty: &Type) -> Option<LitStr> {
    let Type::Path(TypePath { path, .. }) = peel(ty) else { return None };
    let ident = &path.segments.last()?.ident;
    Some(LitStr::new(&ident.to_string(), ident.span()))
}
