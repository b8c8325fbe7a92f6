//! The places of runs: conversations that are new, lent or saved.

use crate::conversation::Conversation;
use crate::session::{SavedConversation, StoreError};
use std::ops::{Deref, DerefMut};

/// The conversation of a run: a new one, dropped at the end, or one of the program's.
///
/// | given to [`RunRequest::on`](crate::RunRequest::on) or [`Agent::resume`](crate::Agent::resume) | the run |
/// | --- | --- |
/// | `&mut conversation` | adds to the conversation, and saves it if it was opened from [`Sessions`](crate::Sessions) |
/// | `sessions.user("ada").conversation("1")` | opens the saved conversation, or creates it, and saves it |
///
/// A conversation is saved after the input, before each tool call, after each result while other calls run,
/// after each turn, and at the end, together with those of called and parallel agents. After a crash,
/// [`Agent::resume`](crate::Agent::resume) continues from the last save.
#[derive(Debug, Default)]
pub struct Place<'a>(Given<'a>);

#[derive(Debug, Default)]
enum Given<'a> {
    #[default]
    New,
    Lent(&'a mut Conversation),
    Saved(SavedConversation),
}

impl<'a> From<&'a mut Conversation> for Place<'a> {
    fn from(conversation: &'a mut Conversation) -> Self {
        Self(Given::Lent(conversation))
    }
}

impl From<SavedConversation> for Place<'_> {
    fn from(saved: SavedConversation) -> Self {
        Self(Given::Saved(saved))
    }
}

impl From<&SavedConversation> for Place<'_> {
    fn from(saved: &SavedConversation) -> Self {
        Self(Given::Saved(saved.clone()))
    }
}

impl<'a> Place<'a> {
    pub(crate) async fn open(self) -> Result<Opened<'a>, StoreError> {
        Ok(match self.0 {
            Given::New => Opened::Own(Conversation::default()),
            Given::Lent(conversation) => Opened::Lent(conversation),
            Given::Saved(saved) => Opened::Own(saved.open().await?),
        })
    }
}

#[allow(clippy::large_enum_variant, reason = "it is a part of the future of a run, which is boxed")]
pub(crate) enum Opened<'a> {
    Own(Conversation),
    Lent(&'a mut Conversation),
}

impl Deref for Opened<'_> {
    type Target = Conversation;

    fn deref(&self) -> &Conversation {
        match self {
            Self::Own(conversation) => conversation,
            Self::Lent(conversation) => conversation,
        }
    }
}

impl DerefMut for Opened<'_> {
    fn deref_mut(&mut self) -> &mut Conversation {
        match self {
            Self::Own(conversation) => conversation,
            Self::Lent(conversation) => conversation,
        }
    }
}
