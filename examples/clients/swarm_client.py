#!/usr/bin/env python3
r"""A client of Swarm: one file, no SDK; Python 3.8 and the "cryptography" package.

As a program, from nothing to a take that anyone can verify:

    swarm_client.py keygen my.key
    swarm_client.py apply  --url http://127.0.0.1:8080 --key my.key --name Ada --contact ada@example.org
    swarm_client.py claim  --url http://127.0.0.1:8080 --key my.key --token-file my.token --member MEMBER_ID
    swarm_client.py submit --url http://127.0.0.1:8080 --key my.key --token-file my.token --member MEMBER_ID \
                           --date 2026-11-21 --subject aurora --stance cautious --confidence 0.62
    swarm_client.py verify http://127.0.0.1:8080/swarm/takes/1 --key PUBLIC_KEY

Between apply and claim an operator activates the member; "status" shows the state.
"preflight" takes what submit takes, and names all that would refuse it; "diagnose" says what is wrong
with a signature. A member of the daily committee has a key from its operator: "committee-brief",
"committee-submit".

As a library (keys are objects of "cryptography", fields plain values, answers dictionaries):

    from swarm_client import Swarm, new_key, sign, take
    swarm = Swarm("http://127.0.0.1:8080")
    member = swarm.apply(key := new_key(), "Ada", "ada@example.org")["memberId"]
    token = swarm.claim(key, member)  # once an operator has activated the member
    signed = sign(take(member, "2026-11-21", "aurora", "cautious", 0.62, nonce=swarm.nonce()), key)
    receipt = swarm.submit(token, signed)  # after a NoAnswer: the same "signed" again, never a new one

The whole protocol: build a payload (an object whose keys have a fixed order), write it as exactly
the text that JSON.stringify gives, sign the UTF-8 bytes of that text, and post the payload with
its signature added.
"""

import argparse
import base64
import contextlib
import hashlib
import http.client
import io
import json
import math
import os
import re
import sys
import time
import uuid
from decimal import Decimal
from urllib.parse import quote, unquote, urlencode, urlsplit

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

TIMEOUT = 30  # seconds to connect, to send, and to receive the whole answer
PAUSES = (0.5, 1, 2, 4)  # seconds before each retry of a take without an answer
MAX_ANSWER = 256 << 20  # bytes of an answer
MAX_SHOWN = 1000  # characters of a refusal in an error message


class Refused(Exception):
    """The server answered with an error."""

    def __init__(self, status, answer, hint=None):
        super().__init__(f"{status} {printable(answer)[:MAX_SHOWN]}" + (f", {printable(hint)}" if hint else ""))
        self.status, self.answer = status, answer if isinstance(answer, dict) else {}


class NoAnswer(Exception):
    """It is unknown whether the take was filed. Sending the same bytes again is safe, and shows it."""


