//! What a function means, after every rule was checked. Only this can be expanded.

use crate::attr::{Constraints, DefaultAttr};
use crate::draft::{Lending, StateForm};
use proc_macro2::{Span, TokenStream};
use std::time::Duration;
use syn::{Attribute, Ident, Signature, Type, Visibility};

/// A function that can become a tool.
pub(crate) struct Model<'a> {
    /// The path that generated code starts from.
    pub(crate) krate: TokenStream,
    pub(crate) cfgs: Vec<&'a Attribute>,
    pub(crate) vis: &'a Visibility,
    pub(crate) sig: &'a Signature,
    pub(crate) name: String,
    pub(crate) namespace: Option<String>,
    /// An expression of type `&'static str`.
    pub(crate) description: TokenStream,
    pub(crate) timeout: Option<Duration>,
    /// Calls of the methods of `ToolMetadata`, one after another.
    pub(crate) metadata: &'a TokenStream,
    /// Whether the tool is handed to the linker.
    pub(crate) registered: bool,
    /// The type whose method or function it is.
    pub(crate) owner: Option<&'a Type>,
    /// Whether it takes `&self`.
    pub(crate) has_receiver: bool,
    /// In the order of the signature, without the receiver.
    pub(crate) arguments: Vec<Argument<'a>>,
}

/// One argument of the call that the generated function makes.
pub(crate) enum Argument<'a> {
    Context,
    State { ty: &'a Type, form: StateForm },
    Param(Box<ParamModel<'a>>),
}

/// A parameter that the model sees.
pub(crate) struct ParamModel<'a> {
    pub(crate) ident: &'a Ident,
    /// The type that is decoded.
    pub(crate) owned: &'a Type,
    /// Where that type stands: what is wrong with it is reported there.
    pub(crate) span: Span,
    /// How the function takes it.
    pub(crate) lending: Lending,
    pub(crate) name: String,
    pub(crate) aliases: Vec<String>,
    /// An expression of type `&'static str`.
    pub(crate) description: TokenStream,
    pub(crate) default: Option<&'a DefaultAttr>,
    pub(crate) constraints: &'a Constraints,
    /// Whether its fields are the arguments.
    pub(crate) flatten: bool,
}

impl Model<'_> {
    pub(crate) fn states(&self) -> impl Iterator<Item = (&Type, StateForm)> {
        self.arguments.iter().filter_map(|argument| match argument {
            Argument::State { ty, form } => Some((*ty, *form)),
            Argument::Context | Argument::Param(_) => None,
        })
    }

    /// The parameter whose fields are the arguments; it is then the only one that the model sees.
    pub(crate) fn whole(&self) -> Option<&ParamModel<'_>> {
        self.params().find(|param| param.flatten)
    }

    pub(crate) fn params(&self) -> impl Iterator<Item = &ParamModel<'_>> {
        self.arguments.iter().filter_map(|argument| match argument {
            Argument::Context | Argument::State { .. } => None,
            Argument::Param(param) => Some(&**param),
        })
    }
}
