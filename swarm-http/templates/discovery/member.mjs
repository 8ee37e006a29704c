// A member of {{ origin }}. Run it with: node member.mjs. What it keeps are files swarm.*, which member.sh and member.py share.
import { createPrivateKey, createPublicKey, generateKeyPairSync, randomUUID, sign, verify } from "node:crypto";
import { existsSync, readdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from "node:fs";

const BASE = "{{ origin }}", SERVICE = "{{ service }}"; // where it is, and what challenges call it
const { env } = process;
const stop = (why) => (console.error(why), process.exit(1));
process.on("uncaughtException", (error) => stop(`${error.cause ?? error}`));
const seconds = (count) => new Promise((done) => setTimeout(done, count * 1000));

const ADVICE = { "unknown-token": "If an operator reset your claim, remove the file swarm.token and run this again." };

// The status, the answer, and what a refusal says; the very same bytes are sent again until there is an answer.
async function send(path, body, token) {
  const headers = { "content-type": "application/json", ...(token && { authorization: `Bearer ${token}` }) };
  const request = body ? { method: "POST", headers, body: JSON.stringify(body) } : { headers };
  for (let pause = 1; ; pause *= 2) {
    try {
      const answer = await fetch(BASE + path, { ...request, signal: AbortSignal.timeout(30_000) });
      if (answer.status < 500 || pause > 8) {
        const text = await answer.text(), code = answer.headers.get("swarm-error"), hint = answer.headers.get("swarm-hint");
        const json = /json/.test(answer.headers.get("content-type")) ? JSON.parse(text) : {};
        if (answer.ok && hint) console.log("hint:", hint);
        const said = [answer.status, code, text, hint, ADVICE[code]].filter(Boolean).join(" ");
        return { ok: answer.ok, status: answer.status, code, json, said };
      }
    } catch (error) {
      if (pause > 8) throw error;
    }
    await seconds(pause);
  }
}

async function call(path, body, token) {
  const { ok, json, said } = await send(path, body, token);
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

function weight(text) {
  const at = text.lastIndexOf("=");
  if (at < 1) stop(`${text} is not a weight like btc=0.6.`);
  return { bucket: text.slice(0, at), weight: number(text.slice(at + 1)) };
}

// 1. A key of your own, for this service alone.
const pem = () => generateKeyPairSync("ed25519").privateKey.export({ format: "pem", type: "pkcs8" }).trim();
const key = createPrivateKey(await kept("swarm.pem", pem));
const publicKey = Buffer.from(createPublicKey(key).export({ format: "jwk" }).x, "base64url").toString("base64");
const bytes = (payload) => Buffer.from(JSON.stringify(payload)); // keys in the order given
const signed = (payload) => ({ ...payload, signature: sign(null, bytes(payload), key).toString("base64") });

// 2. Apply.
const { SWARM_NAME: name = "Ada", SWARM_CONTACT: contact = "ada@example.org", SWARM_LENS: lens = "" } = env;
const memberId = await kept("swarm.member", async () => {
  const { json, said } = await send("/api/swarm/apply", signed({ name, contact, lens, publicKey }));
  return json.memberId ?? stop(said); // also of a 409: an earlier application had arrived, and stands
});

// 3. Wait for an operator, and claim the token.
const NEXT = {
  applied: "run this again once an operator has approved it.",
  claimed: "its token was given out, and is not in swarm.token. Ask the operator to reset the claim, and run this again.",
};
const token = await kept("swarm.token", async () => {
  const { state } = await call(`/api/swarm/apply/${memberId}`);
  if (state !== "approved") stop(`Member ${memberId} is ${state}: ${NEXT[state] ?? "ask the operator."}`);
  const { challenge, expiresAt } = await call("/api/swarm/token-claim/challenge", { memberId });
  if (!challenge.startsWith(`${SERVICE} `)) stop(`This challenge is for another service: ${challenge}`);
  return (await call("/api/swarm/token-claim", signed({ memberId, challenge, expiresAt }))).token;
});

// 4. Submit what swarm.take.<session> keeps, the very same bytes until it is answered. Then verify what is on file, by your own key.
async function file(session) {
  const take = `swarm.take.${session}`, sent = JSON.parse(readFileSync(take, "utf8"));
  const id = await kept(`swarm.filed.${session}`, async () => {
    const { status, code, json, said } = await send("/api/swarm/submit", sent, token);
    if (json.recommendationId) return json.recommendationId; // also of a 409: it had arrived before, and stands
    // The next run can make another take. This one is kept: after a lost answer it may be on file.
    if (code && [400, 403, 404, 409].includes(status)) {
      renameSync(take, `swarm.refused.${session}.${sent.nonce}`);
      console.error(`The take is kept as swarm.refused.${session}.${sent.nonce}.`);
    }
    return stop(said);
  });
  const url = `${BASE}/swarm/takes/${id}`, record = await call(`/api/swarm/takes/${id}`, undefined, token);
  if (!record.signature) { // only a token that was claimed before the take was filed reads it sooner
    console.log(`filed ${url}, sealed until session ${session} is opened: then SWARM_SESSION=${session} verifies it`);
    return;
  }
  if (record.salt) await kept(`swarm.salt.${id}`, () => record.salt); // of its seal: it proves later what you filed, and when
  if (record.withheld) {
    console.log("An operator withheld its texts, which are verified as you sent them:", record.withheld.note);
    Object.assign(record, { body: sent.body, memoUrl: sent.memoUrl });
  }
  const names = ["memberId", "date", "subjectId", "nonce", "stance", "confidence", "body", "memoUrl", "weights"];
  const payload = Object.fromEntries(names.filter((name) => name in record).map((name) => [name, record[name]]));
  const holds = verify(null, bytes(payload), createPublicKey(key), Buffer.from(record.signature, "base64"));
  if (!holds) stop(`The signature of ${url} does not hold.`);
  console.log("verified", url);
}

// 5. What was sent and never answered comes first, also once its session is over.
const chosen = env.SWARM_SESSION ?? "";
const takes = readdirSync(".").map((name) => name.match(/^swarm\.take\.([0-9]+)$/)?.[1]).filter(Boolean);
const done = takes.filter((it) => has(`swarm.take.${it}`) && (it === chosen || !has(`swarm.filed.${it}`)));
for (const it of done) await file(it);
if (done.includes(chosen)) process.exit();

// 6. The open sessions, in which of them you may file, and the brief of one.
const { sessions } = await call("/api/swarm/me", undefined, token);
for (const it of sessions) {
  const notes = (it.practice ? ", for practice" : "") + (it.mayFile ? "" : `, not for you: ${it.code}`);
  console.log(`session ${it.id}: ${it.subjectId} on ${it.date}, deadline ${it.windowClosesAt ?? "not set"}${notes}`);
}
const usable = sessions.filter((it) => it.mayFile || has(`swarm.take.${it.id}`));
if (usable.length === 0 && done.length > 0) process.exit();
if (usable.length === 0) {
  const none = sessions.length > 0 ? "None of these is open to you" : "Nothing is open";
  stop(`${none}: run this again in some minutes, or ask the operator for a practice session.`);
}
const wanted = chosen || (usable.length === 1 ? String(usable[0].id) : "");
const session = usable.find((it) => String(it.id) === wanted);
if (!session) stop("Choose one that is open to you with SWARM_SESSION.");
const hasOpinion = env.SWARM_BODY && env.SWARM_STANCE !== undefined && env.SWARM_CONFIDENCE !== undefined;
if (!has(`swarm.take.${wanted}`) && !hasOpinion) {
  const brief = await call(`/api/swarm/brief?session=${wanted}`);
  console.log(brief ? Object.values(brief.body.prompt).join("\n") : "Its brief is not published.");
  stop("Run this again with SWARM_STANCE, SWARM_CONFIDENCE and SWARM_BODY (and SWARM_WEIGHTS=a=0.6,b=0.4).");
}

// 7. Say what you think. What is signed is kept, because what is sent again must be the same.
await kept(`swarm.take.${wanted}`, async () => {
  const { date, subjectId } = session, nonce = `${SERVICE} ${randomUUID()}`.slice(-200);
  const { SWARM_STANCE: stance, SWARM_CONFIDENCE: confidence, SWARM_BODY: body, SWARM_WEIGHTS = "" } = env;
  const weights = SWARM_WEIGHTS.split(",").filter(Boolean).map(weight);
  const payload = { memberId, date, subjectId, nonce, stance, confidence: number(confidence), body, memoUrl: "" };
  const draft = signed(weights.length > 0 ? { ...payload, weights } : payload);
  const { ok, findings, warnings } = await call("/api/swarm/preflight", draft, token); // everything that is wrong, at once
  for (const it of [...findings, ...warnings]) {
    console.log(it.code, it.error ?? "", it.detail ?? it.message ?? "");
  }
  if (!ok) stop("Not filed.");
  rmSync(`swarm.filed.${wanted}`, { force: true });
  return JSON.stringify(draft);
});
await file(wanted);

// 8. To amend: remove swarm.take.<session>, and run this again with other words.
