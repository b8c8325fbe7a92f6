//! A function whose body is not looked at, so that a half-typed body never breaks the macro.

use crate::diag::Diag;
use proc_macro2::{Delimiter, Group, Span, TokenStream, TokenTree};
use quote::{ToTokens, quote};
use syn::parse::{Parse, ParseStream};
use syn::{Attribute, FnArg, Meta, ReturnType, Signature, Type, Visibility};

#[derive(Clone)]
pub(crate) struct FunctionItem {
    pub(crate) attrs: Vec<Attribute>,
    pub(crate) vis: Visibility,
    pub(crate) sig: Signature,
    body: TokenStream,
}

impl FunctionItem {
    /// A function that somebody else has parsed already.
    pub(crate) fn new(attrs: Vec<Attribute>, vis: Visibility, sig: Signature, body: TokenStream) -> Self {
        Self { attrs, vis, sig, body }
    }

    /// Reads a function. The body is taken off first, so that its length does not matter.
    pub(crate) fn read(item: TokenStream) -> syn::Result<Self> {
        let mut head: Vec<TokenTree> = item.into_iter().collect();
        let body = head.pop_if(|last| is_block(last));
        let mut function: Self = syn::parse2(head.into_iter().collect())?;
        function.body.extend(body);
        Ok(function)
    }

    /// The function with a body, which it should have had.
    pub(crate) fn with_body(mut self, diag: &mut Diag) -> Self {
        if !has_braces(&self.body) {
            diag.error(&self.sig, "a tool needs a body");
            self.attrs.push(syn::parse_quote!(#[allow(unused)]));
            self.body = quote!({ loop {} });
        }
        self
    }

    /// The same with the type's name for `Self` in its signature: generated items stand outside of the `impl`
    /// block, where `Self` means nothing.
    pub(crate) fn with_self_named(mut self, owner: &Type) -> Self {
        for input in &mut self.sig.inputs {
            let FnArg::Typed(typed) = input else { continue };
            name_self_in(&mut typed.ty, owner);
            for attr in &mut typed.attrs {
                if let Meta::List(list) = &mut attr.meta {
                    list.tokens = name_self(list.tokens.clone(), owner);
                }
            }
        }
        if let ReturnType::Type(_, ty) = &mut self.sig.output {
            name_self_in(ty, owner);
        }
        self
    }

    /// What is given back to the compiler: the function as it was, less the attributes on its
    /// parameters that only this macro understands. Rust allows no comments there either.
    pub(crate) fn without_our_attributes(&self) -> Self {
        let mut function = self.clone();
        for input in &mut function.sig.inputs {
            let attrs = match input {
                FnArg::Receiver(receiver) => &mut receiver.attrs,
                FnArg::Typed(typed) => &mut typed.attrs,
            };
            attrs.retain(|attr| !is_ours(attr));
        }
        function
    }

    /// Whether [`without_our_attributes`](Self::without_our_attributes) is something else.
    pub(crate) fn has_our_attributes(&self) -> bool {
        let attrs = self.sig.inputs.iter().flat_map(|input| match input {
            FnArg::Receiver(receiver) => &receiver.attrs,
            FnArg::Typed(typed) => &typed.attrs,
        });
        attrs.into_iter().any(is_ours)
    }
}

fn name_self_in(ty: &mut Type, owner: &Type) {
    let named = name_self(ty.to_token_stream(), owner);
    *ty = syn::parse2(named.clone()).unwrap_or(Type::Verbatim(named));
}

fn name_self(tokens: TokenStream, owner: &Type) -> TokenStream {
    let mut tokens = tokens.into_iter().peekable();
    let mut named = TokenStream::new();
    while let Some(token) = tokens.next() {
        named.extend(match token {
            TokenTree::Ident(ident) if ident == "Self" => {
                let begins_path =
                    matches!(tokens.peek(), Some(TokenTree::Punct(next)) if next.as_char() == ':');
                let owner = if begins_path { quote!(<#owner>) } else { owner.to_token_stream() };
                // Mistakes are shown where `Self` stands.
                at(owner, ident.span())
            }
            TokenTree::Group(group) => regroup(&group, name_self(group.stream(), owner)),
            token => token.into(),
        });
    }
    named
}

/// The tokens as they are, but shown elsewhere.
fn at(tokens: TokenStream, place: Span) -> TokenStream {
    let moved = |token| match token {
        TokenTree::Group(group) => regroup(&group, at(group.stream(), place)),
        mut token => {
            token.set_span(token.span().located_at(place));
            token.into()
        }
    };
    tokens.into_iter().flat_map(moved).collect()
}

fn regroup(group: &Group, inner: TokenStream) -> TokenStream {
    let mut regrouped = Group::new(group.delimiter(), inner);
    regrouped.set_span(group.span());
    TokenTree::Group(regrouped).into()
}

/// Whether a body begins with a block.
fn has_braces(body: &TokenStream) -> bool {
    body.clone().into_iter().next().is_some_and(|token| is_block(&token))
}

/// Whether a token is a block, also one that another macro was given as `$body:block`.
fn is_block(token: &TokenTree) -> bool {
    let TokenTree::Group(group) = token else { return false };
    match group.delimiter() {
        Delimiter::Brace => true,
        Delimiter::None => group.stream().into_iter().next().is_some_and(|token| is_block(&token)),
        Delimiter::Parenthesis | Delimiter::Bracket => false,
    }
}

/// Whether an attribute on a parameter is for this macro.
pub(crate) fn is_ours(attr: &Attribute) -> bool {
    ["param", "state", "doc"].iter().any(|ours| attr.path().is_ident(ours))
}

impl Parse for FunctionItem {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        let attrs = input.call(Attribute::parse_outer)?;
        let start = input.fork();
        let parse = || -> syn::Result<(Visibility, Signature)> { Ok((input.parse()?, input.parse()?)) };
        let (vis, sig) = parse().map_err(|error| {
            let is_function = start.to_string().split_whitespace().any(|word| word == "fn");
            match is_function {
                true => error,
                false => start.error("`#[tool]` goes on a function"),
            }
        })?;
        Ok(Self { attrs, vis, sig, body: input.parse()? })
    }
}

impl ToTokens for FunctionItem {
    fn to_tokens(&self, tokens: &mut TokenStream) {
        let Self { attrs, vis, sig, body } = self;
        tokens.extend(quote!(#(#attrs)* #vis #sig #body));
    }
}
