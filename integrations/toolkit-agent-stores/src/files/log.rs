//! The log of one conversation: a file with the log's id and time in the first line, and one line for each
//! save.

use super::inbox::{self, Inbox};
use super::line::OwnedSave;
use super::tail::{Header, LENGTH_BITS, TAIL, Tail, lock, shared};
use super::{create_folder, replace_file, sync_folder};
use crate::random;
use std::fs::{self, File};
use std::io::{self, ErrorKind, Read, Seek, SeekFrom, Write};
use std::path::Path;
use toolkit_agent::session::ConversationLog;

/// Reads the log at `path`, without an incomplete last line. Returns `None` if there are no entries.
pub(super) fn read(path: &Path) -> io::Result<Option<ConversationLog>> {
    read_with(path, u64::MAX, 0)
}

/// Reads the saves from the one with this entry on.
pub(super) fn read_from(path: &Path, entry: u64) -> io::Result<Option<ConversationLog>> {
    read_with(path, TAIL, entry)
}

/// Reads the saves from the one with `entry` on, first in the last `size` bytes.
fn read_with(path: &Path, mut size: u64, entry: u64) -> io::Result<Option<ConversationLog>> {
    let Some(mut file) = shared(path)? else { return Ok(None) };
    let Some(header) = Header::read(&mut file)? else { return Ok(None) };
    loop {
        let tail = Tail::read(&mut file, size)?;
        if let Some(saves) = tail.saves_from(entry)? {
            let log = ConversationLog::new(saves, header.version(tail.end));
            return Ok(Some(log).filter(|log| !log.entries.is_empty()));
        }
        size = size.saturating_mul(4);
    }
}

/// Appends a save to a log of its version, and returns the new version.
pub(super) fn append(path: &Path, save: OwnedSave) -> io::Result<Option<u64>> {
    let length = length_of(save.version);
    let Some((mut file, header)) = open_at(path, save.version)? else { return Ok(None) };
    let inbox = Inbox::read(path, &mut file)?;
    if let Some(inbox) = inbox.as_ref().filter(|inbox| inbox.is_behind) {
        inbox.write(path)?;
    }
    let taken = save.taken.clone();
    let line = save.line()?;
    let text = if length == 0 { header.text() + &line } else { line };
    if file.metadata()?.len() > length {
        // A crash has interrupted this save.
        file.set_len(length)?;
    }
    file.seek(SeekFrom::Start(length))?;
    if let Err(error) = write_synced(&mut file, path, &text, length == 0) {
        // The caller treats the entries as unsaved, so no later load may read them.
        file.set_len(length)?;
        return Err(error);
    }
    if let Some(mut inbox) = inbox
        && inbox.remove(&taken)
    {
        // The line has taken the items up, whether this succeeds or not.
        let _ = inbox.write(path);
    }
    Ok(Some(header.version(length + text.len() as u64)))
}

fn write_synced(file: &mut File, path: &Path, text: &str, is_new: bool) -> io::Result<()> {
    file.write_all(text.as_bytes())?;
    file.sync_data()?;
    if is_new {
        // A new file is safe only when its folder is.
        sync_folder(path)?;
    }
    Ok(())
}

/// Replaces a log of the save's version by the save, empties the inbox, and returns the new version.
pub(super) fn replace(path: &Path, mut save: OwnedSave) -> io::Result<Option<u64>> {
    // The lock on the old file lasts until the new files are in their places.
    let Some((mut old, header)) = open_at(path, save.version)? else { return Ok(None) };
    let inbox = Inbox::read(path, &mut old)?;
    if let Some(inbox) = &inbox {
        save.taken = inbox.numbers();
    }
    let header = Header { id: random(), ..header };
    let text = header.text() + &save.line()?;
    replace_file(path, text.as_bytes())?;
    if let Some(mut inbox) = inbox {
        inbox.clear();
        inbox.write(path)?;
    }
    Ok(Some(header.version(text.len() as u64)))
}

/// Deletes a log and its inbox. Returns whether there was a log.
pub(super) fn delete(path: &Path) -> io::Result<bool> {
    let file = match lock(path, File::options().read(true).write(true)) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(false),
        file => file?,
    };
    let existed = file.metadata()?.len() > 0;
    // First, because a conversation with only an inbox would still begin a run.
    inbox::delete(path)?;
    // Another program that waits for the lock then reports a conflict.
    file.set_len(0)?;
    fs::remove_file(path)?;
    Ok(existed)
}

/// Opens and locks a log of this version, and returns its first line, a new one for a new log.
fn open_at(path: &Path, version: u64) -> io::Result<Option<(File, Header)>> {
    let length = length_of(version);
    let is_new = length == 0;
    if is_new {
        create_folder(path.parent().unwrap_or(Path::new(".")))?;
    }
    let mut options = File::options();
    options.create(is_new).truncate(false).read(true).write(true);
    let mut file = match lock(path, &options) {
        Err(error) if error.kind() == ErrorKind::NotFound && !is_new => return Ok(None),
        file => file?,
    };
    let mut header = Header::new();
    if !is_new {
        let Some(found) = Header::read(&mut file)?.filter(|header| header.version(length) == version) else {
            return Ok(None);
        };
        header = found;
    }
    if file.metadata()?.len() < length {
        return Ok(None);
    }
    file.seek(SeekFrom::Start(length))?;
    let mut rest = Vec::new();
    file.read_to_end(&mut rest)?;
    // A crash may have interrupted the first save after the id of the log.
    let lines = rest.iter().filter(|byte| **byte == b'\n').count();
    Ok(if lines <= usize::from(is_new) { Some((file, header)) } else { None })
}

fn length_of(version: u64) -> u64 {
    version & ((1 << LENGTH_BITS) - 1)
}
