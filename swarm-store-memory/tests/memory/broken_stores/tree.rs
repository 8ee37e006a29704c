//! Faults of the tree over the log.

use swarm_core::domain::Seq;
use swarm_core::proof::tile::TileId;
use swarm_core::store::{Result, Saved, TreeChange, TreeState, Versioned, async_trait};

use crate::broken_stores::broken::{Fault, TenantStores};
use crate::broken_stores::tenants::fault;

fault!(TreeInvented: tiles(stores, log: u64, tiles: &[TileId]) -> Vec<Option<Vec<u8>>> {
    let found = stores.own.tiles(log, tiles).await?;
    Ok(found.into_iter().map(|tile| Some(tile.unwrap_or_default())).collect())
});

fault!(TilesForgotten: save_tree(stores, change: &TreeChange) -> Saved {
    stores.own.save_tree(&TreeChange { tiles: Vec::new(), ..change.clone() }).await
});

fault!(TilesNeverReplaced: save_tree(stores, change: &TreeChange) -> Saved {
    let mut change = change.clone();
    let ids: Vec<_> = change.tiles.iter().map(|(id, _)| *id).collect();
    let stored = stores.own.tiles(change.state.log, &ids).await?;
    let mut stored = stored.iter();
    change.tiles.retain(|_| stored.next().is_some_and(Option::is_none));
    stores.own.save_tree(&change).await
});

fault!(TreeAtAnyVersion: save_tree(stores, change: &TreeChange) -> Saved {
    let stored = stores.own.tree().await?;
    let expected = stored.map(|stored| stored.version);
    stores.own.save_tree(&TreeChange { expected, ..change.clone() }).await
});

fault!(TreeSavedTwiceInARace: save_tree(stores, change: &TreeChange) -> Saved {
    // Only the first creates it; what comes later is checked against what it has read itself.
    if change.expected.is_none() || stores.own.tree().await?.is_none() {
        return stores.own.save_tree(change).await;
    }
    let expected = stores.own.tree().await?.map(|stored| stored.version);
    stores.own.save_tree(&TreeChange { expected, ..change.clone() }).await
});

fault!(TilesOfAnyLog: tiles(stores, log: u64, tiles: &[TileId]) -> Vec<Option<Vec<u8>>> {
    let newest = stores.own.tree().await?.map_or(log, |stored| stored.record.log);
    stores.own.tiles(newest, tiles).await
});

fault!(TreeOfAnyTenant: tree(stores) -> Option<Versioned<TreeState>> {
    for store in &stores.all {
        if let Some(tree) = store.tree().await? {
            return Ok(Some(tree));
        }
    }
    Ok(None)
});

fault!(TrustedAnyway: mark_went_back(_worlds, _log: u64, _size: Seq) -> () {
    Ok(())
});
