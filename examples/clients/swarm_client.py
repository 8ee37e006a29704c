#!/usr/bin/env python3
r"""A client of the Swarm session API: one file, no SDK; Python 3.8 and the "cryptography" package.

From nothing to a take that anyone can verify:

    swarm_client.py keygen my.key
    swarm_client.py apply  --url http://127.0.0.1:8080 --key my.key --name Ada --contact ada@example.org
    swarm_client.py claim  --url http://127.0.0.1:8080 --key my.key --token-file my.token --member MEMBER_ID
    swarm_client.py submit --url http://127.0.0.1:8080 --key my.key --token-file my.token --member MEMBER_ID \
                           --date 2026-11-21 --subject aurora --stance cautious --confidence 0.62
    swarm_client.py verify --url http://127.0.0.1:8080 TAKE_ID

Between apply and claim an operator activates the member; "status" tells when that has happened.

A member of the daily committee has a key from its operator, and reads its brief before it submits:

    swarm_client.py brief  --url http://127.0.0.1:8080 MEMBER_ID
    swarm_client.py submit-committee --url http://127.0.0.1:8080 --api-key-file my.ic --stance cautious \
                           --confidence 0.62 --body "REGIME: ... STANCE: cautious | CONFIDENCE: 0.62"

The whole protocol: build a payload (an object whose keys have a fixed order), write it as exactly
the text that JSON.stringify gives, sign the UTF-8 bytes of that text, and post the payload with
its signature added.
"""

import argparse
import base64
import contextlib
import hashlib
import http.client
import json
import math
import os
import re
import sys
import time
import uuid
from decimal import Decimal
from urllib.parse import quote, urlsplit

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

TIMEOUT = 30  # seconds
PAUSES = (0.5, 1, 2, 4)  # seconds, before a take that got no answer is sent again


# ---- Commands -----------------------------------------------------------------------------------

def keygen(args):
    with new_private_file(args.keyfile) as file:
        file.write(base64.b64encode(os.urandom(32)).decode() + "\n")
    write_line(public_key_of(read_key(args.keyfile)))


def apply(args):
    key = read_key(args.key)
    payload = {"name": args.name, "contact": args.contact, "lens": args.lens or "",
               "publicKey": public_key_of(key)}
    write_line(printable(call(args, "/api/swarm/apply", signed(payload, key))))


def status(args):
    write_line(printable(call(args, "/api/swarm/apply/" + quote(args.member_id, safe=""))))


def claim(args):
    key = read_key(args.key)
    with new_private_file(args.token_file) as file:  # first: the token is shown only once
        answer = call(args, "/api/swarm/token-claim/challenge", {"memberId": args.member})
        payload = {"memberId": args.member, "challenge": string(answer, "challenge"),
                   "expiresAt": string(answer, "expiresAt")}  # the text as received, never reformatted
        answer = call(args, "/api/swarm/token-claim", signed(payload, key))
        file.write(string(answer, "token") + "\n")
    write_line(printable({"memberId": args.member}))


def submit(args):
    try:
        payload = take_payload({
            "memberId": args.member, "date": args.date, "subjectId": args.subject,
            "nonce": str(uuid.uuid4()) if args.nonce is None else args.nonce,
            "stance": args.stance, "confidence": parse_json(args.confidence),
            "body": args.body, "memoUrl": args.memo_url, "weights": parse_json(args.weights or "null"),
        })
    except ValueError as error:
        args.bad_usage(str(error))
    request = signed(payload, read_key(args.key))
    credential = {"Authorization": "Bearer " + read_line(args.token_file)}
    try:
        answer = call_until_answered(args, "/api/swarm/submit", request, credential)
    except Refused as refusal:
        if refusal.status != 409 or "recommendationId" not in refusal.answer:
            raise
        answer = refusal.answer  # this exact take stands: it had arrived, its answer was lost
    write_line(printable(answer))


