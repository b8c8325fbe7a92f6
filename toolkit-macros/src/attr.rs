//! The attributes `#[tool(…)]`, `#[toolset(…)]`, `#[tool_params(…)]` and `#[param(…)]`.

mod constraint;
mod neighbours;
mod param;
mod reader;

pub(crate) use param::{DefaultAttr, ParamAttr, default_of_type};
pub(crate) use reader::{only_string, ungrouped};

use crate::diag::{Diag, hint};
use proc_macro2::TokenStream;
use quote::{ToTokens, quote};
use reader::{
    duration, each_argument, flag, list, pairs, path, string, text, texts, unknown_argument, value,
};
use std::time::Duration;
use syn::parse::ParseStream;
use syn::{Attribute, Expr, Ident, LitStr, Token};

/// The path of the facade in generated code: the argument `crate = path`, or `::toolkit_ai`.
pub(crate) struct CratePath(TokenStream);

impl Default for CratePath {
    fn default() -> Self {
        Self(quote!(::toolkit_ai))
    }
}

impl ToTokens for CratePath {
    fn to_tokens(&self, tokens: &mut TokenStream) {
        tokens.extend(self.0.clone());
    }
}

#[derive(Default, Clone)]
pub(crate) enum NamespaceAttr {
    #[default]
    Absent,
    /// `namespace = none`: the names have no namespace.
    None(Ident),
    Name(LitStr),
}

impl NamespaceAttr {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        let ahead = input.fork();
        let is_none =
            ahead.parse::<Token![=]>().is_ok() && ahead.parse::<Ident>().is_ok_and(|word| word == "none");
        if is_none { value(input).map(Self::None) } else { string(input).map(Self::Name) }
    }

    pub(crate) fn name(&self) -> Option<&LitStr> {
        match self {
            Self::Name(name) => Some(name),
            Self::Absent | Self::None(_) => None,
        }
    }

    pub(crate) fn is_absent(&self) -> bool {
        matches!(self, Self::Absent)
    }
}

impl ToTokens for NamespaceAttr {
    fn to_tokens(&self, tokens: &mut TokenStream) {
        match self {
            Self::Absent => {}
            Self::None(word) => word.to_tokens(tokens),
            Self::Name(name) => name.to_tokens(tokens),
        }
    }
}

#[derive(Default)]
pub(crate) struct ToolAttr {
    pub(crate) name: Option<LitStr>,
    pub(crate) namespace: NamespaceAttr,
    pub(crate) description: Option<Expr>,
    pub(crate) krate: CratePath,
    pub(crate) timeout: Option<Duration>,
    /// The lane parameter: calls with equal values of it run in order.
    pub(crate) lane: Option<LitStr>,
    pub(crate) strict_docs: bool,
    /// Whether `register = false` excludes the tool from discovery.
    pub(crate) unregistered: bool,
    /// Generated calls of builder methods that set the tool's `ToolMetadata`.
    pub(crate) metadata: TokenStream,
    /// The keys of all given arguments, with an empty text.
    ///
    /// Arguments that set `ToolMetadata` have a second entry with their value as text.
    seen: Vec<(Ident, String)>,
}

