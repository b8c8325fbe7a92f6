//! The `#[tool]` attribute macro of `toolkit-ai`.
//!
//! Reading order: an annotated function is parsed (`item`, `attr`, `docs`) into a `draft`,
//! checked into a `model`, and expanded. A draft and a model are different types, so nothing
//! unchecked can be expanded. Every mistake of a function is collected and reported at once.
//!
//! The documentation of the macro itself stands where users meet it: on its re-export in the facade.

#![allow(missing_docs)]

mod attr;
mod check;
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

fn expand_tool(attr: TokenStream, item: TokenStream) -> TokenStream {
    let mut diag = diag::Diag::default();
    let attr = attr::ToolAttr::read(attr, &mut diag);
    let function = match item::FunctionItem::read(item.clone()) {
        Ok(function) => function.with_body(&mut diag),
        Err(error) => {
            diag.push(error);
            return diag.into_tokens(item);
        }
    };
    let draft = draft::Draft::read(attr, &function, draft::Place::Free, &mut diag);
    let generated = match check::check(&draft, None, &mut diag) {
        Some(model) if diag.is_empty() => expand::tool(&model),
        _ => expand::stub(&draft),
    };
    // Nearly always the function is given back as it came. A mistake may have added a body.
    let mut output = match diag.is_empty() && !function.has_our_attributes() {
        true => item,
        false => function.without_our_attributes().into_token_stream(),
    };
    output.extend(generated);
    diag.into_tokens(output)
}

#[cfg(test)]
mod tests;