def verify(args):
    take = call(args, "/api/swarm/takes/" + quote(args.take_id, safe=""))
    try:
        check_signature(take_payload(take), string(take, "publicKey"), string(take, "signature"))
    except (ValueError, InvalidSignature):
        write_line("NOT verified")
        return 1
    write_line("verified")


def canonical(args):
    for line in sys.stdin.buffer:  # bytes, split at "\n" and nowhere else
        if line.strip():
            sys.stdout.buffer.write(canonical_bytes(take_payload(parse_json(line.decode("utf-8")))) + b"\n")


def brief(args):
    write_line(printable(call(args, f"/data/committee/briefs/today/{quote(args.member_id, safe='')}.json")))


def submit_committee(args):
    take = {"stance": args.stance, "confidence": parse_json(args.confidence), "body": args.body,
            "model": args.model}
    receipt = call(args, "/api/ic/submit", take, {"x-ic-key": read_line(args.api_key_file)})
    if commit_of(take, receipt) != string(receipt, "commit"):
        raise ValueError("the receipt is of another record: " + printable(receipt))
    write_line(printable(receipt))


def commit_of(take, receipt):
    """The reference of a committee take, from what was sent and what was answered."""
    record = {name: string(receipt, name) for name in ("member_id", "date", "subject_id")}
    received_at = string(receipt, "received_at")
    record.update(take, generated_at=received_at, received_at=received_at)  # in this order
    return "sha256:" + hashlib.sha256(canonical_bytes(record)).hexdigest()


# ---- The take: what is signed, in this order, from a draft or from a record of the service ------

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


def string(fields, name, default=None):
    value = default if fields.get(name) is None else fields[name]  # null counts as absent
    if not isinstance(value, str):
        raise ValueError(f"{name} is not a string")
    return value


def number(fields, name):
    value = fields.get(name)
    if not isinstance(value, float) or not math.isfinite(value):
        raise ValueError(f"{name} is not a finite number")
    return value


# ---- Canonical JSON: the text of ECMAScript's JSON.stringify, to the byte -----------------------

def canonical_bytes(payload):
    return stringify(payload).encode("utf-8")  # text that is not valid Unicode is refused here


def stringify(value):
    if isinstance(value, dict):
        return "{" + ",".join(stringify(key) + ":" + stringify(value[key]) for key in value) + "}"
    if isinstance(value, list):
        return "[" + ",".join(map(stringify, value)) + "]"
    if isinstance(value, float):
        return number_text(value)
    # In strings, json.dumps escapes what JSON.stringify escapes: " and \, and U+0000 to U+001F as
    # \b \t \n \f \r or else lower-case \u00xx. Never "/", U+007F, U+2028 or other non-ASCII text.
    return json.dumps(value, ensure_ascii=False)


def number_text(value):
    """ECMAScript's Number-to-String. repr() finds the same digits, only its layout differs."""
    if value == 0:
        return "0"  # -0 too
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
    return json.loads(text, parse_int=float)  # every number is a double, integers too


# ---- Ed25519: keys and signatures travel as standard base64 of their raw bytes ------------------

def signed(payload, key):
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
    raw = base64.b64decode(text, validate=True)
    if len(raw) != length or base64.b64encode(raw).decode() != text:
        raise ValueError(f"not the base64 of {length} bytes")
    return raw


# ---- HTTP ---------------------------------------------------------------------------------------

class Refused(Exception):
    """The server answered, and the answer is not a success."""

    def __init__(self, status, answer):
        super().__init__(f"{status} {printable(answer)}")
        self.status, self.answer = status, answer if isinstance(answer, dict) else {}


