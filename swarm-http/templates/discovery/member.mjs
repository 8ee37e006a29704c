// A member of {{ origin }}. Run it with: node member.mjs. What it keeps are files swarm.*, which member.sh and member.py share.
import { createPrivateKey, createPublicKey, generateKeyPairSync, randomUUID, sign, verify } from "node:crypto";
import { existsSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from "node:fs";

const BASE = "{{ origin }}", SERVICE = "{{ service }}"; // where it is, and what challenges call it
const { env } = process;
const stop = (why) => (console.error(why), process.exit(1));
const seconds = (count) => new Promise((done) => setTimeout(done, count * 1000));

// The status, the answer and a line for people; the very same bytes are sent again until there is an answer.
async function send(path, body, token) {
  const headers = { "content-type": "application/json", ...(token && { authorization: `Bearer ${token}` }) };
  const request = body ? { method: "POST", headers, body: JSON.stringify(body) } : { headers };
  for (let pause = 1; ; pause *= 2) {
    try {
      const answer = await fetch(BASE + path, { ...request, signal: AbortSignal.timeout(30_000) });
      if (answer.status !== 503 || pause > 8) {
        const text = await answer.text(), hint = answer.headers.get("swarm-hint");
        const said = [answer.status, answer.headers.get("swarm-error"), text, hint && `(${hint})`];
        const json = /json/.test(answer.headers.get("content-type")) ? JSON.parse(text) : {};
        return { ok: answer.ok, status: answer.status, json, hint, said: said.filter(Boolean).join(" ") };
      }
    } catch (error) {
      if (pause > 8) throw error;
    }
    await seconds(pause);
  }
}

async function call(path, body, token) {
  const { ok, json, hint, said } = await send(path, body, token);
  if (ok && hint) console.log("hint:", hint);
  return ok ? json : stop(said);
}

const has = (name) => existsSync(name) && statSync(name).size > 0;

// The text that make() returns, made once and kept in a file that only you can read.
async function kept(name, make) {
  if (!has(name)) {
    const text = await make();
    rmSync(`${name}.new`, { force: true });
    writeFileSync(`${name}.new`, `${text}\n`, { mode: 0o600 });
    renameSync(`${name}.new`, name);
  }
  return readFileSync(name, "utf8").trim();
}

function number(text) {
  if (!/^-?([0-9]{1,9}(\.[0-9]{0,6})?|\.[0-9]{1,6})$/.test(text)) {
    stop(`${text} is not a number like 0.7, with at most six decimals.`);
  }
  return Number(text);
}

// 1. A key of your own, for this service alone.
const pem = () => generateKeyPairSync("ed25519").privateKey.export({ format: "pem", type: "pkcs8" }).trim();
const key = createPrivateKey(await kept("swarm.pem", pem));
const publicKey = Buffer.from(createPublicKey(key).export({ format: "jwk" }).x, "base64url").toString("base64");
const bytes = (payload) => Buffer.from(JSON.stringify(payload)); // keys in the order given
const signed = (payload) => ({ ...payload, signature: sign(null, bytes(payload), key).toString("base64") });

// 2. Apply.
const { SWARM_NAME: name = "Ada", SWARM_CONTACT: contact = "ada@example.org", SWARM_LENS: lens = "" } = env;
const apply = async () => (await call("/api/swarm/apply", signed({ name, contact, lens, publicKey }))).memberId;
const memberId = await kept("swarm.member", apply);

// 3. Wait for an operator, and claim the token.
const token = await kept("swarm.token", async () => {
  const { state } = await call(`/api/swarm/apply/${memberId}`);
  if (state !== "approved") stop(`Member ${memberId} is ${state}: run this again once an operator has approved it.`);
  const { challenge, expiresAt } = await call("/api/swarm/token-claim/challenge", { memberId });
  if (!challenge.startsWith(`${SERVICE} `)) stop(`This challenge is for another service: ${challenge}`);
  return (await call("/api/swarm/token-claim", signed({ memberId, challenge, expiresAt }))).token;
});

// 4. The open sessions, in which of them you may file, and the brief of one.
const { sessions } = await call("/api/swarm/me", undefined, token);
for (const it of sessions) {
  const notes = (it.practice ? ", for practice" : "") + (it.mayFile ? "" : `, not for you: ${it.code}`);
  console.log(`session ${it.id}: ${it.subjectId} on ${it.date}, deadline ${it.windowClosesAt ?? "not set"}${notes}`);
}
const usable = sessions.filter((it) => it.mayFile || has(`swarm.take.${it.id}`));
if (usable.length === 0) {
  const none = sessions.length > 0 ? "None of these is open to you" : "Nothing is open";
  stop(`${none}: run this again in some minutes, or ask the operator for a practice session.`);
}
const wanted = env.SWARM_SESSION || (usable.length === 1 ? String(usable[0].id) : "");
const session = usable.find((it) => String(it.id) === wanted);
if (!session) stop("Choose one that is open to you with SWARM_SESSION.");
const file = `swarm.take.${wanted}`, filed = `swarm.filed.${wanted}`;
if (!has(file) && !env.SWARM_BODY) {
  const brief = await call(`/api/swarm/brief?session=${wanted}`);
  console.log(brief ? Object.values(brief.body.prompt).join("\n") : "Its brief is not published.");
  stop("Run this again with SWARM_STANCE, SWARM_CONFIDENCE and SWARM_BODY (and SWARM_WEIGHTS=a=0.6,b=0.4).");
}

// 5. Say what you think. Keep the body until it is answered: what is sent again must be the same.
const take = JSON.parse(await kept(file, async () => {
  const { date, subjectId } = session, nonce = `${SERVICE} ${randomUUID()}`.slice(-200);
  const { SWARM_STANCE: stance, SWARM_CONFIDENCE: confidence, SWARM_BODY: body, SWARM_WEIGHTS = "" } = env;
  const weights = SWARM_WEIGHTS.split(",").filter(Boolean).map((entry) => {
    const at = entry.lastIndexOf("=");
    return { bucket: entry.slice(0, at), weight: number(entry.slice(at + 1)) };
  });
  const payload = { memberId, date, subjectId, nonce, stance, confidence: number(confidence), body, memoUrl: "" };
  const draft = signed(weights.length > 0 ? { ...payload, weights } : payload);
  const { ok, findings, warnings } = await call("/api/swarm/preflight", draft, token); // everything that is wrong, at once
  for (const it of [...findings, ...warnings]) {
    console.log(it.code, it.error ?? "", it.detail ?? it.message ?? "");
  }
  if (!ok) stop("Not filed.");
  rmSync(filed, { force: true });
  return JSON.stringify(draft);
}));

// 6. Submit.
const id = await kept(filed, async () => {
  const { ok, status, json, hint, said } = await send("/api/swarm/submit", take, token);
  if (ok && hint) console.log("hint:", hint);
  if (json.recommendationId) return json.recommendationId; // also of a 409: it had arrived before, and stands
  if (status < 500) rmSync(file); // so that the next run can make another
  return stop(said);
});

// 7. To amend: remove swarm.take.<session>, and run this again with other words.

// 8. Verify what is on file, by your own key. While it is sealed, only you can read it: keep the salt of its seal.
const record = await call(`/api/swarm/takes/${id}`, undefined, token);
if (record.salt) await kept(`swarm.salt.${id}`, () => record.salt);
const names = ["memberId", "date", "subjectId", "nonce", "stance", "confidence", "body", "memoUrl", "weights"];
const payload = Object.fromEntries(names.filter((name) => name in record).map((name) => [name, record[name]]));
if (!verify(null, bytes(payload), createPublicKey(key), Buffer.from(record.signature, "base64"))) stop("The signature on file does not hold.");
console.log("verified", `${BASE}/swarm/takes/${id}`);
