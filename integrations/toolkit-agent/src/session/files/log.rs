//! The log of one conversation: a file with one line for each save.

use super::{ConversationLog, create_folder, sync_folder};
use fs4::FileExt;
use std::fs::{self, File, OpenOptions};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io::{self, ErrorKind, Read, Seek, SeekFrom, Write};
use std::path::Path;

/// The number of bytes at the beginning of a file that identify its conversation.
const MARK: u64 = 256;
/// The number of bits in a version that contain the length of the file. The other bits contain a hash of the
/// beginning of the file, so a conversation that is deleted and created again has other versions.
const LENGTH_BITS: u32 = 40;

/// Reads the entries of the log at `path`. Ignores an incomplete last line. Returns `None` if there is no
/// entry.
pub(super) fn read(path: &Path) -> io::Result<Option<ConversationLog>> {
    let mut file = match File::open(path) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
        file => file?,
    };
    FileExt::lock_shared(&file)?;
    let mut text = Vec::new();
    file.read_to_end(&mut text)?;
    text.truncate(text.iter().rposition(|byte| *byte == b'\n').map_or(0, |end| end + 1));
    let version = version_of(&text, text.len() as u64);
    let text = String::from_utf8(text).map_err(|error| io::Error::new(ErrorKind::InvalidData, error))?;
    let entries: Vec<String> = text.lines().map(str::to_owned).collect();
    Ok((!entries.is_empty()).then(|| ConversationLog::new(entries, version)))
}

/// Appends an entry to the log at `path`, and returns the new version. Does nothing and returns `None` if the
/// version of the log is not `version`.
pub(super) fn append(path: &Path, version: u64, entry: &str) -> io::Result<Option<u64>> {
    let length = version & ((1 << LENGTH_BITS) - 1);
    let mut file = match open(path, length == 0) {
        Err(error) if error.kind() == ErrorKind::NotFound && length > 0 => return Ok(None),
        file => file?,
    };
    let mut mark = Vec::new();
    (&file).take(length.min(MARK)).read_to_end(&mut mark)?;
    if version_of(&mark, length) != version {
        return Ok(None);
    }
    file.seek(SeekFrom::Start(length))?;
    let mut rest = Vec::new();
    (&file).read_to_end(&mut rest)?;
    if file.metadata()?.len() < length || rest.contains(&b'\n') {
        return Ok(None);
    }
    // Removes the incomplete line of a save that a crash has interrupted.
    file.set_len(length)?;
    file.seek(SeekFrom::Start(length))?;
    let mut write = || {
        file.write_all(format!("{entry}\n").as_bytes())?;
        file.sync_data()?;
        // A new file is safe only when its folder is.
        if length == 0 { sync_folder(path) } else { Ok(()) }
    };
    if let Err(error) = write() {
        // The caller treats the entry as unsaved, so remove it: no later load may read it.
        file.set_len(length)?;
        return Err(error);
    }
    mark.extend(entry.bytes().chain([b'\n']).take(MARK as usize - mark.len().min(MARK as usize)));
    Ok(Some(version_of(&mark, length + entry.len() as u64 + 1)))
}

/// Deletes a log, and returns whether it existed.
pub(super) fn delete(path: &Path) -> io::Result<bool> {
    let file = match lock(path, File::options().read(true).write(true)) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(false),
        file => file?,
    };
    let existed = file.metadata()?.len() > 0;
    // Another program that waits for the lock then finds an empty log and reports a conflict.
    file.set_len(0)?;
    fs::remove_file(path).map(|()| existed)
}

/// Opens and locks the file at `path`. Creates it if the log is new.
fn open(path: &Path, is_new: bool) -> io::Result<File> {
    if is_new {
        create_folder(path.parent().unwrap_or(Path::new(".")))?;
    }
    lock(path, File::options().create(is_new).truncate(false).read(true).write(true))
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

/// Returns whether `path` still leads to the opened `file`. Another program may have deleted it before it was
/// locked.
#[cfg(unix)]
fn is_at(file: &File, path: &Path) -> io::Result<bool> {
    use std::os::unix::fs::MetadataExt;
    let own = file.metadata()?;
    match fs::metadata(path) {
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(false),
        at_path => at_path.map(|at_path| (at_path.dev(), at_path.ino()) == (own.dev(), own.ino())),
    }
}

/// Returns whether `path` still exists. On systems other than Unix, no other file can replace an open file.
#[cfg(not(unix))]
fn is_at(_: &File, path: &Path) -> io::Result<bool> {
    path.try_exists()
}

/// Computes the version of a log from the beginning of its file and the length of the file.
fn version_of(beginning: &[u8], length: u64) -> u64 {
    if length == 0 {
        return 0;
    }
    let mut hasher = DefaultHasher::new();
    beginning.iter().take(MARK as usize).for_each(|byte| byte.hash(&mut hasher));
    (hasher.finish() << LENGTH_BITS) | length
}
