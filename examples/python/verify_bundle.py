#!/usr/bin/env python3
r"""Verifies a bundle of Swarm, offline: one file, no SDK; Python 3.9 and the "cryptography" package.

    curl -o bundle.json https://desk.example/api/swarm/sessions/7/bundle
    verify_bundle.py bundle.json --key LOG-KEY

Prints a line for each check, and for each thing that has to be taken on trust. Exit status: 0 all holds, 1 something
does not, 2 there is no bundle to read. LOG-KEY is `logKey` or `signingKey` of the service, from another source.

It was written from API.md alone (sections 3, 5.1, 5.8, 6.3 to 6.5, 11.2 and 11.5 to 11.9), not from the code of the
service, and trusts nothing in the bundle: whatever it says is computed again.
"""

import argparse
import base64
import hashlib
import json
import math
import re
import sys
from datetime import datetime, timezone
from decimal import ROUND_HALF_UP, Decimal, localcontext

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

RANKS = {"bearish": -2, "cautious": -1, "neutral": 0, "constructive": 1, "bullish": 2}
STATES = ["scheduled", "collecting", "window_closed", "aggregated", "published"]
MAX_NAMED = 10  # faults of one check that are named
ABSENT = object()


class Invalid(Exception):
    """Something cannot be read."""


# ---- JSON: numbers keep their digits, because what is hashed is text ----------------------------

class Number(float):
    """A number with the text that it was written as."""

    def __new__(cls, text):
        number = super().__new__(cls, text)
        if not math.isfinite(number):
            raise Invalid("a number that no double holds")
        number.text = text
        return number


def no_duplicates(pairs):
    fields = dict(pairs)
    if len(fields) < len(pairs):
        raise Invalid("a key stands twice")
    return fields


def refuse(_constant):
    raise Invalid("no JSON number")


def read_json(text):
    try:
        value = json.loads(text, parse_int=Number, parse_float=Number, parse_constant=refuse,
                           object_pairs_hook=no_duplicates)
        write(value).encode("utf-8")  # text that is not valid Unicode is refused here
        return value
    except (ValueError, RecursionError) as error:
        raise Invalid(f"no JSON: {error}") from error


