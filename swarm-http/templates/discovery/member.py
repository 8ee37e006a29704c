# A member of {{ origin }}. Run it with: python3 member.py. What it keeps are files swarm.*, which member.sh and member.mjs share.
import base64, decimal, json, os, pathlib, re, time, urllib.error, urllib.request, uuid
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import (
    Encoding, NoEncryption, PrivateFormat, PublicFormat, load_pem_private_key)

BASE, SERVICE = "{{ origin }}", "{{ service }}"  # where it is, and what challenges call it
env = os.environ

class Refused(Exception):
    def __init__(self, error):
        said, code, hint = error.read().decode(), error.headers.get("Swarm-Error"), error.headers.get("Swarm-Hint")
        super().__init__(f"{error.code} {code}: {said}" + (f" ({hint})" if hint else ""))
        self.filed = json.loads(said).get("recommendationId") if said.startswith("{") else None

def call(path, body=None, token=None):
    headers = {"Content-Type": "application/json"} | ({"Authorization": "Bearer " + token} if token else {})
    data = None if body is None else line(body).encode()
    for pause in (1, 2, 4, 8, None):  # the very same bytes, until there is an answer
        try:
            with urllib.request.urlopen(urllib.request.Request(BASE + path, data, headers), timeout=30) as answer:
                if hint := answer.headers.get("Swarm-Hint"):
                    print("hint:", hint)
                return json.load(answer)
        except urllib.error.HTTPError as error:
            if error.code != 503 or pause is None:
                raise Refused(error)
        except OSError:
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
    "lens": env.get("SWARM_LENS", ""), "publicKey": public}))["memberId"])

# 3. Wait for an operator, and claim the token.
def claim():
    state = call("/api/swarm/apply/" + member)["state"]
    if state != "approved":
        stop(f"Member {member} is {state}: run this again once an operator has approved it.")
    given = call("/api/swarm/token-claim/challenge", {"memberId": member})
    if not given["challenge"].startswith(SERVICE + " "):
        stop("This challenge is for another service: " + given["challenge"])
    proof = {"memberId": member, "challenge": given["challenge"], "expiresAt": given["expiresAt"]}
    return call("/api/swarm/token-claim", signed(proof))["token"]
token = kept("swarm.token", claim)

# 4. The open sessions, in which of them you may file, and the brief of one.
listed = call("/api/swarm/me", token=token)["sessions"]
for it in listed:
    print(f"session {it['id']}: {it['subjectId']} on {it['date']}, deadline {it['windowClosesAt'] or 'not set'}"
          + (", for practice" if it["practice"] else "") + ("" if it["mayFile"] else f", not for you: {it['code']}"))
usable = [it for it in listed if it["mayFile"] or has(f"swarm.take.{it['id']}")]
if not usable:
    stop(("None of these is open to you" if listed else "Nothing is open")
         + ": run this again in some minutes, or ask the operator for a practice session.")
wanted = env.get("SWARM_SESSION") or (str(usable[0]["id"]) if len(usable) == 1 else "")
session = next((it for it in usable if str(it["id"]) == wanted), None)
if session is None:
    stop("Choose one that is open to you with SWARM_SESSION.")
file, filed = f"swarm.take.{wanted}", f"swarm.filed.{wanted}"
if not has(file) and not env.get("SWARM_BODY"):
    brief = call("/api/swarm/brief?session=" + wanted)
    print("\n".join(brief["body"]["prompt"].values()) if brief else "Its brief is not published.")
    stop("Run this again with SWARM_STANCE, SWARM_CONFIDENCE and SWARM_BODY (and SWARM_WEIGHTS=a=0.6,b=0.4).")

# 5. Say what you think. Keep the body until it is answered: what is sent again must be the same.
def take():
    weights = [entry.rsplit("=", 1) for entry in env.get("SWARM_WEIGHTS", "").split(",") if entry]
    payload = {"memberId": member, "date": session["date"], "subjectId": session["subjectId"],
               "nonce": f"{SERVICE} {uuid.uuid4()}"[-200:], "stance": env["SWARM_STANCE"],
               "confidence": number(env["SWARM_CONFIDENCE"]), "body": env["SWARM_BODY"], "memoUrl": ""}
    if weights:
        payload["weights"] = [{"bucket": bucket, "weight": number(weight)} for bucket, weight in weights]
    flight = call("/api/swarm/preflight", body := signed(payload), token)  # everything that is wrong, at once
    for it in flight["findings"] + flight["warnings"]:
        print(it["code"], it.get("error", ""), it.get("detail") or it.get("message") or "")
    if not flight["ok"]:
        stop("Not filed.")
    pathlib.Path(filed).unlink(missing_ok=True)
    return line(body)
body = json.loads(kept(file, take))

# 6. Submit.
def submit():
    try:
        return str(call("/api/swarm/submit", body, token)["recommendationId"])
    except Refused as refused:
        if refused.filed:  # it had arrived before: it stands
            return str(refused.filed)
        os.remove(file)  # so that the next run can make another
        raise
id = kept(filed, submit)

# 7. To amend: remove swarm.take.<session>, and run this again with other words.

# 8. Verify what is on file, by your own key. While it is sealed, only you can read it: keep the salt of its seal.
record = call("/api/swarm/takes/" + id, token=token)
if "salt" in record:
    kept(f"swarm.salt.{id}", lambda: record["salt"])
names = ["memberId", "date", "subjectId", "nonce", "stance", "confidence", "body", "memoUrl", "weights"]
text = line({name: record[name] for name in names if name in record})
key.public_key().verify(base64.b64decode(record["signature"]), text.encode())
print("verified", f"{BASE}/swarm/takes/{id}")
