//! The lines of the files: their parts and checksums.
//!
//! The line of a save has three parts with tabs between them: the entries, the details as JSON, and the
//! checksum of the details. JSON has no tab outside of the program's texts, and in them it is `\t`. The
//! details come last, with the checksum of the entries in them, so that lists read only the end of a file.

use serde::{Deserialize, Serialize};
use std::io::{self, ErrorKind};
use std::time::{Duration, SystemTime, UNIX_EPOCH};
use toolkit_agent::session::{Save, Summary};

/// A save that another thread writes.
pub(super) struct OwnedSave {
    pub(super) version: u64,
    first: u64,
    entries: String,
    summary: Summary,
    pub(super) taken: Vec<u64>,
}

/// What a line says of its save.
#[derive(Serialize, Deserialize)]
pub(super) struct Details {
    /// The number of the first entry.
    pub(super) first: u64,
    /// The time of the save, in microseconds since 1970.
    pub(super) at: u64,
    /// The checksum of the entries.
    crc: u32,
    /// The numbers of the items of the inbox that the entries have taken up.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) taken: Vec<u64>,
    pub(super) summary: Summary,
}

impl OwnedSave {
    /// Returns the line of this save.
    pub(super) fn line(self) -> io::Result<String> {
        let Self { first, mut entries, summary, taken, .. } = self;
        let details = Details { first, at: now(), crc: crc32fast::hash(entries.as_bytes()), taken, summary };
        entries.push('\t');
        entries.push_str(&sealed(&serde_json::to_string(&details)?));
        Ok(entries)
    }
}

impl From<Save<'_>> for OwnedSave {
    fn from(save: Save<'_>) -> Self {
        let Save { version, first, entries, summary, taken, .. } = save;
        let (entries, summary, taken) = (entries.to_owned(), summary.clone(), taken.to_vec());
        Self { version, first, entries, summary, taken }
    }
}

/// Returns the details in a line, of which the beginning may be missing. `None` if parts of them are missing.
pub(super) fn details(line: &[u8]) -> Option<io::Result<Details>> {
    let begin_of_crc = line.iter().rposition(|byte| *byte == b'\t')?;
    let begin = line.get(..begin_of_crc)?.iter().rposition(|byte| *byte == b'\t')? + 1;
    let Some(json) = unsealed(line.get(begin..)?) else { return Some(Err(damaged())) };
    Some(serde_json::from_slice(json).map_err(io::Error::from))
}

/// Returns the entries in a whole line.
pub(super) fn entries(line: &[u8]) -> io::Result<&str> {
    let Some(details) = details(line) else { return Err(damaged()) };
    let mut parts = line.rsplitn(3, |byte| *byte == b'\t');
    let entries = parts.nth(2).unwrap_or_default();
    if crc32fast::hash(entries) != details?.crc {
        return Err(damaged());
    }
    std::str::from_utf8(entries).map_err(|error| invalid(error.to_string()))
}

/// Returns a line of JSON with its checksum.
pub(super) fn sealed(json: &str) -> String {
    format!("{json}\t{:08x}\n", crc32fast::hash(json.as_bytes()))
}

/// Returns the JSON in a line with its checksum, without the line's end. `None` if it is damaged.
pub(super) fn unsealed(line: &[u8]) -> Option<&[u8]> {
    let begin_of_crc = line.iter().rposition(|byte| *byte == b'\t')?;
    let (json, crc) = line.split_at_checked(begin_of_crc)?;
    let crc = std::str::from_utf8(crc.get(1..)?).ok()?;
    let expected = u32::from_str_radix(crc, 16).ok()?;
    (crc32fast::hash(json) == expected).then_some(json)
}

fn damaged() -> io::Error {
    invalid("its checksum is wrong; restore the file from a copy".to_owned())
}

pub(super) fn invalid(reason: String) -> io::Error {
    io::Error::new(ErrorKind::InvalidData, reason)
}

/// Returns the microseconds since 1970.
pub(super) fn now() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_micros()).unwrap_or(u64::MAX)
}

pub(super) fn time(micros: u64) -> SystemTime {
    UNIX_EPOCH.checked_add(Duration::from_micros(micros)).unwrap_or(UNIX_EPOCH)
}
