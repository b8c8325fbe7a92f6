//! A checked tool function, the only input of code generation.

use crate::attr::ParamAttr;
use crate::draft::{Draft, PassMode};
use proc_macro2::{Span, TokenStream};
use quote::{ToTokens, quote_spanned};
use syn::{Ident, Type};

pub(crate) struct Model<'a> {
    pub(crate) draft: &'a Draft<'a>,
    pub(crate) name: String,
    pub(crate) namespace: Option<String>,
    /// An expression of type `&'static str`.
    pub(crate) description: TokenStream,
    /// The parameters in the schema, in the order of the signature.
    pub(crate) params: Vec<ParamModel<'a>>,
}

pub(crate) struct ParamModel<'a> {
    pub(crate) ident: &'a Ident,
    pub(crate) ty: &'a Type,
    /// The location of the type, stored because it is slow to compute.
    pub(crate) span: Span,
    pub(crate) pass: PassMode,
    pub(crate) name: String,
    /// An expression of type `&'static str`.
    pub(crate) description: TokenStream,
    pub(crate) attr: &'a ParamAttr,
    /// Whether generated code uses `__Checked`, because types of several parameters share a type.
    pub(crate) is_checked: bool,
}

impl ParamModel<'_> {
    /// Returns the decoded type in generated code, perhaps in `__Checked`.
    pub(crate) fn decoded(&self) -> TokenStream {
        let ty = self.ty;
        if self.is_checked { quote_spanned!(self.span=> __Checked<#ty>) } else { ty.into_token_stream() }
    }
}

impl Model<'_> {
    /// Returns the parameter with `flatten`, whose type is a struct of all arguments.
    pub(crate) fn struct_args(&self) -> Option<&ParamModel<'_>> {
        self.params.iter().find(|param| param.attr.flatten.is_some())
    }
}
