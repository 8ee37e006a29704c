//! Roots and proofs, against the crate `ct-merkle`.

use ct_merkle::mem_backed_tree::MemoryBackedTree;
use sha2::Sha256;
use swarm_core::proof::tree::{
    GrowingTree, TreeHash, consistency, inclusion, root, verify_consistency, verify_inclusion,
};

use crate::proof::{Leaves, entry};

/// Sizes around powers of two and around the width of a tile.
const SIZES: [u64; 18] = [1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 33, 100, 255, 256, 257, 300, 513];

fn oracle(size: u64) -> MemoryBackedTree<Sha256, String> {
    let mut tree = MemoryBackedTree::new();
    (0..size).for_each(|index| tree.push(entry(index)));
    tree
}

fn bytes(hashes: &[TreeHash]) -> Vec<u8> {
    hashes.iter().flat_map(|hash| hash.0).collect()
}

#[test]
fn roots_are_those_of_ct_merkle() {
    let mut growing = GrowingTree::default();
    for size in 1..=520 {
        growing.push(TreeHash::leaf(entry(size - 1).as_bytes()));
        if SIZES.contains(&size) {
            let expected = oracle(size).root();
            assert_eq!(growing.root().0.as_slice(), expected.as_bytes().as_slice(), "{size}");
            let Ok(computed) = root(size, Leaves::new(size).read());
            assert_eq!((computed, growing.size()), (growing.root(), size));
        }
    }
    let Ok(empty) = root(0, Leaves::new(0).read());
    assert_eq!((empty, GrowingTree::default().root()), (TreeHash::empty(), TreeHash::empty()));
}

#[test]
fn inclusion_proofs_are_those_of_ct_merkle_and_prove_nothing_else() {
    for size in SIZES {
        let (leaves, tree) = (Leaves::new(size), oracle(size));
        let Ok(root) = root(size, leaves.read());
        for index in [0, 1, size / 2, size.saturating_sub(2), size - 1] {
            if index >= size {
                continue;
            }
            let Ok(proof) = inclusion(index, size, leaves.read());
            let expected = tree.prove_inclusion(index as usize);
            assert_eq!(bytes(&proof), expected.as_bytes(), "{index} of {size}");
            let leaf = leaves.0[index as usize];
            assert!(verify_inclusion(&leaf, index, size, &proof, &root));
            assert!(!verify_inclusion(&TreeHash::empty(), index, size, &proof, &root));
            assert!(!verify_inclusion(&leaf, index, size, &proof, &leaf) || size == 1);
            assert!(!verify_inclusion(&leaf, size, size, &proof, &root));
            assert!(!verify_inclusion(&leaf, index + 1, size, &proof, &root));
            assert!(!verify_inclusion(&leaf, index, size, &[&proof[..], &[leaf]].concat(), &root));
            let shorter = proof.split_last().map(|(_, rest)| rest);
            assert!(!shorter.is_some_and(|it| verify_inclusion(&leaf, index, size, it, &root)));
        }
    }
}

#[test]
fn consistency_proofs_are_those_of_ct_merkle_and_prove_nothing_else() {
    for size in SIZES {
        let (leaves, tree) = (Leaves::new(size), oracle(size));
        let Ok(new) = root(size, leaves.read());
        for old_size in SIZES.into_iter().filter(|old| *old < size) {
            let Ok(old) = root(old_size, leaves.read());
            let Ok(proof) = consistency(old_size, size, leaves.read());
            let expected = tree.prove_consistency((size - old_size) as usize);
            assert_eq!(bytes(&proof), expected.as_bytes(), "{old_size} to {size}");
            assert!(verify_consistency(old_size, &old, size, &new, &proof));
            assert!(!verify_consistency(old_size, &new, size, &new, &proof));
            assert!(!verify_consistency(old_size, &old, size, &old, &proof));
            let longer = [&proof[..], &[old]].concat();
            assert!(!verify_consistency(old_size, &old, size, &new, &longer));
            let shorter = proof.split_last().map(|(_, rest)| rest);
            assert!(!shorter.is_some_and(|it| verify_consistency(old_size, &old, size, &new, it)));
        }
        let Ok(none) = consistency(size, size, leaves.read());
        assert!(none.is_empty() && verify_consistency(size, &new, size, &new, &[]));
        assert!(!verify_consistency(size, &new, size, &TreeHash::empty(), &[]));
        assert!(verify_consistency(0, &TreeHash::empty(), size, &new, &[]));
        assert!(!verify_consistency(0, &new, size, &new, &[]));
        assert!(!verify_consistency(size + 1, &new, size, &new, &[]));
    }
}

#[test]
fn a_large_tree_needs_few_hashes() {
    let Ok(proof) =
        inclusion(0, (1 << 40) + 1, |_| Ok::<_, std::convert::Infallible>(TreeHash::empty()));
    assert_eq!(proof.len(), 41);
}
