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
    let (items, tool) = (items(model), made(model));
    let register = model
        .registered
        .then(|| quote!(__toolkit::inventory::submit! { __toolkit::Registration(<#ident>::tool) }));
    let lenient = lenient();
    quote! {
        #(#cfgs)*
        #marker

        #(#cfgs)*
        #lenient
        const _: () = {
            use #krate::__private::{self as __toolkit, prelude::*};

            #items

            impl #ident {
                #[doc(hidden)]
                #vis fn tool() -> __toolkit::FunctionTool {
                    #tool
                }
            }

            #register
        };
    }
}

/// The function that calls, and what makes the defaults of parameters.
fn items(model: &Model<'_>) -> TokenStream {
    let (helpers, call) = (params::items(model), call::expand(model));
    quote!(#helpers #call)
}

/// The tool: a static that holds what is made of it, and an expression.
fn made(model: &Model<'_>) -> TokenStream {
    let Model { name, description, .. } = model;
    let params = params::expand(model);
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
    let needs = (!needs.is_empty())
        .then(|| quote!(.with_state_needs(const { &[#(__toolkit::StateNeed::of::<#needs>()),*] })));
    let whole = model.whole().map(|whole| {
        let ty = whole.owned;
        quote_spanned!(ty.span()=> .with_whole(__toolkit::whole::<#ty>))
    });
    let returned = returned(model);
    quote! {
        static __CELL: __toolkit::ToolCell = __toolkit::ToolCell::new();
        __toolkit::Function::new(#name, #description, #params, __toolkit_call, #returned)
            #namespace #is_async #timeout #metadata #needs #whole
            .tool(&__CELL)
    }
}

/// Generated code has one form for every function, which for some is more than they need.
fn lenient() -> TokenStream {
    quote!(#[allow(deprecated, dead_code, unused_imports, unused_mut, unused_qualifications, irrefutable_let_patterns, clippy::all, clippy::pedantic)])
}

/// The schema of what the function returns, if it returns something and the type can be named.
fn returned(model: &Model<'_>) -> TokenStream {
    let is_opaque = |token: &TokenTree| matches!(token, TokenTree::Ident(ident) if ident == "impl");
    match &model.sig.output {
        ReturnType::Type(_, ty) if find(ty.to_token_stream(), &is_opaque).is_none() => {
            quote_spanned!(ty.span()=> __toolkit::Returned::<#ty>::TYPE.of_success().output_schema())
        }
        _ => quote!(__toolkit::None),
    }
}

/// The implementation of `Toolset` for a type, with the tools of its methods.
pub(crate) fn toolset(
    krate: &TokenStream,
    owner: &Type,
    description: &TokenStream,
    models: &[Model<'_>],
) -> TokenStream {
    let tools = models.iter().map(|model| {
        let (cfgs, items, tool) = (&model.cfgs, items(model), made(model));
        let bind = model
            .has_receiver
            .then(|| quote!(.with_receiver(<::std::sync::Arc<Self> as ::core::clone::Clone>::clone(&self))));
        quote! {
            #(#cfgs)*
            {
                #items
                __tools.push({ #tool } #bind);
            }
        }
    });
    let lenient = lenient();
    quote! {
        #lenient
        const _: () = {
            use #krate::__private::{self as __toolkit, prelude::*};

            impl __toolkit::Toolset for #owner {
                fn description(&self) -> &'static str {
                    #description
                }

                fn tools(self: ::std::sync::Arc<Self>) -> ::std::vec::Vec<::std::sync::Arc<dyn __toolkit::Tool>> {
                    let mut __tools = ::std::vec::Vec::new();
                    #(#tools)*
                    __toolkit::shared(__tools)
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
