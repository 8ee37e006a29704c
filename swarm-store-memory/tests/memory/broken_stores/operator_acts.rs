//! Faults of the acts of operators.

use swarm_core::domain::{Actor, Day, Delivery, OperatorAct, RecordedAct, Timestamp};
use swarm_core::rules::MemberChange;
use swarm_core::store::{ActQuery, MemberSaved, Result, Saved, WebhookChange, async_trait};

use crate::broken_stores::broken::{Fault, TenantStores};
use crate::broken_stores::tenants::fault;

fault!(ActsOfChangesForgotten: save_member(stores, change: &MemberChange) -> MemberSaved {
    stores.own.save_member(&MemberChange { operator_act: None, ..change.clone() }).await
});

fault!(ActsOfTheRefused: save_member(stores, change: &MemberChange) -> MemberSaved {
    let change_alone = MemberChange { operator_act: None, ..change.clone() };
    if let Some(act) = &change.operator_act {
        let _ = stores.own.record_act(act, None).await?;
    }
    stores.own.save_member(&change_alone).await
});

fault!(WebhookActsForgotten: save_webhook(stores, change: &WebhookChange) -> Option<Vec<Delivery>> {
    stores.own.save_webhook(&WebhookChange { operator_act: None, ..change.clone() }).await
});

fault!(ActsOfAnybody: operator_acts(stores, query: &ActQuery) -> Vec<RecordedAct> {
    stores.own.operator_acts(&ActQuery { by: None, ..query.clone() }).await
});

fault!(ActsOfAnyTime: operator_acts(stores, query: &ActQuery) -> Vec<RecordedAct> {
    stores.own.operator_acts(&ActQuery { since: None, before: None, ..query.clone() }).await
});

fault!(ActsNeverForgotten: forget_acts(_stores, _before: Timestamp) -> () {
    Ok(())
});

fault!(StrangersUnbounded: record_act(stores, act: &OperatorAct, _of_strangers: Option<(Day, u32)>) -> Saved {
    stores.own.record_act(act, None).await
});

fault!(ActsForgottenInAllTenants: forget_acts(stores, before: Timestamp) -> () {
    for store in stores.others() {
        store.forget_acts(before).await?;
    }
    stores.own.forget_acts(before).await
});

fault!(OperatorActsOfTheMachine: record_act(stores, act: &OperatorAct, of_strangers: Option<(Day, u32)>) -> Saved {
    let by = Some(Actor::OPERATOR);
    stores.own.record_act(&OperatorAct { by, ..act.clone() }, of_strangers).await
});
