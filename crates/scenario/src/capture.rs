//! The capture that a replay needs, read and checked.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use nic2core_engine::config::Scenario;
use nic2core_engine::wire::Capture;
use nic2core_engine::wire::config::TrafficConfig;

use crate::check::nearest;
use crate::error::{Origins, Place, UserError, UserErrors};
use crate::files::Files;

const KEY: &str = "traffic.file";

/// Turns the name of the capture into an absolute path, so that a result that contains the scenario
/// can be run again from any folder. In a file, the name is relative to that file; on the command
/// line and from a program, to the working directory.
pub(crate) fn locate(files: &dyn Files, scenario: &mut Scenario, origins: &Origins) {
    if let Some(TrafficConfig::Replay { file, .. }) = &mut scenario.traffic {
        let path = match origins.place(KEY) {
            Place::File { name, .. } => {
                Path::new(&*name).parent().unwrap_or(Path::new("")).join(&*file)
            }
            _ => PathBuf::from(&*file),
        };
        *file = files.whole(&path).display().to_string();
    }
}

/// The capture that the scenario replays; `None` if it replays none.
///
/// # Errors
/// If the file cannot be read, or is not a complete pcap or pcapng capture with packets.
pub fn read_capture(
    files: &dyn Files,
    scenario: &Scenario,
    origins: &Origins,
) -> Result<Option<Arc<Capture>>, UserErrors> {
    let Some(file) = scenario.traffic.as_ref().and_then(TrafficConfig::capture_file) else {
        return Ok(None);
    };
    if files.is_stream(Path::new(file)) {
        return Err(wrong(file, origins, "is a device or a pipe".into(), ""));
    }
    let bytes = files.read(Path::new(file)).map_err(|e| {
        let meant = similar(files, Path::new(file)).map(|name| format!("; did you mean {name}?"));
        wrong(file, origins, format!("cannot be read ({e})"), &meant.unwrap_or_default())
    })?;
    match Capture::parse(&bytes) {
        Ok(capture) => Ok(Some(Arc::new(capture))),
        Err(e) => Err(wrong(file, origins, format!("cannot be replayed ({e})"), "")),
    }
}

/// The file of the same folder with the most similar name, if there is one.
fn similar(files: &dyn Files, file: &Path) -> Option<String> {
    let (folder, name) = (file.parent()?, file.file_name()?.to_str()?);
    let others = files.names(folder);
    nearest(others.iter().map(String::as_str).filter(|other| *other != name), name).map(Into::into)
}

fn wrong(file: &str, origins: &Origins, problem: String, meant: &str) -> UserErrors {
    let place = origins.place(KEY);
    let relative = match place {
        Place::File { .. } => "this file",
        _ => "the working directory",
    };
    UserErrors::from(UserError {
        place,
        key: Some(KEY.into()),
        given: format!("{file:?}"),
        problem,
        allowed: format!(
            "a whole pcap or pcapng file with at least one packet, relative to {relative}{meant}"
        ),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::files::Memory;
    use crate::load::load;

    const KVS: &str = include_str!("../tests/data/kvs.toml");
    const BOX: &str = include_str!("../tests/data/machines/box.toml");

    /// A pcap of one 60-byte Ethernet frame (type 0x88b5, local experiments).
    fn pcap() -> Vec<u8> {
        let words = |words: &[u32]| words.iter().flat_map(|w| w.to_le_bytes()).collect::<Vec<_>>();
        let mut file = words(&[0xa1b2_c3d4, 0x0004_0002, 0, 0, 65535, 1, 0, 0, 60, 60]);
        file.extend([[2; 12].as_slice(), &[0x88, 0xb5], &[0; 46]].concat());
        file
    }

    fn read(set: &str, file: &str, content: Vec<u8>) -> Result<Option<Arc<Capture>>, String> {
        let start = KVS.find("[traffic]").unwrap();
        let end = KVS.find("[placement]").unwrap();
        let traffic = "[traffic]\nkind = \"replay\"\nfile = \"one.pcap\"\nrate = \"1 Gbps\"\n";
        let text = [&KVS[..start], traffic, &KVS[end..]].concat();
        let files = Memory(vec![
            ("s/kvs.toml", text.into()),
            ("s/box.toml", BOX.into()),
            (file.to_owned().leak(), content),
        ]);
        let sets: Vec<String> = (!set.is_empty()).then(|| set.to_owned()).into_iter().collect();
        let loaded = load(&files, Path::new("s/kvs.toml"), &sets, &[]).unwrap();
        read_capture(&files, &loaded.scenario, &loaded.origins).map_err(|e| e.to_string())
    }

    #[test]
    fn a_capture_is_found_beside_the_scenario_or_from_the_command_line() {
        let found = |set, file| read(set, file, pcap()).map(|capture| capture.is_some());
        assert_eq!(found("", "s/one.pcap"), Ok(true));
        assert_eq!(found("traffic.file=my/two.pcap", "my/two.pcap"), Ok(true));
    }

    #[test]
    fn a_device_is_not_read() {
        let set = "traffic={kind='replay', file='/dev/zero', rate='1 Gbps'}";
        let files = Memory(vec![("s/kvs.toml", KVS.into()), ("s/box.toml", BOX.into())]);
        let loaded = load(&files, Path::new("s/kvs.toml"), &[set.to_owned()], &[]).unwrap();
        let e = read_capture(&crate::files::Disk, &loaded.scenario, &loaded.origins);
        let e = e.unwrap_err().to_string();
        assert!(
            e.contains("traffic.file = \"/dev/zero\" is a device or a pipe; allowed: a whole"),
            "{e}"
        );
    }

    #[test]
    fn a_missing_truncated_or_empty_capture_is_refused() {
        const PLACE: &str = "s/kvs.toml, line 8: traffic.file = \"s/one.pcap\" cannot be ";
        let allowed = "; allowed: a whole pcap or pcapng file with at least one packet, relative to this file.";
        for (file, content, problem) in [
            ("s/traffic", pcap(), "read ("),
            ("s/one.pcap", pcap()[..pcap().len() - 1].to_vec(), "replayed (the file ends after 0"),
            ("s/one.pcap", Vec::new(), "replayed (the file is empty"),
            ("s/one.pcap", pcap()[..24].to_vec(), "replayed (the capture holds no packet"),
            ("s/one.pcap", b"not a capture".to_vec(), "replayed (not a capture"),
        ] {
            let e = read("", file, content).unwrap_err();
            assert!(e.starts_with(&format!("{PLACE}{problem}")) && e.ends_with(allowed), "{e}");
        }
    }

    #[test]
    fn a_file_with_a_similar_name_is_named() {
        let e = read("", "s/one.pcapng", pcap()).unwrap_err();
        assert!(e.ends_with(", relative to this file; did you mean one.pcapng?"), "{e}");
    }
}
