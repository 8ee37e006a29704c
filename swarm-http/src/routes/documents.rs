//! Subjects.

use serde::Serialize;
use swarm_core::domain::Subject;
use swarm_core::store::Put;
use warp::http::StatusCode;

use crate::call::Call;
use crate::reply::{Reply, done, ok};

pub(crate) async fn subjects(call: Call) -> Reply {
    #[derive(Serialize)]
    struct Subjects {
        subjects: Vec<Subject>,
    }
    ok(&Subjects { subjects: call.tenant().subjects().await? })
}

pub(crate) async fn subject(call: Call) -> Reply {
    ok(&call.tenant().subject(&call.subject_id()?).await?)
}

pub(crate) async fn put_subject(mut call: Call) -> Reply {
    #[derive(Serialize)]
    struct Written {
        subject: Subject,
    }
    let subject = call.operator_fields(Subject::read)?;
    let status = match call.tenant().put_subject(&subject).await? {
        Put::Created => StatusCode::CREATED,
        Put::Replaced => StatusCode::OK,
    };
    done(status, &Written { subject })
}
