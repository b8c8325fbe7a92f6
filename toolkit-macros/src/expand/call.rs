//! The function that decodes the arguments and calls the user's function.

use super::params::default_ident;
use crate::model::{Argument, Model, ParamModel};
use proc_macro2::{Ident, Span, TokenStream};
use quote::{quote, quote_spanned};
use syn::ReturnType;
use syn::spanned::Spanned;

pub(super) fn expand(model: &Model<'_>, private: &TokenStream) -> TokenStream {
    let slots: Vec<Ident> = model.params().enumerate().map(|(index, _)| slot(index)).collect();
    let decode = decode(model, &slots, private);
    let outcome = outcome(model, private);
    let future = match model.sig.asyncness {
        // A future that is not `Send` is reported under the function's name.
        Some(_) => {
            quote_spanned!(model.sig.ident.span()=> #private::ToolFuture::running(async move { #outcome }))
        }
        None => quote!(#private::ToolFuture::ready(#outcome)),
    };
    quote! {
        fn __toolkit_call(__call: #private::Invocation<'_>) -> #private::ToolFuture<'_> {
            #[allow(unused_imports)]
            use #private::{ByConversion as _, ByDisplay as _, BySerialize as _, Infallible as _, ProbePlain as _};
            #decode
            #future
        }
    }
}

fn slot(index: usize) -> Ident {
    Ident::new(&format!("__slot_{index}"), Span::mixed_site())
}

fn decode(model: &Model<'_>, slots: &[Ident], private: &TokenStream) -> TokenStream {
    let new = model.params().zip(slots).map(|(param, slot)| {
        let ty = param.owned;
        quote_spanned!(ty.span()=> let mut #slot = #private::Slot::<#ty>::new();)
    });
    let fill = model.params().zip(slots).map(|(param, slot)| quote_spanned!(param.owned.span()=> &mut #slot));
    let take = model.params().zip(slots).enumerate().map(|(index, (param, slot))| {
        let absent = absent(index, param, private);
        quote!(let ::core::option::Option::Some(#slot) = #slot.take().or_else(#absent) else {
            return #private::ToolFuture::incomplete();
        };)
    });
    quote! {
        #(#new)*
        if let ::core::result::Result::Err(error) = __call.decode(__TOOLKIT_PARAMS, &mut [#(#fill),*]) {
            return #private::ToolFuture::ready(::core::result::Result::Err(error));
        }
        #(#take)*
    }
}

/// What a parameter is that the model left out.
fn absent(index: usize, param: &ParamModel<'_>, private: &TokenStream) -> TokenStream {
    let ty = param.owned;
    match param.default {
        Some(_) => {
            let make = default_ident(index);
            quote!(|| ::core::option::Option::Some(#make()))
        }
        None => quote_spanned!(ty.span()=> #private::Probe::<#ty>::absent),
    }
}

fn outcome(model: &Model<'_>, private: &TokenStream) -> TokenStream {
    let mut index = 0;
    let arguments = model.arguments.iter().map(|argument| match argument {
        Argument::Context => quote!(__call.context()),
        Argument::Param(param) => {
            let slot = slot(index);
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
        match #private::Output(#call).split() {
            ::core::result::Result::Ok(value) => #convert,
            ::core::result::Result::Err(failure) => ::core::result::Result::Err(#into_error),
        }
    }
}
