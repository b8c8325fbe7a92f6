//! The tool that searches earlier conversations.

use super::sessions::Sessions;
use super::store::StoreError;
use crate::conversation::{Conversation, Owner};
use crate::message::Message;
use serde::Deserialize;
use std::fmt;
use std::time::{SystemTime, UNIX_EPOCH};
use toolkit_core::schemars::JsonSchema;
use toolkit_core::{BuildError, ClosureTool, Tool, ToolContext, ToolDefinition, ToolError, ToolFuture};

/// The maximum length of a text, in characters.
const MAX_CHARS: usize = 200;

/// The tool `search_history` finds the latest messages with a keyword in the conversations of the user, with their
/// time (UTC) and author.
///
/// It never reads conversations of another user; the [conversation](Conversation::user_id) of the run names the user.
///
/// ```
/// use toolkit_agent::{Agent, ScriptedModel, Sessions, session::HistoryTool};
/// use toolkit::ToolRegistry;
///
/// # tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap().block_on(async {
/// let sessions = Sessions::default();
/// let model = ScriptedModel::new()
///     .text("Nice to meet you.")
///     .call("search_history", r#"{"keyword": "name"}"#)
///     .text("Ada.");
/// let tools = ToolRegistry::from_tools([HistoryTool::new(&sessions)?])?;
/// let agent = Agent::builder(model).tools(tools).build()?;
/// sessions.run(&agent, "ada", "monday", "My name is Ada.").await?;
/// let output = sessions.run(&agent, "ada", "tuesday", "Who am I?").await?;
/// assert!(output.messages[2].to_text().ends_with("User: My name is Ada."));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// # }).unwrap();
/// ```
#[derive(Clone)]
pub struct HistoryTool(ClosureTool);

#[derive(Deserialize, JsonSchema)]
#[schemars(crate = "toolkit_core::schemars")]
struct Arguments {
    /// What the message must contain, in small or capital letters. Empty for all messages.
    #[serde(default)]
    keyword: String,
    /// The name of the agent whose conversations are searched. Empty for your own.
    #[serde(default)]
    agent: String,
    /// The maximum number of messages.
    #[serde(default = "ten")]
    limit: usize,
}

fn ten() -> usize {
    10
}

impl HistoryTool {
    /// Creates the tool for these conversations.
    ///
    /// # Errors
    /// None at present.
    pub fn new(sessions: &Sessions) -> Result<Self, BuildError> {
        let sessions = sessions.clone();
        let search = move |arguments: Arguments, context: ToolContext| {
            let sessions = sessions.clone();
            async move { search(&sessions, arguments, &context).await }
        };
        let description = "Search the history of conversations for earlier messages.";
        ClosureTool::with_context("search_history", description, search).map(Self)
    }
}

/// A matching message.
struct Found {
    time: Option<SystemTime>,
    author: &'static str,
    text: String,
}

async fn search(
    sessions: &Sessions,
    arguments: Arguments,
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
    let found = find(sessions, user, agent, &keyword, arguments.limit).await.map_err(ToolError::failed)?;
    if found.is_empty() {
        return Ok("No history found.".to_owned());
    }
    Ok(found.iter().map(line).collect::<Vec<_>>().join("\n"))
}

/// Returns the latest messages with the keyword, in the order of their time.
async fn find(
    sessions: &Sessions,
    user: &str,
    agent: &str,
    keyword: &str,
    limit: usize,
) -> Result<Vec<Found>, StoreError> {
    let mut found = Vec::new();
    // The latest conversation comes first; reading ends at the limit.
    for info in sessions.list(user).await? {
        if found.len() >= limit {
            break;
        }
        let Some(conversation) = sessions.read(user, &info.id).await? else { continue };
        let messages = found_in(&conversation, agent, keyword);
        found.extend(messages.into_iter().rev().take(limit - found.len()));
    }
    found.reverse();
    found.sort_by_key(|found| found.time);
    Ok(found)
}

/// Returns the messages of the user and the agent with the keyword, if the agent took part.
fn found_in(conversation: &Conversation, agent: &str, keyword: &str) -> Vec<Found> {
    let is_of_agent = |message: &Message| match message {
        Message::Assistant(message) => message.agent == agent,
        _ => false,
    };
    if !conversation.messages().iter().any(is_of_agent) {
        return Vec::new();
    }
    let messages = conversation.messages().iter().enumerate();
    let found = messages.filter_map(|(position, message)| {
        let author = match message {
            Message::User(_) => "User",
            message if is_of_agent(message) => "AI",
            _ => return None,
        };
        let text = message.to_text();
        let matches = !text.is_empty() && text.to_lowercase().contains(keyword);
        matches.then(|| Found { time: conversation.time_of(position), author, text })
    });
    found.collect()
}

fn line(Found { time, author, text }: &Found) -> String {
    let mut text = text.replace(['\n', '\r'], " ");
    if let Some((end, _)) = text.char_indices().nth(MAX_CHARS) {
        text.truncate(end);
        text.push_str("...");
    }
    match time {
        Some(time) => format!("[{}] {author}: {text}", date(*time)),
        None => format!("{author}: {text}"),
    }
}

/// Formats month, day, hour and minute. Years start in March here, so that the leap day is the last; five months from
/// March on then have 153 days.
fn date(time: SystemTime) -> String {
    let minutes = time.duration_since(UNIX_EPOCH).unwrap_or_default().as_secs() / 60;
    let (hour, minute) = (minutes / 60 % 24, minutes % 60);
    // Days since the first of March of a year divisible by 400.
    let days = (minutes / 60 / 24 + 719_468) % 146_097;
    let year = (days - days / 1_460 + days / 36_524 - days / 146_096) / 365;
    let day_of_year = days - (365 * year + year / 4 - year / 100);
    let month = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month + 2) / 5 + 1;
    format!("{:02}-{day:02} {hour:02}:{minute:02}", if month < 10 { month + 3 } else { month - 9 })
}

impl Tool for HistoryTool {
    fn definition(&self) -> &ToolDefinition {
        self.0.definition()
    }

    fn call<'a>(&'a self, arguments: &'a str, context: &'a ToolContext) -> ToolFuture<'a> {
        self.0.call(arguments, context)
    }
}

impl fmt::Debug for HistoryTool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HistoryTool").finish_non_exhaustive()
    }
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
