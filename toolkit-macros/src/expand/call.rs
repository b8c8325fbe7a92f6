//! The function that decodes the arguments and calls the user's function.

use super::params::default_ident;
use crate::model::{Argument, Model, ParamModel};
use proc_macro2::{Ident, Span, TokenStream};
use quote::{quote, quote_spanned};
use syn::ReturnType;
use syn::spanned::Spanned;

pub(super) fn expand(model: &Model<'_>) -> TokenStream {
    let decode = decode(model);
    let outcome = outcome(model);
    let future = match model.sig.asyncness {
        // A future that is not `Send` is reported under the function's name.
        Some(_) => {
            quote_spanned!(model.sig.ident.span()=> __toolkit::ToolFuture::running(async move { #outcome }))
        }
        None => quote!(__toolkit::ToolFuture::ready(#outcome)),
    };
    quote! {
        fn __toolkit_call(__call: __toolkit::Invocation<'_>) -> __toolkit::ToolFuture<'_> {
            #decode
            #future
        }
    }
}

/// A name that no code of the user can meet; what is wrong with it is wrong with the parameter's type.
fn slot(index: usize, param: &ParamModel<'_>) -> Ident {
    Ident::new(&format!("__slot_{index}"), param.owned.span().resolved_at(Span::mixed_site()))
}

fn decode(model: &Model<'_>) -> TokenStream {
    let slots: Vec<Ident> = model.params().enumerate().map(|(index, param)| slot(index, param)).collect();
    let new = model.params().zip(&slots).map(|(param, slot)| {
        let ty = param.owned;
        quote_spanned!(ty.span()=> let mut #slot = __toolkit::Slot::<#ty>::new();)
    });
    let fill =
        model.params().zip(&slots).map(|(param, slot)| quote_spanned!(param.owned.span()=> &mut #slot));
    let take = model.params().zip(&slots).enumerate().map(|(index, (param, slot))| {
        let absent = absent(index, param);
        quote!(#slot.take_or(#absent))
    });
    quote! {
        #(#new)*
        if let ::core::option::Option::Some(refused) = __call.decode(__TOOLKIT_PARAMS, &mut [#(#fill),*]) {
            return refused;
        }
        let (#(::core::option::Option::Some(#slots),)*) = (#(#take,)*) else {
            return __toolkit::ToolFuture::incomplete();
        };
    }
}

/// What a parameter is that the model left out.
fn absent(index: usize, param: &ParamModel<'_>) -> TokenStream {
    let ty = param.owned;
    match param.default {
        Some(_) => {
            let make = default_ident(index);
            quote!(|| ::core::option::Option::Some(#make()))
        }
        None => quote_spanned!(ty.span()=> __toolkit::Probe::<#ty>::absent),
    }
}

fn outcome(model: &Model<'_>) -> TokenStream {
    let mut index = 0;
    let arguments = model.arguments.iter().map(|argument| match argument {
        Argument::Context => quote!(__call.context()),
        Argument::Param(param) => {
            let slot = slot(index, param);
            index += 1;
            let borrow = param.lent.then(|| quote_spanned!(param.ident.span()=> &));
            quote!(#borrow #slot)
        }
    });
    let function = &model.sig.ident;
    let wait = model.sig.asyncness.map(|_| quote!(.await));
    let span = match &model.sig.output {
        ReturnType::Default => function.span(),
        ReturnType::Type(_, ty) => ty.span(),
    };
    let call = quote!(#function(#(#arguments),*) #wait);
    let convert = quote_spanned!(span=> value.convert());
    let into_error = quote_spanned!(span=> failure.into_error());
    quote! {
        match __toolkit::Output(#call).split() {
            ::core::result::Result::Ok(value) => #convert,
            ::core::result::Result::Err(failure) => ::core::result::Result::Err(#into_error),
        }
    }
}