class Swarm:
    """A service, by its base URL. `host` is the name to ask for, where the URL has only an address; `origin`
    is what its members know it by, where that is not the URL's own."""

    def __init__(self, url, host=None, origin=None):
        self.url, self.host = urlsplit(url), host
        if self.url.scheme not in ("http", "https") or not self.url.hostname or self.url.port == 0:
            raise ValueError("not an http or https URL")
        self.origin = origin_of(origin or (f"{self.url.scheme}://{host}" if host else url))

    def nonce(self):
        """A fresh one, which names the service that the take is signed for."""
        nonce = f"{self.origin} {uuid.uuid4()}"
        return nonce if len(nonce) <= 200 else str(uuid.uuid4())

    # Joining.

    def apply(self, key, name, contact, lens=""):
        payload = {"name": name, "contact": contact, "lens": lens, "publicKey": public_key_of(key)}
        return self.call("/api/swarm/apply", sign(payload, key))

    def application(self, member_id):
        return self.call("/api/swarm/apply/" + quote(member_id, safe=""))

    def claim(self, key, member_id):
        """The bearer token of an activated member. The service shows it only once."""
        given = self.call("/api/swarm/token-claim/challenge", {"memberId": member_id})
        challenge = string(given, "challenge")
        if origin_of(challenge.partition(" ")[0]) != self.origin:  # else its origin could claim the token
            raise ValueError(f"the challenge is for another service than {self.origin}: {printable(challenge)}")
        payload = {"memberId": member_id, "challenge": challenge,
                   "expiresAt": string(given, "expiresAt")}  # the text as received, never reformatted
        return string(self.call("/api/swarm/token-claim", sign(payload, key)), "token")

    # Takes, as sign() gives them.

    def submit(self, token, signed_take):
        """Sends the take until there is an answer: one nonce is filed once, and the 409 for a second
        arrival of the very same bytes names the take that stands. In a blind session what it returns has the
        "salt" of the take's seal: keep it. After a 409, take() with the token has it."""
        for pause in PAUSES + (None,):
            try:
                received = {}
                answer = self.call("/api/swarm/submit", signed_take, bearer(token), received)
                return {**answer, "salt": received["swarm-seal"]} if "swarm-seal" in received else answer
            except Refused as refusal:
                if refusal.status == 409 and "recommendationId" in refusal.answer:
                    return refusal.answer  # it had arrived, its answer was lost
                if refusal.status < 500 and refusal.status != 408:
                    raise  # after a 408 or 5xx, perhaps from a proxy, it is unknown whether the take was filed
                trouble = refusal
            except (OSError, http.client.HTTPException) as error:
                trouble = error
            if pause is None:
                raise NoAnswer(f"no answer to nonce {printable(signed_take['nonce'])}: {trouble!r}") from trouble
            time.sleep(pause)

    def preflight(self, token, signed_take):
        return self.call("/api/swarm/preflight", signed_take, bearer(token))

    def diagnose(self, body):
        return self.call("/api/swarm/diagnose", body)

    def take(self, take_id, token=None):
        """A take; with the token of its author also one that is sealed."""
        return self.call(f"/api/swarm/takes/{take_id}", headers=bearer(token) if token else None)

    # Sessions and briefs.

    def open_session(self):
        """The open session, or None."""
        return self.call("/api/swarm/open-session")

    def sessions(self, limit=100, before=None):
        page = {"limit": limit, **({} if before is None else {"before": before})}
        return self.call("/api/swarm/sessions?" + urlencode(page))

    def session(self, session_id):
        return self.call(f"/api/swarm/sessions/{session_id}")

    def brief(self, session_id):
        """The brief of the session, or None."""
        return self.call("/api/swarm/brief?" + urlencode({"session": session_id}))

    def publish_memo(self, token, title, body, subject_id=None, session_id=None):
        memo = {"title": title, "body": body, "subjectId": subject_id, "sessionId": session_id}
        return self.call("/api/swarm/memos", memo, bearer(token))

    # The daily committee.

    def committee_brief(self, member_id):
        return self.call(f"/data/committee/briefs/today/{quote(member_id, safe='')}.json")

    def committee_submit(self, api_key, stance, confidence, body, model=None):
        sent = {"stance": stance, "confidence": confidence, "body": body, "model": model}
        receipt = self.call("/api/ic/submit", sent, {"x-ic-key": api_key})
        if commit_of(sent, receipt) != string(receipt, "commit"):
            raise ValueError("the receipt is of another record: " + printable(receipt))
        return receipt

    def call(self, path, request=None, headers=None, received=None):
        """Posts the request, or gets without one. Follows no redirect: a credential is for one server. Adds the
        headers of the answer to `received`, by their names in lower case."""
        connect = http.client.HTTPSConnection if self.url.scheme == "https" else http.client.HTTPConnection
        headers = {"Accept": "application/json", **(headers or {})}
        if request is not None:
            headers["Content-Type"] = "application/json"
        if self.host:
            headers["Host"] = self.host
        with contextlib.closing(connect(self.url.hostname, self.url.port, timeout=TIMEOUT)) as connection:
            connection.response_class = (
                lambda sock, *rest, **named: http.client.HTTPResponse(InTime(sock), *rest, **named))
            connection.request("GET" if request is None else "POST", self.url.path.rstrip("/") + path,
                               None if request is None else stringify(request).encode("utf-8"), headers)
            response = connection.getresponse()
            if received is not None:
                received.update((name.lower(), value) for name, value in response.getheaders())
            raw, hint = response.read(MAX_ANSWER + 1), response.getheader("swarm-hint")
            if len(raw) > MAX_ANSWER:
                raise ValueError("the answer is too long")
            if response.length:  # bytes that were announced and have not come
                raise http.client.IncompleteRead(raw, response.length)
            text = raw.decode("utf-8", "replace")
        succeeded = 200 <= response.status < 300
        try:
            answer = parse_json(text)
        except ValueError:
            if succeeded:
                raise ValueError("an answer that is no JSON") from None  # not quoted: it may hold a token
            raise Refused(response.status, text) from None  # the page of something in between
        if not succeeded:
            raise Refused(response.status, answer, hint)
        return answer


