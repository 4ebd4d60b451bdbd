//! The only way to access files, so that everything above it is tested without a disk.

use std::io;
use std::path::{Path, PathBuf};

/// Read access to files.
pub trait Files {
    /// The content of a file.
    ///
    /// # Errors
    /// Those of the operating system; `NotFound` if there is no such file.
    fn read(&self, path: &Path) -> io::Result<Vec<u8>>;

    /// The names of the files in a folder, sorted; empty if there is no such folder.
    fn names(&self, folder: &Path) -> Vec<String>;

    /// Whether a path is something that can be read without end, such as a device or a pipe.
    fn is_stream(&self, _path: &Path) -> bool {
        false
    }

    /// The absolute path, which means the same file whatever the working directory. Files that have
    /// no working directory keep their path.
    fn whole(&self, path: &Path) -> PathBuf {
        path.to_owned()
    }
}

/// The files of this computer.
#[derive(Clone, Copy, Debug, Default)]
pub struct Disk;

impl Files for Disk {
    fn read(&self, path: &Path) -> io::Result<Vec<u8>> {
        std::fs::read(path)
    }

    fn names(&self, folder: &Path) -> Vec<String> {
        let Ok(entries) = std::fs::read_dir(folder) else { return Vec::new() };
        let mut names: Vec<String> =
            entries.flatten().filter_map(|e| e.file_name().into_string().ok()).collect();
        names.sort();
        names
    }

    fn is_stream(&self, path: &Path) -> bool {
        std::fs::metadata(path).is_ok_and(|found| !found.is_file() && !found.is_dir())
    }

    fn whole(&self, path: &Path) -> PathBuf {
        // A missing file has no canonical path, but its folder may, and an error names both.
        let in_folder =
            || Some(std::fs::canonicalize(path.parent()?).ok()?.join(path.file_name()?));
        let found = std::fs::canonicalize(path).ok().or_else(in_folder);
        found.or_else(|| std::path::absolute(path).ok()).unwrap_or_else(|| path.to_owned())
    }
}

/// Files in memory, for tests.
#[cfg(test)]
pub(crate) struct Memory(pub(crate) Vec<(&'static str, Vec<u8>)>);

#[cfg(test)]
impl Files for Memory {
    fn read(&self, path: &Path) -> io::Result<Vec<u8>> {
        let found = self.0.iter().find(|(name, _)| Path::new(name) == path);
        found.map(|(_, content)| content.clone()).ok_or(io::ErrorKind::NotFound.into())
    }

    fn names(&self, folder: &Path) -> Vec<String> {
        let inside = self.0.iter().map(|(name, _)| Path::new(name));
        inside
            .filter(|path| path.parent() == Some(folder))
            .filter_map(|path| Some(path.file_name()?.to_str()?.to_owned()))
            .collect()
    }
}
