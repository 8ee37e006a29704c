// A witness of logs, written from C2SP tlog-witness, tlog-cosignature and signed-note, on the sumdb packages of Go.
//
//	witness serve KEYS   prints its verifier key and its address; KEYS is a file with the verifier keys of logs
//	witness check KEY    reads a note on standard input, and prints the time at which KEY cosigned it
package main

import (
	"bufio"
	"bytes"
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"os"
	"strconv"
	"strings"
	"sync"
	"time"

	"golang.org/x/mod/sumdb/note"
	"golang.org/x/mod/sumdb/tlog"
)

const name = "witness.example/w1"

func keyID(name string, key []byte) uint32 {
	sum := sha256.Sum256(append([]byte(name+"\n"), key...))
	return binary.BigEndian.Uint32(sum[:4])
}

// The message that a cosignature signs.
func message(time uint64, text string) []byte {
	return []byte(fmt.Sprintf("cosignature/v1\ntime %d\n%s", time, text))
}

// A verifier of cosignatures for note.Open, which itself knows signatures of logs alone.
type cosigner struct {
	name string
	id   uint32
	key  ed25519.PublicKey
	time uint64
}

func (it *cosigner) Name() string    { return it.name }
func (it *cosigner) KeyHash() uint32 { return it.id }
func (it *cosigner) Verify(text, signature []byte) bool {
	if len(signature) != 8+ed25519.SignatureSize {
		return false
	}
	it.time = binary.BigEndian.Uint64(signature)
	return ed25519.Verify(it.key, message(it.time, string(text)), signature[8:])
}

func check(text string) error {
	parts := strings.SplitN(text, "+", 3)
	key, err := base64.StdEncoding.DecodeString(parts[2])
	if err != nil || key[0] != 4 || fmt.Sprintf("%08x", keyID(parts[0], key)) != parts[1] {
		return errors.New("no key of a witness")
	}
	verifier := &cosigner{name: parts[0], id: keyID(parts[0], key), key: key[1:]}
	data, err := io.ReadAll(os.Stdin)
	if err != nil {
		return err
	}
	if _, err := note.Open(data, note.VerifierList(verifier)); err != nil {
		return err
	}
	fmt.Println(verifier.time)
	return nil
}

type witness struct {
	sync.Mutex
	keys   string
	signer ed25519.PrivateKey
	id     uint32
	trees  map[string]tlog.Tree
}

func serve(keys string) error {
	public, private, err := ed25519.GenerateKey(nil)
	if err != nil {
		return err
	}
	typed := append([]byte{4}, public...)
	id := keyID(name, typed)
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	fmt.Printf("%s+%08x+%s\n", name, id, base64.StdEncoding.EncodeToString(typed))
	fmt.Printf("http://%s\n", listener.Addr())
	it := &witness{keys: keys, signer: private, id: id, trees: map[string]tlog.Tree{}}
	http.HandleFunc("/log/add-checkpoint", it.add)
	return http.Serve(listener, nil)
}

func (it *witness) add(answer http.ResponseWriter, request *http.Request) {
	it.Lock()
	defer it.Unlock()
	status, body := it.answer(request)
	if status == http.StatusConflict {
		answer.Header().Set("Content-Type", "text/x.tlog.size")
	}
	answer.WriteHeader(status)
	io.WriteString(answer, body)
}

func (it *witness) answer(request *http.Request) (int, string) {
	body, err := io.ReadAll(io.LimitReader(request.Body, 1<<16))
	if err != nil || request.Method != "POST" {
		return 400, ""
	}
	head, checkpoint, found := bytes.Cut(body, []byte("\n\n"))
	lines := strings.Split(string(head), "\n")
	old, err := strconv.ParseInt(strings.TrimPrefix(lines[0], "old "), 10, 64)
	if !found || err != nil || !strings.HasPrefix(lines[0], "old ") || len(lines) > 64 {
		return 400, ""
	}
	var proof tlog.TreeProof
	for _, line := range lines[1:] {
		hash, err := tlog.ParseHash(line)
		if err != nil {
			return 400, ""
		}
		proof = append(proof, hash)
	}
	origin := strings.SplitN(string(checkpoint), "\n", 2)[0]
	verifiers, err := it.verifiers(origin)
	if err != nil {
		return 404, err.Error()
	}
	opened, err := note.Open(checkpoint, verifiers)
	if err != nil {
		return 403, err.Error()
	}
	text := strings.SplitN(opened.Text, "\n", 4)
	size, err := strconv.ParseInt(text[1], 10, 64)
	if err != nil || old > size {
		return 400, ""
	}
	root, err := tlog.ParseHash(text[2])
	if err != nil {
		return 400, ""
	}
	known := it.trees[origin]
	if old != known.N || (old == size && old > 0 && root != known.Hash) {
		return http.StatusConflict, fmt.Sprintf("%d\n", known.N)
	}
	switch {
	case old == 0 || old == size:
		if len(proof) > 0 {
			return 400, ""
		}
	case tlog.CheckTree(proof, size, root, old, known.Hash) != nil:
		return http.StatusUnprocessableEntity, ""
	}
	it.trees[origin] = tlog.Tree{N: size, Hash: root}

	now := uint64(time.Now().Unix())
	var signature bytes.Buffer
	binary.Write(&signature, binary.BigEndian, it.id)
	binary.Write(&signature, binary.BigEndian, now)
	signature.Write(ed25519.Sign(it.signer, message(now, opened.Text)))
	line := base64.StdEncoding.EncodeToString(signature.Bytes())
	return 200, fmt.Sprintf("\u2014 %s %s\n", name, line)
}

// The keys of the log with this origin.
func (it *witness) verifiers(origin string) (note.Verifiers, error) {
	file, err := os.Open(it.keys)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	for lines := bufio.NewScanner(file); lines.Scan(); {
		verifier, err := note.NewVerifier(lines.Text())
		if err == nil && verifier.Name() == origin {
			return note.VerifierList(verifier), nil
		}
	}
	return nil, errors.New("unknown log")
}

func main() {
	run := check
	if os.Args[1] == "serve" {
		run = serve
	}
	if err := run(os.Args[2]); err != nil {
		log.Fatal(err)
	}
}
