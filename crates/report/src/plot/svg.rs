//! Writes SVG: shapes, text that is escaped, and an estimate of how wide text will be.

use std::fmt::Write;

/// Dark enough on white for small text (contrast above 4.5).
pub(super) const INK: &str = "#1f2328";
pub(super) const FAINT_INK: &str = "#59636e";
pub(super) const GRID: &str = "#e1e4e8";

/// A chart in the making. Positions are in pixels from the top left.
pub(super) struct Svg {
    body: String,
}

/// How a piece of text looks.
#[derive(Clone, Copy)]
pub(super) struct Font {
    pub(super) size: f64,
    pub(super) bold: bool,
    pub(super) ink: &'static str,
}

pub(super) const TITLE: Font = Font { size: 18.0, bold: true, ink: INK };
pub(super) const NOTE: Font = Font { size: 12.5, bold: false, ink: FAINT_INK };
pub(super) const HEAD: Font = Font { size: 13.0, bold: true, ink: INK };
pub(super) const LABEL: Font = Font { size: 13.0, bold: false, ink: INK };
pub(super) const SMALL: Font = Font { size: 11.0, bold: false, ink: FAINT_INK };

/// Which end of the text stands at its x.
#[derive(Clone, Copy)]
pub(super) enum Anchor {
    Start,
    Middle,
    End,
}

impl Svg {
    pub(super) fn new() -> Self {
        Self { body: String::new() }
    }

