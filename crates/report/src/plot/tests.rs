//! Small charts against golden files, which a browser can show, and properties of large ones.
//!
//! `UPDATE_EXPECT=1 cargo test -p raddle-report` writes the golden files anew: look at them before committing.

use super::*;
use expect_test::{ExpectFile, expect_file};

fn check(svg: &str, golden: ExpectFile) {
    well_formed(svg);
    golden.assert_eq(svg);
}

fn well_formed(svg: &str) {
    let document = roxmltree::Document::parse(svg).unwrap_or_else(|error| panic!("{error}\n{svg}"));
    let root = document.root_element();
    let size = |name: &str| root.attribute(name).and_then(|value| value.parse::<f64>().ok()).unwrap();
    let (width, height) = (size("width"), size("height"));
    for node in document.descendants().filter(|node| node.has_tag_name("text")) {
        let at = |name: &str| node.attribute(name).unwrap().parse::<f64>().unwrap();
        assert!(
            at("x") > 0.0 && at("x") < width && at("y") > 0.0 && at("y") < height,
            "{:?} is outside",
            node.text()
        );
        assert!(at("font-size") >= 11.0);
    }
    assert!(document.descendants().any(|node| node.has_tag_name("desc") && node.text().is_some()));
}

fn sample(counts: &[u32]) -> Option<Sample> {
    let runs = counts.iter().map(|&count| u64::from(count)).sum();
    Some(Sample { runs, distinct: counts.len() as u64, exact: true, counts: counts.to_vec() })
}

fn bar(mean: f64, reach: f64) -> Option<Bar> {
    Some(Bar { mean, low: mean - reach, high: mean + reach, at_least: false })
}

fn names(names: &[&str]) -> Vec<String> {
    names.iter().map(|&name| name.into()).collect()
}

#[test]
fn distribution_golden() {
    let mut rare = vec![500, 20];
    rare.extend([1; 480]);
    let chart = Distribution {
        title: "Sampled partial orders".into(),
        strategies: names(&["random", "rapos"]),
        subjects: vec![
            Subject { name: "philo".into(), samples: vec![sample(&[1, 6, 2, 1]), sample(&[2; 30])] },
            Subject { name: "Vec<T> & co".into(), samples: vec![sample(&rare), None] },
        ],
    };
    check(&distribution(&chart), expect_file!["golden/distribution.svg"]);
}

fn two_groups(spacing: Spacing) -> Bars {
    Bars {
        title: "Runs until the exception".into(),
        note: "Mean of 25 experiments with its 99% interval; fewer is better.".into(),
        measure: "runs".into(),
        strategies: names(&["random", "rapos"]),
        groups: vec![
            Group { name: "Vector".into(), bars: vec![bar(615.0, 120.5), bar(129.0, 31.0)] },
            Group {
                name: "LinkedList".into(),
                bars: vec![Some(Bar { mean: 9000.0, low: -50.0, high: f64::INFINITY, at_least: true }), None],
            },
        ],
        spacing,
    }
}

#[test]
fn bars_golden() {
    check(&bars(&two_groups(Spacing::Linear)), expect_file!["golden/bars.svg"]);
    check(&bars(&two_groups(Spacing::Logarithmic)), expect_file!["golden/bars-logarithmic.svg"]);
}

#[test]
fn lines_golden() {
    let series = |name: &str, points: &[(f64, f64)]| Series { name: name.into(), points: points.to_vec() };
    let chart = Lines {
        title: "Distinct partial orders".into(),
        note: String::new(),
        across: "runs".into(),
        measure: "distinct partial orders".into(),
        series: vec![
            series("random", &[(1.0, 1.0), (10.0, 8.0), (100.0, 20.0)]),
            series("rapos", &[(1.0, 1.0), (10.0, 10.0), (100.0, 21.0)]),
        ],
        spacing_across: Spacing::Logarithmic,
        spacing: Spacing::Linear,
    };
    check(&lines(&chart), expect_file!["golden/lines.svg"]);
}

/// Every run of a segment has its place: what is drawn fills the bar, no more and no less.
#[test]
fn segments_fill_the_bar() {
    for counts in [vec![7, 7, 7, 3, 3, 1], vec![1; 299], (1..200).collect(), vec![900, 1, 1], vec![5]] {
        let chart = Distribution {
            title: "t".into(),
            strategies: names(&["s"]),
            subjects: vec![Subject { name: "p".into(), samples: vec![sample(&counts)] }],
        };
        let svg = distribution(&chart);
        let document = roxmltree::Document::parse(&svg).unwrap();
        let bars = document
            .descendants()
            .filter(|node| node.has_tag_name("rect") && node.attribute("height") == Some("22"));
        let filled: f64 = bars.map(|node| node.attribute("width").unwrap().parse::<f64>().unwrap()).sum();
        assert!((filled - 300.0).abs() < 1.0, "{filled} for {counts:?}");
    }
}

#[test]
fn large_samples_give_small_files() {
    let counts: Vec<u32> = (0..100_000_u32).map(|order| 1 + 40_000 / (1 + order)).collect();
    let subjects = (0..12)
        .map(|at| Subject { name: format!("subject {at}"), samples: vec![sample(&counts); 3] })
        .collect();
    let chart = Distribution { title: "Many".into(), strategies: names(&["a", "b", "c"]), subjects };
    let svg = distribution(&chart);
    well_formed(&svg);
    assert!(svg.len() < 200_000, "{} bytes", svg.len());
    assert!(svg.contains("rare partial orders") && svg.contains("Hatched:"));
}

#[test]
fn nothing_to_show_is_still_a_picture() {
    well_formed(&distribution(&Distribution { title: "Empty".into(), strategies: vec![], subjects: vec![] }));
    let empty = Subject { name: "none".into(), samples: vec![sample(&[]), sample(&[0])] };
    well_formed(&distribution(&Distribution {
        title: "E".into(),
        strategies: names(&["a", "b"]),
        subjects: vec![empty],
    }));
    well_formed(&bars(&Bars { groups: vec![], ..two_groups(Spacing::Logarithmic) }));
    let chart = Lines {
        title: "Empty".into(),
        note: String::new(),
        across: "runs".into(),
        measure: "n".into(),
        series: vec![Series { name: "none".into(), points: vec![(f64::NAN, 1.0)] }],
        spacing_across: Spacing::Logarithmic,
        spacing: Spacing::Logarithmic,
    };
    well_formed(&lines(&chart));
}

#[test]
fn a_sample_is_taken_from_what_was_counted() {
    let mut seen = Distinct::new();
    for fingerprint in [5, 5, 9] {
        seen.insert(fingerprint);
    }
    let sample = Sample::from(&seen);
    assert_eq!((sample.runs, sample.distinct, sample.exact, sample.counts), (3, 2, true, vec![2, 1]));
}