def write(value):
    """As the service writes it: as JSON.stringify does, but numbers that were read as they were written."""
    if isinstance(value, dict):
        return "{" + ",".join(write(key) + ":" + write(item) for key, item in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ",".join(map(write, value)) + "]"
    if isinstance(value, Number):
        return value.text
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        return number_text(float(value))
    return json.dumps(value, ensure_ascii=False)


def number_text(value):
    """ECMAScript's Number-to-String. repr() finds the same digits, only its layout differs."""
    if value == 0:
        return "0"
    negative, digits, exponent = Decimal(repr(float(value))).normalize().as_tuple()
    n = len(digits) + exponent  # value = 0.digits times ten to the n
    digits = "".join(map(str, digits))
    if len(digits) <= n <= 21:
        text = digits + "0" * (n - len(digits))
    elif 0 < n <= 21:
        text = digits[:n] + "." + digits[n:]
    elif -6 < n <= 0:
        text = "0." + "0" * -n + digits
    else:
        text = digits[0] + ("." + digits[1:] if digits[1:] else "") + f"e{n - 1:+d}"
    return "-" + text if negative else text


def shown(value):
    """For a terminal: one line, without marks that move text around."""
    text = value if isinstance(value, str) else write(value)
    return json.dumps(text)[1:-1] if isinstance(value, str) else text.encode("ascii", "backslashreplace").decode()


def digest(value):
    """The digest of the JSON text of a thing, as the log carries it."""
    return sha256_text(write(value).encode("utf-8"))


def sha256_text(data):
    return "sha256:" + hashlib.sha256(data).hexdigest()


# ---- Fields of records (API.md, 5.1, 6.3 and 6.4) -----------------------------------------------

def field(record, name, kind, what):
    value = record.get(name) if isinstance(record, dict) else None
    if not isinstance(value, kind):
        raise Invalid(f"{name} is no {what}")
    return value


def string(record, name, least=0, most=math.inf):
    value = field(record, name, str, "text")
    if not least <= len(value) <= most:
        raise Invalid(f"{name} has {len(value)} characters")
    return value


def whole(record, name, most=2**53):
    value = field(record, name, Number, "number")
    if value.text != str(int(value)) or not 0 <= value <= most:
        raise Invalid(f"{name} is no whole number")
    return int(value)


def instant(record, name):
    """The time in milliseconds. It has one form."""
    return parse_instant(string(record, name), name)


def parse_instant(text, name):
    if not re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z", text, re.ASCII):
        raise Invalid(f"{name} is not written as the service writes it")
    try:
        moment = datetime.strptime(text[:19], "%Y-%m-%dT%H:%M:%S").replace(tzinfo=timezone.utc)
    except ValueError as error:
        raise Invalid(f"{name} is no time") from error
    return int(moment.timestamp()) * 1000 + int(text[20:23])


def optional(read, record, name):
    return None if record.get(name) is None else read(record, name)


def own_form(record, names):
    """Numbers among the fields are written as ECMAScript writes them."""
    for name in names:
        if isinstance(record.get(name), Number) and record[name].text != number_text(record[name]):
            raise Invalid(f"{name} is not written as the service writes it")


class Take:
    """A take that was read by the rules; `fields` are those that are signed, in their order."""

    KNOWN = {"id", "sessionId", "revision", "memberId", "date", "subjectId", "nonce", "stance", "confidence", "body",
             "memoUrl", "weights", "signature", "publicKey", "filedAt", "sealed", "salt", "supersededBy"}

    def __init__(self, record):
        self.record = record
        self.id, self.session_id = whole(record, "id"), whole(record, "sessionId")
        self.revision = whole(record, "revision", 5)
        if self.revision < 1:
            raise Invalid("revision is 0")
        self.member = string(record, "memberId", 1, 100)
        confidence = field(record, "confidence", Number, "number")
        if not 0 <= confidence <= 1:
            raise Invalid("confidence is not from 0 to 1")
        if not re.fullmatch(r"\d{4}-\d\d-\d\d", string(record, "date"), re.ASCII):
            raise Invalid("date is no day")
        self.fields = {
            "memberId": self.member, "date": record["date"], "subjectId": string(record, "subjectId", 1, 100),
            "nonce": string(record, "nonce", 1, 200), "stance": string(record, "stance", 1, 100),
            "confidence": float(confidence), "body": string(record, "body", 0, 10_000),
            "memoUrl": string(record, "memoUrl", 0, 2_000),
        }
        if record.get("weights") is not None:
            self.fields["weights"] = read_weights(record["weights"])
        self.signature = string(record, "signature", 0, 2_000)
        self.key = string(record, "publicKey")
        self.filed_at = instant(record, "filedAt")
        self.superseded_by = record.get("supersededBy")
        self.salt = optional(string, record, "salt")
        if self.salt is not None:
            base64_bytes(self.salt, 32)
        if record.get("sealed") != self.seal():
            raise Invalid("sealed is not written as the service writes it")
        own_form(record, ["confidence"])
        self.unknown = [name for name, value in record.items() if name not in self.KNOWN and value is not None]

    def canonical(self):
        return write(self.fields).encode("utf-8")

    def seal(self):
        """The seal of a take that was filed in a blind session before that was opened (API.md, 5.8)."""
        if self.salt is None:
            return None
        signature = base64_bytes(self.signature, 64)
        return sha256_text(base64_bytes(self.salt, 32) + self.canonical() + b"\0" + signature)

    def opening(self):
        """The fields of the entry that opens it."""
        return {"id": self.id, "salt": self.salt, "digest": sha256_text(self.canonical()), "signature": self.signature}

    @property
    def rank(self):
        return RANKS.get(self.fields["stance"])


def read_weights(rows):
    if not isinstance(rows, list) or not 1 <= len(rows) <= 1_000:
        raise Invalid("weights is no list of 1 to 1,000")
    weights = []
    for row in rows:
        weight = field(row, "weight", Number, "number")
        own_form(row, ["weight"])
        if list(row) != ["bucket", "weight"] or weight < 0:
            raise Invalid("weights is not written as the service writes it")
        weights.append({"bucket": string(row, "bucket", 1, 100), "weight": float(weight)})
    total = ascending_sum([row["weight"] for row in weights])
    if len({row["bucket"] for row in weights}) < len(weights) or not 0 < total < math.inf:
        raise Invalid("weights has a bucket twice, or no positive total")
    return weights


class Session:
    """A session that was read by the rules."""

    KNOWN = {"id", "date", "subjectId", "state", "windowClosesAt", "convenedAt", "quorum", "buckets", "roster",
             "blind", "openedAt", "publishedAt", "snapshot"}

    def __init__(self, record):
        self.record = record
        self.id, self.state = whole(record, "id"), string(record, "state")
        if self.state not in STATES:
            raise Invalid("state is none")
        self.date, self.subject = string(record, "date"), string(record, "subjectId", 1, 100)
        self.convened_at = instant(record, "convenedAt")
        self.closes_at, self.published_at = (optional(instant, record, it) for it in ("windowClosesAt", "publishedAt"))
        self.blind, self.opened_at = record.get("blind") is True, optional(instant, record, "openedAt")
        if "blind" in record and not self.blind:
            raise Invalid("blind is not written as the service writes it")
        self.quorum = optional(lambda *it: whole(*it, 1_000_000), record, "quorum")
        self.buckets = optional(lambda *it: field(*it, list, "list"), record, "buckets")
        if not all(isinstance(bucket, str) and 1 <= len(bucket) <= 100 for bucket in self.buckets or []):
            raise Invalid("buckets holds what is no name")
        self.roster = optional(lambda *it: field(*it, list, "list"), record, "roster")
        for row in self.roster or []:
            string(row, "memberId", 1, 100)
            if list(row) != ["memberId", "excused"] or not isinstance(row["excused"], bool):
                raise Invalid("roster is not written as the service writes it")
        if len({row["memberId"] for row in self.roster or []}) < len(self.roster or []):
            raise Invalid("roster lists a member twice")
        self.snapshot = optional(lambda *it: field(*it, dict, "object"), record, "snapshot")
        self.aggregated_at = instant(self.snapshot, "aggregatedAt") if self.snapshot else None
        self.unknown = [name for name, value in record.items() if name not in self.KNOWN and value is not None]

    def logged(self):
        """The session as its entries have it (API.md, 11.2)."""
        record, of = self.record, lambda value: None if value is None else digest(value)
        return {
            **{name: record.get(name) for name in ("id", "date", "subjectId", "state", "windowClosesAt", "convenedAt", "quorum")},
            "bucketsDigest": of(self.buckets), "rosterDigest": of(self.roster),
            **({"blind": True} if self.blind else {}),
            **({"openedAt": record["openedAt"]} if self.opened_at is not None else {}),
            **({"publishedAt": record["publishedAt"]} if self.published_at is not None else {}),
            "snapshotDigest": of(self.snapshot),
        }


class Entry:
    """An entry of the bundle: its text is what was hashed into the tree."""

    FIELDS = {  # in their order, with those that may be absent
        "take": ["id", "sessionId", "memberId", "revision", "sealed?", "digest?", "signature?", "publicKey"],
        "opening": ["id", "salt", "digest", "signature"],
        "session": ["act", "by", "note", "session", "memberId?", "excused?"],
    }
    SESSION = ["id", "date", "subjectId", "state", "windowClosesAt", "convenedAt", "quorum", "bucketsDigest",
               "rosterDigest", "blind?", "openedAt?", "publishedAt?", "snapshotDigest"]

    def __init__(self, row):
        text, index = string(row, "entry"), whole(row, "index")
        self.fields, self.leaf = read_json(text), hashlib.sha256(b"\0" + text.encode("utf-8")).digest()
        if not isinstance(self.fields, dict) or list(self.fields)[:3] != ["seq", "at", "kind"]:
            raise Invalid("does not begin with seq, at and kind")
        own_form(self.fields, self.fields)
        if write(self.fields) != text:
            raise Invalid("is not the exact text of one")
        self.seq, self.at, self.kind = whole(self.fields, "seq"), instant(self.fields, "at"), string(self.fields, "kind")
        self.act = self.fields.get("act") if isinstance(self.fields.get("act"), str) else None
        if self.kind in self.FIELDS and not in_order(list(self.fields)[3:], self.FIELDS[self.kind]):
            raise Invalid("has other fields than its kind")
        if self.kind == "take":
            for name in ("id", "sessionId", "revision"):
                whole(self.fields, name)
            content = ("sealed",) if "sealed" in self.fields else ("digest", "signature")
            for name in ("memberId", *content, "publicKey"):
                string(self.fields, name)
            if len(self.fields) != 8 + len(content):
                raise Invalid("has other fields than its kind")
        if self.kind == "opening":
            whole(self.fields, "id")
            for name in ("salt", "digest", "signature"):
                string(self.fields, name)
        if self.kind == "session":
            self.session = field(self.fields, "session", dict, "object")
            if not in_order(list(self.session), self.SESSION):
                raise Invalid("has another session record")
            self.id, self.closes_at = whole(self.session, "id"), optional(instant, self.session, "windowClosesAt")
            own_form(self.session, self.session)
            if string(self.session, "state") not in STATES:
                raise Invalid("has a state that is none")
        if self.seq != index + 1:
            raise Invalid(f"is entry {self.seq}, but has the index {index}")
        self.index, self.proof = index, [base64_bytes(it, 32) for it in field(row, "proof", list, "list")]


def in_order(names, expected):
    known = [name.rstrip("?") for name in expected]
    required = [name for name in expected if not name.endswith("?")]
    return [name for name in known if name in names] == names and all(name in names for name in required)


# ---- Keys and signatures (API.md, 3.2 and 11.5) -------------------------------------------------

def base64_bytes(text, length=None):
    try:
        raw = base64.b64decode(text, validate=True)
    except (ValueError, TypeError) as error:
        raise Invalid("no base64") from error
    if base64.b64encode(raw).decode() != text or (length is not None and len(raw) != length):
        raise Invalid(f"no base64 of {length} bytes")
    return raw


def is_signed(message, signature, key):
    """Strict: a weak key, or another spelling of a key or a signature, does not count."""
    prime, order8 = 2**255 - 19, 2707385501144840649318225287225658788936804267575313519463743609750303402022
    for point in key, signature[:32]:
        y = int.from_bytes(point, "little") % 2**255  # the top bit is the sign of x
        if y >= prime or y in (0, 1, order8, prime - order8, prime - 1):
            return False
    try:
        Ed25519PublicKey.from_public_bytes(key).verify(signature, message)
        return True
    except (InvalidSignature, ValueError):
        return False


def read_log_key(text):
    """The name (None where it has none) and the bytes of a log's key."""
    try:
        return None, base64_bytes(text, 32)
    except Invalid:
        name, _, rest = text.partition("+")
        ident, _, encoded = rest.partition("+")
        raw = base64_bytes(encoded, 33)
        if not name or raw[0] != 1 or key_id(name, raw[1:]).hex() != ident:
            raise Invalid("no key of a log") from None
        return name, raw[1:]


def key_id(name, key):
    return hashlib.sha256(name.encode() + b"\n\1" + key).digest()[:4]


def read_checkpoint(note):
    """The signed text, its origin, size and root, and the signatures as (name, bytes)."""
    text, mark, below = note.rpartition("\n\n")
    lines = text.split("\n")
    if not mark or not below.endswith("\n") or len(lines) < 3 or not all(lines):
        raise Invalid("no signed note")
    signatures = []
    for line in below[:-1].split("\n"):
        dash, _, rest = line.partition(" ")
        name, _, encoded = rest.partition(" ")
        if dash != "\u2014" or not name:
            raise Invalid("a line below the note is no signature")
        signatures.append((name, base64_bytes(encoded)))
    if not re.fullmatch(r"0|[1-9]\d*", lines[1], re.ASCII):
        raise Invalid("its size is no number")
    return text + "\n", lines[0], int(lines[1]), base64_bytes(lines[2], 32), signatures


def leads_to(leaf, index, size, proof, root):
    """Whether the inclusion proof leads from the leaf to the root (RFC 9162, 2.1.3.2)."""
    if index >= size:
        return False
    node, last, found = index, size - 1, leaf
    for sibling in proof:
        if last == 0:
            return False
        if node & 1 or node == last:
            found = hashlib.sha256(b"\1" + sibling + found).digest()
            while not node & 1 and node:
                node, last = node >> 1, last >> 1
        else:
            found = hashlib.sha256(b"\1" + found + sibling).digest()
        node, last = node >> 1, last >> 1
    return last == 0 and found == root


# ---- The snapshot (API.md, 6.5) -----------------------------------------------------------------

def ascending_sum(values):
    total = 0.0
    for value in sorted(values):
        total += value
    return total


def rounded(value):
    """To 12 decimals, the exact value half away from zero."""
    with localcontext() as context:
        context.prec = 1_100  # a double has fewer digits
        return float(Decimal(value).quantize(Decimal("1e-12"), ROUND_HALF_UP)) + 0.0


def aggregate(session, takes):
    latest = {}
    for take in sorted(takes, key=lambda take: take.revision):
        latest[take.member] = take
    roster = {row["memberId"]: row["excused"] for row in session.roster or []}
    counted = sorted(latest.values(), key=lambda take: take.id)
    if session.roster is not None:
        counted = [take for take in counted if roster.get(take.member) is False]
    expected = None if session.roster is None else sum(not excused for excused in roster.values())
    stances = {name: sum(take.fields["stance"] == name for take in counted) for name in RANKS}
    quotes = sorted(counted, key=lambda take: (take.rank is None, -take.fields["confidence"], take.id))
    return {
        "aggregatedAt": session.snapshot["aggregatedAt"],
        "participation": {"members": len(counted), "expected": expected,
                          "rate": len(counted) / expected if expected else None},
        "quorum": None if session.quorum is None else
        {"required": session.quorum, "met": len(counted) >= session.quorum},
        "stances": {**stances, "other": sum(take.rank is None for take in counted)},
        "consensus": consensus([(take.rank, take.fields["confidence"]) for take in counted if take.rank is not None]),
        "weights": mean_weights(session.buckets, [take.fields["weights"] for take in counted if "weights" in take.fields]),
        "quotes": [{"takeId": take.id, "memberId": take.member, "revision": take.revision,
                    **{name: take.fields[name] for name in ("stance", "confidence", "body")}} for take in quotes],
    }


def consensus(known):
    if not known:
        return None
    weighted, total, ranks = 0.0, 0.0, 0.0
    for rank, confidence in sorted(known):
        weighted, total, ranks = weighted + rank * confidence, total + confidence, ranks + rank
    score = rounded(weighted / total if total > 0 else ranks / len(known))
    stance = min(RANKS, key=lambda name: (abs(RANKS[name] - score), abs(RANKS[name])))
    return {"stance": stance, "score": score, "confidence": rounded(total / len(known))}


def mean_weights(buckets, distributions):
    shares, count = {}, 0
    for weights in distributions:
        rows = [row for row in weights if buckets is None or row["bucket"] in buckets]
        total = ascending_sum([row["weight"] for row in rows])
        if total > 0:
            count += 1
            for row in rows:
                shares.setdefault(row["bucket"], []).append(row["weight"] / total)
    if not count:
        return None
    names = sorted(shares, key=lambda name: name.encode("utf-8")) if buckets is None else buckets
    return [{"bucket": name, "weight": rounded(ascending_sum(shares.get(name, [])) / count)} for name in names]


# ---- The checks (API.md, 11.9) ------------------------------------------------------------------

class Report:
    """Findings as (verdict, check, text)."""

    def __init__(self):
        self.findings = []

    def conclude(self, check, faults, holds):
        if not faults:
            self.findings.append(("holds", check, holds))
        for fault in faults[:MAX_NAMED]:
            self.findings.append(("does not hold", check, fault))
        if len(faults) > MAX_NAMED:
            self.findings.append(("does not hold", check, f"and {len(faults) - MAX_NAMED} more of the kind"))

    def unproven(self, check, text):
        self.findings.append(("unproven", check, text))

    def failing(self):
        return {check for verdict, check, _ in self.findings if verdict == "does not hold"}


def verify(bundle, key=None):
    """The report on a bundle, an object that read_json() read. `key`: the log's. Invalid: it is no bundle."""
    if string(bundle, "format") != "swarm-bundle/1":
        raise Invalid("another format")
    rows = {name: field(bundle, name, list, "list") for name in ("takes", "members", "entries")}
    note, report = string(bundle, "checkpoint"), Report()
    session, takes = check_records(field(bundle, "session", dict, "object"), rows["takes"], report)
    check_signatures(takes, report)
    check_members(rows["members"], takes, report)
    check_nonces(takes, report)
    entries, faults = read_entries(rows["entries"], report)
    places = check_entries(takes, entries, faults, report)
    acts = [entry for entry in entries if session and entry.kind == "session" and entry.id == session.id]
    check_revisions(takes, places, acts, report)
    if session:
        check_seals(session, takes, places, acts, entries, report)
        check_history(session, acts, report)
        check_times(session, acts, entries, report)
        check_deadlines(takes, places, acts, report)
        check_roster(session, takes, places, acts, report)
        differs = [act for act in acts if act.session["bucketsDigest"] != session.logged()["bucketsDigest"]]
        report.conclude("buckets", [f"not those whose digest entry {act.seq} has" for act in differs[:1]], "as in the log")
        check_snapshot(session, takes, places, acts, report)
    check_checkpoint(note, entries, key, report)
    report.unproven("completeness", "that no take was left out together with its entry")
    report.unproven("identity", "whose keys these are, and that nobody files under several names")
    report.unproven("clock", "that the server's clock was right")
    return report


def check_records(record, rows, report):
    session, takes, faults, unknown = None, [], [], set()
    try:
        session = Session(record)
        own_form(record, ["quorum"])
        unknown.update(session.unknown)
    except Invalid as error:
        faults.append(f"the session: {shown(str(error))}")
    for row in rows:
        name = shown(write(row.get("id"))) if isinstance(row, dict) else "null"
        try:
            take = Take(row)
        except Invalid as error:
            faults.append(f"take {name}: {shown(str(error))}")
            number_form = "is not written" in str(error) and "confidence" in str(error)
            if not number_form:
                continue
            take = Take({**row, "confidence": Number(number_text(row["confidence"]))})
        if takes and takes[-1].id >= take.id:
            faults.append(f"take {name}: stands after take {takes[-1].id}")
        if session and take.session_id != session.id:
            faults.append(f"take {name}: is of session {take.session_id}, not {session.id}")
        elif session and (take.fields["date"], take.fields["subjectId"]) != (session.date, session.subject):
            faults.append(f"take {name}: is of another day or subject than the session")
        unknown.update(take.unknown)
        takes.append(take)
    report.conclude("record", faults, f"the session and {len(takes)} takes")
    if unknown:
        report.unproven("unknown", "fields that this program does not know: " + ", ".join(map(shown, sorted(unknown))))
    return session, takes


def check_signatures(takes, report):
    faults = []
    for take in takes:
        try:
            holds = is_signed(take.canonical(), base64_bytes(take.signature, 64), base64_bytes(take.key, 32))
        except Invalid:
            holds = False
        if not holds:
            faults.append(f"take {take.id}: the key {shown(take.key)} of {shown(take.member)} did not sign these fields")
    report.conclude("signature", faults, f"{len(takes)} takes are signed by the key in them, to the byte")


def check_members(rows, takes, report):
    used, listed, faults = {(take.member, take.key) for take in takes}, set(), []
    for row in rows:
        try:
            member = (string(row, "id"), string(row, "publicKey"))
        except Invalid:
            faults.append("a row without id or publicKey")
            continue
        if member in listed:
            faults.append(f"two rows for {shown(member[0])}")
        listed.add(member)
    faults += [f"no row for {shown(name)} with the key {shown(key)}" for name, key in sorted(used - listed)]
    faults += [f"a row for {shown(name)} with the key {shown(key)}, which verified no take" for name, key in sorted(listed - used)]
    report.conclude("members", faults, f"{len(listed)} keys, those that verified the takes")


def check_nonces(takes, report):
    spent, faults = set(), []
    for take in takes:
        nonce = (take.member, take.fields["nonce"])
        if nonce in spent:
            faults.append(f"take {take.id}: {shown(take.member)} used the nonce {shown(nonce[1])} before")
        spent.add(nonce)
    report.conclude("nonce", faults, "no member used one twice in this session")


def read_entries(rows, report):
    entries, faults, unknown = [], [], 0
    for place, row in enumerate(rows, 1):
        try:
            entry = Entry(row)
        except Invalid as error:
            faults.append(f"the entry in place {place} {shown(str(error))}")
            continue
        if entries and entries[-1].seq >= entry.seq:
            faults.append(f"entry {entry.seq} stands after entry {entries[-1].seq}")
        entries.append(entry)
        unknown += entry.kind not in KINDS
    if unknown:
        report.unproven("unknown", f"{unknown} entries of a kind that this program does not know")
    return entries, faults


KINDS = {"take", "session", "member", "memo", "subject", "subject-snapshot", "regime", "signal", "operation",
         "committee-day", "committee-take", "opening"}


def check_entries(takes, entries, faults, report):
    by_id, places = {take.id: take for take in takes}, {}
    session = min(takes, key=lambda take: take.id).session_id if takes else None
    for entry in (entry for entry in entries if entry.kind == "take"):
        fields, take = entry.fields, by_id.get(int(entry.fields["id"]))
        if take is None:
            if session is None or session == int(fields["sessionId"]):
                faults.append(f"entry {entry.seq} records take {int(fields['id'])}, which is missing")
            continue
        if take.id in places:
            faults.append(f"entries {places[take.id]} and {entry.seq} both record take {take.id}")
        places[take.id] = entry.seq
        content = {"sealed": take.seal()} if take.salt is not None else {
            "digest": sha256_text(take.canonical()), "signature": take.signature}
        says = {"sessionId": take.session_id, "memberId": take.member, "revision": take.revision, **content, "publicKey": take.key}
        faults += [f"entry {entry.seq} has another {name} than take {take.id}" for name in says if says[name] != fields.get(name)]
        if take.filed_at != entry.at:
            faults.append(f"take {take.id} says {take.record['filedAt']}, entry {entry.seq} says {fields['at']}")
    faults += [f"take {ident} has no entry" for ident in sorted(by_id) if ident not in places]
    order = [places[ident] for ident in sorted(places)]
    if order != sorted(order):
        faults.append("the takes are in another order in the log")
    report.conclude("entry", faults, f"{len(entries)} entries in place, one for each of {len(by_id)} takes")
    return places


def check_seals(session, takes, places, acts, entries, report):
    """Checks that each take that was filed before a blind session was opened had a seal, and was opened with it."""
    openings = {entry.seq: entry.fields for entry in entries if entry.kind == "opening"}
    sealed = [take for take in takes if take.salt is not None]
    if not (session.blind or openings or sealed):
        return
    faults = [] if session.blind else ["takes are sealed, and the session is not blind"]
    opened = next((act.seq for act in acts if act.act == "opened"), None)
    for take in takes:
        if take.salt is None and (opened is None or places.get(take.id, math.inf) < opened):
            faults.append(f"take {take.id} was filed before the session was opened, without a seal")
    if opened is None:
        faults.append("no entry opens the session")
    else:
        for place, take in enumerate(sealed, opened + 1):
            found = openings.get(place)
            if found is None:
                faults.append(f"entry {place} does not open take {take.id}")
            elif any(found[name] != value for name, value in take.opening().items()):
                faults.append(f"entry {place} opens take {take.id} otherwise than its record")
        if len(openings) > len(sealed):
            faults.append(f"{len(openings) - len(sealed)} openings that no take was sealed for")
    report.conclude("seal", faults, f"{len(sealed)} takes are what the seals in the log were made of, and were opened together")


def in_force(acts, place):
    """The last act before a place in the log."""
    before = [act for act in acts if act.seq < place]
    return before[-1] if before else None


def is_over(state):
    return STATES.index(state) >= STATES.index("aggregated")


def check_revisions(takes, places, acts, report):
    by_member, faults = {}, []
    for take in takes:
        by_member.setdefault(take.member, []).append(take)
        act = in_force(acts, places[take.id]) if take.id in places else None
        if take.revision > 1 and act and is_over(act.session["state"]):
            faults.append(f"take {take.id} amends after entry {act.seq}, when the session was aggregated")
    for member, own in by_member.items():
        expected = 1
        for take, follower in zip(own, own[1:] + [None]):
            if take.revision != expected:
                faults.append(f"take {take.id} of {shown(member)} is revision {take.revision}, expected {expected}")
            expected = take.revision + 1
            named = None if take.superseded_by is None else write(take.superseded_by)
            if named != (str(follower.id) if follower else None):
                faults.append(f"take {take.id}: supersededBy is {shown(named or 'none')}, expected {follower.id if follower else 'none'}")
    report.conclude("revision", faults, f"of {len(by_member)} members, from 1 on without a gap")


def check_history(session, acts, report):
    faults = []
    if not acts:
        faults.append("no entry of the session")
    elif acts[0].act != "convened":
        faults.append(f"the first act, entry {acts[0].seq}, does not convene it")
    for before, act in zip(acts, acts[1:]):
        fault = step_fault(before.session, act)
        if fault:
            faults.append(f"entry {act.seq} ({shown(act.act or '')}) {fault}")
    if acts:
        other = differing(acts[-1].session, session.logged())
        if other:
            faults.append(f"the record differs from the last act, entry {acts[-1].seq}: {', '.join(other)}")
    report.conclude("history", faults, f"{len(acts)} acts lead from convening to the record")


def differing(one, other):
    names = [*one, *(name for name in other if name not in one)]
    return [name for name in names if write(one.get(name)) != write(other.get(name))]


def step_fault(before, act):
    after, may = act.session, set()
    one, other, over = before["state"], after["state"], is_over(before["state"])
    if act.act == "convened":
        return "convenes it again"
    if act.act == "state":
        forward = other != "published" and STATES.index(one) < STATES.index(other)
        if not forward and (one, other) not in (("window_closed", "collecting"), ("aggregated", "published")):
            return f"moves it from {one} to {other}"
        may = {"state", *({"snapshotDigest"} if other == "aggregated" else ()), *({"publishedAt"} if other == "published" else ())}
    elif act.act == "opened":
        closed = before["windowClosesAt"] is not None and act.at > instant(before, "windowClosesAt")
        if not before.get("blind") or before.get("openedAt") is not None:
            return "opens it, though it is not sealed"
        if not over and not (one == "window_closed" and closed):
            return "opens it before its window has closed"
        may = {"openedAt"}
    elif act.act == "deadline" and before.get("openedAt") is not None:
        return "moves the deadline after it was opened"
    elif act.act == "deadline":
        may = {"windowClosesAt", *(() if over else ("quorum",)), *({"state"} if (one, other) == ("window_closed", "collecting") else ())}
    elif act.act == "quorum" and not over:
        may = {"quorum"}
    elif act.act == "roster" and not over and before["rosterDigest"] is None:
        may = {"rosterDigest"}
    elif act.act == "excuse" and not over:
        may = {"rosterDigest"}
    elif act.act not in ("quorum", "roster", "excuse", "brief"):
        return "is an act that this program does not know"
    also = [name for name in differing(before, after) if name not in may]
    return f"also changes {', '.join(also)}" if also else None


def check_times(session, acts, entries, report):
    faults = []
    for one, other in zip(entries, entries[1:]):
        accepts = other.kind == "operation" and other.act == "clock-accepted"
        if other.at < one.at and not accepts:
            faults.append(f"entry {other.seq} is of {other.fields['at']}, before entry {one.seq} of {one.fields['at']}")
    if acts and acts[0].at != session.convened_at:
        faults.append(f"convenedAt is {session.record['convenedAt']}, entry {acts[0].seq} says {acts[0].fields['at']}")
    of_state = lambda state: next((act for act in acts if act.session["state"] == state), None)
    opened = next((act for act in acts if act.act == "opened"), None)
    for name, time, act in (
        ("openedAt", session.opened_at, opened), ("publishedAt", session.published_at, of_state("published")),
        ("aggregatedAt", session.aggregated_at, of_state("aggregated")),
    ):
        if act and time is not None and time > act.at:
            faults.append(f"{name} is after entry {act.seq} of {act.fields['at']}")
    report.conclude("time", faults, "they agree with the log, whose times never run back")


def check_deadlines(takes, places, acts, report):
    faults = []
    for take in takes:
        if take.id not in places:
            continue
        act, filed_at = in_force(acts, places[take.id]), take.record["filedAt"]
        if act is None:
            faults.append(f"take {take.id} was filed before the session was convened")
        elif act.closes_at is not None and take.filed_at > act.closes_at:
            closes = act.session["windowClosesAt"]
            faults.append(f"take {take.id} was filed {filed_at}, after the deadline {closes} of entry {act.seq}")
    moves = [act for act in acts if act.act == "deadline"]
    for act in moves:
        late = [take for take in takes if places.get(take.id, math.inf) < act.seq
                and act.closes_at is not None and take.filed_at > act.closes_at]
        if late:
            faults.append(f"entry {act.seq} moves the deadline to {act.session['windowClosesAt']}, before take {late[-1].id}")
    report.conclude("deadline", faults, f"each take was filed within the one in force, which was moved {len(moves)} times")


def check_roster(session, takes, places, acts, report):
    try:
        rosters = rosters_after(session.roster, acts)
    except Invalid as error:
        report.conclude("roster", [str(error)], "")
        return
    faults = []
    for take in takes:
        act = in_force(acts, places[take.id]) if take.id in places else None
        roster = rosters[act.seq] if act else None
        if roster is None:
            continue
        excused = next((row["excused"] for row in roster if row["memberId"] == take.member), None)
        if excused is not False:
            what = "is not on" if excused is None else "was excused by"
            faults.append(f"take {take.id}: {shown(take.member)} {what} the roster of entry {act.seq}")
    report.conclude("roster", faults, "none" if session.roster is None else "by its digest, and each author was expected")


def rosters_after(roster, acts):
    """The roster after each act, found backwards: an excuse changed one member, which a digest confirms."""
    rosters = {}
    for before, act in reversed(list(zip([None, *acts], acts))):
        if (None if roster is None else digest(roster)) != act.session["rosterDigest"]:
            raise Invalid(f"the roster is not the one whose digest entry {act.seq} has")
        rosters[act.seq] = roster
        earlier = before.session["rosterDigest"] if before else None
        if act.act == "roster" and earlier is None:
            roster = None
        if act.act == "excuse" and earlier is not None:
            member, excused = act.fields.get("memberId"), act.fields.get("excused")
            row = next((row for row in roster or [] if row["memberId"] == member), None)
            if row is None or row["excused"] is not excused:
                raise Invalid(f"entry {act.seq} excuses otherwise than the roster")
            if digest(roster) != earlier:
                roster = [{**row, "excused": not excused} if row["memberId"] == member else row for row in roster]
    return rosters


def check_snapshot(session, takes, places, acts, report):
    act = next((act for act in acts if is_over(act.session["state"])), None)
    faults = []
    if session.snapshot is None or act is None:
        if session.snapshot is not None:
            faults.append("the log has no aggregation")
        elif act is not None:
            faults.append(f"missing, though entry {act.seq} aggregated it")
        report.conclude("snapshot", faults, "none, as it is not aggregated")
        return
    if act.session["snapshotDigest"] != digest(session.snapshot):
        faults.append(f"not the one whose digest entry {act.seq} has")
    counted = [take for take in takes if places.get(take.id, math.inf) < act.seq]
    computed, given = aggregate(session, counted), session.snapshot
    differ = differing(computed, given)
    if differ or write(computed) != write(given):
        faults.append("the rules compute another one: " + ", ".join(map(shown, differ)))
    report.conclude("snapshot", faults, f"computed again from {len(counted)} takes, and the same bit for bit")


def check_checkpoint(note, entries, key, report):
    try:
        text, origin, size, root, signatures = read_checkpoint(note)
    except Invalid as error:
        report.conclude("checkpoint", [str(error)], "")
        return
    faults = [f"entry {entry.seq} is not in the tree of the checkpoint" for entry in entries
              if not leads_to(entry.leaf, entry.index, size, entry.proof, root)]
    report.conclude("inclusion", faults, f"{len(entries)} entries are in the tree of {size}")
    if key is None:
        report.unproven("checkpoint", "not verified: name the key of the log with --key")
    else:
        name, raw = read_log_key(key)
        name = origin if name is None else name
        own = [signature for signer, signature in signatures if signer == name and signature[:4] == key_id(name, raw)]
        faults = []
        if name != origin:
            faults.append(f"it is of the log {shown(origin)}, the key is of {shown(name)}")
        elif not own or not all(len(it) == 68 and is_signed(text.encode("utf-8"), it[4:], raw) for it in own):
            faults.append("the key that you named did not sign it")
        report.conclude("checkpoint", faults, f"{shown(origin)} at size {size}, signed by the key that you named")
    if origin == "localhost" or origin.startswith("localhost/"):
        report.unproven("origin", f"the log is called {shown(origin)}, as that of any server may be")
    others = sorted({name for name, _ in signatures if name != origin})
    report.unproven("witness", f"signed also by {', '.join(map(shown, others))}, whose keys were not given" if others
                    else "no witness has signed the checkpoint: that others are shown the same log is the server's word")


def main():
    parser = argparse.ArgumentParser(description="Verifies a bundle of Swarm, offline.")
    parser.add_argument("file")
    parser.add_argument("--key", help="the key of the log: a verifier key, or base64 of its 32 bytes")
    options = parser.parse_args()
    try:
        with open(options.file, encoding="utf-8") as file:
            report = verify(read_json(file.read()), options.key)
    except (Invalid, OSError, UnicodeDecodeError) as error:
        print(f"cannot be read: {error}", file=sys.stderr)
        return 2
    for verdict, check, text in report.findings:
        print(f"{verdict}: {check}: {text}")
    return 1 if report.failing() else 0


if __name__ == "__main__":
    sys.exit(main())