class InTime(io.RawIOBase):
    """What a socket receives, all of it within TIMEOUT: the timeout of a socket is for each piece alone."""

    def __init__(self, sock):
        self.sock, self.pieces = sock, sock.makefile("rb", buffering=0)
        self.deadline = time.monotonic() + TIMEOUT

    def makefile(self, _mode):  # all that http.client wants of a socket to read an answer
        return io.BufferedReader(self)

    def readable(self):
        return True

    def readinto(self, piece):
        left = self.deadline - time.monotonic()
        if left <= 0:
            raise TimeoutError("the answer takes too long")
        self.sock.settimeout(left)
        return self.pieces.readinto(piece)

    def close(self):
        self.pieces.close()
        super().close()


def origin_of(url):
    """Scheme and host, with the port unless it goes without saying; None where it is no http or https URL."""
    try:
        url = urlsplit(url)
        usual = {"http": 80, "https": 443}[url.scheme]
        port = "" if url.port in (None, usual) else f":{url.port}"
    except (ValueError, KeyError):
        return None
    host = f"[{url.hostname}]" if ":" in (url.hostname or "") else url.hostname
    return f"{url.scheme}://{host}{port}"


def bearer(token):
    return {"Authorization": "Bearer " + token}


# ---- The take: what is signed, in this order, from values or from a record of the service -------

def take(member_id, date, subject_id, stance, confidence, body="", memo_url="", weights=None, nonce=None):
    """What a member signs. weights: [{"bucket": ..., "weight": ...}]. The nonce is fresh unless given."""
    return take_payload({
        "memberId": member_id, "date": date, "subjectId": subject_id,
        "nonce": str(uuid.uuid4()) if nonce is None else nonce, "stance": stance,
        "confidence": confidence, "body": body, "memoUrl": memo_url, "weights": weights})


def take_payload(take):
    if not isinstance(take, dict):
        raise ValueError("a take is a JSON object")
    payload = {
        "memberId": string(take, "memberId"),
        "date": string(take, "date"),
        "subjectId": string(take, "subjectId"),
        "nonce": string(take, "nonce"),
        "stance": string(take, "stance"),
        "confidence": number(take, "confidence"),
        "body": string(take, "body", default=""),
        "memoUrl": string(take, "memoUrl", default=""),
    }
    weights = take.get("weights")
    if weights is not None:  # without weights there is no such key
        if not isinstance(weights, list) or not all(isinstance(entry, dict) for entry in weights):
            raise ValueError("weights is not an array of {bucket, weight}")
        payload["weights"] = [{"bucket": string(w, "bucket"), "weight": number(w, "weight")} for w in weights]
    return payload


def commit_of(sent, receipt):
    """The reference of a committee take, from what was sent and what was answered."""
    record = {name: string(receipt, name) for name in ("member_id", "date", "subject_id")}
    received_at = string(receipt, "received_at")
    record.update(sent, generated_at=received_at, received_at=received_at)  # in this order
    return "sha256:" + hashlib.sha256(canonical_bytes(record)).hexdigest()


