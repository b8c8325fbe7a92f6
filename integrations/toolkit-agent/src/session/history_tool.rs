//! The tool `search_history`, which finds messages in saved conversations.

use super::sessions::Sessions;
use super::store::ConversationKey;
use crate::conversation::{Conversation, Owner};
use serde::Deserialize;
use std::time::{SystemTime, UNIX_EPOCH};
use toolkit_core::schemars::JsonSchema;
use toolkit_core::{BuildError, ClosureTool, ToolContext, ToolError};
use toolkit_llm::Message;

const MAX_MESSAGES: usize = 50;
const MAX_CONVERSATIONS: usize = 100;
const MAX_CHARS: usize = 200;

#[derive(Deserialize, JsonSchema)]
#[schemars(crate = "toolkit_core::schemars")]
struct SearchArguments {
    /// The text to find, in lowercase or uppercase. Empty for all messages.
    #[serde(default)]
    keyword: String,
    /// The name of the agent to search for. Empty for your own.
    #[serde(default)]
    agent: String,
    /// The maximum number of messages, at most 50.
    #[serde(default = "ten")]
    limit: usize,
}

fn ten() -> usize {
    10
}

impl Sessions {
    /// Creates the tool `search_history`, which finds messages in the user's saved conversations.
    ///
    /// It returns the latest messages with a keyword, at most 50, each with its time (UTC) and author. It
    /// searches messages of the user and of one agent, in those of the latest 100 conversations that have a
    /// message from this agent.
    ///
    /// It never reads conversations of another [user](Conversation::user_id) than that of the calling
    /// conversation.
    ///
    /// ```
    /// use toolkit_ai::agent::{Agent, Sessions};
    /// use toolkit_ai::llm::ScriptedModel;
    /// use toolkit_ai::ToolRegistry;
    ///
    /// # tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap().block_on(async {
    /// let sessions = Sessions::default();
    /// let model = ScriptedModel::new()
    ///     .text("Nice to meet you.")
    ///     .call("search_history", r#"{"keyword": "name"}"#)
    ///     .text("Ada.");
    /// let tools = ToolRegistry::from_tools([sessions.history_tool()?])?;
    /// let agent = Agent::builder(model).tools(tools).build()?;
    /// agent.run("My name is Ada.").on(sessions.user("ada").conversation("monday")).await?;
    /// let output = agent.run("Who am I?").on(sessions.user("ada").conversation("tuesday")).await?;
    /// assert!(output.messages[2].to_text().ends_with("User: My name is Ada."));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// # }).unwrap();
    /// ```
    ///
    /// # Errors
    /// This method currently returns no error.
    pub fn history_tool(&self) -> Result<ClosureTool, BuildError> {
        let sessions = self.clone();
        let search = move |arguments: SearchArguments, context: ToolContext| {
            let sessions = sessions.clone();
            async move { search(&sessions, arguments, &context).await }
        };
        let description = "Search the history of conversations for earlier messages.";
        ClosureTool::new_with_context("search_history", description, search)
    }
}

async fn search(
    sessions: &Sessions,
    arguments: SearchArguments,
    context: &ToolContext,
) -> Result<String, ToolError> {
    let agent = match arguments.agent.as_str() {
        "" => context.agent_name().unwrap_or_default(),
        agent => agent,
    };
    if agent.is_empty() {
        return Ok("No agent specified.".to_owned());
    }
    let user = context.extension::<Owner>().map(|owner| owner.0.as_str()).unwrap_or_default();
    let keyword = arguments.keyword.trim().to_lowercase();
    let mut found = Vec::new();
    let limit = arguments.limit.min(MAX_MESSAGES);
    let conversations = sessions.user(user).list().await.map_err(ToolError::failed)?;
    // The list begins with the latest conversation.
    for info in conversations.iter().take(MAX_CONVERSATIONS) {
        let Some(left @ 1..) = limit.checked_sub(found.len()) else { break };
        let conversation =
            sessions.read(ConversationKey { user, id: &info.id }).await.map_err(ToolError::failed)?;
        let messages = conversation.map(|conversation| find(&conversation, agent, &keyword));
        found.extend(messages.into_iter().flatten().rev().take(left));
    }
    if found.is_empty() {
        return Ok(if conversations.len() > MAX_CONVERSATIONS {
            format!("No history found in the latest {MAX_CONVERSATIONS} conversations.")
        } else {
            "No history found.".to_owned()
        });
    }
    found.reverse();
    found.sort_by_key(|(time, _)| *time);
    Ok(found.into_iter().map(|(_, line)| line).collect::<Vec<_>>().join("\n"))
}

/// Returns the messages of the user and of `agent` that contain `keyword`, as times and lines of text.
///
/// Empty if `agent` wrote no message in the conversation.
fn find(conversation: &Conversation, agent: &str, keyword: &str) -> Vec<(Option<SystemTime>, String)> {
    let is_of_agent =
        |message: &Message| matches!(message, Message::Assistant(message) if message.agent == agent);
    if !conversation.messages().iter().any(is_of_agent) {
        return Vec::new();
    }
    let messages = conversation.messages().iter().enumerate();
    let found = messages.filter_map(|(index, message)| {
        let author = match message {
            Message::User(_) => "User",
            message if is_of_agent(message) => "AI",
            _ => return None,
        };
        let time = conversation.time_of(index);
        let text = message.to_text();
        let matches = !text.is_empty() && text.to_lowercase().contains(keyword);
        matches.then(|| (time, line(time, author, &text)))
    });
    found.collect()
}

fn line(time: Option<SystemTime>, author: &str, text: &str) -> String {
    let mut text = text.replace(['\n', '\r'], " ");
    if let Some((end, _)) = text.char_indices().nth(MAX_CHARS) {
        text.truncate(end);
        text.push_str("...");
    }
    let time = time.map(|time| format!("[{}] ", date(time))).unwrap_or_default();
    format!("{time}{author}: {text}")
}

/// Formats a time as month, day, hour and minute.
///
/// Each year begins on the first of March, so that the leap day is the last day. From March on, every five
/// months have 153 days.
pub(crate) fn date(time: SystemTime) -> String {
    let minutes = time.duration_since(UNIX_EPOCH).unwrap_or_default().as_secs() / 60;
    let hour = minutes / 60 % 24;
    let minute = minutes % 60;
    // The days since the first of March of a year divisible by 400.
    let days = (minutes / 60 / 24 + 719_468) % 146_097;
    let year = (days - days / 1_460 + days / 36_524 - days / 146_096) / 365;
    let day_of_year = days - (365 * year + year / 4 - year / 100);
    let month = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month + 2) / 5 + 1;
    format!("{:02}-{day:02} {hour:02}:{minute:02}", if month < 10 { month + 3 } else { month - 9 })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    #[test]
    fn dates_follow_the_calendar() {
        for (seconds, expected) in [
            (0, "01-01 00:00"),
            (951_782_400, "02-29 00:00"),
            (951_868_800, "03-01 00:00"),
            (1_735_689_599, "12-31 23:59"),
            (1_735_689_600, "01-01 00:00"),
            (4_107_542_400, "03-01 00:00"),
        ] {
            assert_eq!(date(UNIX_EPOCH + Duration::from_secs(seconds)), expected, "{seconds}");
        }
    }
}
