//! Pages that are read downwards: each crate's closures, and those that a reader must unfold.
//!
//! The counts in `speech.txt` may only become smaller.

use super::{SOURCES, root, rust_files};
use proc_macro2::{Span, TokenStream, TokenTree};
use quote::ToTokens;
use std::fs;
use syn::parse::Parser;
use syn::punctuated::Punctuated;
use syn::spanned::Spanned;
use syn::visit::{self, Visit};
use syn::{Block, Expr, ExprClosure, ItemMod, Local, Macro, Pat, Stmt, Token};

/// The counts in a crate, without tests.
#[derive(Debug, Default, PartialEq)]
struct Counts {
    lines: usize,
    closures: usize,
    /// Closures that branch, by `if`, `match`, a loop or `?`.
    branches: usize,
    /// Closures with a block as body.
    blocks: usize,
    /// Closures with closures inside.
    nested: usize,
    /// Closures named and used once.
    named_once: usize,
    /// `let x = …; let x = x.…`: two values under one name.
    shadowed: usize,
    /// The place of each, except plain closures.
    places: Vec<String>,
}

impl Counts {
    fn read(&mut self, file: &str, source: &str) {
        let code = source.split("#[cfg(test)]\nmod ").next().unwrap_or_default();
        let is_code = |line: &&str| !line.trim().is_empty() && !line.trim().starts_with("//");
        self.lines += code.lines().filter(is_code).count();
        let from = self.places.len();
        self.visit_file(&syn::parse_file(source).expect("the file is Rust"));
        for place in &mut self.places[from..] {
            place.insert_str(0, file);
        }
    }

    fn place(&mut self, at: Span, kind: &str) {
        self.places.push(format!(":{}: {kind}", at.start().line));
    }

    fn closures_in_1000_lines(&self) -> usize {
        (self.closures * 1_000).div_ceil(self.lines.max(1))
    }

    /// What a reader must unfold, by the columns of `speech.txt`.
    fn unfolded(&self) -> [usize; 5] {
        [self.branches, self.blocks, self.nested, self.named_once, self.shadowed]
    }
}

impl<'a> Visit<'a> for Counts {
    fn visit_item_mod(&mut self, module: &'a ItemMod) {
        let is_test = module.attrs.iter().any(|attribute| {
            attribute.path().is_ident("cfg")
                && attribute.parse_args::<syn::Ident>().is_ok_and(|name| name == "test")
        });
        if !is_test {
            visit::visit_item_mod(self, module);
        }
    }

    fn visit_expr_closure(&mut self, closure: &'a ExprClosure) {
        let mut inside = Inside::default();
        inside.visit_expr(&closure.body);
        let is_block = matches!(*closure.body, Expr::Block(_));
        self.closures += 1;
        self.branches += usize::from(inside.branches);
        self.blocks += usize::from(is_block);
        self.nested += usize::from(inside.closures);
        let kinds = [(inside.branches, "a branch"), (is_block, "a block"), (inside.closures, "a closure")];
        for (_, kind) in kinds.iter().filter(|(is_kind, _)| *is_kind) {
            self.place(closure.span(), &format!("a closure with {kind}"));
        }
        visit::visit_expr_closure(self, closure);
    }

    fn visit_block(&mut self, block: &'a Block) {
        for (at, statement) in block.stmts.iter().enumerate() {
            let Some((name, value)) = named_value(statement) else { continue };
            let later = &block.stmts[at + 1..];
            if matches!(value, Expr::Closure(_)) {
                let mut count = 0;
                for statement in later {
                    count += uses(&name, statement.to_token_stream());
                }
                if count == 1 {
                    self.named_once += 1;
                    self.place(value.span(), "a closure with a name that is used once");
                }
            }
            for (next, value) in later.iter().filter_map(named_value) {
                if next != name {
                    continue;
                }
                if uses(&name, value.to_token_stream()) > 0 {
                    self.shadowed += 1;
                    self.place(value.span(), &format!("a second value with the name `{name}`"));
                }
                break;
            }
        }
        visit::visit_block(self, block);
    }

    fn visit_macro(&mut self, called: &'a Macro) {
        for argument in arguments(called) {
            <Self as Visit<'_>>::visit_expr(self, &argument);
        }
    }
}

#[derive(Default)]
struct Inside {
    branches: bool,
    closures: bool,
}

