//! Structs around one value, as parameters.

use serde_json::json;
use toolkit_ai::{ToolParams, ToolRegistry, tool, tools};

/// The id of a user.
#[derive(ToolParams)]
struct UserId(#[param(range = 1..)] u64);

/// Any value of a kind.
#[derive(ToolParams)]
struct Named<T>(T);

/// An order.
#[derive(ToolParams)]
struct Order {
    user: UserId,
    #[param(default)]
    gift: Option<Named<String>>,
}

/// Places orders.
#[tool]
fn place(first: Order, user: UserId) -> String {
    format!("{} {} {}", first.user.0, first.gift.map_or_else(|| "-".to_owned(), |gift| gift.0), user.0)
}

#[tokio::test]
async fn a_struct_around_one_value_has_the_form_of_the_value() {
    let registry = ToolRegistry::from_tools(tools![place]).unwrap();
    let definition = registry.get("place").unwrap().definition();
    let user = &definition.parameters["properties"]["user"];
    assert_eq!(*user, json!({"type": "integer", "minimum": 1, "description": "The id of a user."}));
    let arguments = json!({"first": {"user": "7", "gift": "a book"}, "user": 8});
    assert_eq!(registry.call("place", arguments).await.unwrap().to_text(), "7 a book 8");
    let error = registry.call("place", json!({"first": {"user": 0}, "user": 1})).await.unwrap_err();
    assert!(error.message().contains("`first.user`: expected integer of at least 1"), "{error}");
}
