//! What a function says, before anybody has looked whether it makes sense.

use crate::attr::{ParamAttr, ToolAttr};
use crate::diag::Diag;
use crate::docs::Docs;
use crate::item::{FunctionItem, is_ours};
use proc_macro2::{TokenStream, TokenTree};
use quote::{ToTokens, quote};
use syn::ext::IdentExt;
use syn::{
    Attribute, FnArg, GenericArgument, Ident, Pat, PatType, PathArguments, Signature, Type, TypePath,
    Visibility,
};

/// A function as its author wrote it.
pub(crate) struct Draft<'a> {
    pub(crate) attr: ToolAttr,
    pub(crate) attrs: &'a [Attribute],
    pub(crate) vis: &'a Visibility,
    pub(crate) sig: &'a Signature,
    pub(crate) docs: Docs,
    pub(crate) params: Vec<DraftParam<'a>>,
}

/// A parameter as its author wrote it.
pub(crate) struct DraftParam<'a> {
    pub(crate) ident: &'a Ident,
    pub(crate) ty: &'a Type,
    pub(crate) source: Source,
    pub(crate) attr: ParamAttr,
    pub(crate) docs: Docs,
}

/// Where the value of a parameter comes from.
pub(crate) enum Source {
    /// From the model: decoded as this type, and lent to the function if it takes a reference.
    Model { owned: Box<Type>, lent: bool },
    /// The call's context.
    Context,
}

impl<'a> Draft<'a> {
    pub(crate) fn read(attr: ToolAttr, function: &'a FunctionItem, diag: &mut Diag) -> Self {
        let FunctionItem { attrs, vis, sig, .. } = function;
        let params = sig.inputs.iter().filter_map(|input| read_param(input, diag)).collect();
        Self { attr, attrs, vis, sig, docs: Docs::read(attrs), params }
    }

    /// The path that generated code starts from, as in `::toolkit`.
    pub(crate) fn krate(&self) -> TokenStream {
        self.attr.krate.as_ref().map_or_else(|| quote!(::toolkit), ToTokens::to_token_stream)
    }

    /// The attributes that decide whether the function exists at all.
    pub(crate) fn cfgs(&self) -> impl Iterator<Item = &'a Attribute> {
        self.attrs.iter().filter(|attr| attr.path().is_ident("cfg"))
    }
}

impl DraftParam<'_> {
    /// The name in the source, without `r#`.
    pub(crate) fn name(&self) -> String {
        self.ident.unraw().to_string()
    }
}

fn read_param<'a>(input: &'a FnArg, diag: &mut Diag) -> Option<DraftParam<'a>> {
    let PatType { attrs, pat, ty, .. } = match input {
        FnArg::Typed(typed) => typed,
        FnArg::Receiver(receiver) => {
            diag.error(receiver, "`#[tool]` goes on a free function: it cannot take `self`");
            return None;
        }
    };
    for attr in attrs.iter().filter(|attr| attr.path().is_ident("cfg") || attr.path().is_ident("cfg_attr")) {
        diag.error(
            attr,
            "a parameter of a tool is there always; put the `cfg` on two versions of the function",
        );
    }
    let ident = match &**pat {
        Pat::Ident(pat) if pat.by_ref.is_none() && pat.subpat.is_none() => &pat.ident,
        pattern => {
            diag.error(pattern, "a parameter of a tool needs a plain name, because the model calls it by that name; take the value apart in the body");
            return None;
        }
    };
    let attr = ParamAttr::read(attrs, diag);
    let source = read_type(ty, diag)?;
    let ours: Vec<Attribute> = attrs.iter().filter(|attr| is_ours(attr)).cloned().collect();
    Some(DraftParam { ident, ty, source, attr, docs: Docs::read(&ours) })
}

fn read_type(ty: &Type, diag: &mut Diag) -> Option<Source> {
    let Type::Reference(reference) = ty else {
        return only_owned(ty, diag).then(|| Source::Model { owned: Box::new(ty.clone()), lent: false });
    };
    if let Some(mutable) = &reference.mutability {
        diag.error(
            mutable,
            "the arguments of a call are lent for reading; take the value itself to change it",
        );
        return None;
    }
    if let Some(lifetime) = &reference.lifetime {
        diag.error(
            lifetime,
            "the arguments live as long as the call; write the reference without a lifetime",
        );
        return None;
    }
    let inner = &*reference.elem;
    if last_segment_is(inner, "ToolContext") {
        return Some(Source::Context);
    }
    if !only_owned(inner, diag) {
        return None;
    }
    let owned = match inner {
        Type::Slice(slice) => {
            let item = &slice.elem;
            syn::parse_quote!(::std::vec::Vec<#item>)
        }
        inner if last_segment_is(inner, "str") => syn::parse_quote!(::std::string::String),
        inner => inner.clone(),
    };
    Some(Source::Model { owned: Box::new(owned), lent: true })
}

fn last_segment_is(ty: &Type, name: &str) -> bool {
    match ty {
        Type::Path(TypePath { qself: None, path, .. }) => {
            path.segments.last().is_some_and(|last| last.ident == name)
        }
        _ => false,
    }
}

/// Reports what can never be decoded, at the token that makes it so.
fn only_owned(ty: &Type, diag: &mut Diag) -> bool {
    let Some(token) = find(ty.to_token_stream(), &|token| match token {
        TokenTree::Ident(ident) => ident == "impl" || ident == "Self",
        TokenTree::Punct(punct) => punct.as_char() == '&',
        _ => false,
    }) else {
        return true;
    };
    match token.to_string().as_str() {
        "impl" => diag.error(ty, "a parameter of a tool needs a concrete type: the model reads its schema"),
        "Self" => diag.error(token, "`#[tool]` goes on a free function: there is no `Self`"),
        _ => diag.error(
            ty,
            format!("a reference inside a type cannot be decoded; write `{}`", owned_spelling(ty)),
        ),
    }
    false
}

fn find(tokens: TokenStream, wanted: &dyn Fn(&TokenTree) -> bool) -> Option<TokenTree> {
    tokens.into_iter().find_map(|token| match token {
        TokenTree::Group(group) => find(group.stream(), wanted),
        token => wanted(&token).then_some(token),
    })
}

/// `Option<String>` for `Option<&str>`.
fn owned_spelling(ty: &Type) -> String {
    let mut ty = ty.clone();
    make_owned(&mut ty);
    let spaced = ty.to_token_stream().to_string();
    spaced.replace(" < ", "<").replace(" >", ">").replace(" ,", ",").replace(" :: ", "::")
}

fn make_owned(ty: &mut Type) {
    match ty {
        Type::Reference(reference) => {
            let mut inner = (*reference.elem).clone();
            if last_segment_is(&inner, "str") {
                inner = syn::parse_quote!(String);
            } else if let Type::Slice(slice) = &inner {
                let item = &slice.elem;
                inner = syn::parse_quote!(Vec<#item>);
            }
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
        Type::Tuple(tuple) => tuple.elems.iter_mut().for_each(make_owned),
        Type::Array(array) => make_owned(&mut array.elem),
        _ => {}
    }
}
