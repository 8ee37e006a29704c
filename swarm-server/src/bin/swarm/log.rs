//! The log on standard error, filtered by `RUST_LOG`.

use std::env::{self, VarError};
use std::io::{self, Write};
use std::panic;

use tracing::Dispatch;
use tracing_subscriber::filter::{LevelFilter, Targets};
use tracing_subscriber::layer::SubscriberExt;

use crate::arguments::LogFormat;
use crate::text_file::trimmed;
use crate::{Failure, console};

pub(crate) fn start(format: LogFormat, default: LevelFilter) -> Result<(), Failure> {
    let filter = match env::var("RUST_LOG") {
        Ok(directives) if !trimmed(&directives).is_empty() => {
            let filter = filter(trimmed(&directives));
            filter.map_err(|error| format!("RUST_LOG: {directives:?}: {error}"))?
        }
        Ok(_) | Err(VarError::NotPresent) => Targets::new().with_default(default),
        Err(error) => return Err(format!("RUST_LOG: {error}").into()),
    };
    let lines = tracing_subscriber::fmt()
        // Lines contain no escape sequences, so no colours.
        .with_ansi(false)
        .log_internal_errors(false)
        // The filter decides.
        .with_max_level(LevelFilter::TRACE)
        .with_writer(move || Escaped { out: console::log(), format });
    let log = match format {
        LogFormat::Text => Dispatch::new(lines.finish().with(filter)),
        LogFormat::Json => Dispatch::new(lines.json().finish().with(filter)),
    };
    tracing::dispatcher::set_global_default(log)?;
    // Log panics: the default hook could block on standard error.
    panic::set_hook(Box::new(|panic| tracing::error!(panic = panic.to_string(), "panicked")));
    Ok(())
}

/// Reads directives. What would turn the log off by mistake is refused: the library reads a word that is no level as a target, of
/// which alone it logs something, and an empty directive as `error`.
fn filter(directives: &str) -> Result<Targets, String> {
    let directives: Vec<_> = directives.split(',').map(str::trim).collect();
    if directives.contains(&"") {
        return Err("a directive is empty".to_owned());
    }
    let shows = |it: &&str| {
        it.contains('=') || it.starts_with("swarm") || it.parse::<LevelFilter>().is_ok()
    };
    if !directives.iter().any(shows) {
        return Err(
            "is no level (off, error, warn, info, debug or trace) and no target such as swarm_http"
                .to_owned(),
        );
    }
    directives.join(",").parse::<Targets>().map_err(|error| error.to_string())
}

/// Escapes control and bidirectional characters, which both formats leave in values. Each line is
/// written in one piece.
struct Escaped<W> {
    out: W,
    format: LogFormat,
}

impl<W: Write> Write for Escaped<W> {
    fn write(&mut self, line: &[u8]) -> io::Result<usize> {
        if line.iter().all(|byte| matches!(byte, b' '..=b'~' | b'\n')) {
            self.out.write_all(line)?;
        } else {
            let text = String::from_utf8_lossy(line);
            self.out.write_all(escaped(&text, self.format).as_bytes())?;
        }
        Ok(line.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}

fn escaped(text: &str, format: LogFormat) -> String {
    let escape = |c: char| match format {
        _ if !is_control(c) => c.to_string(),
        LogFormat::Text => c.escape_unicode().to_string(),
        LogFormat::Json => format!("\\u{:04x}", u32::from(c)),
    };
    text.chars().map(escape).collect()
}

/// Control characters except the line feed, bidirectional controls, and line separators.
fn is_control(c: char) -> bool {
    matches!(
        c,
        '\0'..='\x09'
            | '\x0b'..='\x1f'
            | '\x7f'..='\u{9f}'
            | '\u{61c}'
            | '\u{200e}'
            | '\u{200f}'
            | '\u{2028}'..='\u{202e}'
            | '\u{2066}'..='\u{2069}'
    )
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test panics")]
mod tests {
    use std::sync::{Arc, Mutex};

    use tracing::subscriber::with_default;

    use super::*;

    #[derive(Clone, Default)]
    struct Written(Arc<Mutex<Vec<u8>>>);

    impl Write for Written {
        fn write(&mut self, line: &[u8]) -> io::Result<usize> {
            self.0.lock().unwrap().extend_from_slice(line);
            Ok(line.len())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn filter_that_turns_the_log_off_by_mistake_is_refused() {
        for directives in
            ["info", "WARN", "off", "info, hyper", "swarm_http", "hyper=debug", "info,swarm=debug"]
        {
            filter(directives).unwrap();
        }
        let spaced = filter("info, swarm=debug").unwrap();
        assert!(spaced.would_enable("swarm", &tracing::Level::DEBUG));
        for directives in ["verbose", "\"info\"", "info;debug", "info,,", ",info", "swarm=loud"] {
            filter(directives).unwrap_err();
        }
    }

    const HOSTILE: &str = "a\u{85}b\u{9b}31mc\u{202e}d\u{2066}e\u{2028}f\u{61c}é\x1b";

    /// A log line with hostile values and a hostile span.
    fn logged(format: LogFormat) -> String {
        let written = Written::default();
        let out = written.clone();
        let lines = tracing_subscriber::fmt()
            .with_ansi(false)
            .with_writer(move || Escaped { out: out.clone(), format });
        let log = || {
            let _span = tracing::info_span!("request", text = %HOSTILE).entered();
            tracing::info!(value = HOSTILE, shown = %HOSTILE, "said: {HOSTILE}");
        };
        match format {
            LogFormat::Text => with_default(lines.finish(), log),
            LogFormat::Json => with_default(lines.json().finish(), log),
        }
        String::from_utf8(written.0.lock().unwrap().clone()).unwrap()
    }

    #[test]
    fn lines_of_both_formats_escape_controls_and_bidi() {
        for format in [LogFormat::Text, LogFormat::Json] {
            let text = logged(format);
            assert!(!text.contains(is_control), "{text:?}");
            assert!(text.contains('é') && text.lines().count() == 1, "{text:?}");
        }
    }

    #[test]
    fn escaped_json_parses_to_the_original_values() {
        let line = logged(LogFormat::Json);
        let value: serde_json::Value = serde_json::from_str(&line).unwrap();
        assert_eq!(value["fields"]["value"], HOSTILE);
        assert_eq!(value["span"]["text"], HOSTILE);
    }
}
