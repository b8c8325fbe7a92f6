//! The code that a tool becomes.

mod call;
mod params;

use crate::draft::Draft;
use crate::model::Model;
use proc_macro2::TokenStream;
use quote::quote;

/// The hidden struct of the function's name, its `tool()`, and the registration.
///
/// `struct add {}` lives in another namespace than `fn add`, so `use math::add` brings both.
pub(crate) fn tool(model: &Model<'_>) -> TokenStream {
    let Model { krate, cfgs, vis, sig, name, description, .. } = model;
    let ident = &sig.ident;
    let private = quote!(#krate::__private);
    let params = params::expand(model, &private);
    let call = call::expand(model, &private);
    let namespace = option(model.namespace.as_ref().map(|namespace| quote!(#namespace)));
    let timeout = option(model.timeout.map(|limit| {
        let (seconds, nanos) = (limit.as_secs(), limit.subsec_nanos());
        quote!(::core::time::Duration::new(#seconds, #nanos))
    }));
    let is_async = sig.asyncness.is_some();
    quote! {
        #(#cfgs)*
        #[doc(hidden)]
        #[allow(non_camel_case_types, dead_code)]
        #vis struct #ident {}

        #(#cfgs)*
        #[allow(deprecated, dead_code, clippy::all, clippy::pedantic)]
        const _: () = {
            #params
            #call

            static __TOOLKIT_TOOL: #private::StaticTool = #private::StaticTool {
                name: #name,
                namespace: #namespace,
                description: #description,
                params: __TOOLKIT_PARAMS,
                is_async: #is_async,
                timeout: #timeout,
                defined_at: #private::Location { file: ::core::file!(), line: ::core::line!() },
                call: __toolkit_call,
                definition: ::std::sync::OnceLock::new(),
            };

            impl #ident {
                /// The tool that calls the function of this name.
                #[must_use]
                #vis fn tool() -> #private::FunctionTool {
                    __TOOLKIT_TOOL.tool()
                }
            }

            #private::inventory::submit! { #private::Registration(&__TOOLKIT_TOOL) }
        };
    }
}

/// What stands in for a tool that has mistakes, so that its users do not see errors of their own.
pub(crate) fn stub(draft: &Draft<'_>) -> TokenStream {
    let (krate, cfgs, vis, ident) = (draft.krate(), draft.cfgs(), draft.vis, &draft.sig.ident);
    quote! {
        #(#cfgs)*
        #[doc(hidden)]
        #[allow(non_camel_case_types, dead_code)]
        #vis struct #ident {}

        #[allow(dead_code)]
        impl #ident {
            #vis fn tool() -> #krate::__private::FunctionTool {
                loop {}
            }
        }
    }
}

fn option(value: Option<TokenStream>) -> TokenStream {
    match value {
        Some(value) => quote!(::core::option::Option::Some(#value)),
        None => quote!(::core::option::Option::None),
    }
}
