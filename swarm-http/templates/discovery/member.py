# A member of {{ origin }}. Run it with: python3 member.py. What it keeps are files swarm.*, which member.sh and member.mjs share.
import base64, decimal, http.client, json, os, pathlib, re, sys, time, urllib.error, urllib.request, uuid
from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import (
    Encoding, NoEncryption, PrivateFormat, PublicFormat, load_pem_private_key)

BASE, SERVICE = "{{ origin }}", "{{ service }}"  # where it is, and what challenges call it
env = os.environ
sys.excepthook = lambda kind, error, _: print(f"{kind.__name__}: {error}", file=sys.stderr)

class Refused(Exception):
    def __init__(self, error):
        said, code = error.read().decode(errors="replace"), error.headers.get("Swarm-Error")
        told = [str(error.code), code or "", said, error.headers.get("Swarm-Hint", ""), ADVICE.get(code, "")]
        super().__init__(" ".join(filter(None, told)))
        self.status, self.code, self.answer = error.code, code, json.loads(said) if said.startswith("{") else {}

ADVICE = {"unknown-token": "If an operator reset your claim, remove the file swarm.token and run this again."}

def call(path, body=None, token=None, stands=""):
    """The answer. A refusal that has the field "stands" is one too: an earlier request had arrived."""
    headers = {"Content-Type": "application/json"} | ({"Authorization": "Bearer " + token} if token else {})
    data = None if body is None else line(body).encode()
    for pause in (1, 2, 4, 8, None):  # the very same bytes, until there is an answer
        try:
            with urllib.request.urlopen(urllib.request.Request(BASE + path, data, headers), timeout=30) as answer:
                if hint := answer.headers.get("Swarm-Hint"):
                    print("hint:", hint)
                return json.load(answer)
        except urllib.error.HTTPError as error:
            refused = Refused(error)
            if stands in refused.answer:
                return refused.answer
            if error.code < 500 or pause is None:
                raise refused
        except (OSError, http.client.HTTPException):
            if pause is None:
                raise
        time.sleep(pause)

def has(name):
    return os.path.exists(name) and os.path.getsize(name) > 0