pub(crate) type ValueParser = fn(ParseStream<'_>) -> syn::Result<TokenStream>;

/// The arguments of `#[tool(…)]` that set `ToolMetadata`, each by the method `with_<argument>`.
pub(crate) const METADATA: &[(&[&str], ValueParser)] = &[
    (&["title", "search_hint"], |input| text(input).map(ToTokens::into_token_stream)),
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
    (&["retries", "max_result_size", "max_concurrency"], expression),
    (&["tags"], tags),
    (&["icons", "allowed_callers"], |input| texts(input).map(array)),
    (&["input_examples"], |input| list(input).map(array)),
];

fn expression(input: ParseStream<'_>) -> syn::Result<TokenStream> {
    value::<Expr>(input).map(ToTokens::into_token_stream)
}

fn tags(input: ParseStream<'_>) -> syn::Result<TokenStream> {
    let tags = texts(input)?;
    if tags.len() == 1 || tags.iter().all(|tag| only_string(tag).is_some()) {
        return Ok(array(tags));
    }
    // Constants of different types have a common type only after conversion to `ToolTag`.
    Ok(quote!([#(::core::convert::Into::<__toolkit::ToolTag>::into(#tags)),*]))
}

fn array(items: Vec<Expr>) -> TokenStream {
    quote!([#(#items),*])
}

impl ToolAttr {
    pub(crate) const KNOWN: &'static [&'static str] = &[
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

    pub(crate) fn known() -> Vec<&'static str> {
        let metadata = METADATA.iter().flat_map(|(names, _)| *names);
        Self::KNOWN.iter().chain(metadata).copied().collect()
    }

    pub(crate) fn parse(tokens: TokenStream, diag: &mut Diag) -> Self {
        let mut attr = Self::default();
        let mut seen = Vec::new();
        each_argument(tokens, &mut seen, diag, |key, input, diag| attr.parse_argument(key, input, diag));
        attr
    }

    fn parse_argument(&mut self, key: &Ident, input: ParseStream<'_>, diag: &mut Diag) -> syn::Result<()> {
        self.seen.push((key.clone(), String::new()));
        match key.to_string().as_str() {
            "name" => self.name = Some(string(input)?),
            "namespace" => self.namespace = NamespaceAttr::parse(input)?,
            "description" => self.description = Some(text(input)?),
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
                let pairs = pairs(input, diag)?;
                if pairs.is_empty() {
                    diag.error(key, "`meta` is empty; remove it");
                }
                for (key, value) in pairs {
                    let key = key.to_string();
                    self.call("meta", quote!(#key, #value));
                }
            }
            other => {
                let Some((_, parse)) = METADATA.iter().find(|(names, _)| names.contains(&other)) else {
                    return Err(unknown_argument("#[tool]", key, &Self::known()));
                };
                let value = parse(input)?;
                match value.to_string().as_str() {
                    "[]" => diag.error(key, format!("`{key}` is empty; remove it")),
                    text => self.seen.push((key.clone(), text.to_owned())),
                }
                self.call(other, value);
            }
        }
        Ok(())
    }

    /// Returns the key of `argument` if it is given, so an error can point at it.
    pub(crate) fn given(&self, argument: &str) -> Option<&Ident> {
        self.seen.iter().find(|(key, _)| key == argument).map(|(key, _)| key)
    }

    /// Returns the key of an argument in [`METADATA`] if it is given with this value.
    pub(crate) fn given_as(&self, argument: &str, value: &str) -> Option<&Ident> {
        self.seen.iter().find(|(key, given)| key == argument && given == value).map(|(key, _)| key)
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

#[derive(Default)]
pub(crate) struct ToolsetAttr {
    pub(crate) namespace: NamespaceAttr,
    pub(crate) krate: CratePath,
    /// The key `extends`, if this block adds tools to another `#[toolset]` block of the same type.
    pub(crate) extends: Option<Ident>,
}

impl ToolsetAttr {
    pub(crate) fn parse(tokens: TokenStream, diag: &mut Diag) -> Self {
        let mut attr = Self::default();
        each_argument(tokens, &mut Vec::new(), diag, |key, input, _| attr.parse_argument(key, input));
        attr
    }

    fn parse_argument(&mut self, key: &Ident, input: ParseStream<'_>) -> syn::Result<()> {
        match key.to_string().as_str() {
            "namespace" => self.namespace = NamespaceAttr::parse(input)?,
            "crate" => self.krate = path(input)?,
            "extends" => self.extends = if flag(input)? { Some(key.clone()) } else { None },
            _ => return Err(unknown_argument("#[toolset]", key, &["namespace", "crate", "extends"])),
        }
        Ok(())
    }
}

#[derive(Default)]
pub(crate) struct ToolParamsAttr {
    pub(crate) krate: CratePath,
    pub(crate) strict_docs: bool,
}

impl ToolParamsAttr {
    fn parse_argument(&mut self, key: &Ident, input: ParseStream<'_>) -> syn::Result<()> {
        match key.to_string().as_str() {
            "crate" => self.krate = path(input)?,
            "strict_docs" => self.strict_docs = flag(input)?,
            _ => return Err(unknown_argument("#[tool_params]", key, &["crate", "strict_docs"])),
        }
        Ok(())
    }
}

pub(crate) fn tool_params(attrs: &[Attribute], diag: &mut Diag) -> ToolParamsAttr {
    let mut parsed = ToolParamsAttr::default();
    let mut seen = Vec::new();
    for attr in attrs.iter().filter(|attr| attr.path().is_ident("tool_params")) {
        match attr.meta.require_list() {
            Ok(list) if !list.tokens.is_empty() => {
                let tokens = list.tokens.clone();
                each_argument(tokens, &mut seen, diag, |key, input, _| parsed.parse_argument(key, input));
            }
            _ => diag
                .error(attr, "`#[tool_params]` needs arguments, as in `#[tool_params(crate = my::toolkit)]`"),
        }
    }
    parsed
}
