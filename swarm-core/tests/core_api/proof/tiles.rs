//! Tiles: their paths, and the hashes in them.

use swarm_core::proof::tile::{
    TileId, TilePath, entries_tile, hash_in, hashes_tile, read_entries_tile, read_hashes_tile,
};
use swarm_core::proof::tree::{Node, TreeHash, root};

use crate::proof::Leaves;

#[test]
fn a_path_is_written_in_one_way() {
    for (path, level, index, width) in [
        ("0/000", Some(0), 0, 256),
        ("1/000.p/1", Some(1), 0, 1),
        ("entries/x001/x234/067", None, 1_234_067, 256),
        ("entries/x001/000.p/255", None, 1_000, 255),
        ("7/x001/001", Some(7), 1_001, 256),
    ] {
        let tile = TilePath { level, index, width };
        assert_eq!(TilePath::parse(path), Ok(tile));
        assert_eq!(tile.to_string(), path);
    }
    for bad in [
        "",
        "0",
        "0/",
        "/000",
        "0/0",
        "0/0000",
        "0/x000/001",
        "0/001/001",
        "0/x001",
        "00/000",
        "8/000",
        "-1/000",
        "+1/000",
        "data/000",
        "0/000.p/0",
        "0/000.p/256",
        "0/000.p/01",
        "0/000.p/",
        "0/000.p/1/000",
        "0/000/",
        "0/00a",
        "0/000.p",
        "256/000",
        "0/ 00",
        "0/x999/x999/x999/x999/x999/x999/x999/999",
    ] {
        assert!(TilePath::parse(bad).is_err(), "{bad}");
    }
}

#[test]
fn the_width_of_a_tile_follows_from_the_size_of_the_tree() {
    let width = |level, index, size| TileId { level, index }.width(size);
    assert_eq!((width(0, 0, 0), width(0, 0, 1), width(0, 0, 256)), (0, 1, 256));
    assert_eq!((width(1, 0, 255), width(1, 0, 256), width(0, 1, 256)), (0, 1, 0));
    assert_eq!((width(0, 1, 300), width(1, 0, 65_536 + 300), width(2, 0, 65_536)), (44, 256, 1));
    assert_eq!((width(7, u64::MAX, u64::MAX), width(255, 0, u64::MAX)), (0, 0));
}

/// A tree of tiles gives the same root as one of leaves.
#[test]
fn hashes_of_subtrees_are_found_in_their_tiles() {
    let leaves = Leaves::new(70_000);
    let mut levels = vec![leaves.0.clone()];
    while let Some(above) = levels.last().filter(|level| level.len() >= 256) {
        levels.push(above.chunks_exact(256).map(TreeHash::complete).collect());
    }
    let read = |node: Node| {
        let tile = TileId::of(node);
        let first = tile.index as usize * 256;
        let width = usize::from(tile.width(70_000));
        hash_in(&levels[usize::from(tile.level)][first..first + width], node).ok_or(node)
    };
    let Ok(expected) = root(70_000, leaves.read());
    assert_eq!(root(70_000, read), Ok(expected));
    assert_eq!(TileId { level: 0, index: 257 }.above(), (TileId { level: 1, index: 1 }, 1));
    assert_eq!(hash_in(&[], Node { level: 3, index: 1 }), None);
}

#[test]
fn bytes_of_tiles_are_read_back() {
    let texts = ["{\"seq\":1}", "", "ü"];
    let bytes = entries_tile(&texts);
    assert_eq!(bytes[..4], [0, 9, b'{', b'"']);
    assert_eq!(read_entries_tile(&bytes).as_deref(), Some(texts.as_slice()));
    assert_eq!(read_entries_tile(&bytes[..bytes.len() - 1]), None);
    assert_eq!(entries_tile(&["x".repeat(65_536)]), [0; 0]);
    let hashes = Leaves::new(3).0;
    assert_eq!(read_hashes_tile(&hashes_tile(&hashes)), Some(hashes));
    assert_eq!(read_hashes_tile(&[0; 33]), None);
    assert_eq!(read_hashes_tile(&[0; 257 * 32]), None);
}
