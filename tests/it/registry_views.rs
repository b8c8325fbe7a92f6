//! Views of registries, fixed and live.

use toolkit_ai::name::Separator;
use toolkit_ai::prelude::*;
use toolkit_ai::registry::{Collision, TagMatch};
use toolkit_ai::{ArgumentTransform, ErrorKind, RegistryView, ToolFilter, ToolName, ToolTag};

/// Reads.
#[tool(namespace = "files", read_only, register = false)]
fn read(path: String) -> String {
    path
}

/// Removes.
#[tool(namespace = "files", tags("destructive"), register = false)]
fn remove(path: String, force: bool) -> String {
    format!("{path} {force}")
}

/// Waits.
#[tool(register = false)]
fn pause() -> &'static str {
    "done"
}

fn registry() -> ToolRegistry {
    ToolRegistry::from_tools(tools![read, remove, pause]).expect("no collisions")
}

fn names(registry: &ToolRegistry) -> Vec<&str> {
    registry.names().collect()
}

fn dot(namespace: &'static str) -> impl Fn(RegistryView) -> RegistryView {
    move |view| view.in_namespace(namespace, Separator::Dot)
}

#[tokio::test]
async fn steps_apply_in_order() {
    let view = RegistryView::new()
        .filter(ToolFilter::new().in_namespaces(["files"]))
        .rename("files-remove", "delete")
        .adapt("delete", |tool| {
            tool.with_description("Deletes.").with_arguments([
                ArgumentTransform::new("force").fixed(false),
                ArgumentTransform::new("path").with_name("file"),
            ])
        })
        .map_metadata(|definition, metadata| {
            let title = definition.name.method_name().to_uppercase();
            metadata.with_title(title)
        });
    let view = dot("disk")(view).filter(ToolFilter::new().exclude(["nothing"]).unwrap());
    let shown = registry().viewed(&view).expect("possible");
    assert_eq!(names(&shown), ["disk.delete", "disk.read"]);
    let titles: Vec<_> =
        shown.iter_definitions().map(|definition| definition.metadata.title.clone()).collect();
    assert_eq!(titles, [Some("DELETE".to_owned()), Some("READ".to_owned())]);
    let answer = shown.call("disk.delete", r#"{"file": "a"}"#).await.expect("it runs");
    assert_eq!(answer.to_text(), "a false");
    assert_eq!(names(&registry()), ["files-read", "files-remove", "pause"], "the registry itself stays");
}

#[test]
fn an_impossible_view_fails_with_all_reasons() {
    let view = RegistryView::new()
        .rename("files-raed", "x")
        .rename("pause", "files-read")
        .adapt("files-remove", |tool| tool.with_arguments([ArgumentTransform::new("pth").hidden()]))
        .rename_all(|name| match name.as_str() {
            "files-read" => ToolName::new("same"),
            _ => Ok(name.clone()),
        });
    let error = registry().viewed(&view).expect_err("nothing of it is possible");
    let text = error.to_string();
    for expected in [
        "tool `files-raed` not found; did you mean `files-read`",
        "tool `same` is defined twice",
        "argument `pth` of tool `files-remove` (defined at ",
        "cannot be transformed: the tool has no such argument; did you mean `path`",
    ] {
        assert!(text.contains(expected), "{text}");
    }
    assert_eq!(error.problems().len(), 3, "{text}");
    let illegal = RegistryView::new().rename("pause", "no blanks");
    assert!(registry().viewed(&illegal).expect_err("a blank").to_string().contains("no blanks"));
}

#[tokio::test]
async fn disabled_tools_stay_disabled_in_a_view() {
    let mut registry = registry();
    registry.disable_namespace("files", "closed").expect("it is there");
    registry.enable("files-read").expect("it is there");
    registry.disable_tags(TagMatch::any([ToolTag::Destructive]), "too dangerous").expect("known");
    let view = RegistryView::new().rename("files-read", "open").rename("pause", "files-pause");
    let shown = registry.viewed(&view).expect("possible");
    assert_eq!(names(&shown), ["files-pause", "open"]);
    assert_eq!(shown.disabled_reason("files-remove"), Some("closed"));
    let error = shown.call("files-remove", "{}").await.expect_err("it is closed");
    assert_eq!(error.kind(), ErrorKind::Disabled);
}

#[test]
fn the_tools_of_a_namespace_are_replaced_together() {
    let mut registry = registry();
    registry.disable("files-read", "broken").expect("it is there");
    registry.override_tool("files-remove", pause::tool()).expect("it is there");
    let coming =
        [read::tool().with_description("Reads anew."), remove::tool().with_description("Removes anew.")];
    registry.replace_namespace("Files", coming, Separator::Dash).expect("possible");
    let read = registry.get_any("files-read").expect("it is there").definition();
    assert_eq!(
        (read.description.as_str(), registry.disabled_reason("files-read")),
        ("Reads anew.", Some("broken"))
    );
    assert_eq!(registry.get("files-remove").expect("it is there").definition().description, "Waits.");
    registry.restore("files-remove").expect("it is overridden");
    assert_eq!(registry.get("files-remove").expect("it is there").definition().description, "Removes anew.");

    registry.replace_namespace("files", [pause::tool()], Separator::Dash).expect("possible");
    assert_eq!(names(&registry), ["files-pause", "pause"]);
    assert!(registry.overridden().next().is_none());
    let dashed = pause::tool().with_name(ToolName::new("get-page").expect("legal"));
    registry.replace_namespace("files", [dashed], Separator::Dash).expect("possible");
    assert_eq!(names(&registry), ["files-get-page", "pause"], "a dash is no namespace");
    registry.replace_namespace("files", [pause::tool()], Separator::Dash).expect("possible");
    let twice = registry.replace_namespace("files", [pause::tool(), pause::tool()], Separator::Dash);
    assert!(twice.expect_err("one name twice").to_string().contains("`pause`"));
    assert_eq!(names(&registry), ["files-pause", "pause"]);
    registry.merge_with(self::registry(), Collision::Keep).expect("what is there stays");
}
