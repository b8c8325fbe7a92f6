//! The generated closure that handles a call: it decodes the arguments and calls the user's function.

use super::params::default_path;
use crate::draft::{PassMode, Source, StateForm, is_arc};
use crate::model::{Model, ParamModel};
use proc_macro2::{Ident, Literal, Span, TokenStream};
use quote::{ToTokens, format_ident, quote, quote_spanned};
use syn::spanned::Spanned;
use syn::{ReturnType, Type};

/// Generates the closure, for the same function body as the parameter schemas.
///
/// The compiler reports a wrong parameter type once for each function body.
pub(super) fn closure(model: &Model<'_>) -> TokenStream {
    let sig = model.draft.sig;
    let call = call(model);
    let future = match sig.asyncness {
        // Reports a future that is not `Send` at the function's name.
        Some(_) if model.params.iter().any(|param| param.pass != PassMode::Owned) => {
            // The output may borrow from the arguments, so both stay in one future.
            let result = result(model, &quote!(#call.await));
            quote_spanned! {sig.ident.span()=>
                __toolkit::ToolFuture::running(async move { #result }, |__outcome| __outcome)
            }
        }
        Some(_) => {
            let output = variable("__output");
            let result = result(model, &output.to_token_stream());
            quote_spanned!(sig.ident.span()=> __toolkit::ToolFuture::running(#call, |#output| #result))
        }
        None => {
            let result = result(model, &call);
            quote!(__toolkit::ToolFuture::ready(#result))
        }
    };
    let receiver = receiver(model);
    let states = model.draft.states().enumerate().map(|(index, (ty, form))| state(index, ty, form));
    let decode = decode(model);
    let call = call_ident();
    quote! {
        |#call| {
            #receiver
            #(#states)*
            #decode
            #future
        }
    }
}

/// Returns a variable of generated code, which the user's code cannot refer to.
///
/// A variable and its uses need the same hygiene. The tokens around them may have that of a user's macro.
fn variable(name: &str) -> Ident {
    Ident::new(name, Span::mixed_site())
}

fn call_ident() -> Ident {
    variable("__call")
}

/// Generates code that gets the receiver of a method, which `Toolset::tools` has stored in the tool.
fn receiver(model: &Model<'_>) -> Option<TokenStream> {
    let owner = model.draft.owner?.ty;
    let receiver = model.draft.sig.receiver()?;
    let method = format_ident!("{}", if is_arc(receiver) { "shared_receiver" } else { "receiver" });
    let call = call_ident();
    Some(quote! {
        let __toolkit::Some(__receiver) = #call.#method::<#owner>() else {
            return __toolkit::ToolFuture::incomplete();
        };
    })
}

fn state_ident(index: usize) -> Ident {
    variable(&format!("__state_{index}"))
}

fn state(index: usize, ty: &Type, form: StateForm) -> TokenStream {
    let ident = state_ident(index);
    let method = Ident::new(if form.shared { "shared_state" } else { "state" }, ty.span());
    let call = call_ident();
    let state = quote_spanned!(ty.span()=> __toolkit::Invocation::#method::<#ty>(#call));
    if form.optional {
        return quote!(let #ident = #state;);
    }
    quote! {
        let __toolkit::Some(#ident) = #state else {
            return __toolkit::ToolFuture::stateless(::core::any::type_name::<#ty>());
        };
    }
}

/// Returns a [`variable`] with errors at the parameter's type.
fn hidden(name: &str, param: &ParamModel<'_>) -> Ident {
    Ident::new(name, param.span.resolved_at(Span::mixed_site()))
}

fn value_ident(index: usize, param: &ParamModel<'_>) -> Ident {
    hidden(&format!("__value_{index}"), param)
}

/// Generates code that decodes the arguments into the variables of [`value_ident`].
///
/// All are bound as a single tuple, because the compiler generates drop code for each exit of the
/// function.
fn decode(model: &Model<'_>) -> TokenStream {
    let call = call_ident();
    if let Some(param) = model.struct_args() {
        let value = value_ident(0, param);
        let ty = param.ty;
        let decode = quote_spanned!(param.span=> __toolkit::Invocation::decode_struct::<#ty>(#call));
        return quote! {
            let #value = match #decode {
                __toolkit::Ok(__args) => __args,
                __toolkit::Err(__refused) => return __refused,
            };
        };
    }
    // If the check of one type fails, the compiler forgets all types. Without those of checked and
    // borrowed parameters, it would take a borrowed value for a slice or a `str` without a size.
    let has_check = model.params.iter().any(|param| param.is_checked);
    let mut slots = Vec::new();
    let mut fills = Vec::new();
    let mut values = Vec::new();
    let mut defaults = TokenStream::new();
    let mut types = TokenStream::new();
    for (index, param) in model.params.iter().enumerate() {
        let decoded = param.decoded();
        slots.push(quote_spanned!(param.span=> __toolkit::None::<#decoded>));
        let slots_of_param = hidden("__slots", param);
        let position = Literal::usize_unsuffixed(index);
        // With the parentheses, the span is that of the schema, so the compiler reports one error for
        // both.
        fills.push(quote_spanned!(param.span=> &mut (#slots_of_param.#position)));
        let value = value_ident(index, param);
        if param.attr.default.is_some() {
            values.push(value.to_token_stream());
            let make = default_path(model, index);
            defaults.extend(quote!(let #value = #value.unwrap_or_else(#make);));
        } else {
            values.push(quote!(__toolkit::Some(#value)));
        }
        if param.is_checked || has_check && param.pass != PassMode::Owned {
            let ty = param.ty;
            types.extend(quote!(let #value: #ty = #value;));
        }
    }
    let all = variable("__slots");
    quote! {
        let mut #all = (#(#slots,)*);
        if let __toolkit::Err(__refused) = #call.decode(&mut [#(#fills),*]) {
            return __toolkit::ToolFuture::refused(__refused);
        }
        let (#(#values,)*) = #all else {
            return __toolkit::ToolFuture::incomplete();
        };
        #defaults
        #types
    }
}

fn call(model: &Model<'_>) -> TokenStream {
    let sig = model.draft.sig;
    let invocation = call_ident();
    let mut params = model.params.iter().enumerate();
    let mut states = 0;
    let mut arguments = Vec::new();
    if sig.receiver().is_some() {
        arguments.push(quote!(__receiver));
    }
    for param in &model.draft.params {
        match param.source {
            Source::Context => arguments.push(quote!(#invocation.context())),
            Source::State { .. } => {
                arguments.push(state_ident(states).into_token_stream());
                states += 1;
            }
            Source::Arguments { .. } => {
                let Some((index, param)) = params.next() else { continue };
                arguments.push(param.pass.argument(&value_ident(index, param), param.ident));
            }
        }
    }
    let function = &sig.ident;
    let mut path = TokenStream::new();
    if let Some(owner) = model.draft.owner {
        let ty = owner.path(function.span());
        path = quote_spanned!(function.span()=> #ty::);
    }
    // The compiler reports a future that is not `Send` at the span of the whole call, here the name.
    quote_spanned!(function.span()=> #path #function(#(#arguments),*))
}

fn result(model: &Model<'_>, returned: &TokenStream) -> TokenStream {
    let span = match &model.draft.sig.output {
        ReturnType::Default => model.draft.sig.ident.span(),
        ReturnType::Type(_, ty) => ty.span(),
    };
    // One identifier for the pattern and its use, because the type may come from a macro with other
    // hygiene.
    let value = Ident::new("__value", span);
    let convert = quote_spanned!(span=> #value.toolkit_convert());
    let into_error = quote_spanned!(span=> #value.toolkit_error());
    let output = quote_spanned!(span=> __toolkit::Output(#returned).toolkit_split());
    quote! {
        match #output {
            __toolkit::Ok(#value) => #convert,
            __toolkit::Err(#value) => __toolkit::Err(#into_error),
        }
    }
}
