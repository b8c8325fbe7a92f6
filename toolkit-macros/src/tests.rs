//! What the macro makes of real functions, as snapshots of formatted code.

use proc_macro2::TokenStream;
use quote::quote;

fn expand(attr: TokenStream, item: TokenStream) -> String {
    let tokens = crate::expand_tool(attr, item);
    let file = syn::parse2(tokens).expect("the expansion is a list of items");
    prettyplease::unparse(&file)
}

#[test]
fn two_parameters() {
    let expansion = expand(
        quote!(),
        quote! {
            /// Add two integers.
            ///
            /// :param a: The first number
            pub fn add(a: i64, b: i64) -> i64 {
                a + b
            }
        },
    );
    insta::assert_snapshot!(expansion);
    assert!(expansion.lines().count() <= 70, "the expansion has {} lines", expansion.lines().count());
}

#[test]
fn everything_a_function_can_say() {
    insta::assert_snapshot!(expand(
        quote!(
            name = "find",
            namespace = "Web",
            description = "Finds.",
            timeout = "1.5s",
            crate = ::my::tools
        ),
        quote! {
            /// Not read.
            #[cfg(feature = "web")]
            #[deprecated]
            pub(crate) async fn search(
                /// The query.
                query: &str,
                #[param(default = 5, rename = "max-results", alias = "limit")] max_results: u32,
                #[param(default = "all")] topic: String,
                #[param(default)] tags: Vec<String>,
                r#type: Option<Kind>,
                words: &[String],
                context: &ToolContext,
            ) -> Result<Page, Error> {
                fetch(query, max_results, topic, tags, r#type, words, context).await
            }
        },
    ));
}

#[test]
fn documentation_from_a_file_is_passed_on() {
    insta::assert_snapshot!(expand(
        quote!(),
        quote! {
            /// In short.
            #[doc = include_str!("more.md")]
            fn documented() {}
        },
    ));
}

#[test]
fn a_mistake_leaves_the_function_and_a_stand_in() {
    insta::assert_snapshot!(expand(
        quote!(nam = "x"),
        quote! {
            pub fn broken(#[param(default = 1)] a: i64) -> i64 {
                a
            }
        },
    ));
}

/// A body that is not Rust (yet) must not disturb the macro.
#[test]
fn a_half_typed_body_is_passed_on() {
    let tokens = crate::expand_tool(quote!(), quote!(fn typing(a: i64) -> i64 { a. let x }));
    assert!(!tokens.to_string().contains("compile_error"), "{tokens}");
}

/// Documentation is read from the tokens of comments; `quote!` writes them as attributes.
#[test]
fn block_comments_are_read_like_lines() {
    let expansion = expand(
        quote!(),
        quote! {
            #[doc = "\n * Adds.\n *\n * Args:\n *     a: The first\n "]
            fn add(a: i64) -> i64 { a }
        },
    );
    for text in [r#""Adds.""#, r#""The first""#] {
        assert!(expansion.contains(text), "{expansion}");
    }
}
