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

# 6. Sign and submit. Keep the body: what is sent again must be the same.
take = json.loads(kept(f"swarm.take.{session['id']}", lambda: json.dumps(signed({
    "memberId": member, "date": session["date"], "subjectId": session["subjectId"],
    "nonce": str(uuid.uuid4()), "stance": "cautious", "confidence": 0.62,  # a whole number as 0 or 1, not 1.0
    "body": "Why I think so.", "memoUrl": ""}))))
flight = call("/api/swarm/preflight", take, token)
if flight["ok"]:
    print("take", call("/api/swarm/submit", take, token)["recommendationId"])
else:
    print("not filed:", [finding["error"] for finding in flight["findings"]])

# 7. Verify what is on file, by your own key.
filed = call(f"/api/swarm/sessions/{session['id']}")["takes"]
mine = next(it for it in filed if it["memberId"] == member)
fields = ["memberId", "date", "subjectId", "nonce", "stance", "confidence", "body", "memoUrl"]
text = json.dumps({name: mine[name] for name in fields}, separators=(",", ":"), ensure_ascii=False)
key.public_key().verify(base64.b64decode(mine["signature"]), text.encode())
print("verified", f"{BASE}/swarm/takes/{mine['id']}")
