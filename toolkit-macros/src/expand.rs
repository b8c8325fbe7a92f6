//! Generation of the code of a tool or toolset.

mod call;
mod params;

use crate::attr::ToolsetAttr;
use crate::docs::is_described;
use crate::draft::{Draft, find_ident};
use crate::item::ImplBlock;
use crate::model::Model;
use proc_macro2::{Ident, Span, TokenStream};
use quote::{ToTokens, quote, quote_spanned};
use syn::spanned::Spanned;
use syn::{Generics, ReturnType, Token, VisRestricted, Visibility, parse_quote_spanned};

/// Generates a marker struct with the name of the function, its function `tool()`, and the registration of
/// the tool.
///
/// Types and functions have separate namespaces, so `use math::add` imports both.
pub(crate) fn tool(model: &Model<'_>) -> TokenStream {
    let Draft { attr, sig, .. } = model.draft;
    let ident = &sig.ident;
    let krate = &attr.krate;
    let helpers = params::helper_items(model);
    let tool = tool_expr(model);
    let mut register = TokenStream::new();
    if !attr.unregistered {
        register = quote!(#krate::__private::inventory::submit! { __toolkit::Registration::new(<#ident>::tool, ::core::module_path!()) });
    }
    let lints = allowed_lints();
    let warnings = warnings(model);
    let items = quote! {
        #warnings

        #lints
        const _: () = {
            use #krate::__private::{self as __toolkit, prelude::*};

            #helpers

            impl #ident {
                #[doc(hidden)]
                pub fn tool() -> __toolkit::FunctionTool {
                    #tool
                }
            }

            #register
        };
    };
    marker(model.draft, &items)
}

