//! What a function says, before anybody has looked whether it makes sense.

mod types;

pub(crate) use types::{Lending, find, only_argument, peel, spelling};

use crate::attr::{ParamAttr, ToolAttr};
use crate::diag::Diag;
use crate::docs::Docs;
use crate::item::{FunctionItem, is_ours};
use proc_macro2::TokenStream;
use quote::{ToTokens, quote};
use syn::ext::IdentExt;
use syn::{Attribute, FnArg, Ident, Pat, PatType, Receiver, ReceiverKind, Signature, Type, Visibility};
use types::read_type;

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
    /// From the model: decoded as this type.
    Model { owned: Box<Type>, lending: Lending },
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
