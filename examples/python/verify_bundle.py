#!/usr/bin/env python3
r"""Verifies a bundle of Swarm: one file, no SDK; Python 3.9 and the "cryptography" package.

    curl -o bundle.json https://desk.example/api/swarm/sessions/7/bundle
    verify_bundle.py bundle.json --key LOG-KEY
    verify_bundle.py bundle.json --key LOG-KEY --log https://desk.example --policy witnesses.txt --members keys.txt
    verify_bundle.py bundle.json --key LOG-KEY --timestamp-ca authority.pem

Prints a line for each check: it "holds", it "fails", something is "notable" (the rules allow it, but it changed the terms
of takes, or who counts), or it is "unproven" and has to be taken on trust. Exit status: 0 nothing fails, 1 something does,
2 there is no bundle to read, 3 with --strict if something is notable. LOG-KEY is `logKey` or `signingKey` of the service,
from another source.

A timestamp is checked by the program "openssl".

It was written from API.md alone (sections 3, 5.1, 5.8, 6.3 to 6.5, 6.11, 11.2 and 11.5 to 11.9), not from the code of the
service, and trusts nothing in the bundle: whatever it says is computed again.
"""

import argparse
import base64
import codecs
import functools
import hashlib
import json
import math
import os
import re
import subprocess
import sys
import tempfile
import time as clock
import urllib.request
from array import array
from bisect import bisect_left
from datetime import date, datetime, timedelta, timezone
from decimal import ROUND_HALF_UP, Decimal, localcontext

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

RANKS = {"bearish": -2, "cautious": -1, "neutral": 0, "constructive": 1, "bullish": 2}
STATES = ["scheduled", "collecting", "window_closed", "aggregated", "published"]
METHODS = ["mean", "weighted_median"]
MAX_NAMED = 10  # faults of one check that are named
MAX_DEPTH = 127  # levels of nesting
MAX_NAMES = 10_000  # different names of fields
MAX_HASHED = 20_000_000  # entries of rosters that are hashed
MAX_TOKEN = 16_384  # bytes of the token of a timestamp


class Invalid(Exception):
    """Something cannot be read."""


# ---- JSON: numbers keep their digits, because what is hashed is text ----------------------------
#
# A verifier takes at most eight times the memory of a bundle. So the bundle stays a text, whose takes, members and entries are
# read one at a time; and numbers and small objects are of types that take little memory: a class of our own takes more.

NUMBER = (float, bytes)  # a float that is written as it was read, else the text


def read_number(text):
    value = float(text)
    if not math.isfinite(value):
        raise Invalid("a number that no double holds")
    is_usual = text.isdecimal() and len(text) <= 15 and (text[0] != "0" or text == "0")
    is_usual = is_usual or (repr(value) == text and "e" not in text and not text.endswith(".0"))
    return value if is_usual else text.encode("ascii")


def text_of(number):
    return number.decode("ascii") if isinstance(number, bytes) else number_text(number)


class Fields(tuple):
    """An object of a few fields: each name, and its value after it."""

    __slots__ = ()

    def __iter__(self):
        return iter(self[::2])

    def __contains__(self, name):
        return name in self[::2]

    def __len__(self):
        return super().__len__() // 2

    def get(self, name, otherwise=None):
        names = self[::2]
        return tuple.__getitem__(self, 2 * names.index(name) + 1) if name in names else otherwise

    def __getitem__(self, name):
        if isinstance(name, str):
            if name not in self:
                raise KeyError(name)
            return self.get(name)
        return super().__getitem__(name)

    def keys(self):
        return self[::2]

    def values(self):
        return self[1::2]

    def items(self):
        return zip(self[::2], self[1::2])


OBJECT = (dict, Fields)
MAX_FIELDS = 16  # of an object without an index


def read_object(pairs):
    if len({name for name, _ in pairs}) < len(pairs):
        raise Invalid("a key stands twice")
    return dict(pairs) if len(pairs) > MAX_FIELDS else Fields(item for pair in pairs for item in pair)


def refuse(_constant):
    raise Invalid("no JSON number")


DECODER = json.JSONDecoder(parse_int=read_number, parse_float=read_number, parse_constant=refuse, object_pairs_hook=read_object)
SPACE = re.compile("[ \t\n\r]*")
SURROGATE = re.compile(r"\\u[dD][89a-fA-F]")
# A string without an end goes to the end, so that each character is looked at once.
TOKEN = re.compile(r'"[^"\\]*(?:\\.[^"\\]*)*(?:"|\\?\Z)|\[\s*\]|\{\s*\}|[,\[{]', re.DOTALL)
STRING = re.compile(r'"[^"\\]*(?:\\.[^"\\]*)*(?:"[ \t\n\r]*(:?)|\\?\Z)', re.DOTALL)


def read_json(text):
    check_size(text)
    try:
        value = DECODER.decode(text)
        check_value(value, 0, SURROGATE.search(text))
        return value
    except (ValueError, RecursionError) as error:
        raise Invalid(f"no JSON: {error}") from error


def read_bundle(data):
    """Reads the bytes of a bundle, or its text. The elements of its long lists are read when they are asked for."""
    try:
        data = data if isinstance(data, bytes) else data.encode("utf-8")
        check_utf8(data)
        # One byte for each letter, whatever letters there are. Strings are decoded when they are read.
        text = data.decode("latin-1")
        del data
        check_size(text)
        begin = SPACE.match(text).end()
        parts, end = read_parts(text, begin, 0)
        if SPACE.match(text, end).end() != len(text):
            raise Invalid("no JSON: more than an object")
        return parts
    except (ValueError, IndexError, RecursionError) as error:
        raise Invalid(f"no JSON: {error}") from error


def check_utf8(data):
    decoder = codecs.getincrementaldecoder("utf-8")()
    for place in range(0, len(data), 65_536):
        decoder.decode(data[place:place + 65_536])
    decoder.decode(b"", True)


LISTS = [{"takes", "members", "entries"}, {"roster"}]  # of a bundle, and of the session in it


def read_parts(text, place, depth):
    """The members of an object that begins here, and where it ends."""
    if text[place] != "{":
        raise Invalid("no object")
    parts, place, after = {}, SPACE.match(text, place + 1).end(), "{"
    while text[place] != "}" or after == ",":
        if text[place] != '"':
            raise Invalid("no JSON: a name is missing")
        name, place = decoded(text, place, depth + 1)
        place = SPACE.match(text, place).end()
        if text[place] != ":" or name in parts:
            raise Invalid("no JSON: a name without a value, or a key that stands twice")
        place = SPACE.match(text, place + 1).end()
        if text[place] == "[" and name in LISTS[depth]:
            parts[name] = Rows(text, place, depth + 1)
            place = parts[name].end
        elif text[place] == "{" and name == "session" and depth == 0:
            parts[name], place = read_parts(text, place, 1)
        else:
            parts[name], place = decoded(text, place, depth + 1)
        place, after = next_of(text, place, "}")
    return parts, place + 1


def next_of(text, place, end):
    """Where the next member or element is, after a comma, or else where the last one ends."""
    place = SPACE.match(text, place).end()
    after = text[place]
    if after == ",":
        place = SPACE.match(text, place + 1).end()
    elif after != end:
        raise Invalid("no JSON: a comma is missing")
    return place, after


def decoded(text, place, depth=None):
    """The value that begins here, and where it ends. Unless `depth` is None, it is checked."""
    value, end = DECODER.raw_decode(text, place)
    if not text.isascii() and not text[place:end].isascii():
        value = DECODER.decode(text[place:end].encode("latin-1").decode("utf-8"))
    if depth is not None:
        check_value(value, depth, SURROGATE.search(text, place, end))
    return value, end


class Rows:
    """The elements of a list in a text, of which the beginnings are known."""

    def __init__(self, text, place, depth):
        self.text, self.starts = text, array("Q")
        place, after = SPACE.match(text, place + 1).end(), "["
        while text[place] != "]" or after == ",":
            self.starts.append(place)
            place = decoded(text, place, depth + 1)[1]
            place, after = next_of(text, place, "]")
        self.end = place + 1

    def __len__(self):
        return len(self.starts)

    def __iter__(self):
        return (decoded(self.text, place)[0] for place in self.starts)


LIST = (list, Rows)