def string(fields, name, default=None):
    value = fields.get(name) if isinstance(fields, dict) else None
    value = default if value is None else value  # null counts as absent
    if not isinstance(value, str):
        raise ValueError(f"{name} is not a string")
    return value


def number(fields, name):
    value = fields.get(name)
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not math.isfinite(value):
        raise ValueError(f"{name} is not a finite number")
    return float(value)  # every number is a double, integers too


# ---- Verification: what a take proves on its own, and what it does not --------------------------

def verify(record, key=None, asked=None):
    """Whether nothing in a take is wrong, and in sentences what that says. `key`: the public key that its member is
    known by from elsewhere; `asked`: the id that was asked for. ValueError: this is no take, or `key` no key. A take whose
    texts an operator withheld has a signature that nobody can check from it: the last sentence says that nothing was verified."""
    if isinstance(record, dict) and "sealed" in record and "signature" not in record:
        raise ValueError("this take is sealed until its session is opened; its author reads it whole")
    payload, signature = take_payload(record), string(record, "signature")
    check_rules(payload, signature)
    if key is not None:
        check_key(key)
    named = string(record, "publicKey", default=key)
    if asked is not None and record.get("id") != asked:
        return False, [f"does not hold: asked for take {asked}, got take {printable(record.get('id'))}"]
    if key is not None and named != key:
        return False, [f"does not hold: the record names the key {printable(named)}, not the one given"]
    salt, sealed = record.get("salt"), record.get("sealed")
    if sealed is not None and not re.fullmatch("sha256:[0-9a-f]{64}", string(record, "sealed")):
        raise ValueError("sealed is not a digest")
    foreign_seal = False, ["does not hold: the seal is not of this take and its salt"]
    if (salt is None) != (sealed is None):
        return foreign_seal
    mark = record.get("withheld") if "body" not in record else None
    if mark is not None:
        found = [f"notable: body and memoUrl are withheld since {printable(string(mark, 'at'))}, "
                 f"note {printable(string(mark, 'note'))}",
                 "unproven: that the key signed this: its texts are withheld. Its proof shows that the log has it, "
                 "and the digest that the log has of it"]
        if sealed is not None:
            found.append(f"unproven: that the seal {sealed} is of this take and its salt")
        return True, [*found, *statements(payload, key),
                      "nothing was verified of this take: neither its signature nor its place in the log"]
    try:
        check_signature(payload, named, signature)
    except (ValueError, InvalidSignature):
        return False, [f"does not hold: the key {printable(named)} did not sign these fields"]
    if salt is not None and seal_of(payload, signature, salt) != sealed:
        return foreign_seal
    found = [f"holds: the key {named} signed this, to the byte"]
    if sealed is not None:
        found.append(f"holds: the seal {sealed} is of this take and its salt")
    return True, found + statements(payload, key)


def check_key(key):
    """ValueError where this is no key, with which nothing could be compared: the key of a log, for example."""
    try:
        base64_bytes(key, 32)
    except ValueError:
        raise ValueError("the key of a member is the base64 of 32 bytes, and the one given is not") from None


LENGTHS = {"memberId": (1, 100), "subjectId": (1, 100), "nonce": (1, 200), "stance": (1, 100), "body": (0, 10_000),
           "memoUrl": (0, 2_000), "signature": (0, 2_000)}


def check_rules(payload, signature):
    """ValueError where a field breaks its rule: this is no take, whoever signed it."""
    for name, (least, most) in LENGTHS.items():
        if not least <= len({**payload, "signature": signature}[name]) <= most:
            raise ValueError(f"{name} does not have {least} to {most} characters")
    if not re.fullmatch("[0-9]{4}-[0-9]{2}-[0-9]{2}", payload["date"]):
        raise ValueError("date is not written YYYY-MM-DD")
    if not 0 <= payload["confidence"] <= 1:
        raise ValueError("confidence is not from 0 to 1")
    if "weights" in payload:
        buckets, weights = ([entry[name] for entry in payload["weights"]] for name in ("bucket", "weight"))
        is_allowed = len(buckets) == len(set(buckets)) <= 1_000 and all(1 <= len(bucket) <= 100 for bucket in buckets)
        if not is_allowed or any(weight < 0 for weight in weights) or not 0 < sum(weights) < math.inf:
            raise ValueError("weights breaks its rules")