    /// `rest` are further attributes, written as they are.
    pub(super) fn rect(&mut self, (x, y): (f64, f64), (width, height): (f64, f64), rest: &str) {
        let (x, y, width, height) = (Px(x), Px(y), Px(width), Px(height));
        self.write(format_args!(r#"<rect x="{x}" y="{y}" width="{width}" height="{height}" {rest}/>"#));
    }

    /// A rectangle that says `tip` under the pointer.
    pub(super) fn rect_with_tip(
        &mut self,
        (x, y): (f64, f64),
        (width, height): (f64, f64),
        rest: &str,
        tip: &str,
    ) {
        let (x, y, width, height, tip) = (Px(x), Px(y), Px(width), Px(height), Escaped(tip));
        self.write(format_args!(
            r#"<rect x="{x}" y="{y}" width="{width}" height="{height}" {rest}><title>{tip}</title></rect>"#
        ));
    }

    pub(super) fn line(&mut self, (x1, y1): (f64, f64), (x2, y2): (f64, f64), rest: &str) {
        let (x1, y1, x2, y2) = (Px(x1), Px(y1), Px(x2), Px(y2));
        self.write(format_args!(r#"<line x1="{x1}" y1="{y1}" x2="{x2}" y2="{y2}" {rest}/>"#));
    }

    pub(super) fn polyline(&mut self, points: impl Iterator<Item = (f64, f64)>, rest: &str) {
        self.body.push_str("<polyline points=\"");
        for (at, (x, y)) in points.enumerate() {
            let gap = if at > 0 { " " } else { "" };
            let _ = write!(self.body, "{gap}{},{}", Px(x), Px(y));
        }
        self.write(format_args!("\" {rest}/>"));
    }

    /// One line of text on the baseline `y`.
    pub(super) fn text(&mut self, (x, y): (f64, f64), font: Font, anchor: Anchor, text: &str) {
        let (x, y, size, ink, text) = (Px(x), Px(y), Px(font.size), font.ink, Escaped(text));
        let bold = if font.bold { r#" font-weight="600""# } else { "" };
        let anchor = match anchor {
            Anchor::Start => "",
            Anchor::Middle => r#" text-anchor="middle""#,
            Anchor::End => r#" text-anchor="end""#,
        };
        self.write(format_args!(
            r#"<text x="{x}" y="{y}" font-size="{size}" fill="{ink}"{bold}{anchor}>{text}</text>"#
        ));
    }

    /// One line of centred text with a white rim, readable where it crosses a line of the grid.
    pub(super) fn text_on_grid(&mut self, at: (f64, f64), font: Font, text: &str) {
        self.raw(r##"<g paint-order="stroke" stroke="#ffffff" stroke-width="4" stroke-linejoin="round">"##);
        self.text(at, font, Anchor::Middle, text);
        self.raw("</g>");
    }

    /// Text broken into lines of at most `width`; returns where the next thing below may start.
    pub(super) fn paragraph(&mut self, (x, y): (f64, f64), font: Font, width: f64, text: &str) -> f64 {
        let mut top = y;
        for line in wrap(text, font, width) {
            top += font.size * 1.45;
            self.text((x, top - font.size * 0.35), font, Anchor::Start, &line);
        }
        top
    }

    /// Anything else; the whole must become well-formed.
    pub(super) fn raw(&mut self, element: &str) {
        self.write(format_args!("{element}"));
    }

    /// The whole picture. `title` and `description` are for those who hear it.
    pub(super) fn finish(self, width: f64, height: f64, title: &str, description: &str) -> String {
        let (width, height, body) = (Px(width.ceil()), Px(height.ceil()), self.body);
        let (title, description) = (Escaped(title), Escaped(description));
        format!(
            r##"<svg xmlns="http://www.w3.org/2000/svg" role="img" width="{width}" height="{height}" viewBox="0 0 {width} {height}" font-family="system-ui, 'Segoe UI', 'Helvetica Neue', Arial, sans-serif">
<title>{title}</title>
<desc>{description}</desc>
<rect width="{width}" height="{height}" fill="#ffffff"/>
{body}</svg>
"##
        )
    }

    fn write(&mut self, element: std::fmt::Arguments<'_>) {
        let _ = writeln!(self.body, "{element}");
    }
}

/// At most how wide `text` becomes. Widths are those of a wide common font, so that what fits here
/// fits on machines with narrower ones too.
pub(super) fn width_of(text: &str, font: Font) -> f64 {
    let em: f64 = text
        .chars()
        .map(|letter| match letter {
            'i' | 'j' | 'l' | 'I' | '.' | ',' | ':' | ';' | '\'' | '|' | '!' | '·' | ' ' => 0.34,
            'f' | 'r' | 't' | '(' | ')' | '[' | ']' | '-' | '/' => 0.42,
            'm' | 'w' | 'M' | 'W' | '%' | '@' | '—' | '…' => 1.0,
            'A'..='Z' => 0.75,
            '\u{1100}'.. => 1.05,
            _ => 0.64,
        })
        .sum();
    em * font.size * if font.bold { 1.1 } else { 1.0 }
}

/// Breaks at spaces; a word longer than the line stays whole.
fn wrap(text: &str, font: Font, width: f64) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in text.split_whitespace() {
        match lines.last_mut() {
            Some(line) if width_of(line, font) + width_of(word, font) + width_of(" ", font) <= width => {
                line.push(' ');
                line.push_str(word);
            }
            _ => lines.push(word.into()),
        }
    }
    lines
}

/// A length in at most hundredths of a pixel, without trailing zeros.
pub(super) struct Px(pub(super) f64);

impl std::fmt::Display for Px {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        debug_assert!(self.0.is_finite());
        // Adding zero turns the minus zero that rounding can give into zero.
        write!(f, "{}", (self.0 * 100.0).round() / 100.0 + 0.0)
    }
}

struct Escaped<'a>(&'a str);

impl std::fmt::Display for Escaped<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        for letter in self.0.chars() {
            match letter {
                '&' => f.write_str("&amp;")?,
                '<' => f.write_str("&lt;")?,
                '>' => f.write_str("&gt;")?,
                '"' => f.write_str("&quot;")?,
                // XML has no way to write most control characters, not even escaped.
                letter if letter.is_control() => f.write_str("\u{fffd}")?,
                letter => f.write_char(letter)?,
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_break_at_spaces_and_long_words_stay() {
        let lines = wrap("one two three extraordinarily-long-word x", LABEL, 80.0);
        assert_eq!(lines, ["one two", "three", "extraordinarily-long-word", "x"]);
        assert!(wrap(" ", LABEL, 80.0).is_empty());
    }

    #[test]
    fn text_cannot_leave_its_element() {
        assert_eq!(Escaped("Vec<\"a\"> & \u{1}").to_string(), "Vec&lt;&quot;a&quot;&gt; &amp; \u{fffd}");
    }

    #[test]
    fn lengths_are_short() {
        assert_eq!([1.0, 0.125, 2.5, -0.001].map(|px| Px(px).to_string()), ["1", "0.13", "2.5", "0"]);
    }
}
