#!/usr/bin/env node
/* A client of the Swarm session API: one file, no SDK, no packages; Node.js 20.
 *
 * From nothing to a take that anyone can verify:
 *
 *   swarm_client.mjs keygen my.key
 *   swarm_client.mjs apply  --url http://127.0.0.1:8080 --key my.key --name Ada --contact ada@example.org
 *   swarm_client.mjs claim  --url http://127.0.0.1:8080 --key my.key --token-file my.token --member MEMBER_ID
 *   swarm_client.mjs submit --url http://127.0.0.1:8080 --key my.key --token-file my.token --member MEMBER_ID \
 *                           --date 2026-11-21 --subject aurora --stance cautious --confidence 0.62
 *   swarm_client.mjs verify --url http://127.0.0.1:8080 TAKE_ID
 *
 * Between apply and claim an operator activates the member; "status" tells when that has happened.
 *
 * A member of the daily committee has a key from its operator, and reads its brief before it submits:
 *
 *   swarm_client.mjs brief  --url http://127.0.0.1:8080 MEMBER_ID
 *   swarm_client.mjs submit-committee --url http://127.0.0.1:8080 --api-key-file my.ic --stance cautious \
 *                           --confidence 0.62 --body "REGIME: ... STANCE: cautious | CONFIDENCE: 0.62"
 *
 * The whole protocol: build a payload (an object whose keys have a fixed order), write it as exactly
 * the text that JSON.stringify gives, sign the UTF-8 bytes of that text, and post the payload with
 * its signature added.
 */

import * as crypto from "node:crypto";
import fs from "node:fs";
import http from "node:http";
import https from "node:https";
import { buffer } from "node:stream/consumers";
import { setTimeout as sleep } from "node:timers/promises";
import { parseArgs } from "node:util";

const TIMEOUT = 30_000; // milliseconds
const PAUSES = [500, 1000, 2000, 4000]; // milliseconds, before a take that got no answer is sent again

// ---- Commands -----------------------------------------------------------------------------------

async function keygen(args) {
  await newPrivateFile(args.operand, () => crypto.randomBytes(32).toString("base64"));
  writeLine(publicKeyOf(readKey(args.operand)));
}

async function apply(args) {
  const key = readKey(args.key);
  const { name, contact, lens = "" } = args;
  const payload = { name, contact, lens, publicKey: publicKeyOf(key) };
  writeLine(printable(await call(args, "/api/swarm/apply", signed(payload, key))));
}

async function status(args) {
  writeLine(printable(await call(args, "/api/swarm/apply/" + encodeURIComponent(args.operand))));
}

async function claim(args) {
  const key = readKey(args.key);
  const memberId = args.member;
  await newPrivateFile(args["token-file"], async () => { // first: the token is shown only once
    const answer = await call(args, "/api/swarm/token-claim/challenge", { memberId });
    const challenge = string(answer, "challenge");
    const expiresAt = string(answer, "expiresAt"); // the text as received, never reformatted
    const payload = { memberId, challenge, expiresAt };
    return string(await call(args, "/api/swarm/token-claim", signed(payload, key)), "token");
  });
  writeLine(printable({ memberId }));
}

async function submit(args) {
  let payload;
  try {
    payload = takePayload({
      memberId: args.member, date: args.date, subjectId: args.subject,
      nonce: args.nonce ?? crypto.randomUUID(),
      stance: args.stance, confidence: JSON.parse(args.confidence),
      body: args.body, memoUrl: args["memo-url"], weights: JSON.parse(args.weights || "null"),
    });
  } catch (error) {
    throw new BadUsage(error.message);
  }
  const request = signed(payload, readKey(args.key));
  const credential = { Authorization: `Bearer ${readLine(args["token-file"])}` };
  let answer;
  try {
    answer = await callUntilAnswered(args, "/api/swarm/submit", request, credential);
  } catch (refusal) {
    if (refusal.status !== 409 || refusal.answer?.recommendationId === undefined) throw refusal;
    answer = refusal.answer; // this exact take stands: it had arrived, its answer was lost
  }
  writeLine(printable(answer));
}

async function verify(args) {
  const take = await call(args, "/api/swarm/takes/" + encodeURIComponent(args.operand));
  let verified = false;
  try {
    verified = isSigned(takePayload(take), string(take, "publicKey"), string(take, "signature"));
  } catch {
    // not the record of a signed take at all
  }
  writeLine(verified ? "verified" : "NOT verified");
  return verified ? 0 : 1;
}

async function canonical() {
  const utf8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
  const text = utf8.decode(await buffer(process.stdin));
  for (const line of text.split("\n")) { // at "\n" and nowhere else
    if (line.trim()) writeLine(canonicalText(takePayload(JSON.parse(line))));
  }
}

async function brief(args) {
  const path = `/data/committee/briefs/today/${encodeURIComponent(args.operand)}.json`;
  writeLine(printable(await call(args, path)));
}

