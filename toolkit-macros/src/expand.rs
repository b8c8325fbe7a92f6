//! The code that a tool becomes.

mod call;
mod params;

use crate::draft::Draft;
use crate::model::Model;
use proc_macro2::TokenStream;
use quote::{quote, quote_spanned};
use syn::{FnArg, Ident, Visibility};

/// The hidden struct of the function's name, its `tool()`, and the registration.
///
/// `struct add {}` lives in another namespace than `fn add`, so `use math::add` brings both.
pub(crate) fn tool(model: &Model<'_>) -> TokenStream {
    let Model { krate, cfgs, vis, sig, name, description, .. } = model;
    let ident = &sig.ident;
    let marker = marker(vis, ident);
    let params = params::expand(model);
    let call = call::expand(model);
    let namespace = model.namespace.as_ref().map(|namespace| quote!(.with_namespace(#namespace)));
    let is_async = sig.asyncness.map(|_| quote!(.with_async()));
    let timeout = model.timeout.map(|limit| {
        let (seconds, nanos) = (limit.as_secs(), limit.subsec_nanos());
        quote!(.with_timeout(::core::time::Duration::new(#seconds, #nanos)))
    });
    let metadata = (!model.metadata.is_empty()).then(|| {
        let calls = model.metadata;
        quote!(.with_metadata(|__metadata| __metadata #calls))
    });
    let register = model
        .registered
        .then(|| quote!(__toolkit::inventory::submit! { __toolkit::Registration(&__TOOLKIT_TOOL) }));
    quote! {
        #(#cfgs)*
        #marker

        #(#cfgs)*
        #[allow(deprecated, dead_code, unused_imports, clippy::all, clippy::pedantic)]
        const _: () = {
            use #krate::__private as __toolkit;
            use __toolkit::prelude::*;

            #params
            #call

            static __TOOLKIT_TOOL: __toolkit::StaticTool =
                __toolkit::StaticTool::new(#name, #description, __TOOLKIT_PARAMS, __toolkit_call)
                    #namespace #is_async #timeout #metadata
                    .with_location(::core::file!(), ::core::line!());

            impl #ident {
                #[doc(hidden)]
                #vis fn tool() -> __toolkit::FunctionTool {
                    __TOOLKIT_TOOL.tool()
                }
            }

            #register
        };
    }
}

/// What stands in for a tool that has mistakes, so that its users do not see errors of their own.
/// Inside an `impl` block nothing can stand in.
pub(crate) fn stub(draft: &Draft<'_>) -> TokenStream {
    if draft.sig.inputs.iter().any(|input| matches!(input, FnArg::Receiver(_))) {
        return TokenStream::new();
    }
    let (krate, cfgs, vis, ident) = (draft.krate(), draft.cfgs(), draft.vis, &draft.sig.ident);
    let marker = marker(vis, ident);
    quote! {
        #(#cfgs)*
        #marker

        #[allow(dead_code)]
        impl #ident {
            #vis fn tool() -> #krate::__private::FunctionTool {
                loop {}
            }
        }
    }
}

/// A struct of the function's name. If the name is taken, that is reported under the name.
fn marker(vis: &Visibility, ident: &Ident) -> TokenStream {
    quote_spanned! {ident.span()=>
        #[doc(hidden)]
        #[allow(non_camel_case_types, dead_code)]
        #vis struct #ident {}
    }
}
