//! Lists of conversations, from the ends of their files.

use super::inbox::Inbox;
use super::line::time;
use super::names::{ENDING, id_of, path_of};
use super::of_file;
use super::tail::{Header, last_details, shared};
use std::fs;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};
use toolkit_agent::session::{ConversationInfo, StoreError};

/// Returns the conversations of a user, or of all users. Those that have only an inbox have no times.
pub(super) fn listed(folder: &Path, user: Option<&str>) -> Result<Vec<ConversationInfo>, StoreError> {
    let users = match user {
        Some(user) => vec![(user.to_owned(), path_of(folder, user, ""))],
        None => paths(folder, "")?,
    };
    let mut found = Vec::new();
    for (user, folder) in users {
        for (id, path) in paths(&folder, ENDING)? {
            let info = ConversationInfo::new(user.as_str(), id);
            found.extend(of_file("read", &path, described(info, &path))?);
        }
    }
    Ok(found)
}

/// Adds what the files of a conversation say. `None` without a log and without items in the inbox.
fn described(info: ConversationInfo, path: &Path) -> io::Result<Option<ConversationInfo>> {
    // Another program may delete files during the listing.
    let Some(mut log) = shared(path)? else { return Ok(None) };
    let inbox = Inbox::read(path, &mut log)?.map_or(0, |inbox| inbox.numbers().len());
    let info = info.with_inbox(inbox);
    let header = Header::read(&mut log)?;
    let details = last_details(&mut log)?;
    let (Some(header), Some(details)) = (header, details) else {
        return Ok((inbox > 0).then_some(info));
    };
    Ok(Some(
        info.with_summary(details.summary)
            .with_created_at(time(header.created_at))
            .with_saved_at(time(details.at)),
    ))
}

/// Returns the ids with paths below `root`. The path for a long id contains several folders.
fn paths(root: &Path, ending: &str) -> Result<Vec<(String, PathBuf)>, StoreError> {
    let mut found = Vec::new();
    let mut folders = vec![root.to_owned()];
    while let Some(folder) = folders.pop() {
        let entries = match fs::read_dir(&folder) {
            Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => continue,
            entries => of_file("read", &folder, entries)?,
        };
        for entry in entries {
            let entry = of_file("read", &folder, entry)?;
            let path = entry.path();
            if let Some(id) = id_of(root, &path, ending) {
                found.push((id, path));
            } else if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
                folders.push(path);
            }
        }
    }
    Ok(found)
}
