//! What stands in `#[tool(…)]` and `#[param(…)]`.

mod constraint;
mod param;
mod reader;

pub(crate) use constraint::Constraints;
pub(crate) use param::{DefaultAttr, ParamAttr};

use crate::diag::{Diag, hint};
use proc_macro2::TokenStream;
use quote::{ToTokens, quote};
use reader::{duration, each_argument, flag, list, number, pairs, path, text, texts};
use std::time::Duration;
use syn::parse::ParseStream;
use syn::{Attribute, Ident, LitStr, Path};

/// The arguments of `#[tool(…)]`.
#[derive(Default)]
pub(crate) struct ToolAttr {
    pub(crate) name: Option<LitStr>,
    pub(crate) namespace: Option<LitStr>,
    pub(crate) description: Option<LitStr>,
    pub(crate) krate: Option<Path>,
    pub(crate) timeout: Option<Duration>,
    /// The parameter that orders calls.
    pub(crate) lane: Option<LitStr>,
    /// Whether undocumented parameters are mistakes.
    pub(crate) strict_docs: bool,
    /// Whether the tool is left to those who name it.
    pub(crate) unregistered: bool,
    /// Calls of the methods of `ToolMetadata`, one after another.
    pub(crate) metadata: TokenStream,
    seen: Vec<Ident>,
}

impl ToolAttr {
    const KNOWN: &'static [&'static str] = &[
        "name",
        "namespace",
        "description",
        "title",
        "tags",
        "timeout",
        "retries",
        "max_result_size",
        "blocking",
        "exclusive",
        "max_concurrency",
        "lane",
        "read_only",
        "destructive",
        "idempotent",
        "open_world",
        "defer",
        "search_hint",
        "input_examples",
        "strict",
        "call_reason",
        "unknown",
        "coerce",
        "strict_docs",
        "register",
        "meta",
        "crate",
    ];

    pub(crate) fn read(tokens: TokenStream, diag: &mut Diag) -> Self {
        let mut attr = Self::default();
        each_argument(tokens, diag, |key, input, diag| attr.read_argument(key, input, diag));
        attr
    }

    fn read_argument(&mut self, key: &Ident, input: ParseStream<'_>, diag: &mut Diag) -> syn::Result<()> {
        if self.seen.contains(key) {
            diag.error(key, format!("`{key}` is given twice"));
        }
        self.seen.push(key.clone());
        match key.to_string().as_str() {
            "name" => self.name = Some(text(input)?),
            "namespace" => self.namespace = Some(text(input)?),
            "description" => self.description = Some(text(input)?),
            "timeout" => self.timeout = Some(duration(input)?),
            "crate" => self.krate = Some(path(input)?),
            "strict_docs" => self.strict_docs = flag(input)?,
            "register" => self.unregistered = !flag(input)?,
            "lane" => {
                let lane = text(input)?;
                self.call("with_lane", &lane);
                self.lane = Some(lane);
            }
            "title" | "search_hint" => self.call(&format!("with_{key}"), text(input)?),
            "blocking" | "exclusive" | "read_only" | "destructive" | "idempotent" | "open_world"
            | "defer" | "strict" | "call_reason" | "coerce" => {
                self.call(&format!("with_{key}"), flag(input)?)
            }
            "retries" | "max_result_size" | "max_concurrency" => {
                self.call(&format!("with_{key}"), number(input)?);
            }
            "tags" => {
                let tags = texts(input)?;
                self.call("with_tags", quote!([#(#tags),*]));
            }
            "input_examples" => {
                let examples = list(input)?;
                self.call("with_input_examples", quote!([#(#examples),*]));
            }
            "unknown" => self.read_unknown(&text(input)?, diag),
            "meta" => {
                for (key, value) in pairs(input)? {
                    let key = key.to_string();
                    self.call("with_meta", quote!(#key, #value));
                }
            }
            other => {
                let hint = hint(other, Self::KNOWN);
                return Err(syn::Error::new(
                    key.span(),
                    format!("`#[tool]` has no argument `{other}`{hint}"),
                ));
            }
        }
        Ok(())
    }

    fn read_unknown(&mut self, text: &LitStr, diag: &mut Diag) {
        match text.value().as_str() {
            "refuse" => {}
            "ignore" => self.call("with_unknown", quote!(__toolkit::UnknownArguments::Ignore)),
            _ => diag.error(text, "unknown arguments are \"refuse\"d, which is the default, or \"ignore\"d"),
        }
    }

    fn call(&mut self, method: &str, value: impl ToTokens) {
        let method = quote::format_ident!("{method}");
        self.metadata.extend(quote!(.#method(#value)));
    }
}

/// The arguments of `#[toolset(…)]`.
#[derive(Default)]
pub(crate) struct ToolsetAttr {
    pub(crate) namespace: Option<LitStr>,
    pub(crate) krate: Option<Path>,
}

impl ToolsetAttr {
    pub(crate) fn read(tokens: TokenStream, diag: &mut Diag) -> Self {
        let mut attr = Self::default();
        each_argument(tokens, diag, |key, input, _| {
            match key.to_string().as_str() {
                "namespace" => attr.namespace = Some(text(input)?),
                "crate" => attr.krate = Some(path(input)?),
                other => {
                    let hint = hint(other, &["namespace", "crate"]);
                    return Err(syn::Error::new(
                        key.span(),
                        format!("`#[toolset]` has no argument `{other}`{hint}"),
                    ));
                }
            }
            Ok(())
        });
        attr
    }
}

/// The arguments of `#[tool_params(…)]` beside `#[derive(ToolParams)]`.
#[derive(Default)]
pub(crate) struct ParamsAttr {
    pub(crate) krate: Option<Path>,
}

impl ParamsAttr {
    pub(crate) fn read(attrs: &[Attribute], diag: &mut Diag) -> Self {
        let mut read = Self::default();
        for attr in attrs.iter().filter(|attr| attr.path().is_ident("tool_params")) {
            let Ok(list) = attr.meta.require_list() else {
                diag.error(
                    attr,
                    "write the argument in parentheses, as in `#[tool_params(crate = my::toolkit)]`",
                );
                continue;
            };
            each_argument(list.tokens.clone(), diag, |key, input, _| {
                if key != "crate" {
                    let message = format!("`#[tool_params]` has no argument `{key}`; there is `crate`");
                    return Err(syn::Error::new(key.span(), message));
                }
                read.krate = Some(path(input)?);
                Ok(())
            });
        }
        read
    }
}
