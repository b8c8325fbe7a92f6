//! Arguments of attributes: each has an effect or is refused.

use crate::attr::{ParamAttr, ToolAttr};
use crate::diag::hint;
use proc_macro2::TokenStream;
use quote::quote;

fn expand_method(arguments: &TokenStream, method: &TokenStream) -> String {
    let block = quote!(impl Counter { #[tool(#arguments)] #method });
    crate::toolset::expand_toolset(quote!(), block).to_string()
}

/// Returns the name at the start of an argument.
fn key(argument: &str) -> &str {
    argument.split([' ', '(']).next().unwrap_or_default()
}

#[test]
fn every_argument_of_a_tool_has_an_effect_or_is_refused() {
    let arguments = [
        "name = \"x\"",
        "namespace = \"x\"",
        "description = \"x\"",
        "timeout = \"1s\"",
        "crate = x",
        "lane = \"a\"",
        "strict_docs",
        "register = false",
        "unknown = \"ignore\"",
        "meta(a = 1)",
        "title = T",
        "search_hint = \"x\"",
        "blocking",
        "exclusive",
        "read_only",
        "destructive",
        "idempotent",
        "open_world",
        "defer",
        "strict",
        "call_reason",
        "coerce = false",
        "retries = 1",
        "max_result_size = 1",
        "max_concurrency = 1",
        "tags(\"x\", T)",
        "icons(\"x\", T)",
        "input_examples = [x]",
    ];
    let keys: Vec<&str> = arguments.iter().map(|argument| key(argument)).collect();
    for known in ToolAttr::known() {
        assert!(keys.contains(&known), "`{known}` has no example");
    }
    for argument in arguments {
        let argument: TokenStream = argument.parse().expect("an argument");
        for function in [
            quote!(
                fn f(a: i64) {}
            ),
            quote!(
                async fn f(a: i64) {}
            ),
        ] {
            let with = |argument| crate::expand_tool(argument, function.clone()).to_string();
            assert_ne!(with(argument.clone()), with(quote!()), "{argument}");
        }
        for method in [
            quote!(
                fn f(&self, a: i64) {}
            ),
            quote!(
                async fn f(&self, a: i64) {}
            ),
        ] {
            assert_ne!(expand_method(&argument, &method), expand_method(&quote!(), &method), "{argument}");
        }
    }
}

#[test]
fn every_argument_of_a_parameter_has_an_effect() {
    let arguments = [
        "default = 1",
        "description = T",
        "rename = \"x\"",
        "alias = \"x\"",
        "flatten",
        "range = 1..",
        "length = 1..",
        "pattern = \"a\"",
        "multiple_of = 2",
        "format = \"date\"",
        "one_of = [1]",
        "items(range = 1..)",
        "examples = [1]",
        "deprecated",
    ];
    let keys: Vec<&str> = arguments.iter().map(|argument| key(argument)).collect();
    for known in ParamAttr::known() {
        assert!(keys.contains(&known), "`{known}` has no example");
    }
    let expand =
        |attribute: TokenStream| crate::expand_tool(quote!(), quote!(fn f(#attribute a: i64) {})).to_string();
    let derive = |attribute: TokenStream| {
        crate::derive::expand_params(quote!(struct P { #attribute a: i64 })).to_string()
    };
    for argument in arguments {
        let argument: TokenStream = argument.parse().expect("an argument");
        assert_ne!(expand(quote!(#[param(#argument)])), expand(quote!()), "{argument}");
        assert_ne!(derive(quote!(#[param(#argument)])), derive(quote!()), "{argument}");
    }
}

#[test]
fn attributes_without_an_effect_are_errors() {
    let method = |code: TokenStream| crate::toolset::expand_toolset(quote!(), quote!(impl Counter { #code }));
    let params = |code: TokenStream| crate::derive::expand_params(code);
    for (expansion, message) in [
        (
            crate::expand_tool(
                quote!(timeout = "1s"),
                quote!(
                    fn f() {}
                ),
            ),
            "`timeout` has no effect because",
        ),
        (
            crate::expand_tool(
                quote!(max_concurrency = 0),
                quote!(
                    fn f() {}
                ),
            ),
            "would allow no call",
        ),
        (
            crate::expand_tool(
                quote!(exclusive, max_concurrency = 2),
                quote!(
                    fn f() {}
                ),
            ),
            "beside `exclusive`",
        ),
        (
            crate::expand_tool(
                quote!(read_only, destructive),
                quote!(
                    fn f() {}
                ),
            ),
            "beside `read_only`",
        ),
        (
            crate::expand_tool(
                quote!(tags()),
                quote!(
                    fn f() {}
                ),
            ),
            "`tags` is empty",
        ),
        (
            crate::expand_tool(
                quote!(meta()),
                quote!(
                    fn f() {}
                ),
            ),
            "`meta` is empty",
        ),
        (
            crate::expand_tool(
                quote!(input_examples = []),
                quote!(
                    fn f() {}
                ),
            ),
            "`input_examples` is empty",
        ),
        (
            crate::expand_tool(
                quote!(),
                quote!(
                    fn f(#[state(x)] a: &A) {}
                ),
            ),
            "`#[state]` takes no arguments",
        ),
        (
            crate::expand_tool(
                quote!(),
                quote!(
                    fn f(#[param(items())] a: Vec<A>) {}
                ),
            ),
            "`items` is empty",
        ),
        (
            crate::expand_tool(
                quote!(),
                quote!(
                    fn f(#[param(examples = [])] a: A) {}
                ),
            ),
            "`examples` is empty",
        ),
        (
            method(quote!(
                #[tool(register = false)]
                fn f() {}
            )),
            "`register` has no effect on a method",
        ),
        (
            method(quote!(
                #[tool(crate = x)]
                fn f() {}
            )),
            "`crate` has no effect on a method",
        ),
        (
            method(quote!(
                #[tool]
                fn f(#[param(default = 1)] &self) {}
            )),
            "no effect on `self`",
        ),
        (
            params(quote!(
                #[param(default)]
                struct P {
                    a: i64,
                }
            )),
            "`#[param]` has no effect on a type",
        ),
        (
            params(quote!(
                enum P {
                    #[param(rename = "x")]
                    A,
                }
            )),
            "`#[param]` has no effect on a variant",
        ),
        (
            params(quote!(
                struct P {
                    #[tool_params(crate = x)]
                    a: i64,
                }
            )),
            "`#[tool_params]` has no effect on a field",
        ),
        (
            crate::toolset::expand_toolset(
                quote!(namespace = "a", namespace = "b"),
                quote!(impl Counter { #[tool] fn f() {} }),
            ),
            "`namespace` is given twice",
        ),
    ] {
        let expansion = expansion.to_string();
        assert!(expansion.contains("compile_error") && expansion.contains(message), "{message}: {expansion}");
    }
}

#[test]
fn a_timeout_that_a_synchronous_function_can_read_is_allowed() {
    for function in [
        quote!(
            fn f(context: &ToolContext) {}
        ),
        quote!(
            async fn f() {}
        ),
    ] {
        let expansion = crate::expand_tool(quote!(timeout = "1s"), function).to_string();
        assert!(!expansion.contains("compile_error"), "{expansion}");
    }
}

#[test]
fn strict_docs_means_described() {
    let wanted = |code: TokenStream| crate::expand_tool(quote!(strict_docs), code).to_string();
    for (expansion, message) in [
        (
            wanted(quote!(
                fn f() {}
            )),
            "`f` is undocumented",
        ),
        (
            wanted(quote!(
                #[doc = " "]
                fn f() {}
            )),
            "`f` is undocumented",
        ),
        (
            wanted(quote!(
                #[doc = ":param a: It"]
                fn f(a: i64) {}
            )),
            "`f` is undocumented",
        ),
        (
            wanted(quote!(
                #[doc = "F."]
                fn f(a: i64) {}
            )),
            "parameter `a` is undocumented",
        ),
        (
            wanted(quote!(
                #[doc = "F."]
                fn f(#[param(description = "")] a: i64) {}
            )),
            "parameter `a` is undocumented",
        ),
        (
            crate::derive::expand_params(quote!(
                #[tool_params(strict_docs)]
                struct P {
                    a: i64,
                }
            ))
            .to_string(),
            "field `a` is undocumented",
        ),
    ] {
        assert!(expansion.contains(message), "{message}: {expansion}");
    }
    for documented in [
        quote!(
            #[doc = "F."]
            fn f(#[param(flatten)] a: P) {}
        ),
        quote!(
            #[doc = "F."]
            fn f(#[param(description = TEXT)] a: i64, #[state] b: &B) {}
        ),
    ] {
        assert!(!wanted(documented).contains("compile_error"));
    }
}

/// Every word with one letter left out, doubled, exchanged with the next, or replaced.
fn mistyped(word: &str) -> Vec<String> {
    let letters: Vec<char> = word.chars().collect();
    let mut all = Vec::new();
    for at in 0..letters.len() {
        let changed = |change: &dyn Fn(&mut Vec<char>)| {
            let mut letters = letters.clone();
            change(&mut letters);
            letters.into_iter().collect::<String>()
        };
        all.push(changed(&|letters| letters.truncate(at)) + &word[at + 1..]);
        all.push(changed(&|letters| letters.insert(at, letters[at])));
        all.extend(["e", "n", "x"].map(|other| changed(&|letters| letters[at] = other.as_bytes()[0].into())));
        if at + 1 < letters.len() {
            all.push(changed(&|letters| letters.swap(at, at + 1)));
        }
    }
    all
}

#[test]
fn a_mistyped_word_is_answered_with_the_nearest_one() {
    for known in [ToolAttr::known(), ParamAttr::known()] {
        for word in &known {
            for given in mistyped(word).iter().filter(|given| !known.contains(&given.as_str())) {
                let hint = hint(given, &known);
                let Some(named) =
                    hint.strip_prefix("; did you mean `").and_then(|hint| hint.strip_suffix("`?"))
                else {
                    assert!(word.len() < 5, "`{given}` is not understood as `{word}`: {hint}");
                    continue;
                };
                let distance = |word: &str| strsim::damerau_levenshtein(given, word);
                assert!(distance(named) <= distance(word), "`{given}`: `{named}` is farther than `{word}`");
                let starts_alike = |word: &str| word.chars().next() == given.chars().next();
                assert!(
                    distance(named) < distance(word) || starts_alike(named) || !starts_alike(word),
                    "`{given}` is more like `{word}` than like `{named}`"
                );
            }
        }
    }
    assert_eq!(hint("nane", &["lane", "name"]), "; did you mean `name`?");
    assert_eq!(hint("nane", &["name", "lane"]), "; did you mean `name`?");
}
