//! Suppressions: known failures that somebody does not want to hear of, in the format of ThreadSanitizer's files.
//!
//! One `type:pattern` a line; empty lines and lines that begin with `#` say nothing. A pattern is found anywhere in
//! the name of a function, a source file, a module or a variable; `*` stands for anything, `^` and `$` hold
//! the pattern to the begin and the end of the name. `race` and `deadlock` look at whole stacks, `race_top` at
//! where each access stands; `mutex` is for misuse of locks. `signal` and `thread` are accepted, since people
//! have them in their files, and match nothing: there is no failure here that they are about.

use raddle_model::FailureKind;
use std::fmt;

/// What a failure is judged by.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct Scene {
    /// Function; empty if unknown.
    pub function: String,
    /// Source file; empty if unknown.
    pub file: String,
    /// Executable or library; empty if unknown.
    pub module: String,
}

/// A failure as suppressions see it.
#[derive(Clone, Copy, Debug)]
pub struct Accused<'a> {
    /// What kind.
    pub kind: FailureKind,
    /// The stacks involved, each innermost first.
    pub stacks: &'a [Vec<Scene>],
    /// The names of the variables involved.
    pub variables: &'a [String],
}

/// A line of a file of suppressions.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Suppression {
    kind: Type,
    pattern: Pattern,
    /// Its line in the file, from 1.
    pub line: usize,
    /// As it stands there.
    pub text: String,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Type {
    Race,
    RaceTop,
    Deadlock,
    Mutex,
    /// What other tools report and this one does not.
    Foreign,
}

/// All suppressions of a file.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct Suppressions {
    list: Vec<Suppression>,
}

/// A line that is no suppression.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SuppressionError {
    /// From 1.
    pub line: usize,
    /// What is wrong, and what to write instead.
    pub message: String,
}

impl fmt::Display for SuppressionError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}: {}", self.line, self.message)
    }
}

impl Suppressions {
    /// Reads the text of a file.
    pub fn parse(text: &str) -> Result<Suppressions, SuppressionError> {
        let lines = text.lines().map(str::trim).zip(1..);
        let lines = lines.filter(|(line, _)| !line.is_empty() && !line.starts_with('#'));
        let list = lines.map(|(text, line)| Suppression::parse(text, line)).collect::<Result<_, _>>()?;
        Ok(Suppressions { list })
    }

    /// The first that says not to report a failure.
    pub fn matching(&self, accused: &Accused<'_>) -> Option<&Suppression> {
        self.list.iter().find(|suppression| suppression.covers(accused))
    }
}

impl Suppression {
    fn parse(text: &str, line: usize) -> Result<Suppression, SuppressionError> {
        let wrong = |message: String| SuppressionError { line, message };
        let Some((kind, pattern)) = text.split_once(':') else {
            return Err(wrong(format!(
                "`{text}` is no suppression; write `type:pattern`, as in `race:update_stats`"
            )));
        };
        let kind = match kind {
            "race" => Type::Race,
            "race_top" => Type::RaceTop,
            "deadlock" => Type::Deadlock,
            "mutex" => Type::Mutex,
            "signal" | "thread" => Type::Foreign,
            "called_from_lib" => {
                return Err(wrong(String::from(
                    "`called_from_lib` would hide a library's locks and make up races; name the races with `race:` instead",
                )));
            }
            other => {
                return Err(wrong(format!(
                    "unknown type `{other}`; there are race, race_top, deadlock and mutex"
                )));
            }
        };
        if pattern.is_empty() {
            return Err(wrong(String::from("the pattern is empty; `*` matches everything")));
        }
        Ok(Suppression { kind, pattern: Pattern::new(pattern), line, text: text.to_owned() })
    }

    fn covers(&self, accused: &Accused<'_>) -> bool {
        let frames = || accused.stacks.iter().flatten();
        let named = |scene: &Scene| {
            [&scene.function, &scene.file, &scene.module].iter().any(|name| self.pattern.matches(name))
        };
        match (self.kind, accused.kind) {
            (Type::Race, FailureKind::Race) => {
                frames().any(named) || accused.variables.iter().any(|name| self.pattern.matches(name))
            }
            (Type::RaceTop, FailureKind::Race) => {
                accused.stacks.iter().filter_map(|stack| stack.first()).any(named)
            }
            (Type::Deadlock, FailureKind::Deadlock) | (Type::Mutex, FailureKind::Misuse) => {
                frames().any(named)
            }
            _ => false,
        }
    }
}

/// A text in which `*` stands for anything, found anywhere unless it is held to an end.
#[derive(Clone, PartialEq, Eq, Debug)]
struct Pattern {
    at_begin: bool,
    at_end: bool,
    /// What must follow each other.
    parts: Vec<String>,
}

