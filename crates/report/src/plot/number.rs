//! Numbers as people read them: thousands apart, no digits that mean nothing.

/// `1234567` as `1,234,567`.
pub(super) fn whole(value: u64) -> String {
    let digits = value.to_string();
    let mut out = String::new();
    for (at, digit) in digits.char_indices() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

/// About three significant digits: `0.0123`, `1.23`, `12.3`, `123`, `12,345`.
pub(super) fn short(value: f64) -> String {
    if value < 0.0 {
        return format!("−{}", short(-value));
    }
    if value >= 99.95 {
        return whole(value.round() as u64);
    }
    let decimals = match value {
        9.995.. => 1,
        0.9995.. => 2,
        0.0 => 0,
        _ => 2 - value.log10().floor() as i32,
    };
    let text = format!("{value:.*}", decimals.clamp(0, 12) as usize);
    match text.contains('.') {
        true => text.trim_end_matches('0').trim_end_matches('.').into(),
        false => text,
    }
}

/// A share of one: `51%`, `1.7%`, `0.33%`, `<0.01%`.
pub(super) fn percent(share: f64) -> String {
    match share * 100.0 {
        percent @ 9.95.. => format!("{percent:.0}%"),
        percent @ 0.995.. => format!("{percent:.1}%"),
        percent @ 0.01.. => format!("{percent:.2}%"),
        0.0 => "0%".into(),
        _ => "<0.01%".into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn thousands_are_set_apart() {
        let shown = [0, 7, 999, 1_000, 65_536, 1_234_567].map(whole);
        assert_eq!(shown, ["0", "7", "999", "1,000", "65,536", "1,234,567"]);
    }

    #[test]
    fn three_digits_are_enough() {
        let shown =
            [0.0, 0.01234, 0.5, 0.99999, 1.0, 2.345, 9.999, 12.34, 99.99, 128.6, 12_345.6, -3.5].map(short);
        assert_eq!(
            shown,
            ["0", "0.0123", "0.5", "1", "1", "2.35", "10", "12.3", "100", "129", "12,346", "−3.5"]
        );
    }

    #[test]
    fn shares_as_percent() {
        let shown = [0.0, 0.00001, 0.0033, 0.0169, 0.0999, 0.51, 1.0].map(percent);
        assert_eq!(shown, ["0%", "<0.01%", "0.33%", "1.7%", "10%", "51%", "100%"]);
    }
}