/// Generates an expression that creates a tool, with a static cell for the data that all tools of one
/// function share.
fn tool_expr(model: &Model<'_>) -> TokenStream {
    let Model { draft, name, description, .. } = model;
    let params = params::specs(model);
    let mut options = TokenStream::new();
    if let Some(namespace) = &model.namespace {
        options.extend(quote!(.with_namespace(#namespace)));
    }
    if draft.sig.asyncness.is_some() {
        options.extend(quote!(.with_async()));
    }
    if let Some(limit) = draft.attr.timeout {
        let seconds = limit.as_secs();
        let nanos = limit.subsec_nanos();
        options.extend(quote!(.with_timeout(::core::time::Duration::new(#seconds, #nanos))));
    }
    let builder_calls = &draft.attr.metadata;
    if !builder_calls.is_empty() {
        options.extend(quote!(.map_metadata(|__metadata| __metadata #builder_calls)));
    }
    let needs = state_needs(draft);
    if !needs.is_empty() {
        options.extend(quote!(.with_state_needs(const { &[#(#needs),*] })));
    }
    if let Some(param) = model.struct_args() {
        let ty = param.ty;
        options.extend(quote_spanned!(ty.span()=> .with_struct_args(__toolkit::struct_args::<#ty>)));
    }
    let call = call::closure(model);
    let output_schema = output_schema(model);
    // A static cell in a generic block would be shared by instances with different types.
    let kind = if draft.generics().is_some() { quote!(let) } else { quote!(static) };
    quote! {
        #kind __CELL: __toolkit::ToolCell = __toolkit::ToolCell::new();
        __toolkit::Function::new(#name, #description, #params, #call, #output_schema)
            #options
            .tool(&__CELL)
    }
}

fn state_needs(draft: &Draft<'_>) -> Vec<TokenStream> {
    let mut needs = Vec::new();
    for (ty, form) in draft.states() {
        needs.push(if form.optional {
            quote!(__toolkit::StateNeed::optional::<#ty>())
        } else {
            quote!(__toolkit::StateNeed::of::<#ty>())
        });
    }
    needs
}

/// Generates attributes that allow lints about the user's tokens in generated code.
///
/// The compiler reports no lint about tokens of a macro from another crate, except `deprecated`. The list
/// is short, because code that forbids one of its lints does not compile.
fn allowed_lints() -> TokenStream {
    quote!(#[allow(deprecated, unused_qualifications, clippy::all, clippy::nursery, clippy::pedantic)])
}

/// Generates warnings about unread documentation that may describe a parameter without a description.
///
/// They are outside of the code with [`allowed_lints`].
fn warnings(model: &Model<'_>) -> TokenStream {
    let lacks_description = model.struct_args().is_none()
        && model.params.iter().any(|param| !is_described(Some(&param.description)));
    if !lacks_description {
        return TokenStream::new();
    }
    let warnings = model.draft.docs.warnings();
    if warnings.is_empty() {
        return TokenStream::new();
    }
    let cfgs = model.draft.cfgs();
    quote! {
        #(#cfgs)*
        const _: () = { #warnings };
    }
}

/// Generates an expression for the form and the schema of the output.
///
/// A type with `impl Trait` has no name and thus no schema.
fn output_schema(model: &Model<'_>) -> TokenStream {
    match &model.draft.sig.output {
        ReturnType::Default => {
            quote!(__toolkit::Returned::<()>::TYPE.toolkit_success().toolkit_output_schema())
        }
        ReturnType::Type(_, ty) if find_ident(ty.to_token_stream(), "impl").is_none() => {
            quote_spanned!(ty.span()=> __toolkit::Returned::<#ty>::TYPE.toolkit_success().toolkit_output_schema())
        }
        ReturnType::Type(..) => quote!(__toolkit::None),
    }
}

/// Generates an implementation of `ToolsetWithoutExtends`, or for a block with `extends` the registration
/// of its tools.
pub(crate) fn toolset(
    ToolsetAttr { krate, extends, .. }: &ToolsetAttr,
    owner: &ImplBlock<'_>,
    description: &TokenStream,
    models: &[Model<'_>],
) -> TokenStream {
    let pushes = models.iter().map(push_of_tool);
    let tools = quote! {
        |__receiver| {
            let mut __tools = ::std::vec::Vec::new();
            #(#pushes)*
            __tools
        }
    };
    let ty = owner.ty;
    let generics = lasting(owner.generics);
    let (impl_generics, _, where_clause) = generics.split_for_impl();
    let item = match extends {
        Some(_) => quote! {
            #krate::__private::inventory::submit! {
                __toolkit::MoreTools { owner: ::core::any::TypeId::of::<#ty>, tools: #tools }
            }
        },
        None => quote! {
            impl #impl_generics __toolkit::ToolsetWithoutExtends for #ty #where_clause {
                const DESCRIPTION: &'static str = #description;
                const TOOLS: __toolkit::BlockTools = #tools;
            }
        },
    };
    let lints = allowed_lints();
    let warnings = models.iter().map(warnings);
    quote! {
        #(#warnings)*
        #lints
        const _: () = {
            use #krate::__private::{self as __toolkit, prelude::*};

            #item
        };
    }
}

/// Generates a block that pushes the tool of a method to `__tools`.
fn push_of_tool(model: &Model<'_>) -> TokenStream {
    let cfgs = model.draft.cfgs();
    let helpers = params::helper_items(model);
    let tool = tool_expr(model);
    let mut bind = TokenStream::new();
    if model.draft.sig.receiver().is_some() {
        bind = quote!(.with_receiver(::core::clone::Clone::clone(__receiver)));
    }
    quote! {
        #(#cfgs)*
        {
            #helpers
            ::std::vec::Vec::push(&mut __tools, { #tool } #bind);
        }
    }
}

/// Adds the bound `'static` to all type parameters, because a toolset lives as long as the program.
fn lasting(generics: &Generics) -> Generics {
    let mut generics = generics.clone();
    for param in generics.type_params_mut() {
        // The compiler suggests further bounds after the last bound that has a span in the source.
        let span = if param.bounds.is_empty() { param.ident.span() } else { Span::call_site() };
        param.colon_token = Some(Token![:](span));
        param.bounds.push(parse_quote_spanned!(span=> 'static));
    }
    generics
}

/// Generates a placeholder for a function with errors, to prevent further errors.
pub(crate) fn placeholder(draft: &Draft<'_>) -> TokenStream {
    let krate = &draft.attr.krate;
    let ident = &draft.sig.ident;
    let items = quote! {
        impl #ident {
            pub fn tool() -> #krate::__private::FunctionTool {
                loop {}
            }
        }
    };
    marker(draft, &items)
}

/// Generates a struct with the name of the function, and `items` in an attribute of it.
///
/// If another item has the same name, the compiler's error points at the function's name. In an `impl`
/// block without `#[toolset]`, the compiler reports the struct and drops it with its attributes, so there
/// is one error.
fn marker(draft: &Draft<'_>, items: &TokenStream) -> TokenStream {
    let cfgs = draft.cfgs();
    let krate = &draft.attr.krate;
    let mut vis = draft.vis.clone();
    let ident = without_lints(&draft.sig.ident);
    if let Visibility::Public(token) | Visibility::Restricted(VisRestricted { pub_token: token, .. }) =
        &mut vis
    {
        token.span = Span::call_site().located_at(token.span);
    }
    let marker = quote_spanned!(ident.span()=> #[doc(hidden)] #vis struct #ident {});
    quote!(#(#cfgs)* #[#krate::__tool_items { #items }] #marker)
}

/// Marks a name of the user as written by the macro, against lints; errors still point at the name.
///
/// The compiler reads such a name by the edition of this crate, in which `gen` is a keyword unless it is
/// raw.
pub(crate) fn without_lints(ident: &Ident) -> Ident {
    let span = Span::call_site().located_at(ident.span());
    if ident == "gen" {
        return Ident::new_raw("gen", span);
    }
    let mut ident = ident.clone();
    ident.set_span(span);
    ident
}