impl Pattern {
    fn new(text: &str) -> Pattern {
        let (at_begin, text) = text.strip_prefix('^').map_or((false, text), |rest| (true, rest));
        let (at_end, text) = text.strip_suffix('$').map_or((false, text), |rest| (true, rest));
        Pattern { at_begin, at_end, parts: text.split('*').map(str::to_owned).collect() }
    }

    /// Whether a name is meant. What is unknown is never meant, not even by `*`.
    fn matches(&self, name: &str) -> bool {
        if name.is_empty() {
            return false;
        }
        let (mut rest, last) = (name, self.parts.len() - 1);
        for (index, part) in self.parts.iter().enumerate() {
            let (held, end) = (index == 0 && self.at_begin, index == last && self.at_end);
            rest = match (held, end) {
                (true, true) => return rest == part,
                (true, false) => match rest.strip_prefix(part.as_str()) {
                    Some(rest) => rest,
                    None => return false,
                },
                (false, true) => return rest.ends_with(part.as_str()),
                (false, false) => match rest.split_once(part.as_str()) {
                    Some((_, rest)) => rest,
                    None => return false,
                },
            };
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scene(function: &str, file: &str) -> Scene {
        Scene { function: function.into(), file: file.into(), module: "libstats.so".into() }
    }

    /// Two stacks: `add` in stats.c called by `main`, and `show` in ui.c.
    fn covers(line: &str, kind: FailureKind) -> bool {
        let stacks = [
            vec![scene("add", "/src/stats.c"), scene("main", "/src/main.c")],
            vec![scene("show", "/src/ui.c")],
        ];
        let variables = [String::from("totals.sum")];
        let list = Suppressions::parse(line).unwrap();
        list.matching(&Accused { kind, stacks: &stacks, variables: &variables }).is_some()
    }

    #[test]
    fn a_race_is_suppressed_by_any_frame_file_module_or_variable() {
        for line in ["race:add", "race:ui.c", "race:libstats", "race:main", "race:totals", "race:*"] {
            assert!(covers(line, FailureKind::Race), "{line}");
            assert!(!covers(line, FailureKind::Deadlock), "{line}");
        }
        assert!(!covers("race:subtract", FailureKind::Race));
    }

    #[test]
    fn the_top_of_a_stack_is_where_the_access_stands() {
        assert!(covers("race_top:show", FailureKind::Race));
        assert!(!covers("race_top:main", FailureKind::Race));
    }

    #[test]
    fn locks_have_types_of_their_own() {
        assert!(covers("deadlock:add", FailureKind::Deadlock) && !covers("deadlock:add", FailureKind::Race));
        assert!(covers("mutex:add", FailureKind::Misuse) && !covers("mutex:add", FailureKind::Deadlock));
        for kind in FailureKind::ALL {
            assert!(!covers("thread:*", kind) && !covers("signal:*", kind));
        }
    }

    #[test]
    fn patterns_are_held_to_the_ends_they_name() {
        let all = [
            ("add", "padded", true),
            ("^add", "padded", false),
            ("^add", "added", true),
            ("add$", "padded", false),
            ("add$", "read_and_add", true),
            ("^add$", "add", true),
            ("^add$", "adds", false),
            ("^a*d$", "abcd", true),
            ("^a*d$", "abcde", false),
            ("a*c*e", "xaxcxex", true),
            ("a*c*e", "eca", false),
            ("*.c$", "/src/stats.c", true),
            ("^ab*ba$", "aba", false),
            ("*", "", false),
        ];
        for (pattern, name, expected) in all {
            assert_eq!(Pattern::new(pattern).matches(name), expected, "{pattern} in {name}");
        }
    }

    #[test]
    fn comments_and_blank_lines_are_none_and_the_line_is_kept() {
        let list = Suppressions::parse("# known\n\n  race:add  \n").unwrap();
        assert_eq!(list.list.len(), 1);
        assert_eq!((list.list[0].line, list.list[0].text.as_str()), (3, "race:add"));
    }

    #[test]
    fn what_is_no_suppression_is_refused_with_its_line() {
        for (text, line, word) in [
            ("race:x\nraces", 2, "type:pattern"),
            ("leak:x", 1, "unknown type `leak`"),
            ("race:", 1, "empty"),
            ("called_from_lib:libz", 1, "race:"),
        ] {
            let error = Suppressions::parse(text).unwrap_err();
            assert_eq!(error.line, line, "{error}");
            assert!(error.message.contains(word), "{error}");
        }
    }
}
