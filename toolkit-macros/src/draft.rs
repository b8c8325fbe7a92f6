//! What a function says, before anybody has looked whether it makes sense.

use crate::attr::{ParamAttr, ToolAttr};
use crate::diag::Diag;
use crate::docs::Docs;
use crate::item::{FunctionItem, is_ours};
use proc_macro2::{TokenStream, TokenTree};
use quote::{ToTokens, quote};
use syn::ext::IdentExt;
use syn::{
    Attribute, FnArg, GenericArgument, Ident, Pat, PatType, PathArguments, Receiver, ReceiverKind, Signature,
    Type, TypePath, Visibility,
};

/// A function as its author wrote it.
pub(crate) struct Draft<'a> {
    pub(crate) attr: ToolAttr,
    pub(crate) attrs: &'a [Attribute],
    pub(crate) vis: &'a Visibility,
    pub(crate) sig: &'a Signature,
    pub(crate) docs: Docs,
    /// Whether it takes `&self`.
    pub(crate) has_receiver: bool,
    pub(crate) params: Vec<DraftParam<'a>>,
}

/// Where a function stands.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Place {
    Free,
    Toolset,
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
    /// What the program lends under this type.
    State { ty: Box<Type>, form: StateForm },
}

/// How a function takes a state.
#[derive(Clone, Copy)]
pub(crate) struct StateForm {
    /// `Arc<T>`, not `&T`.
    pub(crate) shared: bool,
    /// `Option<…>`: it may be missing.
    pub(crate) optional: bool,
}

impl<'a> Draft<'a> {
    pub(crate) fn read(attr: ToolAttr, function: &'a FunctionItem, place: Place, diag: &mut Diag) -> Self {
        let FunctionItem { attrs, vis, sig, .. } = function;
        let has_receiver = sig.receiver().is_some();
        let params = sig.inputs.iter().filter_map(|input| read_param(input, place, diag)).collect();
        Self { attr, attrs, vis, sig, docs: Docs::read(attrs), has_receiver, params }
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

fn read_param<'a>(input: &'a FnArg, place: Place, diag: &mut Diag) -> Option<DraftParam<'a>> {
    let PatType { attrs, pat, ty, .. } = match input {
        FnArg::Typed(typed) => typed,
        FnArg::Receiver(receiver) => {
            check_receiver(receiver, place, diag);
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
    let source = match attrs.iter().any(|attr| attr.path().is_ident("state")) {
        true => read_state(ty, diag)?,
        false => read_type(ty, diag)?,
    };
    let ours: Vec<Attribute> = attrs.iter().filter(|attr| is_ours(attr)).cloned().collect();
    Some(DraftParam { ident, ty, source, attr, docs: Docs::read(&ours) })
}

fn check_receiver(receiver: &Receiver, place: Place, diag: &mut Diag) {
    if place == Place::Free {
        let message = "`#[tool]` alone goes on a free function; put `#[toolset]` on the `impl` block to make tools of its methods";
        diag.error(receiver, message);
        return;
    }
    match &receiver.kind {
        ReceiverKind::Reference(_, lifetime, None) => {
            if let Some(lifetime) = lifetime {
                diag.error(lifetime, "the value lives as long as the call; write `&self`");
            }
        }
        ReceiverKind::Reference(_, _, Some(_)) => {
            let message = "calls run at the same time, so a tool cannot take `&mut self`; take `&self` and put what changes into a `Mutex` or an atomic";
            diag.error(receiver, message);
        }
        _ => diag.error(receiver, "calls share the value; take `&self`"),
    }
}

/// `&T`, `Arc<T>`, `Option<&T>` or `Option<Arc<T>>`.
fn read_state(ty: &Type, diag: &mut Diag) -> Option<Source> {
    let (inner, optional) = match only_argument(ty, "Option") {
        Some(inner) => (inner, true),
        None => (ty, false),
    };
    let (ty, shared) = match (peel(inner), only_argument(inner, "Arc")) {
        (_, Some(inner)) => (inner, true),
        (Type::Reference(reference), None)
            if reference.mutability.is_none() && reference.lifetime.is_none() =>
        {
            (&*reference.elem, false)
        }
        _ => {
            diag.error(
                ty,
                "a state is lent to the call; take it as `&T`, `Arc<T>`, `Option<&T>` or `Option<Arc<T>>`",
            );
            return None;
        }
    };
    Some(Source::State { ty: Box::new(ty.clone()), form: StateForm { shared, optional } })
}

/// `T` of `name<T>`.
fn only_argument<'a>(ty: &'a Type, name: &str) -> Option<&'a Type> {
    let Type::Path(TypePath { qself: None, path, .. }) = peel(ty) else { return None };
    let last = path.segments.last().filter(|last| last.ident == name)?;
    let PathArguments::AngleBracketed(arguments) = &last.arguments else { return None };
    match arguments.args.first()? {
        GenericArgument::Type(ty) if arguments.args.len() == 1 => Some(ty),
        _ => None,
    }
}

