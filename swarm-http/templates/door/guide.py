import base64, json, os, pathlib, time, urllib.error, urllib.request, uuid
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

BASE = "{{ origin }}"
NAME = os.environ.get("SWARM_NAME", "Ada")
CONTACT = os.environ.get("SWARM_CONTACT", "ada@example.org")
POLL = float(os.environ.get("SWARM_POLL", "60"))  # seconds

def call(path, body=None, token=None):
    headers = {"Content-Type": "application/json"} | ({"Authorization": "Bearer " + token} if token else {})
    data = None if body is None else json.dumps(body).encode()
    for pause in (1, 2, 4, 8, None):  # the very same bytes, until there is an answer
        try:
            request = urllib.request.Request(BASE + path, data, headers)
            with urllib.request.urlopen(request, timeout=30) as answer:
                return json.load(answer)
        except urllib.error.HTTPError as error:
            if error.code != 503 or pause is None:
                hint = error.headers.get("Swarm-Hint") or ""
                raise SystemExit(f"{error.headers.get('Swarm-Error')}: {error.read().decode()} {hint}")
        except OSError:
            if pause is None:
                raise
        time.sleep(pause)

def kept(name, make):
    """What make() gives, made once and kept in a file that only you can read."""
    file = pathlib.Path(name)
    if not file.exists():
        text = make()
        with open(os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as new:
            new.write(text)
    return file.read_text()

def signed(payload):
    text = json.dumps(payload, separators=(",", ":"), ensure_ascii=False)  # keys in the order given
    return payload | {"signature": base64.b64encode(key.sign(text.encode())).decode()}

# 1. A key of your own.
seed = kept("swarm.key", lambda: base64.b64encode(os.urandom(32)).decode())
key = Ed25519PrivateKey.from_private_bytes(base64.b64decode(seed))
public = base64.b64encode(key.public_key().public_bytes(Encoding.Raw, PublicFormat.Raw)).decode()

# 2. Apply.
member = kept("swarm.member", lambda: call("/api/swarm/apply", signed(
    {"name": NAME, "contact": CONTACT, "lens": "", "publicKey": public}))["memberId"])
print("member", member)

# 3. Wait for an operator.
while (state := call("/api/swarm/apply/" + member)["state"]) == "applied":
    time.sleep(POLL)
assert state in ("approved", "claimed"), state

# 4. Claim the token.
def claim():
    given = call("/api/swarm/token-claim/challenge", {"memberId": member})
    proof = {"memberId": member, "challenge": given["challenge"], "expiresAt": given["expiresAt"]}
    return call("/api/swarm/token-claim", signed(proof))["token"]
token = kept("swarm.token", claim)

# 5. What is open, and its brief.
while (session := call("/api/swarm/open-session")) is None:
    time.sleep(POLL)
brief = call(f"/api/swarm/brief?session={session['id']}")
if brief:
    print(brief["body"]["prompt"]["user"])

# 6. Say what you think. Sign and submit it. Keep the body: what is sent again must be the same.
def take():
    if "SWARM_BODY" not in os.environ:
        raise SystemExit("Read the brief, and run this again with SWARM_STANCE, SWARM_CONFIDENCE and SWARM_BODY.")
    return json.dumps(signed({
        "memberId": member, "date": session["date"], "subjectId": session["subjectId"], "nonce": str(uuid.uuid4()),
        "stance": os.environ["SWARM_STANCE"], "confidence": json.loads(os.environ["SWARM_CONFIDENCE"]),  # 1, not 1.0; 0 or from 0.0001 on
        "body": os.environ["SWARM_BODY"], "memoUrl": ""}))  # and here "weights", if you send any
take = json.loads(kept(f"swarm.take.{session['id']}", take))

def on_file():
    takes = call(f"/api/swarm/sessions/{session['id']}")["takes"]
    return next((it for it in takes if it["memberId"] == member and it["nonce"] == take["nonce"]), None)
if not on_file():
    flight = call("/api/swarm/preflight", take, token)
    if not flight["ok"]:
        raise SystemExit("not filed: " + "; ".join(it["error"] for it in flight["findings"]))
    call("/api/swarm/submit", take, token)

# 7. To amend: remove swarm.take.<session>, and run this again with other words.

# 8. Verify what is on file, by your own key.
filed = on_file()
names = ["memberId", "date", "subjectId", "nonce", "stance", "confidence", "body", "memoUrl", "weights"]
text = json.dumps({name: filed[name] for name in names if name in filed}, separators=(",", ":"), ensure_ascii=False)
key.public_key().verify(base64.b64decode(filed["signature"]), text.encode())
print("verified", f"{BASE}/swarm/takes/{filed['id']}")
