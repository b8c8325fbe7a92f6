//! Unknown members: the error names each, and those allowed beside others.

use toolkit_ai::prelude::*;
use toolkit_ai::schemars::JsonSchema;
use toolkit_ai::{ClosureTool, ErrorKind};

#[derive(serde::Deserialize, JsonSchema)]
#[serde(tag = "action", rename_all = "snake_case")]
#[expect(dead_code)]
enum Tagged {
    Create { title: String },
    Delete { id: u64, force: Option<bool> },
}

#[derive(serde::Deserialize, JsonSchema)]
#[serde(tag = "action", rename_all = "snake_case", deny_unknown_fields)]
#[expect(dead_code)]
enum Denying {
    Create { title: String },
    Delete { id: u64, force: Option<bool> },
}

#[derive(serde::Deserialize, JsonSchema)]
#[serde(tag = "action", content = "with", rename_all = "snake_case")]
#[expect(dead_code)]
enum Adjacent {
    Create { title: String },
    Delete { id: u64, force: Option<bool> },
}

#[derive(serde::Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[expect(dead_code)]
enum External {
    Create { title: String },
    Delete { id: u64, force: Option<bool> },
}

#[derive(serde::Deserialize, JsonSchema)]
#[serde(untagged)]
#[expect(dead_code)]
enum Untagged {
    Create { title: String },
    Delete { id: u64, force: Option<bool> },
}

#[derive(serde::Deserialize, JsonSchema)]
#[expect(dead_code)]
struct Flattened<T> {
    label: Option<String>,
    #[serde(flatten)]
    rest: T,
}

#[derive(serde::Deserialize, JsonSchema)]
#[expect(dead_code)]
struct Inside<T> {
    part: T,
}

async fn refused<T>(arguments: &str) -> String
where
    T: serde::de::DeserializeOwned + JsonSchema + Send + 'static,
{
    let tool = ClosureTool::new("act", "Acts.", |_: T| "done").expect("a tool");
    let registry = ToolRegistry::from_tools([tool]).expect("one tool");
    let error = registry.call("act", arguments).await.expect_err(arguments);
    assert_eq!(error.kind(), ErrorKind::InvalidArguments, "{arguments}");
    error.message().replace("Error validating JSON arguments: ", "")
}

const CREATE: &str = "use `action` or `title`";
const DELETE: &str = "use `action` or `id` or `force`";

async fn about_x<T>(arguments: &str) -> String
where
    T: serde::de::DeserializeOwned + JsonSchema + Send + 'static,
{
    let message = refused::<T>(arguments).await;
    let (_, about) = message.split_once("`x`: there is no such parameter; ").expect(&message);
    about.to_owned()
}

#[tokio::test]
async fn an_unknown_member_of_a_root_is_named_with_the_members_that_are_allowed() {
    let created = r#"{"action": "create", "title": "a", "x": 1}"#;
    let deleted = r#"{"action": "delete", "id": 1, "x": 1}"#;
    assert_eq!(about_x::<Tagged>(created).await, CREATE);
    assert_eq!(about_x::<Tagged>(deleted).await, DELETE);
    assert_eq!(about_x::<Denying>(created).await, CREATE);
    assert_eq!(about_x::<Denying>(deleted).await, DELETE);
    assert_eq!(about_x::<Flattened<Tagged>>(created).await, "use `label` or `action` or `title`");
    let all = "use `label` or `action` or `title` or `id` or `force`";
    assert_eq!(about_x::<Flattened<Tagged>>(r#"{"x": 1}"#).await, all, "no variant is chosen");
    let adjacent = r#"{"action": "create", "with": {"title": "a"}, "x": 1}"#;
    assert_eq!(about_x::<Adjacent>(adjacent).await, "use `action` or `with`");
    let external = r#"{"create": {"title": "a"}, "x": 1}"#;
    assert_eq!(about_x::<External>(external).await, "use `create`");
    assert_eq!(about_x::<Flattened<External>>(external).await, "use `label` or `create`");
    let all = "use `label` or `create` or `delete`";
    assert_eq!(about_x::<Flattened<External>>(r#"{"label": "a", "x": 1}"#).await, all);
    assert_eq!(about_x::<Untagged>(r#"{"title": "a", "x": 1}"#).await, "use `title`");
    assert_eq!(about_x::<Flattened<Untagged>>(r#"{"title": "a", "x": 1}"#).await, "use `label` or `title`");
    assert_eq!(about_x::<Inside<Untagged>>(r#"{"part": {"title": "a"}, "x": 1}"#).await, "use `part`");
}

#[tokio::test]
async fn a_member_of_another_variant_is_none_of_this_one() {
    let title = r#"{"action": "delete", "id": 1, "title": "a"}"#;
    let message = format!("`title`: there is no such parameter; {DELETE}");
    assert_eq!(refused::<Tagged>(title).await, message);
    assert_eq!(refused::<Denying>(title).await, message);
}

#[tokio::test]
async fn an_unknown_member_inside_is_named_with_the_members_that_are_allowed() {
    let part = |inner: &str| format!(r#"{{"part": {inner}}}"#);
    let created = part(r#"{"action": "create", "title": "a", "x": 1}"#);
    let message = |names: &str| format!("`part.x`: there is no such property; use {names}");
    assert_eq!(refused::<Inside<Tagged>>(&created).await, message("`action` or `title`"));
    assert_eq!(refused::<Inside<Denying>>(&created).await, message("`action` or `title`"));
    let flattened = refused::<Inside<Flattened<Tagged>>>(&created).await;
    assert_eq!(flattened, message("`label` or `action` or `title`"));
    let external = part(r#"{"create": {"title": "a"}, "x": 1}"#);
    assert_eq!(refused::<Inside<Flattened<External>>>(&external).await, message("`label` or `create`"));
    let untagged = part(r#"{"title": "a", "x": 1}"#);
    assert_eq!(refused::<Inside<Untagged>>(&untagged).await, message("`title`"));
    let content = r#"{"action": "create", "with": {"title": "a", "x": 1}}"#;
    assert_eq!(refused::<Adjacent>(content).await, "`with.x`: there is no such property; use `title`");
}
