//! A checked tool, the only input of the expansion.

use crate::attr::ParamAttr;
use crate::draft::{Draft, PassMode};
use proc_macro2::{Span, TokenStream};
use quote::{ToTokens, quote_spanned};
use syn::{Ident, Type};

/// A checked function, ready for expansion.
pub(crate) struct Model<'a> {
    pub(crate) draft: &'a Draft<'a>,
    pub(crate) name: String,
    pub(crate) namespace: Option<String>,
    /// An expression of type `&'static str`.
    pub(crate) description: TokenStream,
    /// The parameters in the schema, in the order of the signature.
    pub(crate) params: Vec<ParamModel<'a>>,
}

/// A parameter in the schema.
pub(crate) struct ParamModel<'a> {
    pub(crate) ident: &'a Ident,
    /// The decoded type.
    pub(crate) ty: &'a Type,
    /// The span of the type, for errors. It is stored, because computing it is slow.
    pub(crate) span: Span,
    pub(crate) pass: PassMode,
    pub(crate) name: String,
    /// An expression of type `&'static str`.
    pub(crate) description: TokenStream,
    pub(crate) attr: &'a ParamAttr,
    /// Whether the type is checked apart, because another parameter has the same innermost type.
    pub(crate) is_checked: bool,
}

impl ParamModel<'_> {
    /// Returns the decoded type for generated code that requires a parameter type.
    pub(crate) fn decoded(&self) -> TokenStream {
        let ty = self.ty;
        if self.is_checked { quote_spanned!(self.span=> __Checked<#ty>) } else { ty.into_token_stream() }
    }
}

impl Model<'_> {
    /// Returns the flattened parameter, if there is one. It is a struct with all arguments of the call.
    pub(crate) fn struct_args(&self) -> Option<&ParamModel<'_>> {
        self.params.iter().find(|param| param.attr.flatten.is_some())
    }
}
