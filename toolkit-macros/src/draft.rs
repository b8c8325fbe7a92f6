//! The result of parsing a tool function, before it is checked.

mod types;

pub(crate) use types::{PassMode, check_owned, find_ident, is_unsized, spelling};

use crate::attr::{ParamAttr, ToolAttr};
use crate::diag::Diag;
use crate::docs::Docs;
use crate::item::{FunctionItem, ImplBlock, is_helper_attr, only_argument, peel, wrong_helper};
use syn::ext::IdentExt;
use syn::{
    Attribute, FnArg, Generics, Ident, Pat, PatType, Receiver, ReceiverKind, Signature, Type, Visibility,
};
use types::{foreign_parameter, is_context, parse_type, sized_form};

pub(crate) struct Draft<'a> {
    pub(crate) attr: ToolAttr,
    pub(crate) attrs: &'a [Attribute],
    pub(crate) vis: &'a Visibility,
    pub(crate) sig: &'a Signature,
    pub(crate) docs: Docs,
    /// The block of a method. `None` for a free function.
    pub(crate) owner: Option<&'a ImplBlock<'a>>,
    /// The parameters of the function, except `self`.
    pub(crate) params: Vec<DraftParam<'a>>,
}

pub(crate) struct DraftParam<'a> {
    pub(crate) ident: &'a Ident,
    pub(crate) source: Source,
    pub(crate) attr: ParamAttr,
    pub(crate) docs: Docs,
}

/// Where generated code takes a parameter's value from.
pub(crate) enum Source {
    /// The call's argument, decoded as `ty`; with `flatten`, all arguments.
    Arguments { ty: Box<Type>, pass: PassMode },
    /// The context of the tool call.
    Context,
    /// The shared state of the type `ty`.
    State { ty: Box<Type>, form: StateForm },
}

#[derive(Clone, Copy)]
pub(crate) struct StateForm {
    /// Whether the type is `Arc<T>` instead of `&T`.
    pub(crate) shared: bool,
    pub(crate) optional: bool,
}

impl<'a> Draft<'a> {
    pub(crate) fn new(
        attr: ToolAttr,
        function: &'a FunctionItem,
        owner: Option<&'a ImplBlock<'a>>,
        diag: &mut Diag,
    ) -> Self {
        let FunctionItem { attrs, vis, sig, .. } = function;
        let params = sig.inputs.iter().filter_map(|input| parse_param(input, diag)).collect();
        Self { attr, attrs, vis, sig, docs: Docs::from_attrs(attrs), owner, params }
    }

    /// Returns the `#[cfg]` attributes of the function for generated items.
    pub(crate) fn cfgs(&self) -> impl Iterator<Item = &'a Attribute> {
        self.attrs.iter().filter(|attr| attr.path().is_ident("cfg"))
    }

    pub(crate) fn states(&self) -> impl Iterator<Item = (&Type, StateForm)> {
        self.params.iter().filter_map(DraftParam::state)
    }

    /// Returns the generic parameters of the block around a method.
    pub(crate) fn generics(&self) -> Option<&'a Generics> {
        self.owner.map(|owner| owner.generics).filter(|generics| !generics.params.is_empty())
    }

    /// Returns the parameters decoded from the arguments of the call.
    pub(crate) fn decoded(&self) -> impl Iterator<Item = &DraftParam<'a>> {
        self.params.iter().filter(|param| matches!(param.source, Source::Arguments { .. }))
    }
}

impl DraftParam<'_> {
    /// Returns the name without `r#`.
    pub(crate) fn name(&self) -> String {
        self.ident.unraw().to_string()
    }

    fn state(&self) -> Option<(&Type, StateForm)> {
        match &self.source {
            Source::State { ty, form } => Some((ty, *form)),
            Source::Arguments { .. } | Source::Context => None,
        }
    }
}

