//! Tests that the SVG shows what the figure contains, whatever the numbers are.

use super::*;

fn figure(points: &[(f64, f64)]) -> Figure {
    Figure {
        title: "a < b & \"c\"".to_owned(),
        x_label: "time (s)".to_owned(),
        y_label: "quality".to_owned(),
        series: vec![
            Series::line("one", points.to_vec()),
            Series::line("<two>", points.to_vec()),
        ],
        ..Figure::default()
    }
}

/// Follows the relative steps of every path and returns the points they lead to.
fn places(svg: &str) -> Vec<(f64, f64)> {
    let mut places = Vec::new();
    for path in svg.split(" d=\"").skip(1) {
        let path = path.split('"').next().unwrap();
        let (mut at, mut start) = ((0.0, 0.0), (0.0, 0.0));
        for step in path.split_inclusive(['m', 'l', 'z']) {
            // The letter of a step ends the piece before it.
            let closes = step.ends_with('z');
            let text = step.trim_end_matches(['m', 'l', 'z']).replace('-', " -");
            let numbers: Vec<f64> = text
                .split_whitespace()
                .map(|number| number.parse().unwrap())
                .collect();
            if let [right, down] = numbers[..] {
                at = (at.0 + right, at.1 + down);
                places.push(at);
            }
            if closes {
                at = start;
            }
            if path.starts_with(step) {
                start = at;
            }
        }
    }
    places
}

#[test]
fn all_texts_are_shown_and_escaped_and_every_line_is_drawn() {
    let points = [(0.0, 0.0), (1.0, 2.0), (2.0, 1.0)];
    for svg in [figure(&points).svg(), figure(&points).svg_in_page()] {
        for text in [
            "a &lt; b &amp;",
            ">time (s)<",
            ">quality<",
            ">one<",
            ">&lt;two&gt;<",
        ] {
            assert!(svg.contains(text), "{text}");
        }
        assert!(!svg.contains("<two>"));
        // Two lines and their keys, each with its markers.
        assert_eq!(svg.matches("class=\"line\"").count(), 4);
        assert_eq!(svg.matches("class=\"mark\"").count(), 4);
        assert_eq!(svg.matches("class=\"whisker\"").count(), 0);
    }
    assert_eq!(figure(&points).svg(), figure(&points).svg());
}

#[test]
fn a_file_contains_its_style_and_an_inline_figure_does_not() {
    let points = [(0.0, 0.0), (1.0, 2.0)];
    let file = figure(&points).svg();
    assert!(file.starts_with("<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"800\""));
    assert!(file.contains("<style>") && file.contains("fill:#ffffff"));
    assert!(!file.contains("var(") && !file.contains("@media"));
    let inline = figure(&points).svg_in_page();
    assert!(!inline.contains("<style") && !inline.contains("<rect") && !inline.contains('#'));
}

#[test]
fn numbers_of_any_size_give_an_svg_without_nan_or_infinity() {
    let huge = f64::MAX;
    for points in [
        &[][..],
        &[(f64::NAN, 1.0), (1.0, f64::INFINITY)],
        &[(3.0, 3.0)],
        &[(0.0, -huge), (huge, huge)],
        &[(0.0, -1e300), (1e300, 1e300)],
        &[(1e-300, 1e-300), (2e-300, 0.0)],
        &[(5e-324, 5e-324)],
    ] {
        let mut figure = figure(points);
        figure.series[1].intervals = vec![(f64::NEG_INFINITY, 1.0), (-5.0, 1e299)];
        let svg = figure.svg();
        assert!(svg.ends_with("</svg>\n"), "{points:?}");
        assert!(!svg.contains("NaN") && !svg.contains("inf"), "{points:?}");
    }
    assert!(Figure::default().svg().ends_with("</svg>\n"));
}

#[test]
fn points_are_drawn_in_proportion_to_their_values() {
    let mut figure = figure(&[]);
    figure.series = vec![Series::line(
        "one",
        vec![(0.0, 0.0), (0.5, 1.0), (1.0, 0.5)],
    )];
    let svg = figure.svg_in_page();
    let line = svg.split("class=\"line\"").nth(1).unwrap();
    let found = places(line.split("/>").next().unwrap());
    let ((left, bottom), (middle, top), (right, half)) = (found[0], found[1], found[2]);
    assert!((middle - (left + right) / 2.0).abs() < 0.11, "{found:?}");
    assert!((half - (top + bottom) / 2.0).abs() < 0.11, "{found:?}");
    assert!(top < bottom && left < right);
}

#[test]
fn whiskers_end_at_the_interval_or_at_the_axes() {
    let mut figure = figure(&[]);
    let mut line = Series::line("one", vec![(0.0, 0.5), (1.0, 1.0)]);
    line.intervals = vec![(0.25, 0.75), (-90.0, 90.0)];
    figure.series = vec![line];
    let svg = figure.svg_in_page();
    let whisker = svg.split("class=\"whisker\" d=\"").nth(1).unwrap();
    let whisker = whisker.split('"').next().unwrap();
    // The first whisker is a stroke with two end marks. The second is a stroke of the plot's
    // full height without end marks.
    assert_eq!(whisker.matches('m').count(), 4, "{whisker}");
    assert!(whisker.ends_with("l0-280"), "{whisker}");
}

#[test]
fn the_svg_of_100_000_points_has_less_than_8_kb() {
    let points = |count: u32| (0..count).map(|x| (f64::from(x), f64::from(x % 7)));
    let size = |count: u32| {
        let series = vec![Series::line("one", points(count).collect())];
        let figure = Figure {
            series,
            ..Figure::default()
        };
        figure.svg_in_page().len()
    };
    assert!(size(100_000) < 8_000, "{}", size(100_000));
    assert!(size(100_000) < 2 * size(200));
}