def check_size(text):
    """Refuses a text with so many values, or names of fields, that they would take far more memory than the text."""
    size, names, texts = len(text.encode("utf-8", "surrogatepass")), set(), 0
    for string in STRING.finditer(text):
        if string[1]:
            names.add(string[0])
        else:
            texts += 1
        if len(names) > MAX_NAMES or texts > max(100_000, size // 16):
            raise Invalid("too many values")
    del names
    most = max(100_000, size // 8)
    if text.count(",") + text.count("[") + text.count("{") < most:
        return
    values = 1
    for token in TOKEN.finditer(text):
        values += token.end() == token.start() + 1
        if values > most:
            raise Invalid("too many values")


def check_value(value, depth, has_surrogates):
    """Checks a value that stands within so many others."""
    if isinstance(value, (list, *OBJECT)):
        check_depth(value, depth)
    if has_surrogates:
        write(value).encode("utf-8")  # text that is not valid Unicode is refused here


def check_depth(value, depth):
    values = [value]
    while True:
        nested = [value for value in values if isinstance(value, (list, *OBJECT))]
        if not nested:
            return
        if depth == MAX_DEPTH:
            raise Invalid("nested too deep")
        values = (item for value in nested for item in (value if isinstance(value, list) else value.values()))
        depth += 1


def write(value):
    """As the service writes it: as JSON.stringify does, but numbers that were read as they were written."""
    if isinstance(value, OBJECT):
        return "{" + ",".join(write(key) + ":" + write(item) for key, item in value.items()) + "}"
    if isinstance(value, LIST):
        return "[" + ",".join(map(write, value)) + "]"
    if isinstance(value, bytes):
        return text_of(value)
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        return number_text(float(value))
    return json.dumps(value, ensure_ascii=False)


def number_text(value):
    """ECMAScript's Number-to-String. repr() finds the same digits, only its layout differs."""
    if value == int(value) and abs(value) < 2**53:
        return str(int(value))
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
#
# A record is read leniently and then written again as the service writes it. Each field must be the same text: texts are
# signed and hashed. A field that is null counts as absent.

def field(record, name, kind, what):
    value = record.get(name) if isinstance(record, OBJECT) else None
    if not isinstance(value, kind):
        raise Invalid(f"{name} is no {what}")
    return value


def string(record, name, least=0, most=math.inf):
    value = field(record, name, str, "text")
    if not least <= len(value) <= most:
        raise Invalid(f"{name} has {len(value)} characters")
    return value


def number(record, name):
    return float(field(record, name, NUMBER, "number"))


def whole(record, name, most=2**53):
    value = number(record, name)
    if not 0 <= value <= most or value != int(value):
        raise Invalid(f"{name} is no whole number")
    return int(value)


def boolean(record, name):
    return field(record, name, bool, "true or false")


def rows(record, name, read):
    return [read(row if isinstance(row, OBJECT) else {}) for row in field(record, name, LIST, "list")]


def optional(read, record, name, *rest):
    value = record.get(name) if isinstance(record, OBJECT) else None
    return None if value is None else read(record, name, *rest)


def day(record, name):
    if not re.fullmatch(r"\d{4}-\d\d-\d\d", string(record, name), re.ASCII):
        raise Invalid(f"{name} is no day")
    return record[name]


def instant(record, name):
    """The time in milliseconds, of any text of RFC 3339 in the years 0 to 9999."""
    text = string(record, name)
    parts = re.fullmatch(r"(\d{4})-(\d\d)-(\d\d)[Tt ](\d\d):(\d\d):(\d\d)(?:\.(\d+))?(?:([Zz])|([+-])(\d\d):(\d\d))", text, re.ASCII)
    if not parts:
        raise Invalid(f"{name} is no time")
    year, month, of_month, hour, minute, second = map(int, parts.group(1, 2, 3, 4, 5, 6))
    try:
        # Python has no year 0; 400 years later the calendar is the same.
        days = date(year + 400 if year < 400 else year, month, of_month).toordinal() - (146_097 if year < 400 else 0)
    except ValueError as error:
        raise Invalid(f"{name} is no time") from error
    offset = 0 if parts.group(8) else int(parts.group(10)) * 60 + int(parts.group(11))
    if hour > 23 or minute > 59 or second > 60 or offset >= 1440 or (parts.group(11) or "00") > "59":
        raise Invalid(f"{name} is no time")
    offset = -offset if parts.group(9) == "-" else offset
    minutes = (days - EPOCH) * 1440 + hour * 60 + minute - offset
    if second == 60 and minutes % 1440 != 1439:
        raise Invalid(f"{name} is no time")
    millis = (minutes * 60 + second) * 1000 + int(((parts.group(7) or "") + "000")[:3])
    if not 0 <= millis + (EPOCH + 365) * 86_400_000 < (date.max.toordinal() + 1 + 365) * 86_400_000:
        raise Invalid(f"{name} is no time")
    return millis


EPOCH = date(1970, 1, 1).toordinal()


def instant_text(millis):
    days, rest = divmod(millis, 86_400_000)
    ordinal = days + EPOCH
    moment = date.fromordinal(ordinal if ordinal > 0 else ordinal + 146_097)
    year = moment.year if ordinal > 0 else moment.year - 400
    seconds, thousandths = divmod(rest, 1000)
    return (f"{year:04}-{moment.month:02}-{moment.day:02}T"
            f"{seconds // 3600:02}:{seconds // 60 % 60:02}:{seconds % 60:02}.{thousandths:03}Z")


def public_key(record, name):
    text = string(record, name)
    if not is_key(base64_bytes(text, 32)):
        raise Invalid(f"{name} is no key")
    return text


def inexact(record, written, also=()):
    """The fields that are not written as the service writes them, and the names of unknown ones."""
    record = record if isinstance(record, OBJECT) else {}
    faults = [f"{name} is not written as the service writes it" for name, value in written.items()
              if name not in record or write(record[name]) != write(value)]
    unknown = [name for name, value in record.items() if value is not None and name not in written and name not in also]
    return faults, unknown


class Take:
    """A take that was read by the rules; `fields` are those that are signed, in their order."""

    def __init__(self, record, logged_digests=None):
        confidence = abs(number(record, "confidence")) if number(record, "confidence") == 0 else number(record, "confidence")
        if not 0 <= confidence <= 1:
            raise Invalid("confidence is not from 0 to 1")
        self.member = string(record, "memberId", 1, 100)
        self.fields = {
            "memberId": self.member, "date": sys.intern(day(record, "date")),
            "subjectId": sys.intern(string(record, "subjectId", 1, 100)),
            "nonce": string(record, "nonce", 1, 200), "stance": sys.intern(string(record, "stance", 1, 100)),
            "confidence": confidence, "body": optional(string, record, "body", 0, 10_000) or "",
            "memoUrl": optional(string, record, "memoUrl", 0, 2_000) or "",
        }
        weights = optional(read_weights, record, "weights")
        if weights is not None:
            self.fields["weights"] = weights
        self.signature = string(record, "signature", 0, 2_000)
        self.id, self.session_id = whole(record, "id"), whole(record, "sessionId")
        self.revision = whole(record, "revision", 5)
        if self.revision < 1:
            raise Invalid("revision is 0")
        self.filed_at, self.key = instant(record, "filedAt"), public_key(record, "publicKey")
        self.salt = optional(string, record, "salt")
        if self.salt is not None:
            base64_bytes(self.salt, 32)
        self.superseded_by = record.get("supersededBy")
        mark = inner(record, "withheld")
        self.withheld = None if record.get("withheld") is None else {
            "at": instant_text(instant(mark, "at")), "note": string(mark, "note", 0, 500)}
        self.has_texts = self.withheld is None or "body" in record
        if not self.has_texts:
            # What the log has in place of the texts.
            self.logged_digest = (logged_digests or {}).get(self.id, sha256_text(b""))
            self.logged_seal = optional(string, record, "sealed")
            if self.logged_seal is not None and not exact_digest(self.logged_seal):
                raise Invalid("sealed is no digest")
            del self.fields["body"], self.fields["memoUrl"]
        written = {
            "id": self.id, "sessionId": self.session_id, "revision": self.revision, **self.fields,
            **({} if self.withheld is None else {"withheld": self.withheld}),
            "signature": self.signature, "publicKey": self.key, "filedAt": instant_text(self.filed_at),
            **({} if self.salt is None else {"sealed": self.seal(), "salt": self.salt}),
        }
        self.faults, self.unknown = inexact(record, written, ["supersededBy"])

    def canonical(self):
        return write(self.fields).encode("utf-8")

    def digest(self):
        return sha256_text(self.canonical()) if self.has_texts else self.logged_digest

    def seal(self):
        """The seal of a take that was filed in a blind session before that was opened (API.md, 5.8)."""
        if not self.has_texts:
            return self.logged_seal
        if self.salt is None:
            return None
        try:
            signature = base64_bytes(self.signature, 64)
        except Invalid:
            signature = b""
        return sha256_text(base64_bytes(self.salt, 32) + self.canonical() + b"\0" + signature)

    def opening(self):
        """The fields of the entry that opens it."""
        return {"id": self.id, "salt": self.salt, "digest": self.digest(), "signature": self.signature}


def read_weights(record, name):
    if len(field(record, name, list, "list")) > 1_000:
        raise Invalid("weights has over 1,000 rows")
    # Most takes name the same buckets.
    weights = rows(record, name, lambda row: Fields(
        ["bucket", sys.intern(string(row, "bucket", 1, 100)), "weight", number(row, "weight")]))
    if not all(row["weight"] >= 0 for row in weights):
        raise Invalid("weights has a negative one")
    total = ascending_sum([row["weight"] for row in weights])
    if len({row["bucket"] for row in weights}) < len(weights) or not 0 < total < math.inf:
        raise Invalid("weights has a bucket twice, or no positive total")
    return weights


def read_roster(record, name):
    def read(row):
        excused = optional(boolean, row, "excused")
        return Fields(["memberId", string(row, "memberId", 1, 100), "excused", bool(excused)])
    roster = rows(record, name, read)
    if len({row["memberId"] for row in roster}) < len(roster):
        raise Invalid("roster lists a member twice")
    return roster


def read_stances(record, name):
    """The stances that a session declares, in ascending order of their ranks."""
    def read(row):
        rank = number(row, "rank") + 0.0
        if not abs(rank) <= 1_000 or rounded_to(rank, "1e-6") != rank:
            raise Invalid("a rank is not from -1000 to 1000 with at most six decimals")
        return {"name": string(row, "name", 1, 100), "rank": rank}
    stances = sorted(rows(record, name, read), key=lambda row: row["rank"])
    if not 2 <= len(stances) <= 20 or any(len({row[it] for row in stances}) < len(stances) for it in ("name", "rank")):
        raise Invalid("stances are not 2 to 20, each with a name and a rank of its own")
    return stances


def read_max_revisions(record, name):
    most = whole(record, name, 5)
    if most < 1:
        raise Invalid("maxRevisions is 0")
    return most


def read_method(record, name):
    if string(record, name) not in METHODS:
        raise Invalid("the method is none")
    return record[name]


def read_buckets(record, name):
    buckets = field(record, name, list, "list")
    if not all(isinstance(bucket, str) and 1 <= len(bucket) <= 100 for bucket in buckets):
        raise Invalid("buckets holds what is no name")
    return buckets


def inner(record, name):
    """The object in a field; one without members if it is another value."""
    value = record.get(name)
    return value if isinstance(value, OBJECT) else {}


def read_voided(record, name):
    """The mark of a session that counts for nothing."""
    mark = field(record, name, OBJECT, "object")
    return {"at": instant_text(instant(mark, "at")), "note": string(mark, "note", 0, 500)}


def read_snapshot(record, _name, ranks, is_declared):
    snapshot = inner(record, "snapshot")
    if snapshot.get("participation") is None or snapshot.get("stances") is None:
        raise Invalid("the snapshot lacks participation or stances")
    participation, stances = inner(snapshot, "participation"), inner(snapshot, "stances")
    for name in stances:
        whole(stances, name)

    def quorum(record, name):
        return {"required": whole(inner(record, name), "required", 2**32 - 1), "met": boolean(inner(record, name), "met")}

    def position(record, name):
        found = inner(record, name)
        if string(found, "stance") not in ranks:
            raise Invalid("the consensus is no stance")
        return {"stance": found["stance"], "score": number(found, "score"), "confidence": number(found, "confidence"),
                **({} if found.get("method") is None else {"method": read_method(found, "method")})}

    def quote(row):
        confidence, revision = abs(number(row, "confidence")), whole(row, "revision", 5)
        if not 0 <= number(row, "confidence") or confidence > 1 or revision < 1:
            raise Invalid("a quote is none")
        return {"takeId": whole(row, "takeId"), "memberId": string(row, "memberId", 1, 100), "revision": revision,
                "stance": string(row, "stance", 1, 100), "confidence": confidence,
                **({"body": None, "withheld": True} if optional(boolean, row, "withheld")
                   else {"body": string(row, "body", 0, 10_000)})}

    def weight(row):
        return {"bucket": string(row, "bucket", 1, 100), "weight": number(row, "weight")}

    return {
        "aggregatedAt": instant_text(instant(snapshot, "aggregatedAt")),
        "participation": {"members": whole(participation, "members"), "expected": optional(whole, participation, "expected"),
                          "rate": optional(number, participation, "rate")},
        "quorum": optional(quorum, snapshot, "quorum"),
        "stances": {name: whole(stances, name) for name in (*ranks, *(() if is_declared else ("other",)))},
        "consensus": optional(position, snapshot, "consensus"),
        "weights": optional(rows, snapshot, "weights", weight),
        "quotes": rows(snapshot, "quotes", quote),
    }


def read_outcome(record, name):
    found = inner(record, name)
    value = optional(number, found, "value")
    if value is not None and not -1_000 <= value <= 1_000:
        raise Invalid("the outcome is not on the scale of any session")
    return {"value": value, "source": optional(string, found, "source", 0, 500), "recordedAt": instant_text(instant(found, "recordedAt"))}


class Session:
    """A session that was read by the rules."""

    def __init__(self, record):
        self.id, self.state = whole(record, "id"), string(record, "state")
        if self.state not in STATES:
            raise Invalid("state is none")
        self.date, self.subject = day(record, "date"), string(record, "subjectId", 1, 100)
        self.convened_at = instant(record, "convenedAt")
        self.closes_at, self.opened_at, self.published_at = (
            optional(instant, record, it) for it in ("windowClosesAt", "openedAt", "publishedAt"))
        self.blind, self.practice, self.finish = (bool(optional(boolean, record, it)) for it in ("blind", "practice", "finish"))
        self.question, self.resolution = optional(string, record, "question", 1, 500), optional(string, record, "resolution", 1, 1_000)
        self.resolves_at = optional(instant, record, "resolvesAt")
        self.outcome, self.voided = optional(read_outcome, record, "outcome"), optional(read_voided, record, "voided")
        self.voided_at = None if self.voided is None else instant(self.voided, "at")
        self.quorum, self.buckets = optional(whole, record, "quorum", 2**32 - 1), optional(read_buckets, record, "buckets")
        self.stances, self.max_revisions = optional(read_stances, record, "stances"), optional(read_max_revisions, record, "maxRevisions")
        self.method = optional(read_method, record, "method")
        self.ranks = RANKS if self.stances is None else {row["name"]: row["rank"] for row in self.stances}
        self.roster = optional(read_roster, record, "roster")
        self.snapshot = optional(read_snapshot, record, "snapshot", self.ranks, self.stances is not None)
        self.aggregated_at = instant(self.snapshot, "aggregatedAt") if self.snapshot else None
        self.original = None  # the digest of the snapshot as it was written, if write-ups were withheld since
        time = lambda millis: None if millis is None else instant_text(millis)
        self.head = {"id": self.id, "date": self.date, "subjectId": self.subject, "state": self.state,
                     "windowClosesAt": time(self.closes_at), "convenedAt": time(self.convened_at), "quorum": self.quorum}
        tail = {
            "blind": self.blind or None, "practice": self.practice or None, "finish": self.finish or None,
            "question": self.question, "resolution": self.resolution, "resolvesAt": time(self.resolves_at),
            "stances": self.stances, "maxRevisions": self.max_revisions, "method": self.method,
            "openedAt": time(self.opened_at), "publishedAt": time(self.published_at), "outcome": self.outcome, "voided": self.voided,
        }
        self.tail = {name: value for name, value in tail.items() if value is not None}
        written = {**self.head, "buckets": self.buckets, "roster": self.roster, **self.tail, "snapshot": self.snapshot}
        self.faults, self.unknown = inexact(record, written)

    @functools.cached_property
    def logged(self):
        """The session as its entries have it (API.md, 11.2)."""
        of = lambda value: None if value is None else digest(value)
        return {**self.head, "bucketsDigest": of(self.buckets), "rosterDigest": of(self.roster), **self.tail,
                "snapshotDigest": self.original or of(self.snapshot)}


# ---- Entries of the log (API.md, 11.2) ----------------------------------------------------------

OTHER_KINDS = {"memo", "subject", "subject-snapshot", "regime", "signal", "operation", "committee-day", "committee-take"}
ACTS = {"convened", "state", "deadline", "quorum", "question", "roster", "excuse", "brief", "withdrawn", "opened", "void", "outcome"}
MEMBER_ACTS = {"activated", "enrolled", "updated", "deactivated", "claimed", "claim-reset", "key-rotated", "erased"}


def exact_whole(value, most=2**64 - 1):
    return isinstance(value, NUMBER) and bool(re.fullmatch(r"0|[1-9]\d*", text_of(value), re.ASCII)) and int(text_of(value)) <= most


def exact_text(least, most):
    return lambda value: isinstance(value, str) and least <= len(value) <= most


def exact_digest(value):
    return isinstance(value, str) and bool(re.fullmatch("sha256:[0-9a-f]{64}", value))


def exact_instant(value):
    return reads(lambda: instant_text(instant({"at": value}, "at")) == value)


def exact_key(value):
    return isinstance(value, str) and reads(lambda: public_key({"key": value}, "key") == value)


def reads(read):
    try:
        return read()
    except Invalid:
        return False


def nullable(check):
    return lambda value: value is None or check(value)


NAME, ID = exact_text(1, 100), exact_whole
FIELDS = {  # in their order; those with a ? may be absent
    "take": {"id": ID, "sessionId": ID, "sessionVersion": ID, "memberId": NAME,
             "revision": lambda value: exact_whole(value, 5) and int(value) > 0, "sealed?": exact_digest, "digest?": exact_digest,
             "signature?": exact_text(0, 2_000), "publicKey": exact_key},
    "opening": {"id": ID, "salt": lambda value: isinstance(value, str) and reads(lambda: bool(base64_bytes(value, 32))),
                "digest": exact_digest, "signature": exact_text(0, 2_000)},
    "take-mark": {"act": {"withheld", "restored"}.__contains__, "by": NAME, "note": nullable(exact_text(0, 500)), "id": ID},
    "session": {"version": ID, "act": ACTS.__contains__, "by": NAME, "note": nullable(exact_text(0, 500)),
                "session": lambda value: fits(value, LOGGED), "takes?": ID, "memberId?": NAME,
                "excused?": lambda value: isinstance(value, bool)},
    "member": {"act": MEMBER_ACTS.__contains__, "by": nullable(NAME), "id": NAME,
               "status": {"active", "inactive"}.__contains__, "publicKey": nullable(exact_key),
               "replaces?": exact_key, "endorsement?": exact_text(0, 2_000)},
}
LOGGED = {"id": ID, "date": lambda value: isinstance(value, str) and reads(lambda: bool(day({"date": value}, "date"))),
          "subjectId": NAME, "state": STATES.__contains__, "windowClosesAt": nullable(exact_instant),
          "convenedAt": exact_instant, "quorum": nullable(lambda value: exact_whole(value, 2**32 - 1)),
          "bucketsDigest": nullable(exact_digest), "rosterDigest": nullable(exact_digest),
          "blind?": lambda value: value is True, "practice?": lambda value: value is True, "finish?": lambda value: value is True,
          "question?": exact_text(1, 500), "resolution?": exact_text(1, 1_000), "resolvesAt?": exact_instant,
          "stances?": lambda value: exact_stances(value), "maxRevisions?": lambda value: exact_whole(value, 5) and int(value) > 0,
          "method?": METHODS.__contains__, "openedAt?": exact_instant, "publishedAt?": exact_instant, "outcome?": lambda value: fits(value, OUTCOME),
          "voided?": lambda value: fits(value, VOIDED), "snapshotDigest": nullable(exact_digest)}
OUTCOME = {"value": nullable(lambda value: isinstance(value, NUMBER) and abs(float(value)) <= 1_000 and text_of(value) == number_text(float(value))),
           "source": nullable(exact_text(0, 500)), "recordedAt": exact_instant}
VOIDED = {"at": exact_instant, "note": exact_text(0, 500)}


def exact_stances(value):
    return isinstance(value, list) and reads(lambda: write(read_stances({"stances": value}, "stances")) == write(value))


def fits(value, fields):
    """Whether an object has these fields, each of its form, in this order."""
    if not isinstance(value, OBJECT):
        return False
    checks = {name.rstrip("?"): check for name, check in fields.items()}
    required = [name for name in fields if not name.endswith("?")]
    try:
        return ([name for name in checks if name in value] == list(value) and all(name in value for name in required)
                and all(checks[name](item) for name, item in value.items()))
    except TypeError:  # a list or an object where a word is expected
        return False


class Entry:
    """An entry of the log: its text is what was hashed into the tree."""

    def __init__(self, text):
        self.fields = read_json(text)
        self.leaf = hashlib.sha256(b"\0" + text.encode("utf-8")).digest()
        self.seq, self.at = whole(self.fields, "seq"), instant(self.fields, "at")
        self.kind, self.act = string(self.fields, "kind"), self.fields.get("act")
        begin = f'{{"seq":{self.seq},"at":"{instant_text(self.at)}","kind":{write(self.kind)}'
        if write(self.fields) != text or not text.startswith(begin):
            raise Invalid("is not the exact text of one")
        rest = dict(list(self.fields.items())[3:])
        if self.kind in FIELDS and not (fits(rest, FIELDS[self.kind]) and self.is_whole(rest)):
            raise Invalid("has other fields than its kind")
        self.is_unknown = self.kind not in FIELDS and self.kind not in OTHER_KINDS
        self.accepts_clock = (self.kind == "operation" and self.act == "clock-accepted" and list(rest) == ["act", "by"]
                              and NAME(rest["by"]))
        if self.kind == "session":
            self.session = self.fields["session"]
            self.id, self.closes_at = int(text_of(self.session["id"])), optional(instant, self.session, "windowClosesAt")
            self.version = int(text_of(self.fields["version"]))
            self.takes = int(text_of(self.fields["takes"])) if "takes" in self.fields else None
            self.aggregates = self.act == "state" and self.session["state"] == "aggregated"
        if self.kind == "take":
            self.id, self.session_id = int(text_of(self.fields["id"])), int(text_of(self.fields["sessionId"]))
            self.judged = int(text_of(self.fields["sessionVersion"]))

    def is_whole(self, rest):
        """Whether fields that belong together are there together."""
        if self.kind == "take":
            return ("sealed" in rest) != ("digest" in rest) and ("digest" in rest) == ("signature" in rest)
        if self.kind == "member":
            return ("replaces" in rest) == ("endorsement" in rest)
        return self.kind != "session" or ("memberId" in rest) == ("excused" in rest)

    def named(self):
        note = self.fields.get("note")
        return f"entry {self.seq} of {self.fields['at']} by {shown(self.fields['by'])}" + (f", note {shown(note)}" if note else "")


def bundled(row):
    """An entry of a bundle, with its proof."""
    text, index = string(row, "entry"), whole(row, "index")
    proof = optional(field, row, "proof", list, "list") or []
    if not all(isinstance(it, str) for it in proof):
        raise Invalid("has a proof that is no list of hashes")
    entry = Entry(text)
    if entry.seq != index + 1:
        raise Invalid(f"is entry {entry.seq}, but has the index {index}")
    entry.index, entry.proof = index, b"".join(base64_bytes(it, 32) for it in proof)
    return entry


# ---- Keys and signatures (API.md, 3.2 and 11.5) -------------------------------------------------

def base64_bytes(text, length=None):
    try:
        raw = base64.b64decode(text, validate=True)
    except (ValueError, TypeError) as error:
        raise Invalid("no base64") from error
    if base64.b64encode(raw).decode() != text or (length is not None and len(raw) != length):
        raise Invalid(f"no base64 of {length} bytes")
    return raw


PRIME = 2**255 - 19
CURVE = -121665 * pow(121666, PRIME - 2, PRIME) % PRIME
ORDER_8 = 2707385501144840649318225287225658788936804267575313519463743609750303402022
WEAK = {0, 1, ORDER_8, PRIME - ORDER_8, PRIME - 1}


@functools.lru_cache(100_000)
def is_key(key):
    """Whether the bytes are the one spelling of a point of the curve that is not of small order."""
    y = int.from_bytes(key, "little") % 2**255  # the top bit is the sign of x
    if y >= PRIME or y in WEAK:
        return False
    square = (y * y - 1) * pow(CURVE * y * y + 1, PRIME - 2, PRIME) % PRIME
    return pow(square, (PRIME - 1) // 2, PRIME) == 1


def is_signed(message, signature, key):
    """Strict: a weak key, or another spelling of a key or a signature, does not count."""
    y = int.from_bytes(signature[:32], "little") % 2**255
    if not is_key(key) or y >= PRIME or y in WEAK:
        return False
    try:
        Ed25519PublicKey.from_public_bytes(key).verify(signature, message)
        return True
    except (InvalidSignature, ValueError):
        return False


def read_log_key(text):
    """The name (None where it has none) and the bytes of a log's key."""
    try:
        key = base64_bytes(text, 32)
    except Invalid:
        return read_verifier_key(text, 1)
    if not is_key(key):
        raise Invalid("no key of a log")
    return None, key


def key_id(name, key, kind=1):
    return hashlib.sha256(name.encode() + bytes([10, kind]) + key).digest()[:4]


def read_note(note):
    """The signed text, and the signatures below it as (name, key id, bytes)."""
    text, mark, below = note.rpartition("\n\n")
    if not mark or not below.endswith("\n") or re.search("[\0-\t\x0b-\x1f\x7f-\x9f]", note):
        raise Invalid("no signed note")
    signatures = []
    for line in below[:-1].split("\n"):
        dash, _, rest = line.partition(" ")
        name, _, encoded = rest.partition(" ")
        raw = base64_bytes(encoded)
        if dash != "\u2014" or not name or "+" in name or any(map(str.isspace, name)) or len(raw) < 5:
            raise Invalid("a line below the note is no signature")
        signatures.append((name, raw[:4], raw[4:]))
    return text + "\n", signatures


def read_checkpoint(text):
    """Its origin, size and root."""
    lines = text[:-1].split("\n")
    if len(lines) < 3 or not all(lines) or not re.fullmatch(r"0|[1-9]\d{0,19}", lines[1], re.ASCII) or int(lines[1]) >= 2**64:
        raise Invalid("no checkpoint")
    return lines[0], int(lines[1]), base64_bytes(lines[2], 32)


def is_note_signed(text, signatures, name, key):
    """Whether this key of a log signed the text: each signature that names the key must hold."""
    own = [raw for signer, ident, raw in signatures if (signer, ident) == (name, key_id(name, key))]
    return bool(own) and all(len(raw) == 64 and is_signed(text.encode("utf-8"), raw, key) for raw in own)


def cosigned_at(text, signatures, name, key):
    """When this witness cosigned the text, in seconds; None if it did not."""
    own = [raw for signer, ident, raw in signatures if (signer, ident) == (name, key_id(name, key, 4))]
    times = []
    for raw in own:
        time = int.from_bytes(raw[:8], "big")
        message = f"cosignature/v1\ntime {time}\n{text}".encode("utf-8")
        if len(raw) != 72 or not 0 < time < 2**63 or not is_signed(message, raw[8:], key):
            return None
        times.append(time)
    return max(times, default=None)


class Policy:
    """Which logs a reader knows, and which witnesses must have cosigned a checkpoint (C2SP tlog-policy)."""

    def __init__(self, text):
        self.logs, self.witnesses, self.named, self.quorum = [], {}, {}, None
        members = set()
        for number, line in enumerate(lines_of(text), 1):
            words = [word for word in re.split("[ \t]", line) if word]
            try:
                if re.search("[\0-\x08\x0b-\x1f\x7f]", line):
                    raise Invalid("a control character")
                if words and not words[0].startswith("#"):
                    self.line(words, members)
            except Invalid as error:
                raise Invalid(f"policy: line {number}: {error}") from error
        if self.quorum is None:
            raise Invalid("policy: no line quorum")

    def line(self, words, members):
        kind, rest = words[0], words[1:]
        if kind == "log" and 1 <= len(rest) <= 2:
            name, key = read_verifier_key(rest[0], 1)
            if key in [known for _, known in self.logs]:
                raise Invalid("a log twice")
            self.logs.append((name, key))
        elif kind == "witness" and 2 <= len(rest) <= 3:
            key = read_verifier_key(rest[1], 4)
            if key[1] in [known for _, known in self.witnesses.values()]:
                raise Invalid("a witness twice")
            self.witnesses[rest[0]] = key
            self.define(rest[0], lambda name=rest[0]: lambda by: name in by)
        elif kind == "group" and len(rest) >= 3:
            name, least, own = rest[0], {"any": "1", "all": str(len(rest) - 2)}.get(rest[1], rest[1]), rest[2:]
            if not re.fullmatch(r"[1-9]\d{0,8}", least, re.ASCII) or int(least) > len(own):
                raise Invalid("a threshold that its members cannot meet")
            if len(set(own)) < len(own) or members & set(own) or not all(it in self.named for it in own):
                raise Invalid("a member that is not defined, or is one already")
            members.update(own)
            tests = [self.named[it] for it in own]
            self.define(name, lambda: lambda by: sum(test(by) for test in tests) >= int(least))
        elif kind == "quorum" and len(rest) == 1 and self.quorum is None:
            if rest[0] != "none" and rest[0] not in self.named:
                raise Invalid("a name that is not defined before")
            self.quorum = "none" if rest[0] == "none" else self.named[rest[0]]
        else:
            raise Invalid("must be log, witness, group, or one quorum")

    def define(self, name, test):
        if name == "none" or name in self.named:
            raise Invalid("a name that is taken")
        self.named[name] = test()


def read_verifier_key(text, kind):
    name, _, rest = text.partition("+")
    ident, _, encoded = rest.partition("+")
    raw = base64_bytes(encoded, 33)
    if not name or raw[0] != kind or key_id(name, raw[1:], kind).hex() != ident or not is_key(raw[1:]):
        raise Invalid("a key that is not of this kind")
    return name, raw[1:]


def leads_to(leaf, index, size, proof, root):
    """Whether the inclusion proof, of 32 bytes for each hash, leads from the leaf to the root (RFC 9162, 2.1.3.2)."""
    if index >= size:
        return False
    node, last, found = index, size - 1, leaf
    for sibling in (proof[at:at + 32] for at in range(0, len(proof), 32)):
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


def continues(old, old_root, size, root, proof):
    """Whether the proof shows that the tree of this size and root continues the old one (RFC 9162, 2.1.4.2)."""
    if old == 0 or old >= size:
        same = old_root == hashlib.sha256(b"").digest() if old == 0 else old_root == root
        return old <= size and same and not proof
    hashes = [old_root, *proof] if old & (old - 1) == 0 else list(proof)
    if not hashes:
        return False
    node, last = old - 1, size - 1
    while node & 1:
        node, last = node >> 1, last >> 1
    before = after = hashes[0]
    for found in hashes[1:]:
        if last == 0:
            return False
        if node & 1 or node == last:
            before, after = (hashlib.sha256(b"\1" + found + it).digest() for it in (before, after))
            while not node & 1 and node:
                node, last = node >> 1, last >> 1
        else:
            after = hashlib.sha256(b"\1" + after + found).digest()
        node, last = node >> 1, last >> 1
    return last == 0 and before == old_root and after == root


# ---- Timestamps (API.md, 11.8; RFC 3161) --------------------------------------------------------

class Timestamp:
    """The timestamp in a bundle, of which the form alone is checked."""

    def __init__(self, record):
        if not isinstance(record, OBJECT):
            raise Invalid("timestamp is no object")
        self.text = read_note(string(record, "checkpoint"))[0]
        self.token = base64_bytes(string(record, "token"))
        if not 1 <= len(self.token) <= MAX_TOKEN:
            raise Invalid("token is none")
        self.proof = [base64_bytes(it, 32) for it in optional(field, record, "proof", list, "list") or []]
        self.origin, self.size, self.root = read_checkpoint(self.text)

    def is_of_the_log_of(self, origin, size, root):
        old, new = sorted([(self.size, self.root), (size, root)], key=lambda it: it[0])
        return self.origin == origin and continues(*old, *new, self.proof)


def check_token(stamped, authorities):
    """What OpenSSL says of a token: its time and its authority, or why it is not valid. Certificates are checked at the time of
    the token, so that it outlives them."""
    def openssl(*arguments):
        try:
            return subprocess.run(["openssl", *arguments], stdin=subprocess.DEVNULL, capture_output=True, check=False)
        except FileNotFoundError as error:
            raise Invalid("timestamps are checked by the program openssl, which is not installed") from error
    if openssl("x509", "-noout", "-in", authorities).returncode:
        raise Invalid(f"{authorities}: no certificate in PEM")
    with tempfile.TemporaryDirectory() as folder:
        file = os.path.join(folder, "token")
        with open(file, "wb") as token:
            token.write(stamped.token)
        text = openssl("ts", "-reply", "-token_in", "-text", "-in", file).stdout.decode("utf-8", "replace")
        at = re.search(r"^Time stamp: (\w{3}) +(\d{1,2}) (\d\d:\d\d:\d\d)(\.\d+)? (\d{4}) GMT$", text, re.ASCII | re.MULTILINE)
        if not at or at.group(1) not in MONTHS:
            return "no token of RFC 3161", None, None
        millis = instant({"at": f"{at.group(5)}-{MONTHS.index(at.group(1)) + 1:02}-{int(at.group(2)):02}"
                                f"T{at.group(3)}{at.group(4) or ''}Z"}, "at")
        verified = openssl("ts", "-verify", "-token_in", "-in", file, "-digest", hashlib.sha256(stamped.text.encode("utf-8")).hexdigest(),
                           "-attime", str(millis // 1000), "-partial_chain", "-CAfile", authorities)
    if verified.returncode:
        reason = re.search(r":error:(?:[^:\n]*:){3}([^:\n]*)", verified.stderr.decode("utf-8", "replace"))
        return reason.group(1) if reason else "not valid", None, None
    by = re.search(r"^TSA: (?:DirName:)?(.*)$", text, re.MULTILINE)
    return None, instant_text(millis), by.group(1) if by and by.group(1) != "unspecified" else None


MONTHS = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]


# ---- The snapshot (API.md, 6.5) -----------------------------------------------------------------

def ascending_sum(values):
    total = 0.0
    for value in sorted(values):
        total += value
    return total


def rounded(value):
    """To 12 decimals, the exact value half away from zero."""
    return rounded_to(value, "1e-12")


def rounded_to(value, unit):
    with localcontext() as context:
        context.prec = 1_100  # a double has fewer digits
        return float(Decimal(value).quantize(Decimal(unit), ROUND_HALF_UP)) + 0.0


def aggregate(session, takes):
    latest = {}
    for take in sorted(takes, key=lambda take: take.revision):
        latest[take.member] = take
    roster = {row["memberId"]: row["excused"] for row in session.roster or []}
    counted = sorted(latest.values(), key=lambda take: take.id)
    if session.roster is not None:
        counted = [take for take in counted if roster.get(take.member) is False]
    expected = None if session.roster is None else sum(not excused for excused in roster.values())
    stances = {name: sum(take.fields["stance"] == name for take in counted) for name in session.ranks}
    ranked = [(session.ranks[take.fields["stance"]], take.fields["confidence"]) for take in counted if take.fields["stance"] in session.ranks]
    others = {} if session.stances is not None else {"other": len(counted) - len(ranked)}
    quotes = sorted(counted, key=lambda take: (take.fields["stance"] not in session.ranks, -take.fields["confidence"], take.id))
    return {
        "aggregatedAt": session.snapshot["aggregatedAt"],
        "participation": {"members": len(counted), "expected": expected,
                          "rate": len(counted) / expected if expected else None},
        "quorum": None if session.quorum is None else
        {"required": session.quorum, "met": len(counted) >= session.quorum},
        "stances": {**stances, **others},
        "consensus": consensus(ranked, session.ranks, session.method),
        "weights": mean_weights(session.buckets, [take.fields["weights"] for take in counted if "weights" in take.fields]),
        "quotes": [{"takeId": take.id, "memberId": take.member, "revision": take.revision,
                    **{name: take.fields[name] for name in ("stance", "confidence")},
                    **({"body": take.fields["body"]} if take.has_texts else {"body": None, "withheld": True})}
                   for take in quotes],
    }


def consensus(ranked, ranks, method):
    if not ranked:
        return None
    weighted, total, plain = 0.0, 0.0, 0.0
    for rank, confidence in sorted(ranked):
        weighted, total, plain = weighted + rank * confidence, total + confidence, plain + rank
    if method == "weighted_median":
        score = rounded(weighted_median(ranked))
    else:
        score = rounded(weighted / total if total > 0 else plain / len(ranked))
    decimals = {name: decimal(rank) for name, rank in ranks.items()}
    exact, middle = decimal(score), decimal_middle(ranks)
    stance = min(ranks, key=lambda name: (abs(decimals[name] - exact), abs(decimals[name] - middle), decimals[name]))
    return {"stance": stance, "score": score, "confidence": rounded(total / len(ranked)),
            **({} if method is None else {"method": method})}


def decimal(value):
    """A rank or score as the decimal that is written for it: 0.1 and 0.3 are equally near to 0.2, their doubles are not."""
    return Decimal(number_text(value))


def decimal_middle(ranks):
    return (decimal(min(ranks.values())) + decimal(max(ranks.values()))) / 2


def weighted_median(ranked):
    """The smallest rank at which half of the confidence is reached, each as a whole number of 10^-12."""
    trillionths = [(rank, int(decimal(rounded(confidence)).scaleb(12))) for rank, confidence in sorted(ranked)]
    if not any(weight for _, weight in trillionths):
        trillionths = [(rank, 1) for rank, _ in trillionths]
    total, reached = sum(weight for _, weight in trillionths), 0
    for rank, weight in trillionths:
        reached += weight
        if 2 * reached >= total:
            return rank


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

class Faults:
    """The faults of one check: their number, and the texts of those that are named."""

    def __init__(self):
        self.named, self.number = [], 0

    def append(self, text):
        self.number += 1
        if len(self.named) < MAX_NAMED:
            self.named.append(text)

    def __iadd__(self, texts):
        for text in texts:
            self.append(text)
        return self

    def __len__(self):
        return self.number

    def __getitem__(self, places):
        return self.named[places]


class Report:
    """Findings as (verdict, check, text)."""

    def __init__(self):
        self.findings = []

    def conclude(self, check, faults, holds):
        """The faults of a check, or what holds: nothing, if that is empty, because nothing was looked at."""
        if holds and not faults:
            self.findings.append(("holds", check, holds))
        self.some("fails", check, faults)

    def notable(self, check, texts):
        self.some("notable", check, texts)

    def some(self, verdict, check, texts):
        self.findings += [(verdict, check, text) for text in texts[:MAX_NAMED]]
        if len(texts) > MAX_NAMED:
            self.findings.append((verdict, check, f"and {len(texts) - MAX_NAMED} more of the kind"))

    def unproven(self, check, text):
        self.findings.append(("unproven", check, text))

    def checks(self, wanted):
        return {check for verdict, check, _ in self.findings if verdict == wanted}

    def status(self, strict=False):
        if self.checks("fails"):
            return 1
        return 3 if strict and self.checks("notable") else 0


class Bundle:
    """A bundle that was split into its parts."""

    def __init__(self, fields):
        if string(fields, "format") != "swarm-bundle/1":
            raise Invalid("another format")
        if fields.get("session") is None:
            raise Invalid("no session")
        self.session = inner(fields, "session")
        self.takes, self.members, self.entries = (field(fields, name, LIST, "list") for name in ("takes", "members", "entries"))
        self.checkpoint, self.timestamp = string(fields, "checkpoint"), fields.get("timestamp")


def verify(fields, key=None, members=None, policy=None, reader=None, authorities=None):
    """The report on a bundle, which read_bundle() read. Invalid: it is no bundle.

    `key`: the log's; `members`: keys by memberId; `policy`: a Policy; `reader`: a LogReader; `authorities`: a PEM file with
    certificates of time-stamping authorities."""
    bundle, report = Bundle(fields), Report()
    log = None if reader is None else Log(bundle, reader, key)
    is_withheld = any(isinstance(row, OBJECT) and "withheld" in row for row in bundle.takes)
    digests = logged_digests(bundle.entries) if is_withheld else {}
    session, takes = check_records(bundle.session, bundle.takes, digests, report)
    check_signatures(takes, report)
    check_members(bundle.members, takes, report)
    check_nonces(takes, report)
    entries, faults = read_entries(bundle.entries, report)
    places = check_entries(session, takes, entries, faults, report)
    acts = Acts(entry for entry in entries if session and entry.kind == "session" and entry.id == session.id)
    if session:
        complete_snapshot(session, acts)
    check_revisions(takes, places, acts, session, report)
    check_stances(takes, session, report)
    if session:
        filed = Filed(session, takes, places)
        check_seals(session, takes, places, acts, entries, report)
        check_history(session, filed, acts, report)
        check_versions(session, acts, entries, report)
        check_times(session, acts, entries, report)
        check_deadlines(filed, acts, report)
        check_roster(session, filed, acts, report)
        check_quorum(filed, acts, report)
        differs = [act for act in acts if act.session["bucketsDigest"] != session.logged["bucketsDigest"]]
        faults = [f"not those whose digest entry {act.seq} has" for act in differs[:1]]
        if session.buckets is not None and not 0 < len(session.buckets) == len(set(session.buckets)):
            faults.append("no list of different names")
        report.conclude("buckets", faults,
                        acts and ("none" if session.buckets is None else f"{count(len(session.buckets), 'bucket', 'buckets')} by their digest"))
        check_count(session, acts, entries, report)
        check_snapshot(session, takes, places, acts, report)
        check_outcome(session, acts, report)
    check_withheld(takes, entries, report)
    check_keys(takes, places, members, log, report)
    check_checkpoint(bundle.checkpoint, entries, key, policy, report)
    check_timestamp(bundle, entries, authorities, report)
    if log:
        log.check(takes, entries, report)
    else:
        since = "since the aggregation" if session and is_over(session.state) else "together with its entry"
        report.unproven("completeness", f"that no take was left out {since}, and that no act followed the last one: --log")
        report.unproven("sessions", "that the day and subject had no other session: --log")
    report.unproven("identity", "whose keys these are, and that nobody files under several names")
    report.unproven("clock", "that the server's clock was right")
    return report


class Acts(list):
    """The acts on the session, in the order of the log."""

    def __init__(self, acts):
        super().__init__(sorted(acts, key=lambda act: act.seq))
        self.places = [act.seq for act in self]

    def in_force(self, place):
        """The last act before a place in the log."""
        at = bisect_left(self.places, place)
        return self[at - 1] if at else None

    def steps(self):
        return zip(self, self[1:])


class Filed:
    """The takes that have an entry, in the order of the log."""

    def __init__(self, session, takes, places):
        self.takes = sorted((take for take in takes if take.id in places), key=lambda take: (places[take.id], take.id))
        self.at, self.latest = [places[take.id] for take in self.takes], []
        for take in self.takes:
            late = self.latest and self.latest[-1].filed_at > take.filed_at
            self.latest.append(self.latest[-1] if late else take)
        self.counted = {quote["takeId"] for quote in session.snapshot["quotes"]} if session.snapshot else set()

    def before(self, place):
        return self.takes[:bisect_left(self.at, place)]

    def after(self, place):
        return self.takes[bisect_left(self.at, place):]

    def latest_before(self, place):
        at = bisect_left(self.at, place)
        return self.latest[at - 1] if at else None


def logged_digests(rows):
    """The digests that the entries of a bundle have of takes. What cannot be read is reported elsewhere."""
    digests = {}
    for row in rows:
        try:
            entry = Entry(string(row, "entry"))
        except Invalid:
            continue
        if entry.kind in ("take", "opening") and "digest" in entry.fields:
            digests[int(text_of(entry.fields["id"]))] = entry.fields["digest"]
    return digests


def complete_snapshot(session, acts):
    """Gives the snapshot the digest that it had when it was written, if write-ups were withheld since."""
    logged = next((act.session["snapshotDigest"] for act in acts if act.session["snapshotDigest"] is not None), None)
    is_partial = session.snapshot is not None and any(quote["body"] is None for quote in session.snapshot["quotes"])
    if is_partial and logged is not None and digest(session.snapshot) != logged:
        session.original = logged


def check_records(record, rows, digests, report):
    session, takes, faults, unknown = None, [], Faults(), set()
    try:
        session = Session(record)
        faults += [f"the session: {fault}" for fault in session.faults]
        unknown.update(session.unknown)
    except Invalid as error:
        faults.append(f"the session: {shown(str(error))}")
    for row in rows:
        row = row if isinstance(row, OBJECT) else {}
        name = shown(write(row.get("id")))
        try:
            take = Take(row, digests)
        except Invalid as error:
            faults.append(f"take {name}: {shown(str(error))}")
            continue
        faults += [f"take {name}: {fault}" for fault in take.faults]
        if takes and takes[-1].id >= take.id:
            faults.append(f"take {name}: stands after take {takes[-1].id}")
        if session and take.session_id != session.id:
            faults.append(f"take {name}: is of session {take.session_id}, not {session.id}")
        elif session and (take.fields["date"], take.fields["subjectId"]) != (session.date, session.subject):
            faults.append(f"take {name}: is of another day or subject than the session")
        unknown.update(take.unknown)
        take.faults = take.unknown = ()
        takes.append(take)
    named = f"session {session.id} of {session.date} and {shown(session.subject)}" if session else "the session"
    report.conclude("record", faults, named + (f" and {count(len(takes), 'take', 'takes')}" if takes else ""))
    if unknown:
        report.unproven("unknown", "fields that this program does not know: " + ", ".join(map(shown, sorted(unknown))))
    return session, takes


def count(number, one, many):
    return f"{number} {one if number == 1 else many}"


def conclude_on_signed(check, takes, faults, holds, report):
    """Concludes a check of a signed field. Of takes without texts it was read, and may not be what was signed."""
    withheld = sum(not take.has_texts for take in takes)
    among = ", among the takes whose texts are shown" if withheld else ""
    report.conclude(check, faults, len(takes) > withheld and holds + among)
    if withheld:
        report.unproven(check, f"that {count(withheld, 'take has', 'takes have')} the {check} that was signed: the texts are withheld")


def check_signatures(takes, report):
    faults, withheld = [], [take for take in takes if not take.has_texts]
    for take in takes:
        if not take.has_texts:
            continue
        try:
            holds = is_signed(take.canonical(), base64_bytes(take.signature, 64), base64_bytes(take.key, 32))
        except Invalid:
            holds = False
        if not holds:
            faults.append(f"take {take.id}: the key {shown(take.key)} of {shown(take.member)} did not sign these fields")
    whole = len(takes) - len(withheld)
    report.conclude("signature", faults, whole and f"{count(whole, 'take is', 'takes are')} signed by the key in it, to the byte")
    if withheld:
        report.unproven("signature", f"that {count(len(withheld), 'take was', 'takes were')} signed by the key in it, as it reads: "
                                     "the texts are withheld, and the digest is that of the log")


def check_members(rows, takes, report):
    used, listed, faults = {(take.member, take.key) for take in takes}, set(), Faults()
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
    report.conclude("members", faults, listed and f"{count(len(listed), 'key', 'keys')}, those in the takes")


def check_nonces(takes, report):
    spent, faults = set(), []
    for take in takes:
        nonce = (take.member, take.fields["nonce"])
        if nonce in spent:
            faults.append(f"take {take.id}: {shown(take.member)} used the nonce {shown(nonce[1])} before")
        spent.add(nonce)
    conclude_on_signed("nonce", takes, faults, "no member used one twice in this session", report)


def read_entries(rows, report):
    entries, faults, unknown = [], Faults(), 0
    for place, row in enumerate(rows, 1):
        try:
            entry = bundled(row)
        except Invalid as error:
            faults.append(f"the entry in place {place} {shown(str(error))}")
            continue
        if entries and entries[-1].seq >= entry.seq:
            faults.append(f"entry {entry.seq} stands after entry {entries[-1].seq}")
        entries.append(entry)
        unknown += entry.is_unknown
    if unknown:
        report.unproven("unknown", f"{unknown} entries of a kind that this program does not know")
    return entries, faults


def check_entries(session, takes, entries, faults, report):
    by_id, places = {take.id: take for take in takes}, {}
    for entry in (entry for entry in entries if entry.kind == "take"):
        fields, take = entry.fields, by_id.get(entry.id)
        if take is None:
            if session is None or session.id == entry.session_id:
                faults.append(f"entry {entry.seq} records take {entry.id}, which is missing")
            continue
        if take.id in places:
            faults.append(f"entries {places[take.id]} and {entry.seq} both record take {take.id}")
        places[take.id] = entry.seq
        content = {"sealed": take.seal()} if take.salt is not None else {
            "digest": take.digest(), "signature": take.signature}
        says = {"sessionId": take.session_id, "memberId": take.member, "revision": take.revision, **content,
                "publicKey": take.key}
        faults += [f"entry {entry.seq} has another {name} than take {take.id}" for name in says
                   if name not in fields or write(says[name]) != write(fields[name])]
        if take.filed_at != entry.at:
            faults.append(f"take {take.id} says {instant_text(take.filed_at)}, entry {entry.seq} says {fields['at']}")
    faults += [f"take {ident} has no entry" for ident in sorted(by_id) if ident not in places]
    order = [places[ident] for ident in sorted(places)]
    if order != sorted(order):
        faults.append("the takes are in another order in the log")
    own = f", and {count(len(by_id), 'take', 'takes')}, each with an entry of its own" if by_id else ""
    report.conclude("entry", faults, entries and f"{count(len(entries), 'entry', 'entries')} in place{own}")
    return places


def check_seals(session, takes, places, acts, entries, report):
    """Checks that each take that was filed before a blind session was opened had a seal, and was opened with it. Of a take
    without texts the seal cannot be computed."""
    openings = {entry.seq: entry.fields for entry in entries if entry.kind == "opening"}
    seals = {entry.id: entry.fields["sealed"] for entry in entries if entry.kind == "take" and "sealed" in entry.fields}
    sealed = [take for take in takes if take.salt is not None]
    withheld = sum(not take.has_texts for take in sealed)
    if not (session.blind or openings or sealed):
        return
    faults = [] if session.blind else ["takes are sealed, and the session is not blind"]
    opened = next((act.seq for act in acts if act.act == "opened"), None)
    for take in takes:
        if take.salt is None and (opened is None or places.get(take.id, math.inf) < opened):
            faults.append(f"take {take.id} was filed before the session was opened, without a seal")
        if take.salt is not None and ((seal := take.seal()) is None or seals.get(take.id) != seal):
            faults.append(f"take {take.id} has another seal than its entry")
    faults += opening_faults(opened, sealed, openings)
    report.conclude("seal", faults, "none, as no take was filed before it was opened" if not sealed else len(sealed) > withheld and
                    f"{count(len(sealed) - withheld, 'take is', 'takes are')} what the seals in the log were made of, and were opened together")
    if withheld:
        made = "1 take is what its seal was made of" if withheld == 1 else f"{withheld} takes are what their seals were made of"
        report.unproven("seal", f"that {made}: the texts are withheld")


def opening_faults(opened, sealed, openings):
    if opened is None:
        return ["no entry opens the session"]
    for place, take in enumerate(sealed, opened + 1):
        found = openings.get(place)
        if found is None:
            return [f"entry {place} does not open take {take.id}"]
        if any(write(found[name]) != write(value) for name, value in take.opening().items()):
            return [f"entry {place} opens take {take.id} otherwise than its record"]
    more = len(openings) - len(sealed)
    return [f"{more} openings that no take was sealed for"] if more > 0 else []


def is_over(state):
    return STATES.index(state) >= STATES.index("aggregated")


def check_stances(takes, session, report):
    """Checks that each take has one of the stances that the session declares, if it declares any."""
    if session is None or session.stances is None:
        return
    conclude_on_signed("stance", takes, [
        f"take {take.id}: {shown(take.fields['stance'])} is none that the session declares"
        for take in takes if take.fields["stance"] not in session.ranks
    ], f"each take has one of the {len(session.ranks)} stances that the session declares", report)


def check_revisions(takes, places, acts, session, report):
    by_member, faults = {}, []
    cap = 5 if session is None or session.max_revisions is None else session.max_revisions
    for take in takes:
        by_member.setdefault(take.member, []).append(take)
        act = acts.in_force(places[take.id]) if take.id in places else None
        if take.revision > 1 and act and is_over(act.session["state"]):
            faults.append(f"take {take.id} amends after entry {act.seq}, when the session was aggregated")
    for member, own in by_member.items():
        expected = 1
        for take, follower in zip(own, own[1:] + [None]):
            if take.revision != expected:
                faults.append(f"take {take.id} of {shown(member)} is revision {take.revision}, expected {expected}")
            if take.revision > cap:
                faults.append(f"take {take.id} of {shown(member)} is revision {take.revision}, and the session allows {cap}")
            expected = take.revision + 1
            named = None if take.superseded_by is None else write(take.superseded_by)
            if named != (str(follower.id) if follower else None):
                faults.append(f"take {take.id}: supersededBy is {shown(named or 'none')}, expected {follower.id if follower else 'none'}")
    report.conclude("revision", faults, by_member and f"of {count(len(by_member), 'member', 'members')}, from 1 on without a gap")


def check_history(session, filed, acts, report):
    faults = list(late_questions(filed, acts))
    if not acts:
        faults.append("no entry of the session")
    elif acts[0].act != "convened":
        faults.append(f"the first act, entry {acts[0].seq}, does not convene it")
    else:
        faults += [f"entry {acts[0].seq}: convened {how}" for how in convened_wrongly(acts[0].session)]
    for before, act in acts.steps():
        fault = step_fault(before.session, act)
        if fault:
            faults.append(f"entry {act.seq} ({act.act}) {fault}")
    if acts:
        other = differing(acts[-1].session, session.logged)
        if other:
            faults.append(f"the record differs from the last act, entry {acts[-1].seq}: {', '.join(other)}")
    practice = "; it is for practice, and counts for nothing" if session.practice else ""
    report.conclude("history", faults, f"{count(len(acts), 'act leads', 'acts lead')} from convening to the record{practice}")
    voids = [act for act in acts if act.act == "void"]
    report.notable("history", [f"{act.named()}: voided: its result counts for nothing" for act in voids])


def differing(one, other):
    names = [*one, *(name for name in other if name not in one)]
    return [name for name in names if write(one.get(name)) != write(other.get(name))]


QUESTION = ("question", "resolution", "resolvesAt")


def late_questions(filed, acts):
    """The acts that changed the question once takes were on file."""
    for before, act in acts.steps():
        on_file = len(filed.before(act.seq))
        if on_file and any(name in QUESTION for name in differing(before.session, act.session)):
            yield f"entry {act.seq} changes the question, when {on_file} takes were on file"


def convened_wrongly(session):
    """How a session is not convened."""
    if STATES.index(session["state"]) > STATES.index("collecting"):
        yield f"as {session['state']}"
    if not exact_instant(f"{session['date']}T00:00:00.000Z"):
        yield f"on {session['date']}, which is no day of the calendar"
    for name in ("openedAt", "publishedAt", "outcome", "voided", "snapshotDigest"):
        if session.get(name) is not None:
            yield f"with {name}"


def step_fault(before, act):
    after, may = act.session, set()
    one, other, over = before["state"], after["state"], is_over(before["state"])
    if before.get("voided") is not None:
        return "changes it after it was voided"
    if act.act == "convened":
        return "convenes it again"
    if act.act == "withdrawn":
        return "withdraws it"
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
        may = {"windowClosesAt", *QUESTION, *(() if over else ("quorum",)),
               *({"state"} if (one, other) == ("window_closed", "collecting") else ())}
    elif act.act == "quorum" and not over:
        may = {"quorum"}
    elif act.act == "question":
        may = {*QUESTION, *(() if over else ("quorum",))}
    elif act.act == "void" and not over:
        return f"voids it, though it is {one}"
    elif act.act == "void" and before.get("practice"):
        return "voids it, though it is for practice"
    elif act.act == "void":
        may = {"voided"}
    elif act.act == "outcome" and not over:
        return f"records its outcome, though it is {one}"
    elif act.act == "outcome":
        may = {"outcome"}
    elif (act.act == "roster" and before["rosterDigest"] is None or act.act == "excuse") and not over:
        may = {"rosterDigest"}
    sets = {"opened": "openedAt", "roster": "rosterDigest", "void": "voided", "outcome": "outcome",
            "state": {"aggregated": "snapshotDigest", "published": "publishedAt"}.get(other)}.get(act.act)
    if sets is not None and after.get(sets) is None:
        return f"does not set {sets}"
    also = [name for name in differing(before, after) if name not in may]
    return f"also changes {', '.join(also)}" if also else None


def check_versions(session, acts, entries, report):
    faults, last, judged = [], 0, 0
    for act in acts:
        if act.version != last + 1:
            faults.append(f"entry {act.seq} is version {act.version}, expected {last + 1}")
        last = act.version
    for entry in entries:
        act = acts.in_force(entry.seq) if entry.kind == "take" and entry.session_id == session.id else None
        judged += act is not None
        if act and entry.judged != act.version:
            faults.append(f"entry {entry.seq}: take {entry.id} was judged under version {entry.judged}, and {act.version} was in force")
    own = f", and {count(judged, 'take was', 'takes were')} judged under the one in force" if judged else ""
    report.conclude("version", faults, acts and f"the acts are 1 to {last} without a gap{own}")


def check_times(session, acts, entries, report):
    faults, accepted = [], []
    later, takes = {}, 0  # the takes that were filed after each entry that accepts a clock
    for entry in reversed(entries):
        takes += entry.kind == "take" and entry.session_id == session.id
        if entry.accepts_clock:
            later[entry.seq] = takes
    for one, other in zip(entries, entries[1:]):
        if other.accepts_clock:
            back = f"{one.fields['at']} → {other.fields['at']}" if other.at < one.at else f"back to {other.fields['at']}"
            accepted.append(f"entry {other.seq} by {shown(other.fields['by'])}: the clock {back}; "
                            f"{later[other.seq]} takes were filed after it")
        elif other.at < one.at:
            faults.append(f"entry {other.seq} is of {other.fields['at']}, before entry {one.seq} of {one.fields['at']}")
    if acts and acts[0].at != session.convened_at:
        faults.append(f"convenedAt is not that of entry {acts[0].seq}, {acts[0].fields['at']}")
    of_state = lambda state: next((act for act in acts if act.session["state"] == state), None)
    opened = next((act for act in acts if act.act == "opened"), None)
    void = next((act for act in acts if act.act == "void"), None)
    for name, time, act in (
        ("openedAt", session.opened_at, opened), ("publishedAt", session.published_at, of_state("published")),
        ("aggregatedAt", session.aggregated_at, of_state("aggregated")),
        ("voided.at", session.voided_at, void),
    ):
        if act and time is not None and time > act.at:
            faults.append(f"{name} is after entry {act.seq} of {act.fields['at']}")
    back = "run back where that was accepted" if accepted else "never run back"
    report.conclude("time", faults, acts and f"they agree with the log, whose times {back}")
    report.notable("time", accepted)


def check_deadlines(filed, acts, report):
    faults, notable, bound, free = [], [], 0, 0
    for take, place in zip(filed.takes, filed.at):
        act = acts.in_force(place)
        bound += act is not None and act.closes_at is not None
        free += act is not None and act.closes_at is None
        if act is None:
            faults.append(f"take {take.id} was filed before the session was convened")
        elif act.closes_at is not None and take.filed_at > act.closes_at:
            faults.append(f"take {take.id} was filed after the deadline {act.session['windowClosesAt']} of entry {act.seq}")
    moves = [act for act in acts if act.act == "deadline"]
    for act in moves:
        late = filed.latest_before(act.seq)
        if late and act.closes_at is not None and late.filed_at > act.closes_at:
            faults.append(f"entry {act.seq} moves the deadline to {act.session['windowClosesAt']}, before take {late.id}")
    for before, act in acts.steps():
        one, other = before.closes_at, act.closes_at
        if one != other and (one is not None or filed.before(act.seq)):
            late = [take for take in filed.after(act.seq) if one is not None and take.filed_at > one]
            counted = sum(take.id in filed.counted for take in late)
            notable.append(f"{act.named()}: deadline {before.session['windowClosesAt'] or 'none'} → "
                           f"{act.session['windowClosesAt'] or 'none'}; {len(late)} takes were filed after the one before, "
                           f"{counted} of them count in the snapshot")
        if act.aggregates and other is not None and act.at <= other:
            notable.append(f"{act.named()}: aggregated before the deadline {act.session['windowClosesAt']}; "
                           f"{len(filed.after(act.seq))} takes were filed after it, and count for nothing")
    within = (f"{count(bound, 'take was', 'takes were')} filed within the deadline in force, "
              f"which was moved {count(len(moves), 'time', 'times')}")
    without = f"{count(free, 'take was', 'takes were')} filed when there was none"
    holds = "; ".join(text for number, text in ((bound, within), (free, without)) if number)
    if all(act.closes_at is None for act in acts):
        holds = "none, so no take could be late"
    report.conclude("deadline", faults, acts and holds)
    report.notable("deadline", notable)


def check_roster(session, filed, acts, report):
    try:
        excuses = trace_roster(session.roster, acts)
    except Invalid as error:
        report.conclude("roster", [str(error)], "")
        return
    last = {row["memberId"]: row["excused"] for row in session.roster or []}
    faults, earlier = [], 0
    for take, place in zip(filed.takes, filed.at):
        act = acts.in_force(place)
        if act is None or act.session["rosterDigest"] is None:
            earlier += 1
            continue
        excused = next((before for seq, before in reversed(excuses.get(take.member, [])) if seq >= place), last.get(take.member))
        if excused is not False:
            what = "is not on" if excused is None else "was excused by"
            faults.append(f"take {take.id}: {shown(take.member)} {what} the roster of entry {act.seq}")
    holds, since = f"{count(len(last), 'member', 'members')} by its digest", len(filed.takes) - earlier
    holds += f"; the author of each of {count(since, 'take', 'takes')} since was expected" if since else ""
    holds += f"; {count(earlier, 'take was', 'takes were')} filed before it" if earlier else ""
    report.conclude("roster", faults, acts and ("none, so every member could file" if session.roster is None else holds))
    notable = []
    for before, act in acts.steps():
        on_file = filed.before(act.seq)
        if not on_file or before.session["rosterDigest"] == act.session["rosterDigest"]:
            continue
        if "memberId" in act.fields:
            own = sum(take.member == act.fields["memberId"] for take in on_file)
            change = "expected → excused" if act.fields["excused"] else "excused → expected"
            notable.append(f"{act.named()}: {shown(act.fields['memberId'])} {change}, when {len(on_file)} takes were on file, "
                           f"{own} of them its own")
        else:
            left_out = sorted({take.member for take in on_file} - set(last))
            notable.append(f"{act.named()}: roster none → {len(last)} members, when {len(on_file)} takes were on file; "
                           f"not on it: {', '.join(map(shown, left_out)) or 'none of their authors'}")
    report.notable("roster", notable)


def trace_roster(roster, acts):
    """The excuses of each member, the last one first: their places, and whether the member was excused before. They are found
    backwards from the last roster: an excuse changed one member, which a digest confirms."""
    excuses, hashed = {}, 0
    roster = None if roster is None else [dict(row.items()) for row in roster]
    places = {row["memberId"]: at for at, row in enumerate(roster or [])}
    found = None if roster is None else digest(roster)
    for before, act in reversed(list(zip([None, *acts], acts))):
        if found != act.session["rosterDigest"]:
            raise Invalid(f"the roster is not the one whose digest entry {act.seq} has")
        earlier = before.session["rosterDigest"] if before else None
        if act.act == "roster" and earlier is None:
            roster = found = None
        if act.act == "excuse" and earlier is not None and "memberId" in act.fields:
            member, excused = act.fields["memberId"], act.fields["excused"]
            row = roster[places[member]] if roster is not None and member in places else None
            if row is None or row["excused"] is not excused:
                raise Invalid(f"entry {act.seq} excuses otherwise than the roster")
            if found != earlier:
                row["excused"] = not excused
                hashed += len(roster)
                if hashed > MAX_HASHED:
                    raise Invalid("it changes too often to be checked")
                found = digest(roster)
                excuses.setdefault(member, []).append((act.seq, not excused))
    return excuses


def check_quorum(filed, acts, report):
    notable = []
    for before, act in acts.steps():
        one, other, on_file = before.session["quorum"], act.session["quorum"], filed.before(act.seq)
        if write(one) != write(other) and on_file and not is_over(before.session["state"]):
            members = len({take.member for take in on_file})
            notable.append(f"{act.named()}: quorum {write(one)} → {write(other)}, when {members} members had filed")
    report.notable("quorum", notable)


def check_count(session, acts, entries, report):
    places = sorted(entry.seq for entry in entries if entry.kind == "take" and entry.session_id == session.id)
    faults, holds = [], None
    for act in acts:
        before = bisect_left(places, act.seq)
        precede = count(before, "take precedes", "takes precede") if before else "no take precedes"
        if act.aggregates and act.takes == before:
            holds = f"{precede} the aggregation, entry {act.seq}, as it says"
        elif act.aggregates:
            said = "does not say how many takes were on file" if act.takes is None else f"aggregated the session with {act.takes} on file"
            faults.append(f"{precede} entry {act.seq} in the bundle, which {said}")
        elif act.takes is not None:
            faults.append(f"entry {act.seq} counts takes, and aggregates nothing")
    report.conclude("takes", faults, holds)


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
    if act.session["snapshotDigest"] != session.logged["snapshotDigest"]:
        faults.append(f"not the one whose digest entry {act.seq} has")
    before = [take for take in takes if places.get(take.id, math.inf) < act.seq]
    computed, given = aggregate(session, before), session.snapshot
    if write(computed) != write(given):
        faults.append("the rules compute another one: " + ", ".join(map(shown, differing(computed, given))))
    if session.original:
        quotes = sum(quote["body"] is None for quote in given["quotes"])
        report.unproven("snapshot", f"its digest in entry {act.seq}: {count(quotes, 'quote is', 'quotes are')} withheld")
    members = computed["participation"]["members"]
    made = (f"from {count(len(before), 'take', 'takes')}, of which those of {count(members, 'member', 'members')} count" if before
            else "without takes")
    report.conclude("snapshot", faults, f"computed again {made}, and the same bit for bit")


def check_outcome(session, acts, report):
    """What was recorded, and what each member lost by it (API.md, 6.11)."""
    faults, replaced, last = [], [], None
    for before, act in acts.steps():
        if act.act != "outcome":
            continue
        outcome, earlier = act.session.get("outcome"), before.session.get("outcome")
        if before.closes_at is None or act.at <= before.closes_at:
            faults.append(f"entry {act.seq} records the outcome before its window was over")
        if before.session.get("practice"):
            faults.append(f"entry {act.seq} records the outcome of a session for practice")
        if before.session.get("voided") is not None:
            faults.append(f"entry {act.seq} records the outcome of a void session")
        if outcome is not None and instant(outcome, "recordedAt") > act.at:
            faults.append(f"entry {act.seq} records the outcome with a later time than its own")
        elif outcome is not None and before.closes_at is not None and instant(outcome, "recordedAt") <= before.closes_at:
            faults.append(f"entry {act.seq} records the outcome with a time before its window was over")
        if outcome is not None and outcome["value"] is not None and not (
                min(session.ranks.values()) <= float(outcome["value"]) <= max(session.ranks.values())):
            faults.append(f"entry {act.seq} records the outcome with a value that is not on the scale of its stances")
        if earlier is not None:
            replaced.append(f"{act.named()}: the outcome {outcome_text(earlier)} → {outcome_text(outcome)}")
        last = act
    if faults:
        report.conclude("outcome", faults, "")
    report.notable("outcome", replaced)
    value = session.outcome["value"] if session.outcome and session.voided is None else None
    if faults or last is None or value is None or session.snapshot is None:
        return
    for line in scores(float(value), session.snapshot["quotes"], session.ranks):
        report.conclude("outcome", [], line)
    source = session.outcome["source"]
    report.unproven("outcome", f"that it is what came of it: entry {last.seq} is the word of {shown(last.fields['by'])}"
                               + (f", from {shown(source)}" if source is not None else ""))


def outcome_text(outcome):
    if outcome is None:
        return "none"
    return "annulled" if outcome["value"] is None else number_text(float(outcome["value"]))


def scores(value, quotes, ranks):
    """A line on the crowd, and one for each member: a stance with its confidence is a forecast, its loss the squared distance
    from the outcome. The lowest rank is -2, the highest 2."""
    low, high, middle = float(min(ranks.values())), float(max(ranks.values())), float(decimal_middle(ranks))
    normalized = lambda rank: (rank - middle) / ((high - low) / 2) * 2
    y = (1 + normalized(value) / 2) / 2
    leans = [(quote, normalized(ranks[quote["stance"]]) / 2 * float(quote["confidence"])) for quote in quotes if quote["stance"] in ranks]
    if not leans:
        yield f"{number_text(value)}; nobody had a known stance, so nothing is scored"
        return
    crowd = ((1 + ascending_sum([lean for _, lean in leans]) / len(leans)) / 2 - y) ** 2
    rows = []
    for quote, lean in leans:
        loss = ((1 + lean) / 2 - y) ** 2
        rows.append((rounded(loss), quote["memberId"], quote["takeId"], rounded(crowd - loss)))
    yield (f"{number_text(value)}; from the snapshot, {count(len(rows), 'member', 'members')} scored, the crowd lost {number_text(rounded(crowd))}, "
           f"always neutral {number_text(rounded((0.5 - y) ** 2))}")
    for loss, member, take, skill in sorted(rows, key=lambda row: (row[0], row[1].encode("utf-8"))):
        yield f"{shown(member)} lost {number_text(loss)} with take {take}, skill {number_text(skill)}"
def check_withheld(takes, entries, report):
    """Checks that each mark is that of the last entry about it, and reports the marks."""
    own, faults, last, notable = {take.id for take in takes}, [], {}, []
    for entry in entries:
        ident = int(text_of(entry.fields["id"])) if entry.kind == "take-mark" else None
        if ident not in own:
            continue
        withholds = entry.act == "withheld"
        if (ident in last and last[ident] is not None) == withholds:
            faults.append(f"entry {entry.seq} {'withholds' if withholds else 'restores'} the texts of take {ident} again")
        last[ident] = entry if withholds else None
    for take in takes:
        entry = last.get(take.id)
        if take.withheld is None and entry is not None:
            faults.append(f"take {take.id} is shown, and entry {entry.seq} withholds it")
        elif take.withheld is not None and entry is None:
            faults.append(f"take {take.id} is withheld, and no entry withholds it")
        elif take.withheld is not None:
            if take.withheld != {"at": entry.fields["at"], "note": entry.fields["note"] or ""}:
                faults.append(f"take {take.id} has another mark than entry {entry.seq}")
            notable.append(f"take {take.id} of {shown(take.member)}: body and memoUrl are withheld since "
                           f"{take.withheld['at']}, note {shown(take.withheld['note'])}")
    if faults or notable:
        report.conclude("withheld", faults, f"{count(len(notable), 'mark is', 'marks are')} as the log says")
    report.notable("withheld", notable)


def check_keys(takes, places, members, log, report):
    faults, notable, used, in_log = [], [], {}, 0
    for take in takes:
        before = used.get(take.member)
        used[take.member] = take
        if before and before.key != take.key and log is None:  # with the log, who replaced it is known
            notable.append(f"{shown(take.member)} filed take {before.id} with the key {before.key}, take {take.id} with {take.key}")
        if members is not None and take.key not in members.get(take.member, [take.key]):
            faults.append(f"take {take.id}: the key {take.key} is not one that you named of {shown(take.member)}")
        in_log += log is not None and take.id in places
        if log and take.id in places and log.key_before(take.member, places[take.id]) != take.key:
            faults.append(f"take {take.id}: the log had not given {shown(take.member)} the key {take.key} when it was filed")
        elif log and take.id in places and not log.is_active_before(take.member, places[take.id]):
            faults.append(f"take {take.id}: {shown(take.member)} was not active when it was filed")
    if log:
        for seq, by, change in (it for member in sorted(used) for it in log.replacements(member)):
            if by is Log.NOBODY:
                faults.append(f"entry {seq} changes {change}, which neither an operator nor the key before replaced")
            elif by is not None:
                notable.append(f"entry {seq} by {shown(by)}: {change}")
    listed = set(used) & set(members or {})
    parts = [f"{count(in_log, 'take has', 'takes have')} the key that the log had of the author"] if in_log else []
    parts += [f"the keys of {count(len(listed), 'member', 'members')} are those that you named"] if listed else []
    if members is None and log is None:
        report.unproven("keys", "that the log registered these keys for these members: --log, --members")
    if members is not None and len(listed) < len(used):
        report.unproven("identity", f"the file names no key of {count(len(used) - len(listed), 'member', 'members')}")
    report.conclude("keys", faults, "; ".join(parts))
    report.notable("keys", notable)


MAX_APART = 300  # seconds by which the clocks of a log, a witness and a reader may differ


def check_checkpoint(note, entries, key, policy, report):
    try:
        text, signatures = read_note(note)
        origin, size, root = read_checkpoint(text)
    except Invalid as error:
        report.conclude("checkpoint", [str(error)], "")
        return
    faults = [f"entry {entry.seq} is not in the tree of the checkpoint" for entry in entries
              if not leads_to(entry.leaf, entry.index, size, entry.proof, root)]
    report.conclude("inclusion", faults, entries and f"{count(len(entries), 'entry is', 'entries are')} in the tree of {size}")
    logs = policy.logs if policy else []
    if key is not None:
        name, raw = read_log_key(key)
    else:
        name, raw = next(((name, raw) for name, raw in logs if name == origin), (None, None))
    if raw is None:
        report.unproven("checkpoint", "not verified: name the key of the log with --key")
    else:
        name = origin if name is None else name
        faults = []
        if name != origin:
            faults.append(f"it is of the log {shown(origin)}, the key is of {shown(name)}")
        elif "+" in name or any(map(str.isspace, name)):
            faults.append("its name is no name of a key")
        elif not is_note_signed(text, signatures, name, raw):
            faults.append("the key that you named did not sign it")
        report.conclude("checkpoint", faults, f"{shown(origin)} at size {size}, signed by the key that you named")
    if logs and not any(name == origin and is_note_signed(text, signatures, name, raw) for name, raw in logs):
        report.conclude("checkpoint", ["no log of the policy signed it"], "")
    if origin == "localhost" or origin.startswith("localhost/"):
        report.unproven("origin", f"the log is called {shown(origin)}, as that of any server may be")
    if policy is None or policy.quorum == "none":
        report.unproven("witness", "that others were shown this log: no cosignature was checked, name the witnesses with --policy")
        return
    times = {name: cosigned_at(text, signatures, *witness) for name, witness in policy.witnesses.items()}
    first = entries[-1].at / 1000 - MAX_APART if entries else 0
    by = {name: time for name, time in times.items() if time is not None}
    misdated = {name: time for name, time in by.items() if not first <= time <= clock.time() + MAX_APART}
    told = ", ".join(shown(name) + (f" at {unix_text(time)}" if name not in misdated else "") for name, time in by.items())
    then = "; each entry in its tree was there then" if len(by) > len(misdated) else ""
    report.conclude("witness", [] if policy.quorum(by) else [f"too few witnesses of the policy cosigned it: {told or 'none'}"],
                    f"cosigned by {told}{then}")
    report.notable("witness", [f"the cosignature of {shown(name)} is not of {unix_text(time)}: that is before an entry of the tree, or after now"
                               for name, time in misdated.items()])


def check_timestamp(bundle, entries, authorities, report):
    if bundle.timestamp is None:
        if authorities is not None:
            report.unproven("timestamp", "that a checkpoint of the log existed at a time: the bundle has no timestamp")
        return
    try:
        stamped = Timestamp(bundle.timestamp)
    except Invalid as error:
        report.conclude("timestamp", [str(error)], "")
        return
    try:
        checkpoint = read_checkpoint(read_note(bundle.checkpoint)[0])
    except Invalid:
        return  # a finding on the checkpoint
    if not stamped.is_of_the_log_of(*checkpoint):
        report.conclude("timestamp", [f"its checkpoint of {stamped.size} entries is not of the log of the bundle"], "")
    elif authorities is None:
        report.unproven("timestamp", f"that the checkpoint of {stamped.size} entries existed at a time: there is a timestamp, and it was "
                                     "not checked, name the certificate of its authority with --timestamp-ca")
    else:
        fault, at, by = check_token(stamped, authorities)
        covered = sum(entry.seq <= stamped.size for entry in entries)
        report.conclude("timestamp", [f"the token of the checkpoint of {stamped.size} entries: {shown(fault)}"] if fault else [],
                        f"the checkpoint of {stamped.size} entries existed at {at} by {shown(by) if by else 'an authority that you named'}; "
                        f"it has {covered} of the {len(entries)} entries of the bundle")
        over = [entry.seq for entry in entries if entry.kind == "session" and entry.aggregates]
        if not fault and over and over[-1] > stamped.size:
            report.unproven("timestamp", f"that entry {over[-1]}, by which the session was aggregated, existed then: it is after the checkpoint")


def unix_text(seconds):
    try:
        return (datetime(1970, 1, 1, tzinfo=timezone.utc) + timedelta(seconds=seconds)).isoformat()
    except OverflowError:
        return "an unknown time"


# ---- The whole log (API.md, 11.6) ---------------------------------------------------------------

class Log:
    """All entries up to the bundle's checkpoint: what they say of its session, and of the keys of members."""

    NOBODY = ""  # in the place of who replaced a key: no entry by which one is replaced
    MAX_BACKWARD = 1000  # entries at which time runs back that are kept

    def __init__(self, bundle, log, key):
        session = Session(bundle.session)
        origin, size, root = read_checkpoint(read_note(bundle.checkpoint)[0])
        latest = self.latest(log, origin, size, key)
        self.bundled, (self.size, last_root) = size, latest or (size, root)
        self.is_latest, self.fork = latest is not None, False
        self.session, self.concerning, self.others, self.keys, self.faults = session, {}, {}, {}, []
        self.statuses = {}  # of each member, with the places from which on it had them
        # Takes in other sessions of the day and subject, or in ones that no entry before convened, also by their digests.
        self.elsewhere, self.signed, self.other_days = {}, {}, set()
        # The entries at which time runs back since the convening, each with the one before it: others, and those that accept a clock.
        self.last, self.backward, self.accepted = None, [], []
        tree, place, ids, at_bundle = [], 0, set(), self.root([])
        for place, text in enumerate(log.entries(self.size), 1):
            leaf, bits = hashlib.sha256(b"\0" + text.encode("utf-8")).digest(), place - 1
            self.read(place, text, leaf, ids)
            while bits & 1:
                leaf, bits = hashlib.sha256(b"\1" + tree.pop() + leaf).digest(), bits >> 1
            tree.append(leaf)
            if place == size:
                at_bundle = self.root(tree)
        if place != self.size or self.root(tree) != last_root:
            which = "latest" if self.is_latest else "bundle's"
            raise Invalid(f"the {self.size} entries are not those of the {which} checkpoint")
        self.fork = at_bundle != root

    @staticmethod
    def root(tree):
        """The root of a tree of these complete subtrees."""
        found = tree[-1] if tree else hashlib.sha256(b"").digest()
        for subtree in reversed(tree[:-1]):
            found = hashlib.sha256(b"\1" + subtree + found).digest()
        return found

    @staticmethod
    def latest(log, origin, size, key):
        """The size and the root of the latest checkpoint of the log, if this key signed it."""
        try:
            text, signatures = read_note(log.checkpoint())
            name, latest, root = read_checkpoint(text)
            own, raw = (None, None) if key is None else read_log_key(key)
        except (Invalid, OSError, UnicodeDecodeError):
            return None
        is_own = name == origin and own in (None, origin) and latest >= size
        is_own = is_own and raw is not None and is_note_signed(text, signatures, origin, raw)
        return (latest, root) if is_own else None

    def read(self, place, text, leaf, ids):
        try:
            entry = Entry(text)
            if entry.seq != place:
                raise Invalid(f"stands in the place of entry {place}")
        except Invalid as error:
            self.faults.append(f"entry {place} {shown(str(error))}")
            return
        kept = self.accepted if entry.accepts_clock else self.backward
        if self.last and entry.at < self.last.at and self.concerning and len(kept) < self.MAX_BACKWARD:
            kept.append((self.last, entry))
        self.last = entry
        concerns = False
        if entry.kind == "take" and entry.session_id == self.session.id:
            concerns = True
            ids.add(entry.id)
        elif entry.kind == "take" and entry.session_id not in self.other_days:
            self.elsewhere[entry.id] = entry.session_id
            if "digest" in entry.fields:
                self.signed[entry.fields["digest"]] = entry.id
        elif entry.kind in ("opening", "take-mark"):
            ident = int(text_of(entry.fields["id"]))
            concerns = ident in ids
            if entry.kind == "opening" and ident in self.elsewhere:
                self.signed[entry.fields["digest"]] = ident
        elif entry.kind == "session":
            concerns = entry.id == self.session.id
            if not concerns and (entry.session["date"], entry.session["subjectId"]) == (self.session.date, self.session.subject):
                self.others.setdefault(entry.id, []).append(entry)
            elif not concerns:
                self.other_days.add(entry.id)
        elif entry.kind == "member":
            keys, key = self.keys.setdefault(entry.fields["id"], []), entry.fields["publicKey"]
            before = keys[-1][1] if keys else None
            if key != before:
                keys.append((place, key, self.replaced_by(entry, before) if keys and key is not None else None))
            self.statuses.setdefault(entry.fields["id"], []).append((place, entry.fields["status"]))
        if concerns:
            self.concerning[place] = leaf

    def replaced_by(self, entry, before):
        """Who replaced this key of a member: an operator, None for the member itself, or nobody."""
        fields, by = entry.fields, entry.fields["by"]
        if entry.act != "key-rotated":
            return self.NOBODY
        if "replaces" not in fields:
            return self.NOBODY if by in (None, "member") else by
        if before is None:
            return self.NOBODY
        text = write(Fields(["memberId", fields["id"], "publicKey", fields["publicKey"], "replaces", before]))
        try:
            holds = is_signed(text.encode("utf-8"), base64_bytes(fields["endorsement"], 64), base64_bytes(before, 32))
        except Invalid:
            holds = False
        return None if holds and fields["replaces"] == before else self.NOBODY

    def key_before(self, member, place):
        return next((key for seq, key, _ in reversed(self.keys.get(member, [])) if seq < place), None)

    def is_active_before(self, member, place):
        return "active" == next((status for seq, status in reversed(self.statuses.get(member, [])) if seq < place), None)

    def replacements(self, member):
        keys = self.keys.get(member, [])
        return [(seq, by, f"the key of {shown(member)} {old or 'none'} → {new or 'none'}") for (_, old, _), (seq, new, by) in zip(keys, keys[1:])]

    def check(self, takes, entries, report):
        there = {entry.seq: entry.leaf for entry in entries}
        report.conclude("completeness", self.faults + [
            f"entry {place} of the log concerns the session, and is not in the bundle"
            + (": it came after the checkpoint of the bundle" if place > self.bundled else "")
            for place, leaf in self.concerning.items() if there.get(place) != leaf
        ], f"the log of {self.size} has {len(self.concerning)} entries on the session, and the bundle all of them")
        if not self.is_latest:
            report.unproven("completeness", f"that no act followed entry {self.size}: the latest checkpoint was not read")
        if self.fork:
            report.conclude("consistency", [f"a fork: the log of {self.size} entries does not begin with those of the bundle"], "")
        # The bundle itself shows the others.
        end = max(self.concerning, default=0)
        faults = [f"entry {other.seq} is of {other.fields['at']}, before entry {one.seq} of {one.fields['at']}"
                  for one, other in self.backward if other.seq <= end and not (other.seq in there and one.seq in there)]
        if faults:
            report.conclude("time", faults, "")
        report.notable("time", [
            f"entry {other.seq} by {shown(other.fields['by'])}: the clock {one.fields['at']} → {other.fields['at']}, "
            "which the bundle leaves out" for one, other in self.accepted if other.seq <= end and other.seq not in there])
        # Nonces are spent once, so an operator has filed it again.
        again = [(take, self.signed[take.digest()]) for take in takes if take.digest() in self.signed]
        if again:
            report.conclude("nonce", [
                f"take {take.id} was filed in session {self.elsewhere[other]} too, as take {other}" for take, other in again], "")
        report.notable("sessions", [
            f"session {ident} of {self.session.date} and {shown(self.session.subject)} is convened by entry {own[0].seq} of {own[0].fields['at']}"
            + (", and withdrawn" if any(act.act == "withdrawn" for act in own) else "") for ident, own in sorted(self.others.items())
        ])


class LogReader:
    """Reads the log at an address, or in a folder with its tiles."""

    def __init__(self, where):
        self.is_url = bool(re.match("(?i:https?)://", where))
        if self.is_url:
            base = where.rstrip("/")
            self.base = base if "/swarm/log" in base else base + "/swarm/log"
        else:
            mirror = os.path.join(where, "mirror")  # where a watcher keeps one
            is_within = not os.path.isdir(os.path.join(where, "tile")) and os.path.isdir(mirror)
            self.base = mirror if is_within else where

    def get(self, path):
        if not self.is_url:
            with open(os.path.join(self.base, path), "rb") as file:
                return file.read()
        with urllib.request.urlopen(f"{self.base}/{path}", timeout=60) as answer:
            return answer.read()

    def checkpoint(self):
        return self.get("checkpoint").decode("utf-8")

    def entries(self, size):
        """The texts of the first entries."""
        for tile in range((size + 255) // 256):
            width = min(256, size - tile * 256)
            path = f"tile/entries/{tile_name(tile)}"
            try:
                data = self.get(path + (f".p/{width}" if width < 256 else ""))
            except OSError:
                data = self.get(path)
            at, texts = 0, []
            while at < len(data):
                length = int.from_bytes(data[at:at + 2], "big")
                texts.append(data[at + 2:at + 2 + length])
                at += 2 + length
            if at != len(data) or len(texts) < width:
                raise Invalid(f"{path} is no tile of entries")
            yield from (text.decode("utf-8") for text in texts[:width])


def tile_name(number):
    groups = [f"{number % 1000:03}"]
    while number >= 1000:
        number //= 1000
        groups.insert(0, f"x{number % 1000:03}")
    return "/".join(groups)


def lines_of(text):
    """The lines of a file, which end with LF or CRLF and with nothing else."""
    return [line.removesuffix("\r") for line in text.split("\n")]


def read_members(text):
    members = {}
    for number, line in enumerate(lines_of(text), 1):
        line = line.strip()
        if line and not line.startswith("#"):
            parts = re.fullmatch(r"(.{1,100}?)[ \t]+(\S+)", line)
            if not parts or not reads(lambda: public_key({"key": parts.group(2)}, "key")):
                raise Invalid(f"members: line {number}: memberId and key")
            members.setdefault(parts.group(1), []).append(parts.group(2))
    return members


def main():
    parser = argparse.ArgumentParser(description="Verifies a bundle of Swarm.")
    parser.add_argument("file")
    parser.add_argument("--key", help="the key of the log: a verifier key, or base64 of its 32 bytes")
    parser.add_argument("--log", help="the address of the log, or a folder with its tiles: all its entries are read")
    parser.add_argument("--policy", help="a file: the witnesses that must have cosigned the checkpoint, as a C2SP tlog-policy")
    parser.add_argument("--members", help="a file: a memberId and its key on each line")
    parser.add_argument("--timestamp-ca", help="a PEM file: certificates of time-stamping authorities, or of those that certify them")
    parser.add_argument("--strict", action="store_true", help="exit with 3 where something is notable")
    options = parser.parse_args()

    # A byte order mark at the beginning is no part of a file.
    def content(name, errors="strict"):
        with open(name, encoding="utf-8-sig", errors=errors, newline="") as file:
            return file.read()

    def parts(name):
        with open(name, "rb") as file:
            return read_bundle(file.read().removeprefix(codecs.BOM_UTF8))
    try:
        report = verify(
            parts(options.file), options.key, read_members(content(options.members)) if options.members else None,
            Policy(content(options.policy, "replace")) if options.policy else None, LogReader(options.log) if options.log else None,
            options.timestamp_ca)
    except (Invalid, OSError, UnicodeDecodeError) as error:
        print(f"cannot be read: {shown(str(error))}", file=sys.stderr)
        return 2
    for verdict, check, text in report.findings:
        print(f"{verdict}: {check}: {text}")
    return report.status(options.strict)


if __name__ == "__main__":
    sys.exit(main())
