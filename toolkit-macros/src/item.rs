//! Tool functions with an unparsed body, so the macro works while the programmer is still writing it.

use crate::diag::Diag;
use proc_macro2::{Delimiter, Group, Span, TokenStream, TokenTree};
use quote::{ToTokens, quote, quote_spanned};
use syn::parse::{Parse, ParseStream};
use syn::{
    Attribute, FnArg, GenericArgument, GenericParam, Generics, Ident, Meta, Path, PathArguments, ReturnType,
    Signature, Type, TypePath, Visibility,
};

pub(crate) struct FunctionItem {
    pub(crate) attrs: Vec<Attribute>,
    pub(crate) vis: Visibility,
    pub(crate) sig: Signature,
    pub(crate) body: TokenStream,
}

impl FunctionItem {
    /// Parses a function except for its body.
    pub(crate) fn from_tokens(item: TokenStream) -> syn::Result<Self> {
        let mut head: Vec<TokenTree> = item.into_iter().collect();
        let body = head.pop_if(|last| is_block(last));
        let mut function: Self = syn::parse2(head.into_iter().collect())?;
        function.body.extend(body);
        Ok(function)
    }

    /// Reports a missing body, and adds one against further errors.
    pub(crate) fn with_body(mut self, diag: &mut Diag) -> Self {
        if !self.body.clone().into_iter().next().is_some_and(|token| is_block(&token)) {
            diag.error(&self.sig, format!("`{}` has no body; a tool needs one", self.sig.ident));
            self.attrs.push(syn::parse_quote!(#[allow(unused)]));
            self.body = quote!({ loop {} });
        }
        self
    }

    /// Replaces `Self` in the signature, because generated items are outside of the block.
    pub(crate) fn with_self_type(mut self, block: &ImplBlock<'_>) -> Self {
        for input in &mut self.sig.inputs {
            let FnArg::Typed(typed) = input else { continue };
            block.replace_self_in(&mut typed.ty);
            for attr in &mut typed.attrs {
                if let Meta::List(list) = &mut attr.meta {
                    list.tokens = block.replace_self(list.tokens.clone());
                }
            }
        }
        if let ReturnType::Type(_, ty) = &mut self.sig.output {
            block.replace_self_in(ty);
        }
        self
    }
}

pub(crate) struct ImplBlock<'a> {
    pub(crate) ty: &'a Type,
    pub(crate) of_trait: Option<&'a Path>,
    /// The names of its associated types.
    pub(crate) types: Vec<Ident>,
    pub(crate) generics: &'a Generics,
}

impl ImplBlock<'_> {
    /// Returns the path before the name of a function: `<Type>` or `<Type as Trait>`.
    pub(crate) fn path(&self, span: Span) -> TokenStream {
        let ty = self.ty;
        let of_trait = self.of_trait.map(|path| quote!(as #path));
        quote_spanned!(span=> <#ty #of_trait>)
    }

    fn replace_self(&self, tokens: TokenStream) -> TokenStream {
        replace_self(tokens, self.ty, &|name| self.qualified(name))
    }

    fn replace_self_in(&self, ty: &mut Type) {
        let replaced = self.replace_self(ty.to_token_stream());
        *ty = syn::parse2(replaced.clone()).unwrap_or(Type::Verbatim(replaced));
    }

    /// Returns the path for `Self::name`, where `name` is a type or a constant.
    fn qualified(&self, name: &Ident) -> TokenStream {
        let ty = self.ty;
        if self.types.contains(name) { self.path(name.span()) } else { quote!(<#ty>) }
    }
}

/// Reports and removes attributes that are wrong on tool functions.
pub(crate) fn refuse_attrs(attrs: &mut Vec<Attribute>, diag: &mut Diag) {
    for attr in attrs.extract_if(.., |attr| macro_attr_name(attr).is_some()) {
        match macro_attr_name(&attr) {
            Some("tool") => diag.error(attr, "`#[tool]` is given twice; keep one"),
            name => diag.error(attr, format!("`#[{}]` belongs before a parameter", name.unwrap_or_default())),
        }
    }
}

fn macro_attr_name(attr: &Attribute) -> Option<&'static str> {
    ["tool", "param", "state"].into_iter().find(|name| attr.path().is_ident(name))
}

/// Removes this macro's helper attributes, even misspelled ones. Returns whether there were any.
pub(crate) fn strip_helper_attrs(sig: &mut Signature) -> bool {
    let mut is_changed = false;
    for input in &mut sig.inputs {
        let attrs = match input {
            FnArg::Receiver(receiver) => &mut receiver.attrs,
            FnArg::Typed(typed) => &mut typed.attrs,
        };
        let count = attrs.len();
        attrs.retain(|attr| !is_helper_attr(attr) && wrong_helper(attr).is_none());
        is_changed |= attrs.len() < count;
    }
    is_changed
}

/// Returns whether the macro must remove an attribute: its own, and doc comments, which Rust forbids on
/// parameters.
pub(crate) fn is_helper_attr(attr: &Attribute) -> bool {
    ["param", "state", "doc"].iter().any(|helper| attr.path().is_ident(helper))
}

/// Returns the error for an attribute probably meant for this macro, such as `#[State]`.
pub(crate) fn wrong_helper(attr: &Attribute) -> Option<String> {
    let name = attr.path().get_ident().filter(|_| !is_helper_attr(attr))?.to_string();
    if ["arg", "clap", "schemars", "serde", "tool", "validate"].contains(&name.as_str()) {
        return Some(format!("`#[{name}]` has no effect on a parameter; write `#[param(…)]`"));
    }
    let word = name.to_lowercase();
    let helper =
        ["param", "state"].into_iter().find(|helper| strsim::damerau_levenshtein(&word, helper) <= 1)?;
    Some(format!("there is no attribute `#[{name}]`; did you mean `#[{helper}]`?"))
}

pub(crate) fn is_primitive(name: &Ident) -> bool {
    const PRIMITIVES: &[&str] = &[
        "bool", "char", "str", "i8", "i16", "i32", "i64", "i128", "isize", "u8", "u16", "u32", "u64", "u128",
        "usize", "f32", "f64",
    ];
    PRIMITIVES.iter().any(|primitive| name == primitive)
}

/// Replaces `Self` with the type `owner`, and `Self::Item` with `qualified(Item)`.
pub(crate) fn replace_self(
    tokens: TokenStream,
    owner: &impl ToTokens,
    qualified: &impl Fn(&Ident) -> TokenStream,
) -> TokenStream {
    let mut tokens = tokens.into_iter();
    let mut replaced = TokenStream::new();
    while let Some(token) = tokens.next() {
        replaced.extend(match token {
            TokenTree::Ident(ident) if ident == "Self" => {
                let mut rest = tokens.clone();
                let begins_path =
                    matches!(rest.next(), Some(TokenTree::Punct(next)) if next.as_char() == ':');
                let replacement = match rest.nth(1) {
                    Some(TokenTree::Ident(name)) if begins_path => qualified(&name),
                    _ => owner.to_token_stream(),
                };
                // Errors must point at `Self`.
                at(replacement, ident.span())
            }
            TokenTree::Group(group) => regroup(&group, replace_self(group.stream(), owner, qualified)),
            token => token.into(),
        });
    }
    replaced
}

/// Gives `tokens` a source location for errors, without a change of their hygiene.
fn at(tokens: TokenStream, location: Span) -> TokenStream {
    let mut relocated = TokenStream::new();
    for mut token in tokens {
        if let TokenTree::Group(group) = &token {
            relocated.extend(regroup(group, at(group.stream(), location)));
        } else {
            token.set_span(token.span().located_at(location));
            relocated.extend([token]);
        }
    }
    relocated
}

/// Returns `T` for a type called `name` with the single argument `T`, such as `Option<T>`.
pub(crate) fn only_argument<'a>(ty: &'a Type, name: &str) -> Option<&'a Type> {
    let Type::Path(TypePath { qself: None, path, .. }) = peel(ty) else { return None };
    let last = path.segments.last().filter(|last| last.ident == name)?;
    let PathArguments::AngleBracketed(arguments) = &last.arguments else { return None };
    match arguments.args.first()? {
        GenericArgument::Type(ty) if arguments.args.len() == 1 => Some(ty),
        _ => None,
    }
}

pub(crate) fn type_arguments(generics: &Generics) -> Option<TokenStream> {
    let mut arguments = Vec::new();
    for param in &generics.params {
        match param {
            GenericParam::Type(ty) => arguments.push(&ty.ident),
            GenericParam::Const(constant) => arguments.push(&constant.ident),
            GenericParam::Lifetime(_) => {}
        }
    }
    if arguments.is_empty() { None } else { Some(quote!(::<#(#arguments),*>)) }
}

/// Strips parentheses, and the invisible groups that other macros put around `$x:ty`.
pub(crate) fn peel(ty: &Type) -> &Type {
    match ty {
        Type::Group(group) => peel(&group.elem),
        Type::Paren(paren) => peel(&paren.elem),
        ty => ty,
    }
}

fn regroup(group: &Group, inner: TokenStream) -> TokenStream {
    let mut regrouped = Group::new(group.delimiter(), inner);
    regrouped.set_span(group.span());
    TokenTree::Group(regrouped).into()
}

/// Returns whether the token is a block in braces, perhaps inserted by another macro as `$body:block`.
fn is_block(token: &TokenTree) -> bool {
    let TokenTree::Group(group) = token else { return false };
    match group.delimiter() {
        Delimiter::Brace => true,
        Delimiter::None => group.stream().into_iter().next().is_some_and(|token| is_block(&token)),
        Delimiter::Parenthesis | Delimiter::Bracket => false,
    }
}

impl Parse for FunctionItem {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        let attrs = input.call(Attribute::parse_outer)?;
        let start = input.fork();
        match parse_head(input) {
            Ok((vis, sig)) => Ok(Self { attrs, vis, sig, body: input.parse()? }),
            Err(error) => Err(error_of_head(&start, error)),
        }
    }
}

fn parse_head(input: ParseStream<'_>) -> syn::Result<(Visibility, Signature)> {
    Ok((input.parse()?, input.parse()?))
}

/// Returns `error` for a function, and otherwise what the item must be.
fn error_of_head(item: ParseStream<'_>, error: syn::Error) -> syn::Error {
    let text = item.to_string();
    let words: Vec<&str> = text.split_whitespace().collect();
    if words.contains(&"fn") {
        error
    } else if words.contains(&"impl") {
        item.error("`#[tool]` belongs to functions; write `#[toolset]` above an `impl` block")
    } else {
        item.error("`#[tool]` can only be applied to functions")
    }
}

impl ToTokens for FunctionItem {
    fn to_tokens(&self, tokens: &mut TokenStream) {
        let Self { attrs, vis, sig, body } = self;
        tokens.extend(quote!(#(#attrs)* #vis #sig #body));
    }
}