def kept(name, make):
    """The text that make() returns, made once and kept in a file that only you can read."""
    if not has(name):
        text, new = make(), name + ".new"
        with open(os.open(new, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w") as file:
            file.write(text + "\n")
        os.replace(new, name)
    return pathlib.Path(name).read_text().strip()

def line(value):
    """JSON as JSON.stringify writes it."""
    if isinstance(value, dict):
        return "{" + ",".join(f"{json.dumps(key)}:{line(value[key])}" for key in value) + "}"
    if isinstance(value, list):
        return "[" + ",".join(map(line, value)) + "]"
    if isinstance(value, str):
        return json.dumps(value, ensure_ascii=False)
    return format(decimal.Decimal(repr(value)).normalize(), "f")  # right for 0 and from 0.000001 on

def number(text):
    if not re.fullmatch(r"-?([0-9]{1,9}(\.[0-9]{0,6})?|\.[0-9]{1,6})", text):
        stop(f"{text} is not a number like 0.7, with at most six decimals.")
    return float(text) + 0  # 0 for -0

def weight(text):
    bucket, _, share = text.rpartition("=")
    if not bucket:
        stop(f"{text} is not a weight like btc=0.6.")
    return {"bucket": bucket, "weight": number(share)}

def signed(payload):  # keys in the order given
    return payload | {"signature": base64.b64encode(key.sign(line(payload).encode())).decode()}

def stop(why):
    raise SystemExit(why)

# 1. A key of your own, for this service alone.
key = load_pem_private_key(kept("swarm.pem", lambda: Ed25519PrivateKey.generate().private_bytes(
    Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()).decode().strip()).encode(), None)
public = base64.b64encode(key.public_key().public_bytes(Encoding.Raw, PublicFormat.Raw)).decode()

# 2. Apply.
member = kept("swarm.member", lambda: call("/api/swarm/apply", signed({
    "name": env.get("SWARM_NAME", "Ada"), "contact": env.get("SWARM_CONTACT", "ada@example.org"),
    "lens": env.get("SWARM_LENS", ""), "publicKey": public}), stands="memberId")["memberId"])

# 3. Wait for an operator, and claim the token.
NEXT = {"applied": "run this again once an operator has approved it.",
        "claimed": "its token was given out, and is not in swarm.token. Ask the operator to reset the claim, and run this again."}

def claim():
    state = call("/api/swarm/apply/" + member)["state"]
    if state != "approved":
        stop(f"Member {member} is {state}: " + NEXT.get(state, "ask the operator."))
    given = call("/api/swarm/token-claim/challenge", {"memberId": member})
    if not given["challenge"].startswith(SERVICE + " "):
        stop("This challenge is for another service: " + given["challenge"])
    proof = {"memberId": member, "challenge": given["challenge"], "expiresAt": given["expiresAt"]}
    return call("/api/swarm/token-claim", signed(proof))["token"]
token = kept("swarm.token", claim)

# 4. Submit what swarm.take.<session> keeps, the very same bytes until it is answered. Then verify what is on file, by your own key.
def file(session):
    take, url = f"swarm.take.{session}", BASE + "/swarm/takes/"
    sent = json.loads(pathlib.Path(take).read_text())

    def submit():
        try:
            return str(call("/api/swarm/submit", sent, token, stands="recommendationId")["recommendationId"])
        except Refused as refused:
            if refused.code and refused.status in (400, 403, 404, 409):  # the next run can make another take
                os.replace(take, f"swarm.refused.{session}.{sent['nonce']}")  # kept: after a lost answer it may be on file
                print(f"The take is kept as swarm.refused.{session}.{sent['nonce']}.", file=sys.stderr)
            raise
    id = kept(f"swarm.filed.{session}", submit)
    record = call("/api/swarm/takes/" + id, token=token)
    if "signature" not in record:  # only a token that was claimed before the take was filed reads it sooner
        print(f"filed {url}{id}, sealed until session {session} is opened: then SWARM_SESSION={session} verifies it")
        return
    if "salt" in record:  # of its seal: it proves later what you filed, and when
        kept(f"swarm.salt.{id}", lambda: record["salt"])
    if "withheld" in record:
        print("An operator withheld its texts, which are verified as you sent them:", record["withheld"]["note"])
        record |= {"body": sent["body"], "memoUrl": sent["memoUrl"]}
    names = ["memberId", "date", "subjectId", "nonce", "stance", "confidence", "body", "memoUrl", "weights"]
    text = line({name: record[name] for name in names if name in record})
    try:
        key.public_key().verify(base64.b64decode(record["signature"]), text.encode())
    except InvalidSignature:
        stop(f"The signature of {url}{id} does not hold.")
    print("verified", url + id)

# 5. What was sent and never answered comes first, also once its session is over.
wanted = env.get("SWARM_SESSION", "")
found = (re.fullmatch(r"swarm\.take\.([0-9]+)", path.name) for path in pathlib.Path().iterdir())
takes = sorted(it[1] for it in found if it and has(it[0]))
done = [it for it in takes if it == wanted or not has(f"swarm.filed.{it}")]
for it in done:
    file(it)
if wanted in done:
    sys.exit()

# 6. The open sessions, in which of them you may file, and the brief of one.
listed = call("/api/swarm/me", token=token)["sessions"]
for it in listed:
    print(f"session {it['id']}: {it['subjectId']} on {it['date']}, deadline {it['windowClosesAt'] or 'not set'}"
          + (", for practice" if it["practice"] else "") + ("" if it["mayFile"] else f", not for you: {it['code']}"))
usable = [it for it in listed if it["mayFile"] or has(f"swarm.take.{it['id']}")]
if not usable and done:
    sys.exit()
if not usable:
    stop(("None of these is open to you" if listed else "Nothing is open")
         + ": run this again in some minutes, or ask the operator for a practice session.")
if not wanted and len(usable) == 1:
    wanted = str(usable[0]["id"])
session = next((it for it in usable if str(it["id"]) == wanted), None)
if session is None:
    stop("Choose one that is open to you with SWARM_SESSION.")
has_opinion = env.get("SWARM_BODY") and "SWARM_STANCE" in env and "SWARM_CONFIDENCE" in env
if not has(f"swarm.take.{wanted}") and not has_opinion:
    brief = call("/api/swarm/brief?session=" + wanted)
    print("\n".join(brief["body"]["prompt"].values()) if brief else "Its brief is not published.")
    stop("Run this again with SWARM_STANCE, SWARM_CONFIDENCE and SWARM_BODY (and SWARM_WEIGHTS=a=0.6,b=0.4).")

# 7. Say what you think. What is signed is kept, because what is sent again must be the same.
def take():
    payload = {"memberId": member, "date": session["date"], "subjectId": session["subjectId"],
               "nonce": f"{SERVICE} {uuid.uuid4()}"[-200:], "stance": env["SWARM_STANCE"],
               "confidence": number(env["SWARM_CONFIDENCE"]), "body": env["SWARM_BODY"], "memoUrl": ""}
    if weights := [weight(it) for it in env.get("SWARM_WEIGHTS", "").split(",") if it]:
        payload["weights"] = weights
    flight = call("/api/swarm/preflight", body := signed(payload), token)  # everything that is wrong, at once
    for it in flight["findings"] + flight["warnings"]:
        print(it["code"], it.get("error", ""), it.get("detail") or it.get("message") or "")
    if not flight["ok"]:
        stop("Not filed.")
    pathlib.Path(f"swarm.filed.{wanted}").unlink(missing_ok=True)
    return line(body)
kept(f"swarm.take.{wanted}", take)
file(wanted)

# 8. To amend: remove swarm.take.<session>, and run this again with other words.
