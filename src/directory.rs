//! [`DirectorySink`]: stores truncated results as files in a directory of limited size.

use std::error::Error;
use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io::{self, ErrorKind, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime, UNIX_EPOCH};
use tokio::runtime::Handle;
use toolkit_core::name::fnv1a;
use toolkit_core::output::{FullOutput, OutputSink};

const PREFIX: &str = "toolkit_";

/// Stores the full text of each truncated result as a file in a directory.
///
/// The directory is created on first use. On Unix, only the program's user can read it, because results may
/// contain secrets. Before writing, the sink deletes files that are too old, then the oldest until the new
/// file fits. Files are written on tokio's blocking pool.
///
/// The directory may contain other files. Only unchanged files of a sink are deleted: their names contain a
/// checksum of the name and the text.
///
/// ```
/// use toolkit_ai::ToolOutput;
/// use toolkit_ai::output::{DirectorySink, Truncation};
///
/// # let folder = std::env::temp_dir().join(format!("toolkit-doc-{}", std::process::id()));
/// let sink = DirectorySink::new(&folder).with_max_bytes(10_000_000);
/// let truncation = Truncation::new(1_000).with_sink(sink);
/// # tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(async {
/// let output = truncation.apply("read", None, ToolOutput::text("long ".repeat(1_000))).await;
/// assert!(output.to_text().contains(", full output: "));
/// # std::fs::remove_dir_all(&folder)?;
/// # Ok::<(), std::io::Error>(())
/// # }).unwrap();
/// ```
#[derive(Debug, Clone)]
#[must_use]
pub struct DirectorySink {
    folder: PathBuf,
    max_bytes: u64,
    max_age: Duration,
}

impl DirectorySink {
    /// Creates a sink with a maximum of 100 MB (10⁸ bytes) for all files, and a maximum age of one day.
    pub fn new(folder: impl Into<PathBuf>) -> Self {
        Self { folder: folder.into(), max_bytes: 100_000_000, max_age: Duration::from_secs(24 * 60 * 60) }
    }

    /// Sets the maximum size of all files together, in bytes.
    ///
    /// A longer text is not stored.
    pub fn with_max_bytes(mut self, max_bytes: u64) -> Self {
        self.max_bytes = max_bytes;
        self
    }

    /// Sets the maximum age of a file.
    ///
    /// Older files are deleted before the next is written.
    pub fn with_max_age(mut self, max_age: Duration) -> Self {
        self.max_age = max_age;
        self
    }

    /// Deletes files that are too old, then the oldest until `wanted` more bytes fit.
    fn make_room(&self, wanted: u64) -> io::Result<()> {
        let mut files = Vec::new();
        // Unreadable entries: no sink wrote them, or another sink has deleted them.
        for entry in fs::read_dir(&self.folder)?.flatten() {
            let Ok(metadata) = entry.metadata() else { continue };
            if metadata.is_file() && entry.file_name().to_str().is_some_and(|name| parts(name).is_some()) {
                files.push((metadata.modified()?, metadata.len(), entry.path()));
            }
        }
        files.sort();
        let mut size: u64 = files.iter().map(|(_, length, _)| length).sum();
        let now = SystemTime::now();
        for (modified, length, path) in files {
            let is_old = now.duration_since(modified).is_ok_and(|age| age > self.max_age);
            if !is_old && size.saturating_add(wanted) <= self.max_bytes {
                continue;
            }
            if is_own(&path) {
                remove(&path)?;
            }
            size = size.saturating_sub(length);
        }
        Ok(())
    }

    fn create(&self, full: &FullOutput) -> io::Result<(File, PathBuf)> {
        let mut tool = String::new();
        for c in full.tool.chars().take(128) {
            tool.push(if c.is_ascii_alphanumeric() || c == '-' { c } else { '_' });
        }
        let time = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_millis();
        let ending = if full.is_json { "json" } else { "txt" };
        let mut number = 0_u32;
        loop {
            let stem = format!("{PREFIX}{tool}_{time}_{number}");
            let path = self.folder.join(format!("{stem}_{}.{ending}", checksum(&stem, &full.text)));
            match private_file().open(&path) {
                Ok(file) => return Ok((file, path)),
                Err(error) if error.kind() == ErrorKind::AlreadyExists => number += 1,
                Err(error) => return Err(error),
            }
        }
    }

    fn write(&self, full: &FullOutput) -> Result<String, Box<dyn Error + Send + Sync>> {
        let length = u64::try_from(full.text.len())?;
        if length > self.max_bytes {
            return Err("the text exceeds the size limit of the directory".into());
        }
        private_folder().create(&self.folder)?;
        self.make_room(length)?;
        let (mut file, path) = self.create(full)?;
        if let Err(error) = file.write_all(full.text.as_bytes()) {
            remove(&path)?;
            return Err(error.into());
        }
        Ok(path.display().to_string())
    }
}

impl OutputSink for DirectorySink {
    async fn store(&self, full: FullOutput) -> Result<String, Box<dyn Error + Send + Sync>> {
        let sink = self.clone();
        match Handle::try_current() {
            Ok(runtime) => runtime.spawn_blocking(move || sink.write(&full)).await?,
            Err(_) => sink.write(&full),
        }
    }
}

/// Splits the name of a sink's file into the stem and the checksum.
fn parts(name: &str) -> Option<(&str, &str)> {
    let (stem, sum) = name.strip_suffix(".json").or_else(|| name.strip_suffix(".txt"))?.rsplit_once('_')?;
    let is_sum = sum.len() == 16 && sum.bytes().all(|byte| byte.is_ascii_hexdigit());
    (stem.starts_with(PREFIX) && is_sum).then_some((stem, sum))
}

fn is_own(path: &Path) -> bool {
    let Some(name) = path.file_name().and_then(|name| name.to_str()) else { return false };
    let Some((stem, sum)) = parts(name) else { return false };
    fs::read_to_string(path).is_ok_and(|text| checksum(stem, &text) == sum)
}

fn checksum(stem: &str, text: &str) -> String {
    format!("{:016x}", fnv1a(text, fnv1a(stem, 0)))
}

fn remove(path: &Path) -> io::Result<()> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

fn private_file() -> OpenOptions {
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options
}

fn private_folder() -> DirBuilder {
    let mut builder = DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder
}
