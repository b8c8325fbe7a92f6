//! The directory of full results, in which a sink deletes only its files.

use proptest::prelude::*;
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;
use toolkit_ai::ToolOutput;
use toolkit_ai::output::{DirectorySink, Truncation};

fn folder() -> PathBuf {
    static NEXT: AtomicU32 = AtomicU32::new(0);
    let number = NEXT.fetch_add(1, Ordering::Relaxed);
    std::env::temp_dir().join(format!("toolkit-directory-{}-{number}", std::process::id()))
}

/// Stores a text, if there is room, and returns its path.
fn store(sink: &DirectorySink, text: &str) -> Option<PathBuf> {
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    let truncation = Truncation::new(200).with_sink(sink.clone());
    let output = runtime.block_on(truncation.apply("read", None, ToolOutput::text(text)));
    let note = output.to_text().into_owned();
    Some(note.split_once("full output: ")?.1.split_once(") ...")?.0.into())
}

/// Returns the text of files, the target of links, and nothing for folders.
fn entries(folder: &Path) -> BTreeMap<PathBuf, Option<String>> {
    let entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    entries.map(|path| (path.clone(), fs::read_to_string(&path).ok())).collect()
}

#[test]
fn a_file_with_the_sinks_prefix_is_not_the_sinks() {
    let folder = folder();
    fs::create_dir_all(folder.join("toolkit_folder_1_0_0123456789abcdef.txt")).unwrap();
    fs::write(folder.join("toolkit_notes.txt"), "of the user").unwrap();
    fs::write(folder.join("toolkit_read_1_0_0123456789abcdef.txt"), "of the user, too").unwrap();
    let before = entries(&folder);
    let sink = DirectorySink::new(&folder).with_max_bytes(1_000).with_max_age(Duration::ZERO);
    std::thread::sleep(Duration::from_millis(20));
    for _ in 0..3 {
        assert!(store(&sink, &"x".repeat(900)).is_some());
    }
    let after = entries(&folder);
    assert!(before.iter().all(|entry| after.get(entry.0) == Some(entry.1)), "{after:?}");
    assert_eq!(after.len(), before.len() + 1, "the latest file of the sink stays");
    fs::remove_dir_all(folder).unwrap();
}

/// A change to the sink's file or another.
#[derive(Debug, Clone)]
enum Change {
    Store(usize),
    Append,
    Truncate,
    Copy(&'static str),
    Rename,
    Folder,
    Link,
    File(&'static str),
}

fn changes() -> impl Strategy<Value = Change> {
    let names = vec![
        "toolkit_",
        "toolkit_a.txt",
        "toolkit_a_0_0_ffffffffffffffff.json",
        "notes.txt",
        "toolkit_é_1.txt",
    ];
    prop_oneof![
        4 => (300_usize..900).prop_map(Change::Store),
        1 => Just(Change::Append),
        1 => Just(Change::Truncate),
        1 => prop::sample::select(vec!["copy.txt", "toolkit_copy_1_1_0000000000000000.txt"]).prop_map(Change::Copy),
        1 => Just(Change::Rename),
        1 => Just(Change::Folder),
        1 => Just(Change::Link),
        2 => prop::sample::select(names).prop_map(Change::File),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn a_sink_deletes_only_what_it_wrote(changes in prop::collection::vec(changes(), 1..20)) {
        let folder = folder();
        fs::create_dir_all(&folder).unwrap();
        let sink = DirectorySink::new(&folder).with_max_bytes(1_500);
        // The sink's unchanged files, and everything else.
        let mut own = Vec::<PathBuf>::new();
        let mut foreign = BTreeMap::new();
        for change in changes {
            let latest = own.iter().rev().find(|path| path.exists()).cloned();
            let mut keep = |path: PathBuf| {
                let text = fs::read_to_string(&path).ok();
                foreign.insert(path, text);
            };
            match (change, latest) {
                (Change::Store(bytes), _) => {
                    let path = store(&sink, &"x".repeat(bytes));
                    prop_assert!(path.as_ref().is_some_and(|path| path.exists()), "there is room");
                    // A file after one deleted in the same millisecond may get its name.
                    own.retain(|known| Some(known) != path.as_ref());
                    own.extend(path);
                }
                (Change::File(name), _) => {
                    fs::write(folder.join(name), "foreign").unwrap();
                    keep(folder.join(name));
                }
                (Change::Folder, _) => {
                    let path = folder.join(format!("toolkit_folder_0_{}_0123456789abcdef.txt", foreign_name()));
                    fs::create_dir(&path).unwrap();
                    keep(path);
                }
                (change, Some(path)) => {
                    let text = fs::read_to_string(&path).unwrap();
                    match change {
                        Change::Append => {
                            fs::write(&path, format!("{text} and more")).unwrap();
                            own.retain(|known| *known != path);
                            keep(path);
                        }
                        Change::Truncate => {
                            fs::write(&path, "").unwrap();
                            own.retain(|known| *known != path);
                            keep(path);
                        }
                        Change::Copy(name) => {
                            fs::copy(&path, folder.join(name)).unwrap();
                            keep(folder.join(name));
                        }
                        Change::Rename => {
                            let other = path.with_file_name(format!("toolkit_mine_{}.txt", foreign_name()));
                            fs::rename(&path, &other).unwrap();
                            keep(other);
                        }
                        #[cfg(unix)]
                        Change::Link => {
                            let target = folder.join("target");
                            fs::write(&target, "of a link").unwrap();
                            let name = format!("toolkit_link_0_{}_0123456789abcdef.txt", foreign_name());
                            std::os::unix::fs::symlink(&target, folder.join(&name)).unwrap();
                            keep(target);
                            keep(folder.join(name));
                        }
                        _ => {}
                    }
                }
                (_, None) => {}
            }
            let now = entries(&folder);
            for (path, text) in &foreign {
                prop_assert_eq!(now.get(path), Some(text), "{:?}", path);
            }
        }
        let size: u64 = own.iter().filter_map(|path| fs::metadata(path).ok()).map(|data| data.len()).sum();
        prop_assert!(size <= 1_500, "{}", size);
        fs::remove_dir_all(folder).unwrap();
    }
}

fn foreign_name() -> u32 {
    static NEXT: AtomicU32 = AtomicU32::new(0);
    NEXT.fetch_add(1, Ordering::Relaxed)
}
