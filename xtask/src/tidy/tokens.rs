//! Rust source as a flat list of tokens with their lines: what the rules about code look at.

use super::Finding;
use proc_macro2::{Delimiter, LexError, TokenStream, TokenTree};

/// One token; a delimiter is a token too.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Token {
    pub(super) text: String,
    pub(super) line: usize,
}

/// The tokens of a file. Comments vanish, and a literal is one token with its quotes.
pub(super) fn lex(text: &str) -> Result<Vec<Token>, Finding> {
    let stream: TokenStream = text.parse().map_err(|error: LexError| {
        Finding::new(error.span().start().line, format!("this is not Rust: {error}"))
    })?;
    let mut tokens = Vec::new();
    flatten(stream, &mut tokens);
    Ok(tokens)
}

fn flatten(stream: TokenStream, tokens: &mut Vec<Token>) {
    for tree in stream {
        match tree {
            TokenTree::Group(group) => {
                let (open, close) = match group.delimiter() {
                    Delimiter::Parenthesis => ("(", ")"),
                    Delimiter::Brace => ("{", "}"),
                    Delimiter::Bracket => ("[", "]"),
                    Delimiter::None => ("", ""),
                };
                tokens.push(Token { text: open.into(), line: group.span_open().start().line });
                flatten(group.stream(), tokens);
                tokens.push(Token { text: close.into(), line: group.span_close().start().line });
            }
            leaf => tokens.push(Token { line: leaf.span().start().line, text: leaf.to_string() }),
        }
    }
}

/// The positions at which a sequence of tokens starts.
pub(super) fn find<'a>(tokens: &'a [Token], sequence: &'a [&str]) -> impl Iterator<Item = usize> + 'a {
    let windows = tokens.windows(sequence.len()).enumerate();
    windows
        .filter(move |(_, window)| window.iter().map(|token| &token.text).eq(sequence))
        .map(|(start, _)| start)
}

/// The lines on which a sequence of tokens starts.
pub(super) fn lines<'a>(tokens: &'a [Token], sequence: &'a [&str]) -> impl Iterator<Item = usize> + 'a {
    find(tokens, sequence).map(|start| tokens[start].line)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn code_is_seen_wherever_it_is_nested_and_however_it_is_spaced() {
        let tokens = lex("fn f() {\n    g(|| {\n        alpha  !  ();\n    })\n}").unwrap();
        assert_eq!(lines(&tokens, &["alpha", "!"]).collect::<Vec<_>>(), [3]);
    }

    #[test]
    fn strings_and_comments_are_not_code() {
        let text =
            "//! alpha!()\n/* alpha!() */ const A: &str = \"alpha!()\"; const B: &str = r#\"alpha!()\"#;";
        let tokens = lex(text).unwrap();
        assert_eq!(lines(&tokens, &["alpha"]).count(), 0);
        assert_eq!(lines(&tokens, &["const"]).collect::<Vec<_>>(), [2, 2]);
    }

    #[test]
    fn what_is_not_rust_is_a_finding_with_its_line() {
        let finding = lex("fn f() {\n    )\n}").unwrap_err();
        assert_eq!(finding.line, 2);
    }
}