fn read_type(ty: &Type, diag: &mut Diag) -> Option<Source> {
    if last_segment_is(ty, "ToolContext") || only_argument(ty, "Option").is_some_and(is_context_reference) {
        diag.error(ty, "every call has a context; take it as `&ToolContext`");
        return None;
    }
    let Type::Reference(reference) = peel(ty) else {
        return only_owned(ty, ty, diag).then(|| Source::Model { owned: Box::new(ty.clone()), lent: false });
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
    let inner = peel(&reference.elem);
    if last_segment_is(inner, "ToolContext") {
        return Some(Source::Context);
    }
    if !only_owned(inner, ty, diag) {
        return None;
    }
    let owned = match inner {
        Type::Slice(slice) => {
            let item = &slice.elem;
            syn::parse_quote!(::std::vec::Vec<#item>)
        }
        inner if last_segment_is(inner, "str") => syn::parse_quote!(::std::string::String),
        inner if last_segment_is(inner, "Path") => syn::parse_quote!(::std::path::PathBuf),
        inner => inner.clone(),
    };
    Some(Source::Model { owned: Box::new(owned), lent: true })
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

/// Reports what can never be decoded, at the token that makes it so.
/// `whole` is the type as it stands in the signature.
fn only_owned(ty: &Type, whole: &Type, diag: &mut Diag) -> bool {
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
            format!("a reference inside a type cannot be decoded; write `{}`", owned_spelling(ty, whole)),
        ),
    }
    false
}

/// The first token, at any depth, that is wanted.
pub(crate) fn find(tokens: TokenStream, wanted: &dyn Fn(&TokenTree) -> bool) -> Option<TokenTree> {
    tokens.into_iter().find_map(|token| match token {
        TokenTree::Group(group) => find(group.stream(), wanted),
        token => wanted(&token).then_some(token),
    })
}

/// `Option<String>` for `Option<&str>`.
fn owned_spelling(ty: &Type, whole: &Type) -> String {
    let mut ty = ty.clone();
    make_owned(&mut ty);
    let spaced = ty.to_token_stream().to_string();
    let spelling = spaced.replace(" < ", "<").replace(" >", ">").replace(" ,", ",").replace(" :: ", "::");
    if matches!(whole, Type::Reference(_)) { format!("&{spelling}") } else { spelling }
}

fn is_context_reference(ty: &Type) -> bool {
    match peel(ty) {
        Type::Reference(reference) => last_segment_is(&reference.elem, "ToolContext"),
        ty => last_segment_is(ty, "ToolContext"),
    }
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
        Type::Slice(slice) => make_owned(&mut slice.elem),
        Type::Tuple(tuple) => tuple.elems.iter_mut().for_each(make_owned),
        Type::Array(array) => make_owned(&mut array.elem),
        _ => {}
    }
}
