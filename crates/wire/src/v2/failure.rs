//! The failure file, version 2: version 1, and what the program calls its objects.

use crate::failure::FailureFile;
use crate::v1::{self, Misfit};
use alloc::string::String;
use alloc::vec::Vec;
use serde::{Deserialize, Serialize};

#[derive(Serialize, Deserialize)]
pub(crate) struct Failure {
    file: v1::failure::Failure,
    /// Which of the objects, name.
    names: Vec<(u32, String)>,
}

impl From<&FailureFile> for Failure {
    fn from(file: &FailureFile) -> Failure {
        let objects = file.objects.iter().zip(0..);
        let names = objects.filter_map(|(object, at)| Some((at, object.name.clone()?))).collect();
        Failure { file: file.into(), names }
    }
}

impl TryFrom<Failure> for FailureFile {
    type Error = Misfit;

    fn try_from(failure: Failure) -> Result<FailureFile, Misfit> {
        let mut file = FailureFile::try_from(failure.file)?;
        for (at, name) in failure.names {
            let object = file.objects.get_mut(at as usize);
            object.ok_or(Misfit("it names an object that is not there"))?.name = Some(name);
        }
        Ok(file)
    }
}