impl<'a> Visit<'a> for Inside {
    fn visit_expr(&mut self, expr: &'a Expr) {
        self.closures |= matches!(expr, Expr::Closure(_));
        self.branches |= matches!(
            expr,
            Expr::If(_) | Expr::Match(_) | Expr::ForLoop(_) | Expr::While(_) | Expr::Loop(_) | Expr::Try(_)
        );
        visit::visit_expr(self, expr);
    }

    fn visit_macro(&mut self, called: &'a Macro) {
        for argument in arguments(called) {
            <Self as Visit<'_>>::visit_expr(self, &argument);
        }
    }
}

/// The arguments of a macro such as `format!`, if called like a function.
fn arguments(called: &Macro) -> Punctuated<Expr, Token![,]> {
    Punctuated::parse_terminated.parse2(called.tokens.clone()).unwrap_or_default()
}

fn named_value(statement: &Stmt) -> Option<(String, &Expr)> {
    let Stmt::Local(Local { pat, init: Some(init), .. }) = statement else { return None };
    let pattern = match pat {
        Pat::Type(typed) => &typed.pat,
        pattern => pattern,
    };
    let Pat::Ident(name) = pattern else { return None };
    Some((name.ident.to_string(), &init.expr))
}

/// How often a name stands in code and formatted texts.
fn uses(name: &str, code: TokenStream) -> usize {
    let mut count = 0;
    for token in code {
        count += match token {
            TokenTree::Ident(ident) => usize::from(ident == name),
            TokenTree::Group(group) => uses(name, group.stream()),
            TokenTree::Literal(text) => {
                let text = text.to_string();
                text.matches(&format!("{{{name}}}")).count() + text.matches(&format!("{{{name}:")).count()
            }
            TokenTree::Punct(_) => 0,
        };
    }
    count
}

fn count(folder: &str) -> Counts {
    let mut counts = Counts::default();
    for (path, text) in rust_files(folder) {
        if !path.ends_with("tests.rs") && path.components().all(|part| part.as_os_str() != "tests") {
            let file = path.strip_prefix(root()).expect("inside of the repository");
            counts.read(&file.to_string_lossy(), &text);
        }
    }
    counts
}

#[test]
fn no_crate_gets_more_closures_that_a_reader_must_unfold() {
    let file = root().join("tests/tidy/speech.txt");
    let table = fs::read_to_string(&file).expect("the file can be read");
    let mut rows = Vec::new();
    for row in table.lines().filter(|row| !row.starts_with('#')) {
        let (folder, limits) = row.split_once(' ').expect("a folder and its counts");
        let mut limits = limits.split_whitespace().map(|limit| limit.parse().expect("a count"));
        let share: usize = limits.next().expect("a share");
        let limits: Vec<usize> = limits.collect();
        let counts = count(folder);
        let now = counts.unfolded();
        let is_more = now.iter().zip(&limits).any(|(now, limit)| now > limit);
        assert!(
            !is_more && counts.closures_in_1000_lines() <= share,
            "{folder} has {} closures in 1,000 lines and {now:?}, at most {share} and {limits:?}. Write loops, early \
            returns or functions with names:\n{}",
            counts.closures_in_1000_lines(),
            counts.places.join("\n")
        );
        assert!(now[..] == limits, "write what was won into {}: {folder} has {now:?}", file.display());
        rows.push(folder);
    }
    assert_eq!(rows, SOURCES);
}

#[test]
fn closures_and_second_values_are_counted() {
    let source = "fn f(a: Vec<u8>) -> Option<u8> {
        let even = |b: &&u8| **b % 2 == 0;
        let a = a.iter().filter(even).map(|b| { *b });
        let a = a.map(|b| if b > 1 { b } else { 0 });
        let c = || g(a)?;
        c();
        assert!(c().iter().all(|b| b.iter().any(|c| c)));
    }
    #[cfg(test)]
    mod tests {
        fn f() { (|| 1)() }
    }";
    let mut counts = Counts::default();
    counts.read("a.rs", source);
    assert_eq!((counts.closures, counts.closures_in_1000_lines()), (6, 500));
    assert_eq!(counts.unfolded(), [2, 1, 1, 1, 1]);
    assert_eq!(counts.places.len(), 6);
    assert_eq!(counts.places[1], "a.rs:4: a second value with the name `a`");
}
