//! Resources and prompts of a server of the official SDK.

use super::{registry, within};
use rmcp::handler::server::ServerHandler;
use rmcp::model::{
    ErrorData, GetPromptRequestParams, GetPromptResponse, GetPromptResult, ListPromptsResult,
    ListResourceTemplatesResult, ListResourcesResult, PaginatedRequestParams, Prompt, PromptArgument,
    PromptMessage, ReadResourceRequestParams, ReadResourceResponse, ReadResourceResult, Resource,
    ResourceContents, ResourceTemplate, Role, ServerCapabilities, ServerConfig,
};
use rmcp::service::{RequestContext, RoleServer, serve_server};
use serde_json::json;
use tokio::io::{duplex, split};
use toolkit::Content;
use toolkit_mcp::client::{McpClient, McpEndpoint, McpErrorKind, McpProtocol};

/// A server with two pages of resources, a template, and a prompt.
#[derive(Clone)]
struct Library;

impl ServerHandler for Library {
    fn get_info(&self) -> ServerConfig {
        ServerConfig::new(
            ServerCapabilities::builder().enable_tools().enable_resources().enable_prompts().build(),
        )
    }

    async fn list_resources(
        &self,
        page: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListResourcesResult, ErrorData> {
        let is_first = page.and_then(|page| page.cursor).is_none();
        let resource = if is_first {
            Resource::new("file:///a", "a").with_description("The first\u{e0041} letter.")
        } else {
            Resource::new("file:///b", "b").with_mime_type("image/png")
        };
        let mut page = ListResourcesResult::with_all_items(vec![resource]);
        page.next_cursor = is_first.then(|| "2".to_owned());
        Ok(page)
    }

    async fn list_resource_templates(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListResourceTemplatesResult, ErrorData> {
        Ok(ListResourceTemplatesResult::with_all_items(vec![ResourceTemplate::new("file:///{name}", "any")]))
    }

    async fn read_resource(
        &self,
        params: ReadResourceRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<ReadResourceResponse, ErrorData> {
        let contents = match params.uri.as_str() {
            "file:///a" => vec![ResourceContents::text("A\u{e0041}", "file:///a")],
            "file:///b" => vec![ResourceContents::blob("aGk=", "file:///b").with_mime_type("image/png")],
            "file:///" => {
                vec![ResourceContents::text("A", "file:///a"), ResourceContents::text("C", "file:///c")]
            }
            _ => return Err(ErrorData::resource_not_found("no such file", None)),
        };
        Ok(ReadResourceResult::new(contents).into())
    }

    async fn list_prompts(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListPromptsResult, ErrorData> {
        let arguments = vec![PromptArgument::new("letter").with_required(true)];
        Ok(ListPromptsResult::with_all_items(vec![Prompt::new("spell", Some("Spells."), Some(arguments))]))
    }

    async fn get_prompt(
        &self,
        params: GetPromptRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<GetPromptResponse, ErrorData> {
        let letter = params.arguments.unwrap_or_default()["letter"].as_str().unwrap().to_owned();
        let messages = vec![
            PromptMessage::new_text(Role::User, format!("Spell {letter}.")),
            PromptMessage::new_text(Role::Assistant, letter),
        ];
        Ok(GetPromptResult::new(messages).into())
    }
}

async fn connect(protocol: McpProtocol) -> McpClient {
    let (near, far) = duplex(1 << 16);
    tokio::spawn(async move {
        let _ = serve_server(Library, far).await.unwrap().waiting().await;
    });
    let (reader, writer) = split(near);
    let builder = McpClient::builder(McpEndpoint::streams(reader, writer)).with_namespace("files");
    within(builder.with_protocol(protocol).connect()).await.unwrap()
}

const PROTOCOLS: [McpProtocol; 2] = [McpProtocol::Stateless, McpProtocol::Handshake];

#[tokio::test]
async fn resources_are_listed_and_read() {
    for protocol in PROTOCOLS {
        let client = connect(protocol).await;
        let resources = within(client.resources()).await.unwrap();
        let uris: Vec<&str> = resources.iter().map(|resource| resource.uri.as_str()).collect();
        assert_eq!(uris, ["file:///a", "file:///b"]);
        assert_eq!(resources[0].description.as_deref(), Some("The first letter."));
        assert_eq!(resources[1].media_type.as_deref(), Some("image/png"));
        assert_eq!(within(client.resource_templates()).await.unwrap()[0].uri, "file:///{name}");
        assert_eq!(within(client.read_resource("file:///a")).await.unwrap(), [Content::text("A")]);
        let image = within(client.read_resource("file:///b")).await.unwrap();
        assert!(matches!(&image[..], [Content::Image(_)]), "{image:?}");
        let folder = within(client.read_resource("file:///")).await.unwrap();
        assert_eq!(
            folder,
            [Content::text("[resource file:///a]\nA"), Content::text("[resource file:///c]\nC")]
        );
        let error = within(client.read_resource("file:///x")).await.unwrap_err();
        assert_eq!(error.kind(), McpErrorKind::Protocol);
        let text = "MCP server `files`: the server refused `resources/read`: no such file (code ";
        assert!(error.to_string().starts_with(text), "{error}");
        client.close().await;
        assert_eq!(client.resources().await.unwrap_err().kind(), McpErrorKind::Connection);
    }
}

#[tokio::test]
async fn prompts_are_listed_and_filled_in() {
    for protocol in PROTOCOLS {
        let client = connect(protocol).await;
        let prompts = within(client.prompts()).await.unwrap();
        assert_eq!((prompts[0].name.as_str(), prompts[0].description.as_deref()), ("spell", Some("Spells.")));
        assert_eq!(
            (prompts[0].arguments[0].name.as_str(), prompts[0].arguments[0].is_required),
            ("letter", true)
        );
        let messages = within(client.prompt("spell", [("letter".to_owned(), "z".to_owned())])).await.unwrap();
        let messages: Vec<_> =
            messages.into_iter().map(|message| (message.is_from_model, message.content)).collect();
        assert_eq!(messages, [(false, Content::text("Spell z.")), (true, Content::text("z"))]);
        client.close().await;
    }
}

#[tokio::test]
async fn a_model_lists_and_reads_resources_with_tools() {
    let client = connect(McpProtocol::Auto).await;
    let mut registry = registry(&client);
    registry.register_provider(client.resource_tools().unwrap()).unwrap();
    let list = within(registry.call("files-list_resources", "{}")).await.unwrap();
    let expected = "file:///a (a; The first letter.)\nfile:///b (b; image/png)\nfile:///{name} (any)";
    assert_eq!(list.to_text(), expected);
    let read = within(registry.call("files-read_resource", json!({"uri": "file:///a"}))).await.unwrap();
    assert_eq!(read.to_text(), "A");
    let error = within(registry.call("files-read_resource", json!({"uri": "file:///x"}))).await.unwrap_err();
    assert!(
        error.message().contains("no such file") && error.message().contains("use a listed URI"),
        "{error}"
    );
    within(registry.call("files-read_resource", "{}")).await.unwrap_err();
}
