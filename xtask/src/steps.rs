//! A task as a list of named steps: each is announced, timed, and the first that fails ends the task.

use crate::Stop;
use std::process::Command;
use std::time::{Duration, Instant};

/// The steps done so far.
#[derive(Default)]
pub(crate) struct Steps {
    done: Vec<(String, Duration)>,
}

impl Steps {
    /// Does one step. A failure is passed on with the name of the step.
    pub(crate) fn step(&mut self, name: &str, work: impl FnOnce() -> Result<(), Stop>) -> Result<(), Stop> {
        println!("== {name}");
        let start = Instant::now();
        let result = work();
        let seconds = start.elapsed();
        match result {
            Ok(()) => {
                println!("== {name}: {:.1} s\n", seconds.as_secs_f64());
                self.done.push((name.to_owned(), seconds));
                Ok(())
            }
            Err(Stop::Failed(why)) => {
                Err(Stop::Failed(format!("step `{name}` failed after {:.1} s: {why}", seconds.as_secs_f64())))
            }
            Err(unfit) => Err(unfit),
        }
    }

    /// Does one step that is a command; it fails unless the command ends with code 0.
    pub(crate) fn command(&mut self, name: &str, command: Command) -> Result<(), Stop> {
        self.step(name, || execute(command))
    }

    /// What was done, and how long it took.
    pub(crate) fn summary(&self) -> String {
        let total: Duration = self.done.iter().map(|(_, time)| *time).sum();
        let rows = self.done.iter().map(|(name, time)| (name.as_str(), *time)).chain([("total", total)]);
        rows.map(|(name, time)| format!("  {name:<22}{:>8.1} s\n", time.as_secs_f64())).collect()
    }
}

/// Runs a command to its end, with our stdout and stderr but no stdin.
pub(crate) fn execute(mut command: Command) -> Result<(), Stop> {
    match command.stdin(std::process::Stdio::null()).status() {
        Ok(status) if status.success() => Ok(()),
        Ok(status) => Err(Stop::Failed(format!("{status}: {command:?}"))),
        Err(error) => Err(Stop::Failed(format!("{error}: {command:?}"))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_failing_step_is_named_and_later_ones_are_not_summed() {
        let mut steps = Steps::default();
        assert!(steps.command("good", Command::new("true")).is_ok());
        let Err(Stop::Failed(message)) = steps.command("bad", Command::new("false")) else {
            panic!("a command that ends with code 1 is a failed step");
        };
        assert!(message.starts_with("step `bad` failed"), "{message}");
        assert!(steps.summary().contains("good") && !steps.summary().contains("bad"));
    }

    #[test]
    fn a_command_that_does_not_exist_is_a_failure() {
        let result = execute(Command::new("no-such-command-anywhere"));
        assert!(matches!(result, Err(Stop::Failed(message)) if message.contains("no-such-command-anywhere")));
    }
}
