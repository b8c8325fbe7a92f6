//! The code that a tool becomes.

mod call;
mod params;

use crate::draft::{Draft, find};
use crate::model::Model;
use proc_macro2::{TokenStream, TokenTree};
use quote::{ToTokens, quote, quote_spanned};
use syn::spanned::Spanned;
use syn::{FnArg, Ident, ReturnType, Type, Visibility};

/// The hidden struct of the function's name, its `tool()`, and the registration.
///
/// `struct add {}` lives in another namespace than `fn add`, so `use math::add` brings both.
pub(crate) fn tool(model: &Model<'_>) -> TokenStream {
    let Model { krate, cfgs, vis, sig, .. } = model;
    let ident = &sig.ident;
    let marker = marker(vis, ident);
    let items = items(model);
    let register = model
        .registered
        .then(|| quote!(__toolkit::inventory::submit! { __toolkit::Registration(&__TOOLKIT_TOOL) }));
    let lenient = lenient();
    quote! {
        #(#cfgs)*
        #marker

        #(#cfgs)*
        #lenient
        const _: () = {
            use #krate::__private as __toolkit;
            use __toolkit::prelude::*;

            #items

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

/// The parameters, the function that calls, and `__TOOLKIT_TOOL`.
fn items(model: &Model<'_>) -> TokenStream {
    let Model { name, description, .. } = model;
    let (helpers, params) = params::expand(model);
    let call = call::expand(model);
    let namespace = model.namespace.as_ref().map(|namespace| quote!(.with_namespace(#namespace)));
    let is_async = model.sig.asyncness.map(|_| quote!(.with_async()));
    let timeout = model.timeout.map(|limit| {
        let (seconds, nanos) = (limit.as_secs(), limit.subsec_nanos());
        quote!(.with_timeout(::core::time::Duration::new(#seconds, #nanos)))
    });
    let metadata = (!model.metadata.is_empty()).then(|| {
        let calls = model.metadata;
        quote!(.with_metadata(|__metadata| __metadata #calls))
    });
    let needs: Vec<&Type> = model.states().filter(|(_, form)| !form.optional).map(|(ty, _)| ty).collect();
    let needs =
        (!needs.is_empty()).then(|| quote!(.with_state_needs(&[#(__toolkit::StateNeed::of::<#needs>()),*])));
    let whole = model.whole().map(|whole| {
        let ty = whole.owned;
        quote_spanned!(ty.span()=> .with_whole(__toolkit::whole::<#ty>))
    });
    let returned = returned(model).map(|ty| {
        quote_spanned!(ty.span()=> .with_returned(|| __toolkit::Returned::<#ty>::TYPE.of_success().output_schema()))
    });
    quote! {
        #helpers
        #call

        static __TOOLKIT_TOOL: __toolkit::StaticTool =
            __toolkit::StaticTool::new(#name, #description, #params, __toolkit_call)
                #namespace #is_async #timeout #metadata #needs #whole #returned;
    }
}

/// Generated code has one form for every function, which for some is more than they need.
fn lenient() -> TokenStream {
    quote!(#[allow(deprecated, dead_code, unused_imports, unused_mut, unused_qualifications, irrefutable_let_patterns, clippy::all, clippy::pedantic)])
}

/// The type that the function returns, if it returns something and the type can be named.
fn returned(model: &Model<'_>) -> Option<TokenStream> {
    let ReturnType::Type(_, ty) = &model.sig.output else { return None };
    let ty = ty.to_token_stream();
    let is_opaque = find(ty.clone(), &|token| matches!(token, TokenTree::Ident(ident) if ident == "impl"));
    is_opaque.is_none().then_some(ty)
}

/// The implementation of `Toolset` for a type, with the tools of its methods.
pub(crate) fn toolset(
    krate: &TokenStream,
    owner: &Type,
    description: &TokenStream,
    models: &[Model<'_>],
) -> TokenStream {
    let tools = models.iter().map(|model| {
        let (cfgs, items) = (&model.cfgs, items(model));
        let bind = model
            .has_receiver
            .then(|| quote!(.with_receiver(<::std::sync::Arc<Self> as ::core::clone::Clone>::clone(&self))));
        quote! {
            #(#cfgs)*
            {
                #items
                __tools.push(__TOOLKIT_TOOL.tool() #bind);
            }
        }
    });
    let lenient = lenient();
    quote! {
        #lenient
        const _: () = {
            use #krate::__private as __toolkit;
            use __toolkit::prelude::*;

            impl __toolkit::Toolset for #owner {
                fn description(&self) -> &'static str {
                    #description
                }

                fn tools(self: ::std::sync::Arc<Self>) -> ::std::vec::Vec<__toolkit::FunctionTool> {
                    let mut __tools = ::std::vec::Vec::new();
                    #(#tools)*
                    __tools
                }
            }
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
/// `warnings` are not all: a lint that the user denies by name is none.
fn marker(vis: &Visibility, ident: &Ident) -> TokenStream {
    quote_spanned! {ident.span()=>
        #[doc(hidden)]
        #[allow(warnings, unused, nonstandard_style, missing_debug_implementations)]
        #vis struct #ident {}
    }
}
