//! The log of one conversation: a file with the log's id in the first line, and one line for each save.

use super::{create_folder, replace_file, sync_folder};
use crate::random;
use fs4::FileExt;
use std::fs::{self, File, OpenOptions};
use std::io::{self, ErrorKind, Read, Seek, SeekFrom, Write};
use std::path::Path;
use toolkit_agent::session::ConversationLog;

/// The bytes of the first line: 16 hexadecimal digits in quotes.
const HEADER: usize = 19;
/// The bits of a version with the file's length. The others come from the log's id, so that a recreated or
/// replaced log has other versions.
const LENGTH_BITS: u32 = 40;

/// Reads the entries at `path`, without an incomplete last line. Returns `None` if there are none.
pub(super) fn read(path: &Path) -> io::Result<Option<ConversationLog>> {
    let mut file = match File::open(path) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
        file => file?,
    };
    FileExt::lock_shared(&file)?;
    let mut bytes = Vec::new();
    file.read_to_end(&mut bytes)?;
    bytes.truncate(bytes.iter().rposition(|byte| *byte == b'\n').map_or(0, |end| end + 1));
    if bytes.is_empty() {
        return Ok(None);
    }
    let Some(id) = id_of(&bytes) else {
        return Err(invalid("the first line is not the id of a log".to_owned()));
    };
    let version = version_of(id, bytes.len() as u64);
    let text = String::from_utf8(bytes).map_err(|error| invalid(error.to_string()))?;
    let entries: Vec<String> = text.split_terminator('\n').skip(1).map(str::to_owned).collect();
    if entries.is_empty() {
        return Ok(None);
    }
    Ok(Some(ConversationLog::new(entries, version)))
}

fn invalid(reason: String) -> io::Error {
    io::Error::new(ErrorKind::InvalidData, reason)
}

/// Appends an entry to a log of this version, and returns the new version.
pub(super) fn append(path: &Path, version: u64, entry: &str) -> io::Result<Option<u64>> {
    let Some((mut file, id)) = open_at(path, version)? else { return Ok(None) };
    let length = length_of(version);
    let text = if length == 0 { new_log(id, entry) } else { format!("{entry}\n") };
    if file.metadata()?.len() > length {
        // A crash has interrupted this save.
        file.set_len(length)?;
    }
    file.seek(SeekFrom::Start(length))?;
    if let Err(error) = write_synced(&mut file, path, &text, length == 0) {
        // The caller treats the entry as unsaved, so no later load may read it.
        file.set_len(length)?;
        return Err(error);
    }
    Ok(Some(version_of(id, length + text.len() as u64)))
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

/// Replaces a log of this version by one entry, and returns the new version.
pub(super) fn replace(path: &Path, version: u64, entry: &str) -> io::Result<Option<u64>> {
    // The lock on the old file lasts until the new file is in its place.
    let Some(_old) = open_at(path, version)? else { return Ok(None) };
    let id = random();
    let text = new_log(id, entry);
    replace_file(path, text.as_bytes())?;
    Ok(Some(version_of(id, text.len() as u64)))
}

pub(super) fn delete(path: &Path) -> io::Result<bool> {
    let file = match lock(path, File::options().read(true).write(true)) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(false),
        file => file?,
    };
    let existed = file.metadata()?.len() > 0;
    // Another program that waits for the lock then reports a conflict.
    file.set_len(0)?;
    fs::remove_file(path)?;
    Ok(existed)
}

/// Opens and locks a log of this version, and returns its id, new for a new log.
fn open_at(path: &Path, version: u64) -> io::Result<Option<(File, u64)>> {
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
    let mut id = random();
    if !is_new {
        let mut header = Vec::new();
        (&file).take(HEADER as u64).read_to_end(&mut header)?;
        match id_of(&header) {
            Some(found) if version_of(found, length) == version => id = found,
            _ => return Ok(None),
        }
    }
    if file.metadata()?.len() < length {
        return Ok(None);
    }
    file.seek(SeekFrom::Start(length))?;
    let mut rest = Vec::new();
    file.read_to_end(&mut rest)?;
    // A crash may have interrupted the first save after the id of the log.
    let lines = rest.iter().filter(|byte| **byte == b'\n').count();
    Ok(if lines <= usize::from(is_new) { Some((file, id)) } else { None })
}

fn lock(path: &Path, options: &OpenOptions) -> io::Result<File> {
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

fn new_log(id: u64, entry: &str) -> String {
    format!("\"{id:016x}\"\n{entry}\n")
}

fn id_of(text: &[u8]) -> Option<u64> {
    let digits = text.get(..HEADER)?.strip_prefix(b"\"")?.strip_suffix(b"\"\n")?;
    u64::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok()
}

fn version_of(id: u64, length: u64) -> u64 {
    (id << LENGTH_BITS) | length
}

fn length_of(version: u64) -> u64 {
    version & ((1 << LENGTH_BITS) - 1)
}
