//! Metrics in the classic text format of Prometheus (version 0.0.4), made from OpenMetrics text.
//!
//! In the classic format the name of a counter has its suffix `_total` in `# HELP` and `# TYPE`
//! too, there are no units, no type `info` and no end mark.

/// The content type of the classic format.
pub const CLASSIC: &str = "text/plain; version=0.0.4; charset=utf-8";
/// The content type of OpenMetrics.
pub const OPEN: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";

/// Returns whether a client that sends this `Accept` header gets OpenMetrics. A client without the
/// header does; one that names other formats only gets the classic format.
pub fn wants_open(accept: Option<&str>) -> bool {
    let Some(accept) = accept else { return true };
    let quality = |name: &str| {
        let ranges = accept.split(',').map(str::trim);
        let found = ranges.filter_map(|range| {
            let (kind, parameters) = range.split_once(';').unwrap_or((range, ""));
            let mut parameters = parameters.split(';').map(str::trim);
            let quality = parameters.find_map(|one| one.strip_prefix("q="));
            let quality = quality.map_or(Some(1.0), |text| text.parse::<f64>().ok())?;
            (kind.trim().eq_ignore_ascii_case(name)).then_some(quality)
        });
        found.fold(0.0, f64::max)
    };
    let any = quality("*/*").max(quality("application/*"));
    let (open, plain) = (
        quality("application/openmetrics-text").max(any),
        quality("text/plain").max(quality("text/*")),
    );
    open > 0.0 && open >= plain
}

/// Converts OpenMetrics text.
pub fn classic(open: &str) -> String {
    let mut text = String::with_capacity(open.len());
    // A family has its help before its type, and the type decides on its name.
    let mut help = None;
    for line in open.lines() {
        if let Some(rest) = line.strip_prefix("# HELP ") {
            help = rest.split_once(' ');
        } else if let Some((name, kind)) = line
            .strip_prefix("# TYPE ")
            .and_then(|rest| rest.split_once(' '))
        {
            let (suffix, kind) = match kind {
                "counter" => ("_total", "counter"),
                "info" => ("_info", "gauge"),
                "unknown" => ("", "untyped"),
                kind => ("", kind),
            };
            if let Some((_, help)) = help.take().filter(|(of, _)| *of == name) {
                text += &format!("# HELP {name}{suffix} {help}\n");
            }
            text += &format!("# TYPE {name}{suffix} {kind}\n");
        } else if !line.starts_with('#') {
            // An exemplar follows after ` # `.
            text += line.split(" # ").next().unwrap_or(line);
            text.push('\n');
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_classic_format_names_counters_with_their_suffix() {
        let open = "# HELP a_b Things.\n# TYPE a_b counter\na_b_total{x=\"1\"} 2\n\
                    # HELP c Time.\n# TYPE c histogram\n# UNIT c seconds\nc_sum 1.0\n\
                    # HELP d Build.\n# TYPE d info\nd_info{version=\"1\"} 1\n# EOF\n";
        let expected = "# HELP a_b_total Things.\n# TYPE a_b_total counter\na_b_total{x=\"1\"} 2\n\
                        # HELP c Time.\n# TYPE c histogram\nc_sum 1.0\n\
                        # HELP d_info Build.\n# TYPE d_info gauge\nd_info{version=\"1\"} 1\n";
        assert_eq!(classic(open), expected);
    }

    #[test]
    fn accept_chooses_the_format() {
        // What Prometheus 2 and 3 send.
        let prometheus = "application/openmetrics-text;version=1.0.0;q=0.5,text/plain;version=0.0.4;q=0.3,*/*;q=0.1";
        for (accept, open) in [
            (None, true),
            (Some(prometheus), true),
            (Some("text/plain;version=0.0.4"), false),
            (Some("text/plain"), false),
            (Some("*/*"), true),
            (Some("text/html,*/*;q=0.8"), true),
            (
                Some("application/openmetrics-text;q=0.2, text/plain;q=0.9"),
                false,
            ),
        ] {
            assert_eq!(wants_open(accept), open, "{accept:?}");
        }
    }
}
