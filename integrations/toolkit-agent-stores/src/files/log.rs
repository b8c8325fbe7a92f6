//! The log of one conversation: a file with the log's id and time in the first line, and one line for each
//! save.

use super::inbox::{self, Inbox};
use super::line::{self, Details, OwnedSave, invalid, now, sealed, unsealed};
use super::{create_folder, replace_file, sync_folder};
use crate::random;
use fs4::FileExt;
use std::fs::{self, File, OpenOptions};
use std::io::{self, ErrorKind, Read, Seek, SeekFrom, Write};
use std::path::Path;
use toolkit_agent::session::ConversationLog;

/// The bytes of the first line: 32 hexadecimal digits in quotes, a tab and a checksum.
const HEADER: u64 = 44;
/// The bits of a version with the file's length. The others come from the log's id, so that a recreated or
/// replaced log has other versions.
const LENGTH_BITS: u32 = 40;
/// The bytes to read first from the end of a file. The details of most saves fit.
const TAIL: u64 = 4_096;

/// The first line of a log.
#[derive(Clone, Copy)]
pub(super) struct Header {
    id: u64,
    /// The time of the first save, in microseconds since 1970.
    pub(super) created_at: u64,
}

impl Header {
    fn new() -> Self {
        Self { id: random(), created_at: now() }
    }

    /// Reads the first line. `None` if it is incomplete.
    pub(super) fn read(file: &mut File) -> io::Result<Option<Self>> {
        file.seek(SeekFrom::Start(0))?;
        let mut line = Vec::new();
        file.take(HEADER).read_to_end(&mut line)?;
        if let Some(header) = Self::parse(&line) {
            return Ok(Some(header));
        }
        if line.contains(&b'\n') || line.len() as u64 == HEADER {
            let reason =
                "the first line is not the id of a log, or a development version wrote it; delete the file";
            return Err(invalid(reason.to_owned()));
        }
        Ok(None)
    }

    fn parse(line: &[u8]) -> Option<Self> {
        let digits = unsealed(line.strip_suffix(b"\n")?)?.strip_prefix(b"\"")?.strip_suffix(b"\"")?;
        let (id, created_at) = std::str::from_utf8(digits).ok()?.split_at_checked(16)?;
        let [id, created_at] = [id, created_at].map(|digits| u64::from_str_radix(digits, 16));
        Some(Self { id: id.ok()?, created_at: created_at.ok()? })
    }

    fn text(self) -> String {
        sealed(&format!("\"{:016x}{:016x}\"", self.id, self.created_at))
    }

    fn version(self, length: u64) -> u64 {
        (self.id << LENGTH_BITS) | length
    }
}

/// The whole lines at the end of a log, without the first line of the file and an incomplete last one.
struct Tail {
    /// The lines, of which the first one may lack its beginning.
    bytes: Vec<u8>,
    /// Where they end in the file.
    end: u64,
    /// Whether these are all lines.
    is_all: bool,
}

impl Tail {
    /// Reads the last `size` bytes.
    fn read(file: &mut File, size: u64) -> io::Result<Self> {
        let begin = file.metadata()?.len().saturating_sub(size).max(HEADER);
        file.seek(SeekFrom::Start(begin))?;
        let mut bytes = Vec::new();
        file.read_to_end(&mut bytes)?;
        bytes.truncate(bytes.iter().rposition(|byte| *byte == b'\n').map_or(0, |last| last + 1));
        let end = begin + bytes.len() as u64;
        Ok(Self { bytes, end, is_all: begin == HEADER })
    }

    fn lines(&self) -> Vec<&[u8]> {
        let Some(text) = self.bytes.strip_suffix(b"\n") else { return Vec::new() };
        text.split(|byte| *byte == b'\n').collect()
    }

    /// Returns the index of the line with this entry. `None` if an earlier line may have it.
    fn start_of(&self, entry: u64, lines: &[&[u8]]) -> Option<usize> {
        let all = self.is_all.then_some(0);
        if entry == 0 {
            return all;
        }
        // The first line may lack its beginning.
        for (index, line) in lines.iter().enumerate().skip(usize::from(!self.is_all)).rev() {
            if let Some(Ok(details)) = line::details(line)
                && details.first <= entry
            {
                return Some(index);
            }
        }
        all
    }

    /// Returns the entries of the saves from the one with this entry on. `None` if that needs more lines.
    fn saves_from(&self, entry: u64) -> io::Result<Option<Vec<String>>> {
        let lines = self.lines();
        let Some(start) = self.start_of(entry, &lines) else { return Ok(None) };
        let mut saves = Vec::with_capacity(lines.len() - start);
        for (index, line) in lines.iter().enumerate().skip(start) {
            match line::entries(line) {
                Ok(entries) => saves.push(entries.to_owned()),
                // The numbers of lines begin with 1, that of the first line of the file.
                Err(error) if self.is_all => {
                    return Err(invalid(format!("line {} is damaged: {error}", index + 2)));
                }
                Err(_) => return Ok(None),
            }
        }
        Ok(Some(saves))
    }
}

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

/// Reads the details of the last save, from the end of the file.
pub(super) fn last_details(file: &mut File) -> io::Result<Option<Details>> {
    let mut size = TAIL;
    loop {
        let tail = Tail::read(file, size)?;
        let last = tail.lines().last().and_then(|line| line::details(line));
        match last {
            Some(Ok(details)) => return Ok(Some(details)),
            Some(Err(error)) => return Err(invalid(format!("the last line is damaged: {error}"))),
            None if tail.is_all && tail.bytes.is_empty() => return Ok(None),
            None if tail.is_all => return Err(invalid("the last line is damaged".to_owned())),
            None => size = size.saturating_mul(4),
        }
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

/// Opens a log and locks it for reading. `None` if there is no such file.
pub(super) fn shared(path: &Path) -> io::Result<Option<File>> {
    let file = match File::open(path) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
        file => file?,
    };
    FileExt::lock_shared(&file)?;
    Ok(Some(file))
}

/// Opens and locks the file at `path`, and not one that was replaced meanwhile.
pub(super) fn lock(path: &Path, options: &OpenOptions) -> io::Result<File> {
    loop {
        let file = options.open(path)?;
        FileExt::lock(&file)?;
        if is_at(&file, path)? {
            return Ok(file);
        }
    }
}

/// Returns whether `path` still leads to `file`, which another program may have replaced before it was
/// locked.
#[cfg(unix)]
fn is_at(file: &File, path: &Path) -> io::Result<bool> {
    use std::os::unix::fs::MetadataExt;
    let own = file.metadata()?;
    let at_path = match fs::metadata(path) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(false),
        metadata => metadata?,
    };
    Ok(at_path.dev() == own.dev() && at_path.ino() == own.ino())
}

/// Returns whether `path` still exists. On systems other than Unix, no other file can replace an open file.
#[cfg(not(unix))]
fn is_at(_: &File, path: &Path) -> io::Result<bool> {
    path.try_exists()
}

fn length_of(version: u64) -> u64 {
    version & ((1 << LENGTH_BITS) - 1)
}
