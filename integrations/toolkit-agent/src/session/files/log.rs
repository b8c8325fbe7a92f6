//! The file of one conversation: a line for each save.

use super::ConversationLog;
use fs4::FileExt;
use std::fs::{self, File};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io::{self, ErrorKind, Read, Seek, SeekFrom, Write};
use std::path::Path;

/// The number of bytes at the beginning of a file that identify its conversation.
const MARK: u64 = 256;
/// The number of bits of a version for the length of the file. The other bits contain a hash of its beginning,
/// because a deleted conversation may be created again.
const LENGTH_BITS: u32 = 40;

/// Reads the entries of a log. An incomplete last line is ignored. Returns `None` if there is no entry.
pub(super) fn read(path: &Path) -> io::Result<Option<ConversationLog>> {
    let mut text = match fs::read(path) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
        text => text?,
    };
    text.truncate(text.iter().rposition(|byte| *byte == b'\n').map_or(0, |end| end + 1));
    let version = version_of(&text, text.len() as u64);
    let text = String::from_utf8(text).map_err(|error| io::Error::new(ErrorKind::InvalidData, error))?;
    let entries: Vec<String> = text.lines().map(str::to_owned).collect();
    Ok((!entries.is_empty()).then(|| ConversationLog::new(entries, version)))
}

/// Appends an entry to a log of this version, and returns the new version. Returns `None` if the log has another
/// version.
pub(super) fn append(path: &Path, version: u64, entry: &str) -> io::Result<Option<u64>> {
    let mut file = open(path)?;
    let length = version & ((1 << LENGTH_BITS) - 1);
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
    // The rest of a save that a crash has interrupted.
    file.set_len(length)?;
    file.seek(SeekFrom::Start(length))?;
    file.write_all(format!("{entry}\n").as_bytes())?;
    file.sync_data()?;
    mark.extend(entry.bytes().chain([b'\n']).take(MARK as usize - mark.len().min(MARK as usize)));
    Ok(Some(version_of(&mark, length + entry.len() as u64 + 1)))
}

/// Deletes a log, and returns whether it existed.
pub(super) fn delete(path: &Path) -> io::Result<bool> {
    let file = match File::options().write(true).open(path) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(false),
        file => file?,
    };
    FileExt::lock(&file)?;
    // A program that waits for the lock finds an empty log, and so a conflict.
    file.set_len(0)?;
    match fs::remove_file(path) {
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(false),
        removed => removed.map(|()| true),
    }
}

/// Opens and locks the file, or creates it.
fn open(path: &Path) -> io::Result<File> {
    fs::create_dir_all(path.parent().unwrap_or(Path::new(".")))?;
    loop {
        let file = File::options().create(true).truncate(false).read(true).write(true).open(path)?;
        FileExt::lock(&file)?;
        // Another program may have deleted the file before it was locked.
        if path.exists() {
            return Ok(file);
        }
    }
}

/// Returns the version of a log with this beginning and length.
fn version_of(beginning: &[u8], length: u64) -> u64 {
    if length == 0 {
        return 0;
    }
    let mut hasher = DefaultHasher::new();
    beginning.iter().take(MARK as usize).for_each(|byte| byte.hash(&mut hasher));
    (hasher.finish() << LENGTH_BITS) | length
}
