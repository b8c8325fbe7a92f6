//! Tests of expanded macros, as snapshots of formatted code.

mod arguments;

use proc_macro2::TokenStream;
use quote::quote;

fn expand(attr: TokenStream, item: TokenStream) -> String {
    readable(crate::expand_tool(attr, item))
}

fn readable(tokens: TokenStream) -> String {
    let mut file: syn::File = syn::parse2(tokens).expect("the expansion is a list of items");
    file.items = file.items.into_iter().flat_map(with_items_of_attribute).collect();
    prettyplease::unparse(&file)
}

/// Expands the attribute `__tool_items` of an item.
fn with_items_of_attribute(mut item: syn::Item) -> Vec<syn::Item> {
    let syn::Item::Struct(marker) = &mut item else { return vec![item] };
    let is_ours = |attr: &mut syn::Attribute| {
        attr.path().segments.last().is_some_and(|last| last.ident == "__tool_items")
    };
    let attrs: Vec<syn::Attribute> = marker.attrs.extract_if(.., is_ours).collect();
    let mut items = vec![item];
    for attr in attrs {
        let tokens = attr.meta.require_list().expect("the attribute has a list").tokens.clone();
        items.extend(syn::parse2::<syn::File>(tokens).expect("the list has items").items);
    }
    items
}

#[test]
fn a_function_becomes_a_tool() {
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
    assert!(expansion.lines().count() <= 80, "the expansion has {} lines", expansion.lines().count());
}

#[test]
fn every_option_is_expanded() {
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
fn an_async_function_with_owned_parameters_is_one_future() {
    insta::assert_snapshot!(expand(
        quote!(timeout = "2s", read_only, tags("network"), register = false),
        quote! {
            /// Fetch a page.
            ///
            /// Args:
            ///     address: Where it is
            ///     tries: How often, at most
            pub async fn fetch(address: String, tries: Option<u8>) -> Result<String, FetchError> {
                client(address, tries).await
            }
        },
    ));
}

#[test]
fn state_and_context_are_not_in_the_schema() {
    insta::assert_snapshot!(expand(
        quote!(),
        quote! {
            /// Look up.
            async fn look_up(
                #[state] db: &Db,
                key: &str,
                #[state] store: Arc<dyn Store>,
                #[state] cache: Option<&Cache>,
                context: &toolkit_ai::ToolContext,
            ) -> String {
                find(db, key, store, cache, context).await
            }
        },
    ));
}

#[test]
fn constraints_are_checked_against_types() {
    insta::assert_snapshot!(expand(
        quote!(),
        quote! {
            fn constrained(
                #[param(range = 1..=MOST, multiple_of = 5, default = 5)] count: u32,
                #[param(length = 2..=4, pattern = "^[a-z]+$", format = "hostname")] name: &str,
                #[param(one_of = ["red", "green"], examples = ["red"], deprecated)] color: Option<String>,
                #[param(length = ..3, items(range = 0.0..1.0))] shares: Vec<f64>,
            ) {
            }
        },
    ));
}

#[test]
fn toolset_methods_are_bound_to_their_receiver() {
    insta::assert_snapshot!(readable(crate::toolset::expand_toolset(
        quote!(namespace = "Memory"),
        quote! {
            /// Remembers.
            impl Counter {
                fn new() -> Self {
                    Self::default()
                }

                /// Add.
                #[tool(idempotent = false)]
                pub fn add(&self, #[param(default = 1)] by: i64) -> i64 {
                    self.change(by)
                }

                /// Double.
                #[tool]
                async fn double(n: i64) -> i64 {
                    n * 2
                }
            }
        },
    )));
}

#[test]
fn a_params_struct_is_mirrored_for_serde_and_schemars() {
    insta::assert_snapshot!(readable(crate::derive::expand_params(quote! {
        /// Where and how far.
        ///
        /// :param city: The city
        #[derive(Debug)]
        #[serde(rename_all = "camelCase", default)]
        pub struct Area<T> {
            #[param(length = 1..=80)]
            pub city: String,
            /// How far around.
            #[param(range = 0.0..=500.0, default = 10.0, alias = "r")]
            radius: f64,
            #[param(flatten)]
            more: More<T>,
            parts: Vec<Self>,
        }
    })));
}

#[test]
fn a_params_enum_is_mirrored_for_serde_and_schemars() {
    insta::assert_snapshot!(readable(crate::derive::expand_params(quote! {
        /// What is looked for.
        #[tool_params(crate = my::tools)]
        #[serde(tag = "kind")]
        enum Wanted {
            /// Anything.
            Any,
            /// A place of a name.
            Named {
                #[param(pattern = "^[A-Z]", description = "The name")]
                name: String,
            },
        }
    })));
}

#[test]
fn included_documentation_is_part_of_the_description() {
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
fn errors_leave_the_function_and_a_placeholder() {
    insta::assert_snapshot!(expand(
        quote!(nam = "x"),
        quote! {
            pub fn broken(#[param(default = 1)] a: i64) -> i64 {
                a
            }
        },
    ));
}

#[test]
fn an_unfinished_body_is_no_error() {
    let tokens = crate::expand_tool(quote!(), quote!(fn typing(a: i64) -> i64 { a. let x }));
    assert!(!tokens.to_string().contains("compile_error"), "{tokens}");
}

#[test]
fn documentation_of_macros_is_read() {
    let expansion = expand(
        quote!(),
        quote! {
            #[doc = concat!("Adds ", 2, " numbers, ", true, ".\n\n:param a: The ", stringify!(first))]
            fn add(a: i64) -> i64 { a }
        },
    );
    for text in [r#""Adds 2 numbers, true.""#, r#""a\nThe first""#] {
        assert!(expansion.contains(text), "{expansion}");
    }
}

/// Tests that `include_str!` is left to the compiler if no source file is available, as in this test.
#[test]
fn an_included_file_is_left_to_the_compiler_outside_of_a_macro() {
    let expansion = expand(
        quote!(),
        quote!(
            #[doc = include_str!("no such file.md")]
            fn add(a: i64) {}
        ),
    );
    assert!(expansion.contains(r#"concat!(include_str!("no such file.md"))"#), "{expansion}");
}

/// Tests a block comment, as the attribute that the compiler makes of it.
#[test]
fn block_comments_are_parsed_like_line_comments() {
    let expansion = expand(
        quote!(),
        quote! {
            #[doc = "\n * Adds.\n *\n * Args:\n *     a: The first\n "]
            fn add(a: i64) -> i64 { a }
        },
    );
    for text in [r#""Adds.""#, r#""a\nThe first""#] {
        assert!(expansion.contains(text), "{expansion}");
    }
}