def statements(payload, key):
    """What a take says, and what nothing in its record proves."""
    said = [f"member {printable(payload['memberId'])} says of {printable(payload['subjectId'])} on "
            f"{printable(payload['date'])}: {printable(payload['stance'])}, "
            f"confidence {number_text(payload['confidence'])}"]
    said += [f"{name}: {printable(payload[name])}" for name in ("body", "memoUrl", "weights", "nonce")
             if payload.get(name)]
    given = "given: the key is the one that you named"
    unproven = ("unproven: that this is the member's key; it came with the take, and whoever makes one can "
                "make both. Name the member's key, from another source, with --key")
    return [*said, given if key else unproven,
            "unproven: when it was filed, and as which revision: this is the server's word"]


def seal_of(payload, signature, salt):
    """The seal of a take in a blind session, from the salt that its author got with the answer to its submit."""
    parts = base64_bytes(salt, 32), canonical_bytes(payload), b"\0", base64_bytes(signature, 64)
    return "sha256:" + hashlib.sha256(b"".join(parts)).hexdigest()


# ---- Canonical JSON: the text of ECMAScript's JSON.stringify, to the byte -----------------------

def canonical_bytes(payload):
    return stringify(payload).encode("utf-8")  # text that is not valid Unicode is refused here


def stringify(value):
    if isinstance(value, dict):
        return "{" + ",".join(stringify(key) + ":" + stringify(value[key]) for key in value) + "}"
    if isinstance(value, list):
        return "[" + ",".join(map(stringify, value)) + "]"
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        return number_text(float(value))
    # In strings, json.dumps escapes what JSON.stringify escapes: " and \, and U+0000 to U+001F as
    # \b \t \n \f \r or else lower-case \u00xx. Never "/", U+007F, U+2028 or other non-ASCII text.
    return json.dumps(value, ensure_ascii=False)


def number_text(value):
    """ECMAScript's Number-to-String. repr() finds the same digits, only its layout differs."""
    if value == 0:
        return "0"  # -0 too
    if not math.isfinite(value):
        return "null"
    negative, digits, exponent = Decimal(repr(value)).normalize().as_tuple()
    n = len(digits) + exponent  # value = 0.digits times ten to the n
    digits = "".join(map(str, digits))
    if len(digits) <= n <= 21:
        text = digits + "0" * (n - len(digits))  # 1200
    elif 0 < n <= 21:
        text = digits[:n] + "." + digits[n:]  # 1.2
    elif -6 < n <= 0:
        text = "0." + "0" * -n + digits  # 0.0012
    else:
        text = digits[0] + ("." + digits[1:] if digits[1:] else "") + f"e{n - 1:+d}"  # 1.2e-7, 1e+21
    return "-" + text if negative else text


def parse_json(text):
    """Whole numbers beyond a double's are doubles as well, as everywhere else. No key stands twice: which of its values
    counts is not defined."""
    return json.loads(text, parse_int=lambda digits: int(digits) if len(digits) < 16 else float(digits),
                      object_pairs_hook=distinct)


def distinct(pairs):
    fields = dict(pairs)
    if len(fields) < len(pairs):
        raise ValueError("a key stands twice")
    return fields


# ---- Ed25519: keys and signatures travel as standard base64 of their raw bytes ------------------

def new_key():
    return Ed25519PrivateKey.generate()


def key_from_text(text):
    """The private key with this seed: standard base64 of 32 bytes."""
    return Ed25519PrivateKey.from_private_bytes(base64_bytes(text, 32))


def sign(payload, key):
    return {**payload, "signature": base64.b64encode(key.sign(canonical_bytes(payload))).decode()}


