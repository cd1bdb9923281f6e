//! The runtime that programs are linked to, as a file that a linker can read.

use crate::cache;
use crate::problem::Problem;
use std::ffi::OsString;
use std::path::PathBuf;

/// The runtime on disk.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Image {
    /// One relocatable object.
    pub(crate) object: PathBuf,
    /// A linker's list of what it defines for others.
    pub(crate) exports: PathBuf,
}

/// Names another runtime: an object file, with its list of exports beside it (`.exports`). For measuring, and
/// for those who work on the runtime.
const OVERRIDE: &str = "RADDLE_RUNTIME";

/// Where the runtime is.
pub(crate) fn image() -> Result<Image, Problem> {
    if let Some(object) = std::env::var_os(OVERRIDE).filter(|value| !value.is_empty()).map(PathBuf::from) {
        let exports = object.with_extension("exports");
        if let Some(missing) = [&object, &exports].into_iter().find(|path| !path.is_file()) {
            return Err(Problem::new(
                format!("{OVERRIDE}: there is no {}", missing.display()),
                "it takes an object file, with its list of exports beside it",
            ));
        }
        return Ok(Image { object, exports });
    }
    if raddle_runtime_image::OBJECT.is_empty() {
        return Err(Problem::new("this build of raddle carries no runtime", "build it for Linux on x86-64"));
    }
    unpacked()
}

/// The runtime that this command carries, in the cache under a name made of what is in it.
fn unpacked() -> Result<Image, Problem> {
    let (object, list) = (raddle_runtime_image::OBJECT, raddle_runtime_image::DYNAMIC_LIST.as_bytes());
    let directory = cache::directory().join(cache::name(&[object, list]));
    let image = Image { object: directory.join("raddle_rt.o"), exports: directory.join("raddle_rt.list") };
    for (path, content) in [(&image.object, object), (&image.exports, list)] {
        let there = path.metadata().is_ok_and(|data| data.len() == content.len() as u64);
        if !there {
            cache::put(path, content).map_err(|error| {
                Problem::new(
                    format!("the runtime could not be unpacked to {}: {error}", path.display()),
                    "name another directory with RADDLE_CACHE",
                )
            })?;
        }
    }
    Ok(image)
}

/// How GNU ld is to lay out an executable: with all its code together, where a large page can begin (`raddle_native`, `large`).
pub(crate) const LAYOUT: &str = "-Wl,-z,max-page-size=0x200000,-z,noseparate-code";

impl Image {
    /// What the linker is told. The list is what lets libstdc++ and libraries that are loaded later find us.
    pub(crate) fn words(&self) -> Vec<OsString> {
        let mut list = OsString::from("-Wl,--dynamic-list=");
        list.push(&self.exports);
        vec![self.object.clone().into_os_string(), list, OsString::from("-ldl"), OsString::from("-lpthread")]
    }
}
