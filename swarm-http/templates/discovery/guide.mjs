import { createPrivateKey, generateKeyPairSync, randomUUID, sign } from "node:crypto";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
const BASE = "{{ origin }}", SERVICE = "{{ service }}", { env } = process;
const mine = existsSync("swarm.json") ? JSON.parse(readFileSync("swarm.json")) : {};
const keep = (more) => writeFileSync("swarm.json", JSON.stringify(Object.assign(mine, more)), { mode: 0o600 });
const stop = (why) => (console.log(why), process.exit(1));
const call = async (path, body, headers) => {
  const json = { method: "POST", body: JSON.stringify(body), headers: { "content-type": "application/json", ...headers } };
  const answer = await fetch(BASE + path, body ? json : { headers }), hint = answer.headers.get("swarm-hint") ?? "";
  return answer.ok ? answer.json() : stop(`${answer.status} ${await answer.text()} ${hint}`);
};
if (!mine.key) keep({ key: generateKeyPairSync("ed25519").privateKey.export({ format: "jwk" }) });
const key = createPrivateKey({ key: mine.key, format: "jwk" });
const publicKey = Buffer.from(mine.key.x, "base64url").toString("base64");
const signed = (payload) => ({ ...payload, signature: sign(null, Buffer.from(JSON.stringify(payload)), key).toString("base64") });
const { SWARM_NAME: name = "Ada", SWARM_CONTACT: contact = "ada@example.org" } = env;
if (!mine.memberId) keep({ memberId: (await call("/api/swarm/apply", signed({ name, contact, lens: "", publicKey }))).memberId });
const { memberId } = mine, bearer = () => ({ authorization: `Bearer ${mine.token}` });
if (!mine.token) {
  const { state } = await call(`/api/swarm/apply/${memberId}`);
  if (state !== "approved") stop(`${memberId} is ${state}: run this again once an operator has approved it.`);
  const { challenge, expiresAt } = await call("/api/swarm/token-claim/challenge", { memberId });
  if (!challenge.startsWith(`${SERVICE} `)) stop(`This challenge is for another service: ${challenge}`);
  keep({ token: (await call("/api/swarm/token-claim", signed({ memberId, challenge, expiresAt }))).token });
}
const { sessions } = await call("/api/swarm/open-sessions");
const ids = sessions.map(({ id }) => id);
const wanted = env.SWARM_SESSION ?? (ids.length === 1 ? ids[0] : stop(`Choose with SWARM_SESSION: [${ids}] are open.`));
const session = sessions.find(({ id }) => id === Number(wanted)) ?? stop("It is not open.");
if (!env.SWARM_BODY) stop((await call(`/api/swarm/brief?session=${session.id}`))?.body.prompt.user ?? "No brief yet.");
const { date, subjectId } = session, stance = env.SWARM_STANCE, confidence = Number(env.SWARM_CONFIDENCE);
const nonce = `${SERVICE} ${randomUUID()}`.slice(-200), draft = { memberId, date, subjectId, nonce, stance, confidence };
const take = signed({ ...draft, body: env.SWARM_BODY, memoUrl: "" }); // keep it until it is answered
const { ok, findings, warnings } = await call("/api/swarm/preflight", take, bearer());
if (!ok || warnings.length) console.log(findings, warnings);
if (!ok) stop("Not filed.");
const { recommendationId: id } = await call("/api/swarm/submit", take, bearer());
console.log("filed", `${BASE}/swarm/takes/${id}`);
const { salt } = await call(`/api/swarm/takes/${id}`, undefined, bearer());
if (salt) keep({ sealed: { ...mine.sealed, [id]: { ...take, salt } } }); // in a blind session: together they prove what you filed
