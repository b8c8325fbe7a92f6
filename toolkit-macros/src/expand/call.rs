//! The function that decodes the arguments and calls the user's function.

use super::params::default_ident;
use crate::draft::StateForm;
use crate::model::{Argument, Model, ParamModel};
use proc_macro2::{Ident, Span, TokenStream};
use quote::{ToTokens, quote, quote_spanned};
use syn::spanned::Spanned;
use syn::{ReturnType, Type};

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
    let receiver = receiver(model);
    let states = model.states().enumerate().map(|(index, (ty, form))| state(index, ty, form));
    quote! {
        fn __toolkit_call(__call: __toolkit::Invocation<'_>) -> __toolkit::ToolFuture<'_> {
            #receiver
            #(#states)*
            #decode
            #future
        }
    }
}

/// The value whose method is called. `tools()` binds each tool to one.
fn receiver(model: &Model<'_>) -> Option<TokenStream> {
    let owner = model.owner.filter(|_| model.has_receiver)?;
    Some(quote! {
        let ::core::option::Option::Some(__receiver) = __call.receiver::<#owner>() else {
            return __toolkit::ToolFuture::incomplete();
        };
    })
}

fn state_ident(index: usize) -> Ident {
    Ident::new(&format!("__state_{index}"), Span::mixed_site())
}

fn state(index: usize, ty: &Type, form: StateForm) -> TokenStream {
    let ident = state_ident(index);
    let find = if form.shared { "shared_state" } else { "state" };
    let find = Ident::new(find, ty.span());
    let found = quote_spanned!(ty.span()=> __call.#find::<#ty>());
    if form.optional {
        return quote!(let #ident = #found;);
    }
    quote! {
        let ::core::option::Option::Some(#ident) = #found else {
            return __toolkit::ToolFuture::stateless(::core::any::type_name::<#ty>());
        };
    }
}

/// A name that no code of the user can meet; what is wrong with it is wrong with the parameter's type.
fn slot(index: usize, param: &ParamModel<'_>) -> Ident {
    Ident::new(&format!("__slot_{index}"), param.owned.span().resolved_at(Span::mixed_site()))
}

fn decode(model: &Model<'_>) -> TokenStream {
    if let Some(whole) = model.whole() {
        let (slot, ty) = (slot(0, whole), whole.owned);
        let decode = quote_spanned!(ty.span()=> __call.decode_whole::<#ty>());
        return quote! {
            let #slot = match #decode {
                ::core::result::Result::Ok(whole) => whole,
                ::core::result::Result::Err(refused) => return refused,
            };
        };
    }
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
    let (mut index, mut states) = (0, 0);
    let receiver = model.has_receiver.then(|| quote!(__receiver));
    let given = model.arguments.iter().map(|argument| match argument {
        Argument::Context => quote!(__call.context()),
        Argument::State { .. } => {
            states += 1;
            state_ident(states - 1).into_token_stream()
        }
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
    let arguments = receiver.into_iter().chain(given);
    let owner = model.owner.map(|owner| quote!(<#owner>::));
    let call = quote!(#owner #function(#(#arguments),*) #wait);
    // One name for the pattern and its use: the type may come from another macro, with other hygiene.
    let value = Ident::new("__value", span.resolved_at(Span::mixed_site()));
    let convert = quote_spanned!(span=> #value.convert());
    let into_error = quote_spanned!(span=> #value.into_error());
    quote! {
        match __toolkit::Output(#call).split() {
            ::core::result::Result::Ok(#value) => #convert,
            ::core::result::Result::Err(#value) => ::core::result::Result::Err(#into_error),
        }
    }
}
