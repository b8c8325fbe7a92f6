//! The function that decodes the arguments and calls the user's function.

use super::params::default_ident;
use crate::draft::{Lending, StateForm};
use crate::model::{Argument, Model, ParamModel};
use proc_macro2::{Ident, Literal, Span, TokenStream};
use quote::{ToTokens, quote, quote_spanned};
use syn::spanned::Spanned;
use syn::{ReturnType, Type};

pub(super) fn expand(model: &Model<'_>) -> TokenStream {
    let decode = decode(model);
    let call = call(model);
    let future = match model.sig.asyncness {
        // A future that is not `Send` is reported under the function's name.
        Some(_) if model.params().any(|param| param.lending != Lending::Given) => {
            // The output may borrow from what is lent, so both stay in one future.
            let outcome = outcome(model, &quote!(#call.await));
            quote_spanned! {model.sig.ident.span()=>
                __toolkit::ToolFuture::running(async move { #outcome }, |__outcome| __outcome)
            }
        }
        Some(_) => {
            let outcome = outcome(model, &quote!(__output));
            quote_spanned!(model.sig.ident.span()=> __toolkit::ToolFuture::running(#call, |__output| #outcome))
        }
        None => {
            let outcome = outcome(model, &call);
            quote!(__toolkit::ToolFuture::ready(#outcome))
        }
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

/// A name that no code of the user can meet. What is wrong with what it names is wrong with the parameter's type.
fn hidden(name: &str, param: &ParamModel<'_>) -> Ident {
    Ident::new(name, param.span.resolved_at(Span::mixed_site()))
}

fn value_ident(index: usize, param: &ParamModel<'_>) -> Ident {
    hidden(&format!("__value_{index}"), param)
}

/// Decodes the arguments, each into the variable of its [`value_ident`].
///
/// The slots are one tuple, because what drops them is compiled for each way out of the function.
fn decode(model: &Model<'_>) -> TokenStream {
    if let Some(whole) = model.whole() {
        let (value, ty) = (value_ident(0, whole), whole.owned);
        let decode = quote_spanned!(whole.span=> __call.decode_whole::<#ty>());
        return quote! {
            let #value = match #decode {
                __toolkit::Ok(__whole) => __whole,
                __toolkit::Err(__refused) => return __refused,
            };
        };
    }
    let slots = model
        .params()
        .map(|ParamModel { owned, span, .. }| quote_spanned!(*span=> __toolkit::None::<#owned>));
    let fill = model.params().enumerate().map(|(index, param)| {
        let (slots, index) = (hidden("__slots", param), Literal::usize_unsuffixed(index));
        quote_spanned!(param.span=> &mut #slots.#index)
    });
    let values = model.params().enumerate().map(|(index, param)| {
        let value = value_ident(index, param);
        match param.default {
            Some(_) => value.into_token_stream(),
            None => quote!(__toolkit::Some(#value)),
        }
    });
    let defaults = model.params().enumerate().filter(|(_, param)| param.default.is_some());
    let defaults = defaults.map(|(index, param)| {
        let (value, make) = (value_ident(index, param), default_ident(index));
        quote!(let #value = #value.unwrap_or_else(#make);)
    });
    let all = Ident::new("__slots", Span::mixed_site());
    quote! {
        let mut #all = (#(#slots,)*);
        if let __toolkit::Err(__refused) = __call.decode(&mut [#(#fill),*]) {
            return __toolkit::ToolFuture::refused(__refused);
        }
        let (#(#values,)*) = #all else {
            return __toolkit::ToolFuture::incomplete();
        };
        #(#defaults)*
    }
}

/// The call of the user's function.
fn call(model: &Model<'_>) -> TokenStream {
    let (mut index, mut states) = (0, 0);
    let receiver = model.has_receiver.then(|| quote!(__receiver));
    let given = model.arguments.iter().map(|argument| match argument {
        Argument::Context => quote!(__call.context()),
        Argument::State { .. } => {
            states += 1;
            state_ident(states - 1).into_token_stream()
        }
        Argument::Param(param) => {
            let value = value_ident(index, param);
            index += 1;
            param.lending.argument(&value, param.ident)
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