def call(args, path, request=None, credential=None):
    """Posts the request, or gets without one. Follows no redirect: a credential is for one server."""
    connect = http.client.HTTPSConnection if args.url.scheme == "https" else http.client.HTTPConnection
    headers = {"Content-Type": "application/json"} if request else {}
    headers.update(credential or {})
    if args.host:
        headers["Host"] = args.host
    with contextlib.closing(connect(args.url.hostname, args.url.port, timeout=TIMEOUT)) as connection:
        connection.request("POST" if request else "GET", args.url.path.rstrip("/") + path,
                           stringify(request).encode("utf-8") if request else None, headers)
        response = connection.getresponse()
        text = response.read().decode("utf-8", "replace")
    try:
        answer = parse_json(text)
    except ValueError:
        answer = text  # the error page of something in between
    if not 200 <= response.status < 300 or not isinstance(answer, dict):
        raise Refused(response.status, answer)
    return answer


def call_until_answered(args, path, request, credential):
    """Without an answer nobody knows whether the take arrived. The very same bytes are safe to send
    again: one nonce is filed once, and the 409 for a second arrival names the take that stands."""
    for pause in PAUSES:
        try:
            return call(args, path, request, credential)
        except (OSError, http.client.HTTPException) as error:
            write_line(f"no answer ({error!r}), sending the same bytes again", sys.stderr)
            time.sleep(pause)
    return call(args, path, request, credential)


# ---- Files and output ---------------------------------------------------------------------------

@contextlib.contextmanager
def new_private_file(path):
    """For its owner alone. Never replaces a file, and leaves none behind when nothing came of it."""
    with open(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w", encoding="ascii") as file:
        try:
            yield file
        except BaseException:
            os.unlink(path)
            raise


def read_line(path):
    with open(path, encoding="ascii") as file:
        return file.read().strip()


def read_key(path):
    return Ed25519PrivateKey.from_private_bytes(base64_bytes(read_line(path), 32))


def printable(answer):
    """JSON on one line. What a server sends stays text: no control character reaches a terminal."""
    return re.sub(r"[\x7f-\x9f\u2028\u2029]", lambda match: f"\\u{ord(match[0]):04x}", stringify(answer))


def write_line(text, stream=sys.stdout):
    stream.buffer.write(text.encode("utf-8", "backslashreplace") + b"\n")
    stream.flush()


# ---- Command line: exit status 0 done, 1 refused or failed, 2 bad usage -------------------------

def main():
    parser = argparse.ArgumentParser(description="A client of the Swarm session API.")
    commands = parser.add_subparsers(metavar="COMMAND", required=True)

    def command(run, *arguments):
        """An argument is an OPERAND, an --option, or a [--option] that may be left out."""
        sub = commands.add_parser(run.__name__.replace("_", "-"), allow_abbrev=False)
        sub.set_defaults(run=run, bad_usage=sub.error)
        for argument in arguments:
            name = argument.strip("[]")
            if name.startswith("--"):
                kind = base_url if name == "--url" else str
                sub.add_argument(name, type=kind, required=name == argument)
            else:
                sub.add_argument(name.lower(), metavar=name)

    command(keygen, "KEYFILE")
    command(apply, "--url", "--key", "--name", "--contact", "[--lens]", "[--host]")
    command(status, "--url", "MEMBER_ID", "[--host]")
    command(claim, "--url", "--key", "--member", "--token-file", "[--host]")
    command(submit, "--url", "--key", "--token-file", "--member", "--date", "--subject", "--stance",
            "--confidence", "[--body]", "[--memo-url]", "[--weights]", "[--nonce]", "[--host]")
    command(verify, "--url", "TAKE_ID", "[--host]")
    command(brief, "--url", "MEMBER_ID", "[--host]")
    command(submit_committee, "--url", "--api-key-file", "--stance", "--confidence", "--body",
            "[--model]", "[--host]")
    command(canonical)
    args = parser.parse_args()
    try:
        return args.run(args) or 0
    except (Refused, ValueError, OSError, RecursionError, http.client.HTTPException) as error:
        write_line(str(error) or repr(error), sys.stderr)
        return 1


def base_url(text):
    url = urlsplit(text)
    if url.scheme not in ("http", "https") or not url.hostname or url.port == 0:
        raise ValueError("not an http or https URL")
    return url


if __name__ == "__main__":
    sys.exit(main())
