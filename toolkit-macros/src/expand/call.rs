//! The function that decodes the arguments and calls the user's function.

use super::params::default_ident;
use crate::draft::StateForm;
use crate::model::{Argument, Model, ParamModel};
use proc_macro2::{Ident, Span, TokenStream};
use quote::{ToTokens, quote, quote_spanned};
use syn::spanned::Spanned;
use syn::{ReturnType, Type};

pub(super) fn expand(model: &Model<'_>) -> TokenStream {
    let slots: Vec<Ident> = model.params().enumerate().map(|(index, param)| slot(index, param)).collect();
    let call = call(model, &slots);
    let future = match model.sig.asyncness {
        Some(_) => {
            // What is borrowed from a slot takes the slot along.
            let call = match model.params().any(|param| param.lent) {
                true => quote_spanned!(model.sig.ident.span()=> async move { #call.await }),
                false => call,
            };
            let outcome = outcome(model, &quote!(__output));
            // A future that is not `Send` is reported under the function's name.
            quote_spanned!(model.sig.ident.span()=> __toolkit::ToolFuture::running(#call, |__output| #outcome))
        }
        None => {
            let outcome = outcome(model, &call);
            quote!(__toolkit::ToolFuture::ready(#outcome))
        }
    };
    let body = decoded(model, &slots, &future);
    let receiver = receiver(model);
    let states = model.states().enumerate().map(|(index, (ty, form))| state(index, ty, form));
    quote! {
        fn __toolkit_call(__call: __toolkit::Invocation<'_>) -> __toolkit::ToolFuture<'_> {
            #receiver
            #(#states)*
            #body
        }
    }
}

/// The value whose method is called. `tools()` binds each tool to one.
fn receiver(model: &Model<'_>) -> Option<TokenStream> {
    let owner = model.owner.filter(|_| model.has_receiver)?;
    Some(quote! {
        let __toolkit::Some(__receiver) = __call.receiver::<#owner>() else {
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
        let __toolkit::Some(#ident) = #found else {
            return __toolkit::ToolFuture::stateless(::core::any::type_name::<#ty>());
        };
    }
}

/// A name that no code of the user can meet; what is wrong with it is wrong with the parameter's type.
fn slot(index: usize, param: &ParamModel<'_>) -> Ident {
    Ident::new(&format!("__slot_{index}"), param.owned.span().resolved_at(Span::mixed_site()))
}

/// Decodes the arguments, and goes on with `future` when every slot has a value. There is one other way out,
/// because each is compiled for each tool.
fn decoded(model: &Model<'_>, slots: &[Ident], future: &TokenStream) -> TokenStream {
    if let Some(whole) = model.whole() {
        let ty = whole.owned;
        let decode = quote_spanned!(ty.span()=> __call.decode_whole::<#ty>());
        return quote! {
            match #decode {
                __toolkit::Ok(#(#slots)*) => #future,
                __toolkit::Err(__refused) => __toolkit::ToolFuture::refused(__refused),
            }
        };
    }
    let new = model.params().zip(slots).map(|(param, slot)| {
        let ty = param.owned;
        quote_spanned!(ty.span()=> let mut #slot = __toolkit::None::<#ty>;)
    });
    let fill = model.params().zip(slots).map(|(param, slot)| quote_spanned!(param.owned.span()=> &mut #slot));
    let given = model.params().zip(slots).filter(|(param, _)| param.default.is_none());
    let given: Vec<&Ident> = given.map(|(_, slot)| slot).collect();
    let absent = model.params().zip(slots).enumerate().filter(|(_, (param, _))| param.default.is_some());
    let absent = absent.map(|(index, (_, slot))| {
        let make = default_ident(index);
        quote!(let #slot = #slot.unwrap_or_else(#make);)
    });
    quote! {
        #(#new)*
        match (__call.decode(&mut [#(#fill),*]), #(#given),*) {
            (__toolkit::Ok(()), #(__toolkit::Some(#given)),*) => {
                #(#absent)*
                #future
            }
            (__refused, ..) => __toolkit::ToolFuture::refused(__refused),
        }
    }
}

/// The call of the user's function.
fn call(model: &Model<'_>, slots: &[Ident]) -> TokenStream {
    let (mut slots, mut states) = (slots.iter(), 0);
    let receiver = model.has_receiver.then(|| quote!(__receiver));
    let given = model.arguments.iter().map(|argument| match argument {
        Argument::Context => quote!(__call.context()),
        Argument::State { .. } => {
            states += 1;
            state_ident(states - 1).into_token_stream()
        }
        Argument::Param(param) => {
            let slot = slots.next();
            let borrow = param.lent.then(|| quote_spanned!(param.ident.span()=> &));
            quote!(#borrow #slot)
        }
    });
    let function = &model.sig.ident;
    let arguments = receiver.into_iter().chain(given);
    let owner = model.owner.map(|owner| quote_spanned!(function.span()=> <#owner>::));
    // All of it has the span of the name, because a future that is not `Send` is reported there.
    quote_spanned!(function.span()=> #owner #function(#(#arguments),*))
}

/// What becomes of a value that the function returned.
fn outcome(model: &Model<'_>, returned: &TokenStream) -> TokenStream {
    let span = match &model.sig.output {
        ReturnType::Default => model.sig.ident.span(),
        ReturnType::Type(_, ty) => ty.span(),
    };
    // One name for the pattern and its use: the type may come from another macro, with other hygiene.
    let value = Ident::new("__value", span.resolved_at(Span::mixed_site()));
    let convert = quote_spanned!(span=> #value.convert());
    let into_error = quote_spanned!(span=> #value.into_error());
    quote! {
        match __toolkit::Output(#returned).split() {
            __toolkit::Ok(#value) => #convert,
            __toolkit::Err(#value) => __toolkit::Err(#into_error),
        }
    }
}
