//! The attribute `#[toolset]`: tools from the `#[tool]` methods of an `impl` block.

use crate::attr::{ToolAttr, ToolsetAttr};
use crate::diag::Diag;
use crate::docs::Docs;
use crate::draft::{Draft, spelling};
use crate::item::{FunctionItem, ImplBlock, peel, strip_helper_attrs};
use crate::settings::Settings;
use crate::{check, expand};
use proc_macro2::TokenStream;
use quote::{ToTokens, quote};
use syn::{Attribute, ImplItem, ImplItemFn, ItemImpl, LitStr, Meta, Path, Type, TypePath};

pub(crate) fn expand_toolset(attr: TokenStream, item: TokenStream) -> TokenStream {
    let mut diag = Diag::default();
    let attr = ToolsetAttr::parse(attr, &mut diag);
    let Ok(mut block) = syn::parse2::<ItemImpl>(item.clone()) else {
        diag.error(&item, "`#[toolset]` can only be applied to `impl` blocks");
        return diag.into_tokens(item);
    };
    let methods = take_methods(&mut block, &mut diag);
    let can_be_toolset = check_block(&block, &attr, methods.is_empty(), &mut diag);
    let types = block.items.iter().filter_map(|item| match item {
        ImplItem::Type(item) => Some(item.ident.clone()),
        _ => None,
    });
    let owner = ImplBlock {
        ty: &block.self_ty,
        of_trait: block.trait_.as_ref().map(|(path, _)| path),
        types: types.collect(),
        generics: &block.generics,
    };
    let methods: Vec<_> = methods
        .into_iter()
        .map(|(arguments, method)| (arguments, method.with_self_type(&owner)))
        .collect();
    let namespace = attr.namespace.clone().or_else(|| type_name(owner.ty));
    let mut drafts = Vec::new();
    for (arguments, method) in &methods {
        let mut attr = ToolAttr::parse(arguments.clone(), &mut diag);
        attr.namespace = attr.namespace.or_else(|| namespace.clone());
        drafts.push(Draft::new(attr, method, Some(&owner), &mut diag));
    }
    let models: Vec<_> = drafts.iter().filter_map(|draft| check::check(draft, &mut diag)).collect();
    // A toolset with errors has no tools, so that code with the toolset causes no further errors.
    let models = if diag.is_empty() { models.as_slice() } else { &[] };
    let description = Docs::from_attrs(&block.attrs).description().unwrap_or_else(|| quote!(""));
    let generated = can_be_toolset.then(|| expand::toolset(&attr, &owner, &description, models));
    let tracked = Settings::report_once(&mut diag);
    diag.into_tokens(quote!(#block #generated #tracked))
}

/// Reports mistakes in the header of the block. Returns `false` if the type of the block cannot be a toolset.
fn check_block(block: &ItemImpl, attr: &ToolsetAttr, is_empty: bool, diag: &mut Diag) -> bool {
    let owner = &*block.self_ty;
    if is_empty {
        diag.error(owner, "the `impl` block has no tools; mark methods with `#[tool]`");
    }
    let is_parameter = |path: &Path| block.generics.type_params().any(|param| path.is_ident(&param.ident));
    if matches!(peel(owner), Type::Path(TypePath { path, .. }) if is_parameter(path)) {
        let owner = spelling(owner);
        diag.error(&block.self_ty, format!("`{owner}` is no type; write an `impl` block for each type that you use"));
    } else if let Some(extends) = attr.extends.as_ref().filter(|_| !block.generics.params.is_empty()) {
        let owner = spelling(owner);
        diag.error(extends, format!("`{owner}` is generic, so it has one block; move the tools into that block"));
    } else {
        return true;
    }
    false
}

/// Collects the `#[tool]` functions of the block together with the arguments of each `#[tool]`.
///
/// The functions stay in the block, without `#[tool]` and its helper attributes.
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
        let arguments = match function.attrs.remove(at).meta {
            Meta::List(list) => list.tokens,
            Meta::Path(_) | Meta::NameValue(_) => TokenStream::new(),
        };
        let ImplItemFn { attrs, vis, sig, block: body, .. } = function.clone();
        let method = FunctionItem { attrs, vis, sig, body: body.into_token_stream() };
        strip_helper_attrs(&mut function.sig);
        methods.push((arguments, method));
    }
    methods
}

fn is_tool_attr(attr: &Attribute) -> bool {
    attr.path().segments.last().is_some_and(|last| last.ident == "tool")
}

/// Returns the name of the type as a string literal. The registry normalizes the name later.
fn type_name(ty: &Type) -> Option<LitStr> {
    let Type::Path(TypePath { path, .. }) = peel(ty) else { return None };
    let ident = &path.segments.last()?.ident;
    Some(LitStr::new(&ident.to_string(), ident.span()))
}
