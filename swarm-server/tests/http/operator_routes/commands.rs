//! The routes of operators and the verbs of `swarm admin`, which the table of routes declares together (MANUAL.md, 13.3).

use serde_json::Value;
use swarm_http::{Argument, ArgumentKind, Command};

use crate::commands::User;
use crate::desk::{Desk, Request};

/// Each change of an operator has a verb. It sends the example of the reference, as its arguments.
#[test]
fn each_change_has_a_verb_that_sends_it() {
    let desk = Desk::start();
    let user = User::of_service(format!("http://{}", desk.fixture.client.address));
    for request in Request::of_operators().filter(|request| !request.route.is_read()) {
        let commands = &request.route.info.commands;
        assert!(!commands.is_empty(), "no verb sends {request:?}");
        for command in commands {
            let words = words(command, &request, &user);
            let ended = user.admin_words(&words);
            // A verb with a state of its own may come too early or too late for the session of the example.
            let is_judged = ended.code == 0 || ended.code == 1 && !command.fixed.is_empty();
            assert!(is_judged, "{words:?}: {}{}", ended.out, ended.err);
            assert_eq!(ended.code == 0, ended.err.contains("dry run, nothing was changed"));
        }
    }
}

/// The words of a verb, with the fields of a request.
fn words(command: &Command, request: &Request, user: &User) -> Vec<String> {
    let body: Value = serde_json::from_str(&request.body).unwrap_or_default();
    let pattern = request.route.info.path.split('/');
    let path: Vec<_> = pattern.zip(request.path.split('/')).collect();
    let group = command.group.split_whitespace();
    let mut words: Vec<_> = group.chain([command.word]).map(str::to_owned).collect();
    for argument in &command.arguments {
        let parameter = format!("{{{}}}", argument.field);
        let in_path = path.iter().find(|(part, _)| *part == parameter);
        let given = match in_path {
            Some((_, part)) => Some((*part).to_owned()),
            None => typed(argument, &body, user),
        };
        match (&argument.flag, given) {
            (None, Some(text)) => words.push(text),
            (Some(flag), Some(text)) if text.is_empty() => words.push(format!("--{flag}")),
            (Some(flag), Some(text)) => words.push(format!("--{flag}={text}")),
            (_, None) => assert!(!argument.is_required, "{words:?}: no {}", argument.field),
        }
    }
    words.extend(["--dry-run", "--yes"].map(str::to_owned));
    words
}

/// What is typed for a field of this body; empty: the flag alone. `None` where the body has none.
fn typed(argument: &Argument, body: &Value, user: &User) -> Option<String> {
    let field = match argument.kind {
        ArgumentKind::Body => body,
        _ => match (body.get(&argument.field), &argument.kind) {
            (Some(field), _) => field,
            // The example of a patch has one of its fields.
            (None, ArgumentKind::NumberOrNone | ArgumentKind::TimeOrNone) => {
                return Some("none".to_owned());
            }
            (None, _) => return None,
        },
    };
    let in_file = |text: String| user.file(&argument.field, &text).to_str().unwrap().to_owned();
    match argument.kind {
        ArgumentKind::Switch => (field == true).then(String::new),
        ArgumentKind::Negation => (field == false).then(String::new),
        ArgumentKind::Roster => Some(field[0]["memberId"].as_str().unwrap().to_owned()),
        ArgumentKind::List => {
            let texts = field.as_array().unwrap().iter().map(|text| text.as_str().unwrap());
            Some(texts.collect::<Vec<_>>().join(","))
        }
        ArgumentKind::TextFile => Some(in_file(field.as_str().unwrap().to_owned())),
        ArgumentKind::JsonFile | ArgumentKind::Body => Some(in_file(field.to_string())),
        _ => Some(field.as_str().map_or_else(|| field.to_string(), str::to_owned)),
    }
}
