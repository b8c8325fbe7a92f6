//! Tests that each argument of an attribute either has an effect or is refused.

use crate::attr::{METADATA, ParamAttr, ToolAttr};
use crate::diag::hint;
use proc_macro2::TokenStream;
use quote::quote;

/// Returns an example of each argument of `#[tool]`.
fn tool_arguments() -> Vec<TokenStream> {
    let values = [" = \"x\"", "", " = 1", "(\"x\", T)", "(\"x\", T)", " = [x]"];
    assert_eq!(values.len(), METADATA.len(), "each row of the table has an example");
    let forwarded = METADATA.iter().zip(values).flat_map(|((names, _), value)| {
        // `true` is the default of `coerce`.
        names.iter().map(move |name| format!("{name}{}", if *name == "coerce" { " = false" } else { value }))
    });
    let own = ToolAttr::KNOWN.iter().map(|name| {
        let value = match *name {
            "timeout" => " = \"1s\"",
            "crate" => " = x",
            "lane" => " = \"a\"",
            "strict_docs" => "",
            "register" => " = false",
            "unknown" => " = \"ignore\"",
            "meta" => "(a = 1)",
            _ => " = \"x\"",
        };
        format!("{name}{value}")
    });
    own.chain(forwarded).map(|argument| argument.parse().expect("an argument")).collect()
}

/// Returns an example of each argument of `#[param]`.
fn param_arguments() -> Vec<TokenStream> {
    let examples = ParamAttr::known().into_iter().map(|name| {
        let value = match name {
            "default" => " = 1",
            "flatten" | "deprecated" => "",
            "range" | "length" => " = 1..",
            "multiple_of" => " = 2",
            "format" => " = \"date\"",
            "one_of" | "examples" => " = [1]",
            "items" => "(range = 1..)",
            _ => " = \"x\"",
        };
        format!("{name}{value}").parse().expect("an argument")
    });
    examples.collect()
}

/// Checks that an argument changes the output of a macro, perhaps by a compile error.
fn assert_effect(place: &str, argument: &TokenStream, expand: impl Fn(Option<&TokenStream>) -> TokenStream) {
    let with = expand(Some(argument)).to_string();
    let without = expand(None).to_string();
    assert!(!without.contains("compile_error"), "{place}: {without}");
    assert_ne!(with, without, "`{argument}` does nothing on {place}");
}

