//! The text of a configuration file: read, compared, and replaced with a backup.

use crate::exit::Failure;
use anstyle::AnsiColor;
use std::fmt::Display;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

pub(crate) struct ConfigText {
    /// The file itself, behind all links.
    pub(crate) path: PathBuf,
    /// Empty if there is no file.
    pub(crate) text: String,
    is_new: bool,
}

pub(crate) struct Saved {
    pub(crate) backup: Option<PathBuf>,
}

fn failure(path: &Path, action: &str, error: &dyn Display) -> Failure {
    Failure::unreachable(format_args!("`{}` cannot be {action}: {error}", path.display()))
}

impl ConfigText {
    pub(crate) fn read(named: PathBuf) -> Result<Self, Failure> {
        let path = match fs::canonicalize(&named) {
            Ok(path) => path,
            // A link to a missing file is not replaced by a file.
            Err(error) if fs::symlink_metadata(&named).is_ok() => {
                return Err(failure(&named, "read", &error));
            }
            Err(_) => return Ok(Self { path: named, text: String::new(), is_new: true }),
        };
        match fs::read_to_string(&path) {
            Ok(text) => Ok(Self { path, text, is_new: false }),
            Err(error) => Err(failure(&path, "read", &error)),
        }
    }

    /// Returns the changed lines: what goes, and what comes.
    pub(crate) fn change(&self, new: &str) -> Vec<String> {
        let mut gone: Vec<&str> = self.text.lines().collect();
        let mut come: Vec<&str> = new.lines().collect();
        while !gone.is_empty() && gone.last() == come.last() {
            gone.pop();
            come.pop();
        }
        let same = gone.iter().zip(&come).take_while(|(old, new)| old == new).count();
        let (red, green) = (AnsiColor::Red.on_default(), AnsiColor::Green.on_default());
        let mut shown = vec![self.path.display().to_string()];
        for line in &gone[same..] {
            shown.push(format!("{red}- {line}{red:#}"));
        }
        for line in &come[same..] {
            shown.push(format!("{green}+ {line}{green:#}"));
        }
        shown
    }

    /// Replaces the file in one step, after a copy of it. Its mode stays.
    pub(crate) fn save(&self, new: &str) -> Result<Saved, Failure> {
        let path = &self.path;
        if self.is_new {
            if let Some(folder) = path.parent() {
                fs::create_dir_all(folder).map_err(|error| failure(folder, "created", &error))?;
            }
            self.replace(new).map_err(|error| failure(path, "written", &error))?;
            return Ok(Saved { backup: None });
        }
        // The user may have changed it since.
        if fs::read_to_string(path).map_err(|error| failure(path, "read", &error))? != self.text {
            return Err(failure(path, "written", &"another program has changed it; try again"));
        }
        let backup = self.copy().map_err(|error| failure(path, "copied", &error))?;
        self.replace(new).map_err(|error| failure(path, "written", &error))?;
        Ok(Saved { backup: Some(backup) })
    }

    /// Copies the file to a name that no file has.
    fn copy(&self) -> io::Result<PathBuf> {
        let mut number = 1;
        loop {
            let suffix = if number == 1 { ".bak".to_owned() } else { format!(".bak{number}") };
            let mut name = self.path.clone().into_os_string();
            name.push(suffix);
            let backup = PathBuf::from(name);
            match OpenOptions::new().write(true).create_new(true).open(&backup) {
                Ok(_) => {
                    fs::copy(&self.path, &backup)?;
                    return Ok(backup);
                }
                Err(error) if error.kind() != io::ErrorKind::AlreadyExists => return Err(error),
                Err(_) => number += 1,
            }
        }
    }

    fn replace(&self, new: &str) -> io::Result<()> {
        let mut name = self.path.clone().into_os_string();
        name.push(format!(".{}.tmp", std::process::id()));
        let written = self.write(Path::new(&name), new).and_then(|()| fs::rename(&name, &self.path));
        if written.is_err() {
            // The first error is the one to report.
            let _ = fs::remove_file(&name);
        }
        written
    }

    fn write(&self, path: &Path, new: &str) -> io::Result<()> {
        let mut file = File::create(path)?;
        if !self.is_new {
            file.set_permissions(fs::metadata(&self.path)?.permissions())?;
        }
        file.write_all(new.as_bytes())?;
        file.sync_all()
    }
}