fn parse_param<'a>(input: &'a FnArg, diag: &mut Diag) -> Option<DraftParam<'a>> {
    let PatType { attrs, pat, ty, .. } = match input {
        FnArg::Typed(typed) => typed,
        FnArg::Receiver(receiver) => {
            check_receiver(receiver, diag);
            for attr in &receiver.attrs {
                if is_helper_attr(attr) && !attr.path().is_ident("doc") {
                    diag.error(attr, "this attribute has no effect on `self`; remove it");
                }
            }
            return None;
        }
    };
    for attr in attrs {
        if attr.path().is_ident("cfg") || attr.path().is_ident("cfg_attr") {
            diag.error(
                attr,
                "a tool parameter cannot be conditional; put the `cfg` on two versions of the function",
            );
        }
    }
    for attr in attrs {
        if let Some(message) = wrong_helper(attr) {
            diag.error(attr, message);
        }
    }
    let state = attrs.iter().find(|attr| attr.path().is_ident("state"));
    if state.is_none()
        && let Some(message) = foreign_parameter(ty)
    {
        diag.error(ty, message);
        return None;
    }
    let ident = match &**pat {
        Pat::Ident(pat) if pat.by_ref.is_none() && pat.subpat.is_none() => &pat.ident,
        Pat::Wild(pattern) => {
            diag.error(pattern, "a tool parameter needs a name for the model, as in `_limit`");
            return None;
        }
        pattern => {
            diag.error(
                pattern,
                "a tool parameter needs a plain name; destructure the value in the function body",
            );
            return None;
        }
    };
    let attr = ParamAttr::parse(attrs, diag);
    if let Some(state) = state
        && state.meta.require_path_only().is_err()
    {
        diag.error(
            state,
            "`#[state]` takes no arguments; the type decides which value the parameter receives",
        );
    }
    let source = match state {
        Some(_) => parse_state(ty, diag)?,
        None => parse_type(ty, diag)?,
    };
    let helpers: Vec<Attribute> = attrs.iter().filter(|attr| is_helper_attr(attr)).cloned().collect();
    Some(DraftParam { ident, source, attr, docs: Docs::from_attrs(&helpers) })
}

/// Replaces parameter types without a fixed size, which the compiler would report again.
pub(crate) fn give_sizes(sig: &mut Signature) {
    for input in &mut sig.inputs {
        if let FnArg::Typed(typed) = input
            && let Some(sized) = sized_form(&typed.ty)
        {
            *typed.ty = sized;
        }
    }
}

pub(crate) fn is_arc(receiver: &Receiver) -> bool {
    matches!(&receiver.kind, ReceiverKind::Typed(_, ty) if only_argument(ty, "Arc").is_some())
}

fn check_receiver(receiver: &Receiver, diag: &mut Diag) {
    let message = match &receiver.kind {
        ReceiverKind::Reference(_, None, None) => return,
        ReceiverKind::Typed(..) if is_arc(receiver) => return,
        ReceiverKind::Reference(_, Some(_), None) => "the receiver of a tool has no lifetime; write `&self`",
        ReceiverKind::Reference(_, _, Some(_)) => {
            "`&mut self` is not allowed because calls run concurrently; take `&self` and put mutable state \
             into a `Mutex` or an atomic"
        }
        _ => "`self` is shared by concurrent calls; take `&self` or `self: Arc<Self>`",
    };
    diag.error(receiver, message);
}

/// Parses the type of a state parameter: `&T`, `Arc<T>`, `Option<&T>` or `Option<Arc<T>>`.
fn parse_state(ty: &Type, diag: &mut Diag) -> Option<Source> {
    let option = only_argument(ty, "Option");
    let optional = option.is_some();
    let inner = option.unwrap_or(ty);
    if is_context(inner) {
        diag.error(ty, "the context is no state; remove `#[state]`");
        return None;
    }
    if let Some(shared) = only_argument(inner, "Arc") {
        let form = StateForm { shared: true, optional };
        return Some(Source::State { ty: Box::new(shared.clone()), form });
    }
    if let Type::Reference(reference) = peel(inner)
        && reference.mutability.is_none()
        && reference.lifetime.is_none()
    {
        let form = StateForm { shared: false, optional };
        return Some(Source::State { ty: reference.elem.clone(), form });
    }
    diag.error(ty, "`#[state]` needs `&T`, `Arc<T>`, `Option<&T>` or `Option<Arc<T>>`");
    None
}
