//! The inbox of a conversation: one line of JSON in a file beside the log, under the lock of the log.
//!
//! A save that takes items up names them in its line, and then they are deleted here. After a crash between
//! the two, the items that the last line names are ignored, and the next change deletes them before it does
//! anything else. So a line never follows while items of the one before are still here.

use super::line::{invalid, now, sealed, unsealed};
use super::tail::{last_details, lock, shared};
use super::{create_folder, replace_file};
use serde::{Deserialize, Serialize};
use std::fs::{self, File};
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};
use toolkit_agent::session::InboxItem;

#[derive(Serialize, Deserialize)]
pub(super) struct Inbox {
    /// The number of the next item. The first one is the time, so that a deleted conversation that is
    /// created again has no number twice.
    next: u64,
    items: Vec<Item>,
    /// Whether the file still has items that the log has taken up.
    #[serde(skip)]
    pub(super) is_behind: bool,
}

#[derive(Serialize, Deserialize)]
struct Item {
    number: u64,
    name: String,
    content: String,
}

impl Item {
    fn to_public(&self) -> InboxItem {
        InboxItem { number: self.number, name: self.name.clone(), content: self.content.clone() }
    }
}

impl Inbox {
    /// Reads the inbox beside the locked log at `path`. `None` if it never had an item.
    pub(super) fn read(path: &Path, log: &mut File) -> io::Result<Option<Self>> {
        let text = match fs::read(path_of(path)) {
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
            text => text?,
        };
        let json = text.strip_suffix(b"\n").and_then(unsealed);
        let inbox: Option<Self> = json.and_then(|json| serde_json::from_slice(json).ok());
        let Some(mut inbox) = inbox else {
            let path = path_of(path);
            return Err(invalid(format!(
                "its inbox `{}` is damaged; restore it from a copy",
                path.display()
            )));
        };
        if inbox.items.is_empty() {
            return Ok(Some(inbox));
        }
        if let Some(details) = last_details(log)? {
            inbox.is_behind = inbox.remove(&details.taken);
        }
        Ok(Some(inbox))
    }

    /// Removes the items with these numbers, and returns whether there were some.
    pub(super) fn remove(&mut self, numbers: &[u64]) -> bool {
        let before = self.items.len();
        self.items.retain(|item| !numbers.contains(&item.number));
        self.items.len() < before
    }

    pub(super) fn write(&self, path: &Path) -> io::Result<()> {
        replace_file(&path_of(path), sealed(&serde_json::to_string(self)?).as_bytes())
    }

    pub(super) fn numbers(&self) -> Vec<u64> {
        self.items.iter().map(|item| item.number).collect()
    }

    pub(super) fn clear(&mut self) {
        self.items.clear();
    }
}

pub(super) fn put(path: &Path, name: String, content: String) -> io::Result<InboxItem> {
    create_folder(path.parent().unwrap_or(Path::new(".")))?;
    let mut log = lock(path, File::options().create(true).truncate(false).read(true).write(true))?;
    let mut inbox = match Inbox::read(path, &mut log)? {
        Some(inbox) => inbox,
        None => Inbox { next: now(), items: Vec::new(), is_behind: false },
    };
    for item in &inbox.items {
        if item.name == name {
            return Ok(item.to_public());
        }
    }
    let item = Item { number: inbox.next, name, content };
    let added = item.to_public();
    inbox.next += 1;
    inbox.items.push(item);
    inbox.write(path)?;
    Ok(added)
}

pub(super) fn items(path: &Path) -> io::Result<Vec<InboxItem>> {
    let Some(mut log) = shared(path)? else { return Ok(Vec::new()) };
    let Some(inbox) = Inbox::read(path, &mut log)? else { return Ok(Vec::new()) };
    Ok(inbox.items.iter().map(Item::to_public).collect())
}

pub(super) fn take(path: &Path, number: u64) -> io::Result<bool> {
    let mut log = match lock(path, File::options().read(true).write(true)) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(false),
        log => log?,
    };
    let Some(mut inbox) = Inbox::read(path, &mut log)? else { return Ok(false) };
    if !inbox.remove(&[number]) {
        return Ok(false);
    }
    inbox.write(path)?;
    Ok(true)
}

/// Deletes the file beside the locked log at `path`, if there is one.
pub(super) fn delete(path: &Path) -> io::Result<()> {
    match fs::remove_file(path_of(path)) {
        Err(error) if error.kind() != ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

fn path_of(log: &Path) -> PathBuf {
    log.with_extension("inbox")
}
