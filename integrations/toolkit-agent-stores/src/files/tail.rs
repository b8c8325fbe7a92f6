//! The first and the last line of a log, and its lock.

use super::line::{self, Details, invalid, now, sealed, unsealed};
use crate::random;
use fs4::FileExt;
use std::fs::{self, File, OpenOptions};
use std::io::{self, ErrorKind, Read, Seek, SeekFrom};
use std::path::Path;

/// The bytes of the first line: 32 hexadecimal digits in quotes, a tab and a checksum.
pub(super) const HEADER: u64 = 44;
/// The bits of a version with the file's length. The others come from the log's id, so that a recreated or
/// replaced log has other versions.
pub(super) const LENGTH_BITS: u32 = 40;
/// The bytes to read first from the end of a file. The details of most saves fit.
pub(super) const TAIL: u64 = 4_096;

/// The first line of a log.
#[derive(Clone, Copy)]
pub(super) struct Header {
    pub(super) id: u64,
    /// The time of the first save, in microseconds since 1970.
    pub(super) created_at: u64,
}

impl Header {
    pub(super) fn new() -> Self {
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

    pub(super) fn text(self) -> String {
        sealed(&format!("\"{:016x}{:016x}\"", self.id, self.created_at))
    }

    pub(super) fn version(self, length: u64) -> u64 {
        (self.id << LENGTH_BITS) | length
    }
}

/// The whole lines at the end of a log, without the first line of the file and an incomplete last one.
pub(super) struct Tail {
    /// The lines, of which the first one may lack its beginning.
    pub(super) bytes: Vec<u8>,
    /// Where they end in the file.
    pub(super) end: u64,
    /// Whether these are all lines.
    pub(super) is_all: bool,
}

impl Tail {
    /// Reads the last `size` bytes.
    pub(super) fn read(file: &mut File, size: u64) -> io::Result<Self> {
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
    pub(super) fn saves_from(&self, entry: u64) -> io::Result<Option<Vec<String>>> {
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
