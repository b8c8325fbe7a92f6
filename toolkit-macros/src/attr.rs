//! The attributes `#[tool(…)]`, `#[toolset(…)]`, `#[tool_params(…)]` and `#[param(…)]`.

mod constraint;
mod param;
mod reader;

pub(crate) use param::{DefaultAttr, ParamAttr};

use crate::diag::{Diag, hint};
use proc_macro2::TokenStream;
use quote::{ToTokens, quote};
use reader::{duration, each_argument, flag, list, number, pairs, path, string, strings, unknown_argument};
use std::time::Duration;
use syn::parse::ParseStream;
use syn::{Attribute, Ident, LitStr, Path};

/// The path of the facade in generated code: `::toolkit`, unless set with `crate = path`.
#[derive(Default)]
pub(crate) struct CratePath(Option<Path>);

impl ToTokens for CratePath {
    fn to_tokens(&self, tokens: &mut TokenStream) {
        match &self.0 {
            Some(path) => path.to_tokens(tokens),
            None => tokens.extend(quote!(::toolkit)),
        }
    }
}

/// The arguments of `#[tool(…)]`.
#[derive(Default)]
pub(crate) struct ToolAttr {
    pub(crate) name: Option<LitStr>,
    pub(crate) namespace: Option<LitStr>,
    pub(crate) description: Option<LitStr>,
    pub(crate) krate: CratePath,
    pub(crate) timeout: Option<Duration>,
    /// The parameter ordering calls by its value.
    pub(crate) lane: Option<LitStr>,
    /// `true` if undocumented parameters are errors.
    pub(crate) strict_docs: bool,
    /// `true` to exclude the tool from discovery.
    pub(crate) unregistered: bool,
    /// Builder calls on `ToolMetadata`.
    pub(crate) metadata: TokenStream,
    seen: Vec<Ident>,
}

/// A parser for the value of an argument.
type ValueParser = fn(ParseStream<'_>) -> syn::Result<TokenStream>;

/// The arguments forwarded to `ToolMetadata`, each to its method `with_<argument>`.
const METADATA: &[(&[&str], ValueParser)] = &[
    (&["title", "search_hint"], |input| string(input).map(ToTokens::into_token_stream)),
    (
        &[
            "blocking",
            "exclusive",
            "read_only",
            "destructive",
            "idempotent",
            "open_world",
            "defer",
            "strict",
            "call_reason",
            "coerce",
        ],
        |input| flag(input).map(ToTokens::into_token_stream),
    ),
    (&["retries", "max_result_size", "max_concurrency"], |input| {
        number(input).map(ToTokens::into_token_stream)
    }),
    (&["tags"], |input| strings(input).map(|tags| quote!([#(#tags),*]))),
    (&["input_examples"], |input| list(input).map(|examples| quote!([#(#examples),*]))),
];

impl ToolAttr {
    const KNOWN: &'static [&'static str] = &[
        "name",
        "namespace",
        "description",
        "timeout",
        "crate",
        "lane",
        "strict_docs",
        "register",
        "unknown",
        "meta",
    ];

    pub(crate) fn parse(tokens: TokenStream, diag: &mut Diag) -> Self {
        let mut attr = Self::default();
        each_argument(tokens, diag, |key, input, diag| attr.parse_argument(key, input, diag));
        attr
    }

    fn parse_argument(&mut self, key: &Ident, input: ParseStream<'_>, diag: &mut Diag) -> syn::Result<()> {
        if self.seen.contains(key) {
            diag.error(key, format!("`{key}` is given twice; keep one"));
        }
        self.seen.push(key.clone());
        match key.to_string().as_str() {
            "name" => self.name = Some(string(input)?),
            "namespace" => self.namespace = Some(string(input)?),
            "description" => self.description = Some(string(input)?),
            "timeout" => self.timeout = Some(duration(input)?),
            "crate" => self.krate = path(input)?,
            "strict_docs" => self.strict_docs = flag(input)?,
            "register" => self.unregistered = !flag(input)?,
            "lane" => {
                let lane = string(input)?;
                self.call("lane", quote!(#lane));
                self.lane = Some(lane);
            }
            "unknown" => self.parse_unknown(&string(input)?, diag),
            "meta" => {
                for (key, value) in pairs(input)? {
                    let key = key.to_string();
                    self.call("meta", quote!(#key, #value));
                }
            }
            other => {
                let Some((_, parse)) = METADATA.iter().find(|(names, _)| names.contains(&other)) else {
                    let known: Vec<&str> = METADATA.iter().flat_map(|(names, _)| *names).copied().collect();
                    return Err(unknown_argument("#[tool]", key, &[Self::KNOWN, &known].concat()));
                };
                self.call(other, parse(input)?);
            }
        }
        Ok(())
    }

    fn parse_unknown(&mut self, policy: &LitStr, diag: &mut Diag) {
        match policy.value().as_str() {
            "refuse" => {}
            "ignore" => self.call("unknown", quote!(__toolkit::UnknownArguments::Ignore)),
            other => {
                let hint = hint(other, &["refuse", "ignore"]);
                diag.error(policy, format!("`{other}` is not a policy for unknown arguments{hint}"));
            }
        }
    }

    fn call(&mut self, argument: &str, value: TokenStream) {
        let method = quote::format_ident!("with_{argument}");
        self.metadata.extend(quote!(.#method(#value)));
    }
}

/// The arguments of `#[toolset(…)]`.
#[derive(Default)]
pub(crate) struct ToolsetAttr {
    pub(crate) namespace: Option<LitStr>,
    pub(crate) krate: CratePath,
}

impl ToolsetAttr {
    pub(crate) fn parse(tokens: TokenStream, diag: &mut Diag) -> Self {
        let mut attr = Self::default();
        each_argument(tokens, diag, |key, input, _| {
            match key.to_string().as_str() {
                "namespace" => attr.namespace = Some(string(input)?),
                "crate" => attr.krate = path(input)?,
                _ => return Err(unknown_argument("#[toolset]", key, &["namespace", "crate"])),
            }
            Ok(())
        });
        attr
    }
}

/// Parses the argument of `#[tool_params(crate = path)]`.
pub(crate) fn tool_params_crate(attrs: &[Attribute], diag: &mut Diag) -> CratePath {
    let mut krate = CratePath::default();
    for attr in attrs.iter().filter(|attr| attr.path().is_ident("tool_params")) {
        let Ok(list) = attr.meta.require_list() else {
            diag.error(
                attr,
                "`#[tool_params]` needs parentheses, as in `#[tool_params(crate = my::toolkit)]`",
            );
            continue;
        };
        each_argument(list.tokens.clone(), diag, |key, input, _| {
            if key != "crate" {
                return Err(unknown_argument("#[tool_params]", key, &["crate"]));
            }
            krate = path(input)?;
            Ok(())
        });
    }
    krate
}
