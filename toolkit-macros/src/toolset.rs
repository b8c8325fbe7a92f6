//! The attribute `#[toolset]`: tools from the `#[tool]` methods of an `impl` block.

use crate::attr::{NamespaceAttr, ToolAttr, ToolsetAttr};
use crate::diag::Diag;
use crate::docs::Docs;
use crate::draft::{Draft, find_ident, give_sizes, spelling};
use crate::item::{FunctionItem, ImplBlock, peel, refuse_attrs, strip_helper_attrs};
use crate::{check, expand};
use proc_macro2::{TokenStream, TokenTree};
use quote::{ToTokens, quote};
use syn::punctuated::Punctuated;
use syn::{
    Attribute, ImplItem, ImplItemFn, ItemImpl, ItemTrait, LitStr, Meta, Token, TraitItem, Type, TypePath,
    parse_quote,
};

pub(crate) fn expand_toolset(attr: TokenStream, item: TokenStream) -> TokenStream {
    let mut diag = Diag::default();
    let attr = ToolsetAttr::parse(attr, &mut diag);
    let mut block = match syn::parse2::<ItemImpl>(item.clone()) {
        Ok(block) => block,
        Err(error) => {
            let item = refuse(item, error, &mut diag);
            return diag.into_tokens(item);
        }
    };
    let marked = take_methods(&mut block, &mut diag);
    let can_be_toolset = check_block(&block, &attr, marked.is_empty(), &mut diag);
    let mut types = Vec::new();
    for item in &block.items {
        if let ImplItem::Type(item) = item {
            types.push(item.ident.clone());
        }
    }
    let owner = ImplBlock {
        ty: &block.self_ty,
        of_trait: block.trait_.as_ref().map(|(path, _)| path),
        types,
        generics: &block.generics,
    };
    let mut methods = Vec::with_capacity(marked.len());
    for (arguments, method) in marked {
        methods.push((arguments, method.with_self_type(&owner)));
    }
    let namespace = match (&attr.namespace, type_name(owner.ty)) {
        (NamespaceAttr::Absent, Some(name)) => NamespaceAttr::Name(name),
        (given, _) => given.clone(),
    };
    let mut drafts = Vec::new();
    for (arguments, method) in &methods {
        let attr = ToolAttr::parse(arguments.clone(), &mut diag);
        drafts.push(Draft::new(attr, method, Some(&owner), &mut diag));
    }
    if !attr.namespace.is_absent()
        && !drafts.is_empty()
        && drafts.iter().all(|draft| !draft.attr.namespace.is_absent())
    {
        diag.error(&attr.namespace, "`namespace` has no effect because each tool has its own; remove it");
    }
    for draft in &mut drafts {
        if draft.attr.namespace.is_absent() {
            draft.attr.namespace = namespace.clone();
        }
    }
    let models: Vec<_> = drafts.iter().filter_map(|draft| check::check(draft, &mut diag)).collect();
    // Without tools of a wrong toolset, code that uses it causes no further errors.
    let correct = if diag.is_empty() { models.as_slice() } else { &[] };
    let description = Docs::from_attrs(&block.attrs).description().unwrap_or_else(|| quote!(""));
    let mut generated = TokenStream::new();
    if can_be_toolset {
        generated = expand::toolset(&attr, &owner, &description, correct);
    }
    diag.into_tokens(quote!(#block #generated))
}

/// Reports an item that is not an `impl` block, and removes attributes that would cause further errors.
fn refuse(item: TokenStream, error: syn::Error, diag: &mut Diag) -> TokenStream {
    if item.clone().into_iter().any(|token| matches!(token, TokenTree::Ident(word) if word == "impl")) {
        diag.push(error);
        return item;
    }
    let Ok(mut item) = syn::parse2::<ItemTrait>(item.clone()) else {
        diag.error(&item, "`#[toolset]` can only be applied to `impl` blocks");
        return item;
    };
    let message =
        "`#[toolset]` belongs above an `impl` block of the trait, because tools are methods of a type";
    diag.error(&item.ident, message);
    for item in &mut item.items {
        let TraitItem::Fn(function) = item else { continue };
        function.attrs.retain(|attr| !is_tool_attr(attr));
        strip_helper_attrs(&mut function.sig);
    }
    item.into_token_stream()
}

/// Reports mistakes in the header. Returns `false` if the block cannot be a toolset.
fn check_block(block: &ItemImpl, attr: &ToolsetAttr, is_empty: bool, diag: &mut Diag) -> bool {
    let ty = &*block.self_ty;
    let owner = spelling(ty);
    if is_empty {
        diag.error(ty, "the `impl` block has no tools; mark methods with `#[tool]`");
    }
    let has_lifetime = block.generics.lifetimes().next().is_some();
    if let Type::Path(TypePath { path, .. }) = peel(ty)
        && block.generics.type_params().any(|param| path.is_ident(&param.ident))
    {
        diag.error(
            ty,
            format!("`{owner}` stands for any type; write an `impl` block for each type that you use"),
        );
    } else if has_lifetime || find_ident(ty.to_token_stream(), "_").is_some() {
        diag.error(
            ty,
            "a toolset lives as long as the program; own the data, or write the lifetime `'static`",
        );
    } else if let Some(extends) = &attr.extends
        && !block.generics.params.is_empty()
    {
        diag.error(
            extends,
            format!("`{owner}` is generic, so it has one block; move the tools into that block"),
        );
    } else {
        return true;
    }
    false
}

/// Returns the `#[tool]` methods of a block with the arguments of the attribute, which it removes.
fn take_methods(block: &mut ItemImpl, diag: &mut Diag) -> Vec<(TokenStream, FunctionItem)> {
    let mut methods = Vec::new();
    for item in &mut block.items {
        // A method without a body.
        if let ImplItem::Verbatim(tokens) = item
            && let Ok(function) = FunctionItem::from_tokens(tokens.clone())
            && function.attrs.iter().any(is_tool_attr)
        {
            let function = function.with_body(diag);
            *item = syn::parse_quote!(#function);
        }
        let ImplItem::Fn(function) = item else { continue };
        let Some(at) = function.attrs.iter().position(is_tool_attr) else { continue };
        let attr = function.attrs.remove(at);
        let Some((arguments, condition)) = tool_arguments(&attr) else { continue };
        refuse_attrs(&mut function.attrs, diag);
        let ImplItemFn { attrs, vis, sig, block: body, .. } = function.clone();
        let mut method = FunctionItem { attrs, vis, sig, body: body.into_token_stream() };
        method.attrs.extend(condition);
        strip_helper_attrs(&mut function.sig);
        give_sizes(&mut function.sig);
        methods.push((arguments, method));
    }
    methods
}

fn is_tool_attr(attr: &Attribute) -> bool {
    tool_arguments(attr).is_some()
}

/// Returns the arguments of a `#[tool(…)]` attribute.
///
/// For `#[cfg_attr(condition, tool(…))]`, also returns the attribute `#[cfg(condition)]`.
fn tool_arguments(attr: &Attribute) -> Option<(TokenStream, Option<Attribute>)> {
    if !attr.path().is_ident("cfg_attr") {
        return Some((arguments_of_tool(&attr.meta)?, None));
    }
    let metas = attr.parse_args_with(Punctuated::<Meta, Token![,]>::parse_terminated).ok()?;
    let condition = metas.first()?;
    let arguments = metas.iter().skip(1).find_map(arguments_of_tool)?;
    Some((arguments, Some(parse_quote!(#[cfg(#condition)]))))
}

/// Returns the arguments in `tool(…)`, or none for `tool`.
fn arguments_of_tool(meta: &Meta) -> Option<TokenStream> {
    if meta.path().segments.last()?.ident != "tool" {
        return None;
    }
    Some(meta.require_list().map(|list| list.tokens.clone()).unwrap_or_default())
}

/// Returns the last name in the path of a type, for the registry to normalize.
fn type_name(ty: &Type) -> Option<LitStr> {
    let Type::Path(TypePath { path, .. }) = peel(ty) else { return None };
    let ident = &path.segments.last()?.ident;
    Some(LitStr::new(&ident.to_string(), ident.span()))
}