async function submitCommittee(args) {
  const { stance, body, model = null } = args;
  const take = { stance, confidence: JSON.parse(args.confidence), body, model };
  const receipt = await call(args, "/api/ic/submit", take, { "x-ic-key": readLine(args["api-key-file"]) });
  if (commitOf(take, receipt) !== string(receipt, "commit")) {
    throw new Error(`the receipt is of another record: ${printable(receipt)}`);
  }
  writeLine(printable(receipt));
}

/* The reference of a committee take, from what was sent and what was answered. */
function commitOf(take, { member_id, date, subject_id, received_at }) {
  const record = { member_id, date, subject_id, ...take, generated_at: received_at, received_at }; // in this order
  return "sha256:" + crypto.createHash("sha256").update(canonicalText(record)).digest("hex");
}

// ---- The take: what is signed, in this order, from a draft or from a record of the service ------

function takePayload(take) {
  const payload = {
    memberId: string(take, "memberId"),
    date: string(take, "date"),
    subjectId: string(take, "subjectId"),
    nonce: string(take, "nonce"),
    stance: string(take, "stance"),
    confidence: number(take, "confidence"),
    body: string(take, "body", ""),
    memoUrl: string(take, "memoUrl", ""),
  };
  if ((take.weights ?? null) !== null) { // without weights there is no such key
    if (!Array.isArray(take.weights)) throw new Error("weights is not an array of {bucket, weight}");
    payload.weights = take.weights.map((w) => ({ bucket: string(w, "bucket"), weight: number(w, "weight") }));
  }
  return payload;
}

function string(fields, name, absent) {
  const value = fields?.[name] ?? absent; // null counts as absent
  if (typeof value !== "string") throw new Error(`${name} is not a string`);
  return value;
}

function number(fields, name) {
  const value = fields?.[name];
  if (!Number.isFinite(value)) throw new Error(`${name} is not a finite number`);
  return value;
}

// ---- Canonical JSON -----------------------------------------------------------------------------

/* Numbers are ECMAScript's Number-to-String: the shortest digits that read back as the same double,
 * 1 for 1.0, 0 for -0, 1e-7, 1e+21. In strings only " and \ are escaped, and U+0000 to U+001F as
 * \b \t \n \f \r or else lower-case \u00xx; never "/", U+007F, U+2028 or other non-ASCII text.
 * No white space. Text that is not valid Unicode is refused: it has no UTF-8 bytes to sign. */
function canonicalText(payload) {
  return JSON.stringify(payload, (key, value) => {
    if (typeof value === "string" && !value.isWellFormed()) throw new Error(`${key} is not valid Unicode`);
    return value;
  });
}

// ---- Ed25519: keys and signatures travel as standard base64 of their raw bytes ------------------

const PRIVATE_KEY_DER = Buffer.from("302e020100300506032b657004220420", "hex"); // PKCS #8, then the seed
const PUBLIC_KEY_DER = Buffer.from("302a300506032b6570032100", "hex"); // SPKI, then the public key

function signed(payload, key) {
  const signature = crypto.sign(null, Buffer.from(canonicalText(payload)), key);
  return { ...payload, signature: signature.toString("base64") };
}

/* Strict: a weak key, or another spelling of a key or a signature, does not count. */
function isSigned(payload, publicKey, signatureText) {
  const raw = base64Bytes(publicKey, 32);
  const signature = base64Bytes(signatureText, 64);
  const prime = 2n ** 255n - 19n;
  const order8 = 2707385501144840649318225287225658788936804267575313519463743609750303402022n;
  for (const point of [raw, signature.subarray(0, 32)]) {
    const littleEndian = BigInt("0x" + Buffer.from(point).reverse().toString("hex"));
    const y = BigInt.asUintN(255, littleEndian); // the top bit is the sign of x
    if (y >= prime || [0n, 1n, order8, prime - order8, prime - 1n].includes(y)) return false;
  }
  const der = Buffer.concat([PUBLIC_KEY_DER, raw]);
  const key = crypto.createPublicKey({ key: der, format: "der", type: "spki" });
  return crypto.verify(null, Buffer.from(canonicalText(payload)), key, signature);
}

function publicKeyOf(key) {
  return crypto.createPublicKey(key).export({ format: "der", type: "spki" }).subarray(-32).toString("base64");
}

function base64Bytes(text, length) {
  const raw = Buffer.from(text, "base64");
  if (raw.length !== length || raw.toString("base64") !== text) {
    throw new Error(`not the base64 of ${length} bytes`);
  }
  return raw;
}

// ---- HTTP ---------------------------------------------------------------------------------------

/* The server answered, and the answer is not a success. */
class Refused extends Error {
  constructor(status, answer) {
    super(`${status} ${printable(answer)}`);
    Object.assign(this, { status, answer });
  }
}