#[test]
fn every_argument_of_a_tool_has_an_effect_or_is_refused() {
    let functions = [
        quote!(
            fn f(a: i64) {}
        ),
        quote!(
            async fn f(a: i64) {}
        ),
        quote!(
            fn f(a: i64, context: &ToolContext, #[state] state: &S) -> Result<(), String> {}
        ),
        quote!(
            pub async fn f(#[param(flatten)] a: P) -> i64 {}
        ),
    ];
    let methods = [
        quote!(
            fn f(&self, a: i64) {}
        ),
        quote!(
            async fn f(&self, a: i64) {}
        ),
        quote!(
            async fn f(self: Arc<Self>, a: i64) {}
        ),
        quote!(
            fn f(a: i64) {}
        ),
    ];
    let blocks = [quote!(impl Counter), quote!(impl<T> Counter<T>), quote!(impl Count for Counter)];
    for argument in tool_arguments() {
        for function in &functions {
            let expand = |argument: Option<&TokenStream>| {
                crate::expand_tool(argument.cloned().unwrap_or_default(), function.clone())
            };
            assert_effect(&function.to_string(), &argument, expand);
        }
        for method in &methods {
            for block in &blocks {
                let expand = |argument: Option<&TokenStream>| {
                    crate::toolset::expand_toolset(quote!(), quote!(#block { #[tool(#argument)] #method }))
                };
                assert_effect(&format!("{block} {method}"), &argument, expand);
            }
        }
    }
}

#[test]
fn every_argument_of_a_parameter_has_an_effect_or_is_refused() {
    let param = |argument: Option<&TokenStream>| argument.map(|argument| quote!(#[param(#argument)]));
    for argument in param_arguments() {
        let expand = |argument: Option<&TokenStream>| {
            let param = param(argument);
            crate::expand_tool(quote!(), quote!(fn f(#param a: i64) {}))
        };
        assert_effect("a parameter", &argument, expand);
        for special in [quote!(#[state] a: &A), quote!(a: &ToolContext)] {
            let expand = |argument: Option<&TokenStream>| {
                let param = param(argument);
                crate::expand_tool(quote!(), quote!(fn f(#param #special) {}))
            };
            assert_effect(&special.to_string(), &argument, expand);
            assert!(expand(Some(&argument)).to_string().contains("has no effect"), "{argument} {special}");
        }
        let expand = |argument: Option<&TokenStream>| {
            let param = param(argument);
            crate::toolset::expand_toolset(quote!(), quote!(impl C { #[tool] fn f(#param &self, a: i64) {} }))
        };
        assert_effect("a receiver", &argument, expand);
        for (place, item) in [
            ("a field", quote!(struct P { @ a: i64 })),
            ("a field of a generic struct", quote!(struct P<T> { @ a: Vec<T> })),
            ("a field of a variant", quote!(enum P { A { @ a: i64 } })),
            ("the field of a variant without names", quote!(enum P { A(@ i64) })),
            ("a skipped field", quote!(struct P { #[serde(skip)] @ a: i64 })),
            ("a variant", quote!(enum P { @ A })),
            ("a type", quote!(@ struct P { a: i64 })),
        ] {
            let expand = |argument: Option<&TokenStream>| {
                let param = param(argument).unwrap_or_default().to_string();
                let item = item.to_string().replace('@', &param);
                crate::derive::expand_params(item.parse().expect("a type"))
            };
            assert_effect(place, &argument, expand);
        }
    }
}

#[test]
fn every_argument_of_a_type_or_a_block_has_an_effect() {
    for argument in [quote!(crate = x), quote!(strict_docs)] {
        let expand = |argument: Option<&TokenStream>| {
            let attr = argument.map(|argument| quote!(#[tool_params(#argument)]));
            crate::derive::expand_params(quote!(#attr struct P { a: i64 }))
        };
        assert_effect("a type", &argument, expand);
    }
    for argument in [quote!(crate = x), quote!(namespace = "x"), quote!(extends)] {
        let expand = |argument: Option<&TokenStream>| {
            let argument = argument.cloned().unwrap_or_default();
            crate::toolset::expand_toolset(argument, quote!(impl C { #[tool] fn f(&self) {} }))
        };
        assert_effect("a block", &argument, expand);
    }
}

#[test]
fn attributes_without_an_effect_are_errors() {
    let tool = |arguments: &str, code: &str| {
        crate::expand_tool(arguments.parse().expect("arguments"), code.parse().expect("a function"))
    };
    let set = |arguments: &str, code: &str| {
        let block = format!("impl Counter {{ {code} }}").parse().expect("a block");
        crate::toolset::expand_toolset(arguments.parse().expect("arguments"), block)
    };
    let params = |code: &str| crate::derive::expand_params(code.parse().expect("a type"));
    for (expansion, message) in [
        (tool(r#"timeout = "1s""#, "fn f() {}"), "`timeout` has no effect because"),
        (tool("max_concurrency = 0", "fn f() {}"), "would allow no call"),
        (tool("exclusive, max_concurrency = 2", "fn f() {}"), "beside `exclusive`"),
        (tool("read_only, destructive", "fn f() {}"), "beside `read_only`"),
        (tool("tags()", "fn f() {}"), "`tags` is empty"),
        (tool("meta()", "fn f() {}"), "`meta` is empty"),
        (tool("meta(a = 1, a = 2)", "fn f() {}"), "`a` is given twice"),
        (tool("input_examples = []", "fn f() {}"), "`input_examples` is empty"),
        (tool(r#"lane = "s""#, "fn f(a: i64, #[state] s: &S) {}"), "`f` has no parameter `s`"),
        (tool("", "#[tool] fn f() {}"), "`#[tool]` is given twice"),
        (tool("", "#[param(default)] fn f(a: i64) {}"), "`#[param]` belongs before a parameter"),
        (tool("", "fn f(#[state(x)] a: &A) {}"), "`#[state]` takes no arguments"),
        (tool("", "fn f(#[state] a: &ToolContext) {}"), "the context is no state"),
        (tool("", "fn f(#[State] a: &A) {}"), "did you mean `#[state]`?"),
        (tool("", "fn f(#[params(default)] a: i64) {}"), "did you mean `#[param]`?"),
        (tool("", "fn f(#[serde(default)] a: i64) {}"), "`#[serde]` has no effect on a parameter"),
        (tool("", "fn f(#[param()] a: A) {}"), "`#[param]` needs arguments"),
        (tool("", "fn f(#[param(items())] a: Vec<A>) {}"), "`items` is empty"),
        (tool("", "fn f(#[param(examples = [])] a: A) {}"), "`examples` is empty"),
        (tool("", "fn f(#[param(range = 1.., range = 2..)] a: A) {}"), "`range` is given twice"),
        (tool("", "fn f(#[param(range = 1..)] #[param(range = 2..)] a: A) {}"), "`range` is given twice"),
        (tool("", "fn f(#[param(items(length = 1, length = 2))] a: A) {}"), "`length` is given twice"),
        (tool("", "fn f(#[param(flatten, default)] a: A) {}"), "`flatten` excludes other"),
        (set("", "#[tool(register = false)] fn f() {}"), "`register` has no effect on a method"),
        (set("", "#[tool(crate = x)] fn f() {}"), "`crate` has no effect on a method"),
        (set("", "#[tool] fn f(#[param(default = 1)] &self) {}"), "no effect on `self`"),
        (set("", "#[tool] #[tool] fn f(&self) {}"), "`#[tool]` is given twice"),
        (set(r#"namespace = "a", namespace = "b""#, "#[tool] fn f() {}"), "`namespace` is given twice"),
        (
            set(r#"namespace = "a""#, r#"#[tool(namespace = "b")] fn f() {}"#),
            "`namespace` has no effect because each tool",
        ),
        (params("#[param(default)] struct P { a: i64 }"), "`#[param]` has no effect on a type"),
        (params(r#"enum P { #[param(rename = "x")] A }"#), "`#[param]` has no effect on a variant"),
        (
            params("struct P { #[tool_params(crate = x)] a: i64 }"),
            "`#[tool_params]` has no effect on a field",
        ),
        (params("#[tool_params()] struct P { a: i64 }"), "`#[tool_params]` needs arguments"),
        (
            params("#[tool_params(strict_docs, strict_docs)] struct P { a: i64 }"),
            "`strict_docs` is given twice",
        ),
        (params("struct P { #[param(flatten, range = 1..)] a: A }"), "`flatten` excludes other"),
        (params("struct P { #[serde(skip)] #[param(range = 1..)] a: A }"), "the model never sees this field"),
        (params("enum P { A(#[param(default = 1)] i64) }"), "because the field has no name"),
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

/// Returns `word` with each letter left out, doubled, exchanged with the next, or replaced.
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
fn a_mistyped_argument_suggests_the_nearest_name() {
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
