// Verifies notes, tiles and proofs with golang.org/x/mod/sumdb, the implementation that these formats come from.
// Reads the case on standard input as JSON; says nothing and exits 0 when everything holds.
package main

import (
	"bytes"
	"encoding/json"
	"log"
	"os"
	"strings"

	"golang.org/x/mod/sumdb/note"
	"golang.org/x/mod/sumdb/tlog"
)

type proven struct {
	Index int64
	Old   int64
	Root  []byte
	Proof [][]byte
}

type testCase struct {
	Key         string
	Note        string
	Text        string
	Entries     []string
	Root        []byte
	Inclusion   []proven
	Consistency []proven
	Tiles       map[string][]byte
}

func main() {
	var it testCase
	if err := json.NewDecoder(os.Stdin).Decode(&it); err != nil {
		log.Fatal(err)
	}
	verifier, err := note.NewVerifier(it.Key)
	if err != nil {
		log.Fatal("key: ", err)
	}
	opened, err := note.Open([]byte(it.Note), note.VerifierList(verifier))
	if err != nil || opened.Text != it.Text || len(opened.Sigs) != 1 {
		log.Fatal("note: ", err)
	}

	// The stored hashes, by the other implementation.
	var stored []tlog.Hash
	reader := tlog.HashReaderFunc(func(indexes []int64) ([]tlog.Hash, error) {
		var hashes []tlog.Hash
		for _, index := range indexes {
			hashes = append(hashes, stored[index])
		}
		return hashes, nil
	})
	for index, entry := range it.Entries {
		hashes, err := tlog.StoredHashes(int64(index), []byte(entry), reader)
		if err != nil {
			log.Fatal(err)
		}
		stored = append(stored, hashes...)
	}
	size := int64(len(it.Entries))
	root, err := tlog.TreeHash(size, reader)
	if err != nil || !bytes.Equal(root[:], it.Root) {
		log.Fatal("root: ", err)
	}

	for _, each := range it.Inclusion {
		leaf := tlog.RecordHash([]byte(it.Entries[each.Index]))
		if err := tlog.CheckRecord(hashes(each.Proof), size, root, each.Index, leaf); err != nil {
			log.Fatal("inclusion of ", each.Index, ": ", err)
		}
	}
	for _, each := range it.Consistency {
		var old tlog.Hash
		copy(old[:], each.Root)
		if err := tlog.CheckTree(hashes(each.Proof), size, root, each.Old, old); err != nil {
			log.Fatal("consistency with ", each.Old, ": ", err)
		}
	}

	// It names the partial tiles of every smaller width as well.
	found := 0
	for _, tile := range tlog.NewTiles(8, 0, size) {
		expected, isServed := it.Tiles[strings.TrimPrefix(tile.Path(), "tile/8/")]
		if !isServed {
			continue
		}
		found++
		data, err := tlog.ReadTileData(tile, reader)
		if err != nil || !bytes.Equal(data, expected) {
			log.Fatal(tile.Path(), ": ", err)
		}
	}
	if found != len(it.Tiles) {
		log.Fatal("of ", len(it.Tiles), " tiles, ", found, " have their place")
	}
}

func hashes(proof [][]byte) (hashes []tlog.Hash) {
	for _, bytes := range proof {
		var hash tlog.Hash
		copy(hash[:], bytes)
		hashes = append(hashes, hash)
	}
	return hashes
}
