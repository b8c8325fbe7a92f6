//! Each function, method and type has exactly one error for `Foo`, wherever its types contain `Foo`.
#![allow(dead_code, unused_variables)]

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet, VecDeque};
use std::sync::Arc;
use toolkit_ai::prelude::*;

struct Foo;

struct Bar;

#[derive(ToolParams)]
struct Page<T> {
    items: Vec<T>,
}

#[tool]
fn in_containers(
    a: HashMap<String, Foo>,
    b: BTreeMap<String, Foo>,
    c: HashSet<Foo>,
    d: BTreeSet<Foo>,
    e: Option<VecDeque<Vec<Foo>>>,
    f: &HashMap<String, Foo>,
) {
}

#[tool]
async fn in_other_types(
    a: (u8, Foo),
    b: (Foo, Foo),
    c: [Foo; 2],
    d: Result<u8, Foo>,
    e: Page<Foo>,
    f: Arc<Foo>,
    g: &[Foo],
    h: &[(Foo, u8)],
    i: Option<&Foo>,
    j: crate::Foo,
) {
}

#[tool]
fn of_two_types(a: HashMap<String, (Foo, Bar)>, b: Foo, c: Vec<Bar>) {}

struct Set;

#[toolset]
impl Set {
    #[tool]
    fn method(&self, a: HashMap<String, Foo>, b: (Foo, u8), c: self::Foo) {}
}

#[derive(ToolParams)]
struct Fields {
    a: HashMap<String, Foo>,
    b: BTreeSet<Foo>,
    c: (u8, Option<Foo>),
    d: [Foo; 2],
    e: Result<Foo, String>,
    f: Page<Foo>,
    g: crate::Foo,
}

#[derive(ToolParams)]
enum Variants {
    A(HashMap<String, Foo>),
    B(Foo, (Foo, u8)),
    C(Page<Foo>),
}

fn main() {}
