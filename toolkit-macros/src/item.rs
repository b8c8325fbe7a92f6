//! A function whose body is not looked at, so that a half-typed body never breaks the macro.

use proc_macro2::{Delimiter, TokenStream, TokenTree};
use quote::{ToTokens, quote};
use syn::parse::{Parse, ParseStream};
use syn::{Attribute, FnArg, Signature, Visibility};

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
        let function: Self = syn::parse2(head.into_iter().collect())?;
        match body {
            Some(body) if function.body.is_empty() => Ok(Self { body: body.into(), ..function }),
            _ => Err(syn::Error::new_spanned(&function.sig, "a tool needs a body")),
        }
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
