//! Routes of outcomes, scores, records and the ranking (API.md, 6.11 and 7.3).

use swarm_core::Resource;
use swarm_core::domain::{Day, OutcomeDraft, SubjectId};
use swarm_core::rules::ScoreFilter;
use swarm_core::wire::Problem::{self, InvalidQuery, InvalidRequest, NoOutcome, NotFound};
use swarm_core::{MemberId, SessionId, wire};

use super::sessions;
use crate::request::RequestContext;
use crate::request::command::FormPreview;
use crate::request::credential::Access::Operator;
use crate::request::extract::Attributed;
use crate::request::parameters::LEAST_SCORED;
use crate::request::route::{Parameter, Route, Section, Work, cached, post};
use crate::response::{Answer, Reply};
use crate::schema::HasSchema as _;
use crate::tenants::Role;

/// The parameters of the ranking.
pub(super) const RANKING: &[Parameter] =
    &[("subject", SubjectId::SCHEMA), ("since", Day::SCHEMA), ("min", LEAST_SCORED)];

/// The routes.
pub(super) fn routes() -> Vec<Route> {
    [
        Section::Sessions.rows(vec![
            cached("/api/swarm/sessions/{id}/scores", of_session)
                .about("How near each take came to the outcome of the session")
                .part(SessionId::SCHEMA)
                .answers(200, &["SessionScores"])
                .refuses(&[NotFound, NoOutcome]),
        ]),
        Section::Records.rows(vec![
            cached("/api/swarm/members/{id}/record", record)
                .about("The scores of a member over all sessions with an outcome")
                .part(MemberId::SCHEMA)
                .query(&[("subject", SubjectId::SCHEMA)])
                .answers(200, &["MemberRecord"])
                .refuses(&[NotFound, InvalidQuery]),
            cached("/api/swarm/ranking", ranking)
                .about("The members by the lower bound of their skill")
                .query(RANKING)
                .answers(200, &["Ranking"])
                .refuses(&[InvalidQuery]),
        ]),
        Section::OperatingSessions.rows(vec![
            post(Operator(Role::Operator), "/api/swarm/admin/sessions/{id}/outcome", outcome)
                .with(Work::Long)
                .about("Record the outcome of a session, or annul it")
                .answers(200, &["SessionChanged"])
                .refuses(&[InvalidRequest, NotFound, Problem::SessionState])
                .command(
                    sessions::of_session(
                        "outcome",
                        "12 -0.5 --source https://prices.example/aurora",
                        "has the outcome {value}",
                    )
                    .done_where("value", "none", "session {id} is not scored")
                    .form("Record the outcome", "The outcome is recorded")
                    .shown_first(FormPreview::Always),
                ),
        ]),
    ]
    .into_iter()
    .flatten()
    .collect()
}

pub(crate) async fn of_session(mut request: RequestContext) -> Reply {
    // A subject may be called scores.
    if request.path.first().is_some_and(|date| Day::parse(date).is_ok()) {
        request.path.push("scores".to_owned());
        return sessions::by_date(request).await;
    }
    let (session, scores) = request.tenant().scores(request.session_id()?).await?;
    Ok(Answer::from(wire::scores::of_session(&scores)).of_session(&session))
}

pub(crate) async fn record(request: RequestContext) -> Reply {
    let member = request.member_id(Resource::Member)?;
    let subject = request.filter_of("subject", SubjectId::parse)?;
    let filter = ScoreFilter { subject, since: None };
    let (tenant, mut scores) = (request.tenant(), request.served.scores().await);
    // The state comes first: what changes after it makes another answer.
    let state = scores.state(tenant).await?;
    let record = scores.record(tenant, &member, &filter).await?;
    Ok(Answer::from(wire::scores::record(&member, &record)).of_scores(state))
}

pub(crate) async fn ranking(request: RequestContext) -> Reply {
    let (filter, min) = request.scores_selected()?;
    let (tenant, mut scores) = (request.tenant(), request.served.scores().await);
    let state = scores.state(tenant).await?;
    let ranking = scores.ranking(tenant, &filter, min).await?;
    drop(scores);
    Ok(Answer::from(wire::scores::ranking(&ranking)).of_scores(state))
}

pub(crate) async fn outcome(
    request: RequestContext,
    id: SessionId,
    Attributed(outcome, by): Attributed<OutcomeDraft>,
) -> Reply {
    let session = request.tenant().record_outcome(id, &outcome, &by).await?;
    sessions::cautioned(&request, &session, wire::sessions::changed(&session)).await
}
