//! Questions of a server to the user, asked in the terminal.

use crate::input::Input;
use crate::screen::{FAINT, NAME, Screen};
use serde_json::{Map, Value};
use std::io;
use toolkit_mcp::client::{ElicitationAnswer, ElicitationHandler, ElicitationKind, ElicitationRequest};
use toolkit_schema::{SchemaRef, describe};

/// Asks the user in the terminal. Without a terminal, questions are declined.
pub(crate) struct TerminalQuestions {
    input: Input,
    screen: Screen,
}

impl TerminalQuestions {
    pub(crate) fn new(input: Input) -> Self {
        Self { input, screen: Screen::new(false) }
    }

    async fn ask(&self, request: &ElicitationRequest) -> io::Result<ElicitationAnswer> {
        let screen = &self.screen;
        screen.note(format_args!("{NAME}{}{NAME:#} asks: {}", request.server, request.message))?;
        match &request.kind {
            ElicitationKind::Form { schema, .. } => self.fill_in(schema).await,
            ElicitationKind::Url { url, host, .. } => {
                screen.note(format_args!("open this page at {NAME}{host}{NAME:#}: {url}"))?;
                screen.prompt("Have you opened it? [y/N]")?;
                Ok(self.agreed(Map::new()).await)
            }
            _ => Ok(ElicitationAnswer::Decline),
        }
    }

    /// Asks for each property of a form. The client fills in defaults.
    async fn fill_in(&self, schema: &Value) -> io::Result<ElicitationAnswer> {
        let mut values = Map::new();
        let properties = schema.get("properties").and_then(Value::as_object).into_iter().flatten();
        for (name, property) in properties {
            let form = describe(SchemaRef::new(schema, property)).unwrap_or_default();
            let about = property.get("description").and_then(Value::as_str).unwrap_or_default();
            self.screen.prompt(format_args!("{name} {FAINT}{form} {about}{FAINT:#}:"))?;
            let Some(line) = self.input.line().await else { return Ok(ElicitationAnswer::Cancel) };
            let text = line.trim();
            if text.is_empty() {
                continue;
            }
            let is_text = property.get("type").is_none_or(|kind| kind == "string");
            let value = if is_text { None } else { serde_json::from_str(text).ok() };
            values.insert(name.clone(), value.unwrap_or_else(|| text.into()));
        }
        self.screen.prompt("Send this answer? [y/N]")?;
        Ok(self.agreed(values).await)
    }

    async fn agreed(&self, values: Map<String, Value>) -> ElicitationAnswer {
        match self.input.agreement().await {
            Some(true) => ElicitationAnswer::Accept(values),
            Some(false) => ElicitationAnswer::Decline,
            None => ElicitationAnswer::Cancel,
        }
    }
}

impl ElicitationHandler for TerminalQuestions {
    async fn answer(&self, request: ElicitationRequest) -> ElicitationAnswer {
        if !Input::is_interactive() {
            return ElicitationAnswer::Decline;
        }
        self.ask(&request).await.unwrap_or(ElicitationAnswer::Cancel)
    }
}