def check_signature(payload, public_key, signature):
    """Strict: a weak key, or another spelling of a key or a signature, does not count."""
    key, signature = base64_bytes(public_key, 32), base64_bytes(signature, 64)
    Ed25519PublicKey.from_public_bytes(key).verify(signature, canonical_bytes(payload))
    prime, order8 = 2**255 - 19, 2707385501144840649318225287225658788936804267575313519463743609750303402022
    for point in key, signature[:32]:
        y = int.from_bytes(point, "little") % 2**255  # the top bit is the sign of x
        if y >= prime or y in (0, 1, order8, prime - order8, prime - 1):
            raise InvalidSignature("a point of small order, or not in canonical form")


def public_key_of(key):
    return base64.b64encode(key.public_key().public_bytes(Encoding.Raw, PublicFormat.Raw)).decode()


def base64_bytes(text, length):
    if not isinstance(text, str):
        raise ValueError(f"not the base64 of {length} bytes")
    raw = base64.b64decode(text, validate=True)
    if len(raw) != length or base64.b64encode(raw).decode() != text:
        raise ValueError(f"not the base64 of {length} bytes")
    return raw


# ---- Files and output ---------------------------------------------------------------------------

@contextlib.contextmanager
def new_private_file(path):
    """A file that only its owner can read, written completely before it gets its name. Never replaces a file."""
    if os.path.lexists(path):
        raise FileExistsError(f"{path} exists")
    part = f"{path}.{uuid.uuid4()}"
    with open(os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w", encoding="ascii") as file:
        try:
            yield file
        except BaseException:
            os.unlink(part)
            raise
    os.link(part, path)  # where this fails, the part stays, and the error names it
    os.unlink(part)


def read_line(path):
    with open(path, encoding="ascii") as file:
        line = file.read().strip()
    if not line.isprintable():
        raise ValueError(f"{path} has more than one line")  # and no error shows what is in it
    return line


def read_key(path):
    return key_from_text(read_line(path))


def printable(answer):
    """JSON on one line."""
    return escaped(stringify(answer))


def escaped(text):
    """What a server sends stays text: no control character reaches a terminal, and no mark that turns the
    order of letters."""
    return re.sub(r"[\0-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069]", lambda match: f"\\u{ord(match[0]):04x}", text)


def told(error):
    return escaped(str(error) or repr(error))


def write_line(text, descriptor=1):
    left = text.encode("utf-8", "backslashreplace") + b"\n"
    while left:
        left = left[os.write(descriptor, left):]


# ---- Command line: exit status 0 done, 1 refused or failed, 2 bad usage -------------------------

def keygen(args):
    with new_private_file(args.keyfile) as file:
        file.write(base64.b64encode(os.urandom(32)).decode() + "\n")
    write_line(public_key_of(read_key(args.keyfile)))


def claim(args):
    with new_private_file(args.token_file) as file:  # first: the token is shown only once
        file.write(swarm(args).claim(read_key(args.key), args.member) + "\n")
    return {"memberId": args.member}


def signed_take(args):
    try:
        return sign(take(args.member, args.date, args.subject, args.stance, parse_json(args.confidence), args.body,
                         args.memo_url, parse_json(args.weights or "null"), args.nonce or swarm(args).nonce()),
                    read_key(args.key))
    except ValueError as error:
        args.bad_usage(str(error))


def submit(args):
    return swarm(args).submit(read_line(args.token_file), signed_take(args))


def preflight(args):
    return swarm(args).preflight(read_line(args.token_file), signed_take(args))


def committee_submit(args):
    return swarm(args).committee_submit(
        read_line(args.api_key_file), args.stance, parse_json(args.confidence), args.body, args.model)


def verify_command(args):
    """Verifies a take from a file, a URL, or an id at --url. Status: 0 nothing is wrong, 1 not valid, 2 cannot be read."""
    try:
        record, asked = read_take(args)
        holds, sentences = verify(record, args.key, asked)
        status, text, descriptor = 0 if holds else 1, "\n".join(sentences), 1
    except (Refused, ValueError, OSError, RecursionError, http.client.HTTPException) as error:
        status, text, descriptor = 2, f"cannot be read: {told(error)}", 2
    with contextlib.suppress(OSError):  # if the output is closed, the exit status still has the verdict
        write_line(text, descriptor)
    sys.exit(status)


def read_take(args):
    if args.url is not None:
        return swarm(args).take(quote(args.take, safe="")), int(args.take)
    if not re.match("(?i:https?)://", args.take):
        with open(args.take, encoding="utf-8-sig") as file:
            return parse_json(file.read()), None
    url = urlsplit(args.take)
    asked = re.search("/takes/([0-9]+)$", unquote(url.path))
    path = url.path + ("?" + url.query if url.query else "")
    return Swarm(f"{url.scheme}://{url.netloc}", args.host).call(path), int(asked[1]) if asked else None


def diagnose(args):
    with open(args.file, encoding="utf-8-sig") as file:
        return swarm(args).diagnose(parse_json(file.read()))


def canonical(args):
    for line in sys.stdin.buffer:  # bytes, split at "\n" and nowhere else
        if line.strip():
            sys.stdout.buffer.write(canonical_bytes(take_payload(parse_json(line.decode("utf-8")))) + b"\n")


def swarm(args):
    try:
        return Swarm(args.url, args.host, args.origin)
    except ValueError as error:
        args.bad_usage(str(error))


TAKE = ("--url --key --token-file --member --date --subject --stance --confidence "
        "[--body] [--memo-url] [--weights] [--nonce]")

# A command, what runs it, and its arguments: an OPERAND, an --option, a [--option] that may be left out.
COMMANDS = (
    ("keygen", keygen, "KEYFILE"),
    ("apply", lambda args: swarm(args).apply(read_key(args.key), args.name, args.contact, args.lens or ""),
     "--url --key --name --contact [--lens]"),
    ("status", lambda args: swarm(args).application(args.member_id), "--url MEMBER_ID"),
    ("claim", claim, "--url --key --member --token-file"),
    ("open-session", lambda args: swarm(args).open_session(), "--url"),
    ("sessions", lambda args: swarm(args).sessions(args.limit or 100, args.before), "--url [--limit] [--before]"),
    ("brief", lambda args: swarm(args).brief(args.session_id), "--url SESSION_ID"),
    ("preflight", preflight, TAKE),
    ("submit", submit, TAKE),
    ("diagnose", diagnose, "--url FILE"),
    ("verify", verify_command, "TAKE [--url] [--key]"),
    ("memo", lambda args: swarm(args).publish_memo(
        read_line(args.token_file), args.title, args.body, args.subject, args.session),
     "--url --token-file --title --body [--subject] [--session]"),
    ("committee-brief", lambda args: swarm(args).committee_brief(args.member_id), "--url MEMBER_ID"),
    ("committee-submit", committee_submit, "--url --api-key-file --stance --confidence --body [--model]"),
    ("canonical", canonical, ""),
)


def main():
    parser = argparse.ArgumentParser(description="A client of Swarm.")
    commands = parser.add_subparsers(metavar="COMMAND", required=True)
    for name, run, arguments in COMMANDS:
        sub = commands.add_parser(name, allow_abbrev=False)
        sub.set_defaults(run=run, host=None, origin=None, bad_usage=sub.error)
        for argument in (arguments + (" [--host] [--origin]" if "--url" in arguments else "")).split():
            option = argument.strip("[]")
            if option.startswith("--"):
                sub.add_argument(option, required=option == argument)
            else:
                sub.add_argument(option.lower(), metavar=option)
    args = parser.parse_args()
    try:
        answer = args.run(args)
    except (Refused, NoAnswer, ValueError, OSError, RecursionError, http.client.HTTPException) as error:
        write_line(told(error), 2)
        return 1
    if args.run not in (keygen, canonical):
        write_line(printable(answer))


if __name__ == "__main__":
    sys.exit(main())