/* Posts the request, or gets without one. Follows no redirect: a credential is for one server. */
async function call(args, path, request, credential) {
  const url = new URL(args.url);
  const body = request && Buffer.from(JSON.stringify(request));
  const headers = {
    ...(request && { "Content-Type": "application/json" }),
    ...credential,
    ...(args.host && { Host: args.host }), // which fetch would not let us set
  };
  const response = await new Promise((resolve, reject) => {
    (url.protocol === "https:" ? https : http).request(url, {
      method: request ? "POST" : "GET",
      path: url.pathname.replace(/\/+$/, "") + path,
      headers,
      agent: false,
      signal: AbortSignal.timeout(TIMEOUT),
    }, resolve).on("error", reject).end(body);
  });
  const text = (await buffer(response)).toString();
  let answer = text; // or the error page of something in between
  try { answer = JSON.parse(text); } catch { /* it is no JSON */ }
  const isObject = typeof answer === "object" && answer !== null && !Array.isArray(answer);
  if (response.statusCode < 200 || response.statusCode > 299 || !isObject) {
    throw new Refused(response.statusCode, answer);
  }
  return answer;
}

/* Without an answer nobody knows whether the take arrived. The very same bytes are safe to send
 * again: one nonce is filed once, and the 409 for a second arrival names the take that stands. */
async function callUntilAnswered(args, path, request, credential) {
  for (const pause of PAUSES) {
    try {
      return await call(args, path, request, credential);
    } catch (error) {
      if (error instanceof Refused) throw error;
      writeLine(`no answer (${error.message || error.code}), sending the same bytes again`, process.stderr);
      await sleep(pause);
    }
  }
  return call(args, path, request, credential);
}

// ---- Files and output ---------------------------------------------------------------------------

/* For its owner alone. Never replaces a file, and leaves none behind when nothing came of it. */
async function newPrivateFile(path, content) {
  const file = fs.openSync(path, "wx", 0o600);
  try {
    fs.writeSync(file, (await content()) + "\n");
  } catch (error) {
    fs.unlinkSync(path);
    throw error;
  } finally {
    fs.closeSync(file);
  }
}

function readLine(path) {
  return fs.readFileSync(path, "utf8").trim();
}

function readKey(path) {
  const der = Buffer.concat([PRIVATE_KEY_DER, base64Bytes(readLine(path), 32)]);
  return crypto.createPrivateKey({ key: der, format: "der", type: "pkcs8" });
}

/* JSON on one line. What a server sends stays text: no control character reaches a terminal. */
function printable(answer) {
  return JSON.stringify(answer).replace(/[\x7f-\x9f\u2028\u2029]/g,
    (character) => "\\u" + character.charCodeAt(0).toString(16).padStart(4, "0"));
}

function writeLine(text, stream = process.stdout) {
  stream.write(text + "\n");
}

// ---- Command line: exit status 0 done, 1 refused or failed, 2 bad usage -------------------------

class BadUsage extends Error {}

// An argument is an OPERAND, an --option, or a [--option] that may be left out.
const COMMANDS = {
  keygen: [keygen, "KEYFILE"],
  apply: [apply, "--url --key --name --contact [--lens] [--host]"],
  status: [status, "--url MEMBER_ID [--host]"],
  claim: [claim, "--url --key --member --token-file [--host]"],
  submit: [submit, "--url --key --token-file --member --date --subject --stance --confidence "
    + "[--body] [--memo-url] [--weights] [--nonce] [--host]"],
  verify: [verify, "--url TAKE_ID [--host]"],
  brief: [brief, "--url MEMBER_ID [--host]"],
  "submit-committee": [submitCommittee,
    "--url --api-key-file --stance --confidence --body [--model] [--host]"],
  canonical: [canonical, ""],
};

async function main([name, ...rest]) {
  try {
    if (!Object.hasOwn(COMMANDS, name ?? "")) throw new BadUsage("no such command");
    const [run, usage] = COMMANDS[name];
    return (await run(commandLine(usage, rest))) ?? 0;
  } catch (error) {
    writeLine(error.message || error.code, process.stderr);
    if (!(error instanceof BadUsage)) return 1;
    for (const [command, [, usage]] of Object.entries(COMMANDS)) {
      writeLine(`usage: swarm_client.mjs ${command} ${usage}`, process.stderr);
    }
    return 2;
  }
}

function commandLine(usage, argv) {
  const names = usage.match(/--[a-z-]+/g) ?? [];
  const required = usage.match(/(?<!\[)--[a-z-]+/g) ?? [];
  const operands = usage.match(/\b[A-Z_]+\b/g) ?? [];
  const options = Object.fromEntries(names.map((name) => [name.slice(2), { type: "string" }]));
  try {
    const { values, positionals } = parseArgs({ args: argv, options, allowPositionals: true });
    if (positionals.length !== operands.length) throw new Error(`expected ${operands[0] ?? "no operand"}`);
    for (const name of required) {
      if (values[name.slice(2)] === undefined) throw new Error(`${name} is missing`);
    }
    if (values.url !== undefined && !/^https?:$/.test(new URL(values.url).protocol)) {
      throw new Error("--url is not an http or https URL");
    }
    return { ...values, operand: positionals[0] };
  } catch (error) {
    throw new BadUsage(error.message);
  }
}

process.exitCode = await main(process.argv.slice(2));
