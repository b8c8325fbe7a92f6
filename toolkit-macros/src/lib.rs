//! The procedural macros of `toolkit-ai`.
//!
//! `item`, `attr` and `docs` parse an annotated function into a `draft`. `check` turns the draft into a
//! `model`, and `expand` generates code from the model. Drafts and models are separate types, so only a
//! checked function can be expanded. One build reports all errors of a function.
//!
//! The macros are documented at their re-exports in the facade.

#![cfg_attr(docsrs, feature(doc_cfg))]
#![allow(missing_docs)]

mod attr;
mod check;
mod checked;
mod derive;
mod diag;
mod docs;
mod draft;
mod expand;
mod item;
mod model;
mod toolset;

use proc_macro2::TokenStream;
use quote::ToTokens;

#[proc_macro_attribute]
pub fn tool(attr: proc_macro::TokenStream, item: proc_macro::TokenStream) -> proc_macro::TokenStream {
    expand_tool(attr.into(), item.into()).into()
}

#[proc_macro_attribute]
pub fn toolset(attr: proc_macro::TokenStream, item: proc_macro::TokenStream) -> proc_macro::TokenStream {
    toolset::expand_toolset(attr.into(), item.into()).into()
}

#[proc_macro_derive(ToolParams, attributes(param, tool_params, serde, schemars))]
pub fn tool_params(item: proc_macro::TokenStream) -> proc_macro::TokenStream {
    derive::expand_params(item.into()).into()
}

/// The error message for `#[tool]` on a method in an `impl` block without `#[toolset]`.
const NEEDS_TOOLSET: &str = "a method is a tool of its type; write `#[toolset]` above the `impl` block";

fn expand_tool(attr: TokenStream, item: TokenStream) -> TokenStream {
    let mut diag = diag::Diag::default();
    let attr = attr::ToolAttr::parse(attr, &mut diag);
    let mut function = match item::FunctionItem::from_tokens(item.clone()) {
        Ok(function) => function,
        Err(error) => {
            diag.push(error);
            return diag.into_tokens(item);
        }
    };
    if function.sig.receiver().is_some() {
        // An `impl` block cannot contain the marker struct, so only the function is generated.
        diag.error(&function.sig.ident, NEEDS_TOOLSET);
        item::strip_helper_attrs(&mut function.sig);
        return diag.into_tokens(function.into_token_stream());
    }
    item::refuse_attrs(&mut function.attrs, &mut diag);
    let mut function = function.with_body(&mut diag);
    let draft = draft::Draft::new(attr, &function, None, &mut diag);
    let generated = match check::check(&draft, &mut diag) {
        Some(model) if diag.is_empty() => expand::tool(&model),
        _ => expand::placeholder(&draft),
    };
    // Most functions are emitted unchanged. After an error, the function may have a new body.
    let is_changed = item::strip_helper_attrs(&mut function.sig) || !diag.is_empty();
    draft::give_sizes(&mut function.sig);
    let mut output = if is_changed { function.into_token_stream() } else { item };
    output.extend(generated);
    diag.into_tokens(output)
}

#[cfg(test)]
mod tests;
