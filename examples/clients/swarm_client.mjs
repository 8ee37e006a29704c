#!/usr/bin/env node
/* A client of Swarm: one file, no SDK, no packages; Node.js 20.
 *
 * As a program, from nothing to a take that anyone can verify:
 *
 *   swarm_client.mjs keygen my.key
 *   swarm_client.mjs apply  --url http://127.0.0.1:8080 --key my.key --name Ada --contact ada@example.org
 *   swarm_client.mjs claim  --url http://127.0.0.1:8080 --key my.key --token-file my.token --member MEMBER_ID
 *   swarm_client.mjs submit --url http://127.0.0.1:8080 --key my.key --token-file my.token --member MEMBER_ID \
 *                           --date 2026-11-21 --subject aurora --stance cautious --confidence 0.62
 *   swarm_client.mjs verify http://127.0.0.1:8080/swarm/takes/1 --key PUBLIC_KEY
 *
 * Between apply and claim an operator activates the member; "status" shows the state.
 * "preflight" takes what submit takes, and names all that would refuse it; "diagnose" says what is
 * wrong with a signature. A member of the daily committee has a key from its operator:
 * "committee-brief", "committee-submit".
 *
 * As a library (keys are KeyObjects of node:crypto, fields plain values, answers objects):
 *
 *   import { Swarm, newKey, sign, take } from "./swarm_client.mjs";
 *   const swarm = new Swarm("http://127.0.0.1:8080"), key = newKey();
 *   const { memberId } = await swarm.apply(key, "Ada", "ada@example.org");
 *   const token = await swarm.claim(key, memberId); // once an operator has activated the member
 *   const fields = { memberId, date: "2026-11-21", subjectId: "aurora", stance: "cautious", confidence: 0.62 };
 *   const signed = sign(take({ ...fields, nonce: swarm.nonce() }), key);
 *   await swarm.submit(token, signed); // after a NoAnswer: the same "signed" again, never a new one
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
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";

const TIMEOUT = 30_000; // milliseconds, from the connection to the end of the answer
const PAUSES = [500, 1000, 2000, 4000]; // milliseconds before each retry of a take without an answer
const MAX_ANSWER = 256 << 20; // bytes of an answer
const MAX_SHOWN = 1000; // characters of a refusal in an error message

/* The server answered with an error. */
export class Refused extends Error {
  constructor(status, answer, hint) {
    super(`${status} ${printable(answer).slice(0, MAX_SHOWN)}${hint ? `, ${printable(hint)}` : ""}`);
    Object.assign(this, { status, answer });
  }
}

/* The server's answer is not usable. A retry would not help. */
export class Unreadable extends Error {}

/* It is unknown whether the take was filed. Sending the same bytes again is safe, and shows it. */
export class NoAnswer extends Error {}

/* A service, by its base URL. `host` is the name to ask for, where the URL has only an address; `origin` is
 * what its members know it by, where that is not the URL's own. */
export class Swarm {
  constructor(url, host, origin) {
    this.url = new URL(url);
    this.host = host;
    this.origin = originOf(origin ?? (host ? `${this.url.protocol}//${host}` : url));
    if (!/^https?:$/.test(this.url.protocol)) throw new Error("not an http or https URL");
  }

  /* A fresh nonce, which names the service that the take is signed for. */
  nonce() {
    const nonce = `${this.origin} ${crypto.randomUUID()}`;
    return nonce.length <= 200 ? nonce : crypto.randomUUID();
  }

  // Joining.

  apply(key, name, contact, lens = "") {
    return this.call("/api/swarm/apply", sign({ name, contact, lens, publicKey: publicKeyOf(key) }, key));
  }

  application(memberId) {
    return this.call("/api/swarm/apply/" + encodeURIComponent(memberId));
  }

  /* The bearer token of an activated member. The service shows it only once. */
  async claim(key, memberId) {
    const given = await this.call("/api/swarm/token-claim/challenge", { memberId });
    const challenge = string(given, "challenge");
    if (originOf(challenge.split(" ", 1)[0]) !== this.origin) { // else its origin could claim the token
      throw new Error(`the challenge is for another service than ${this.origin}: ${printable(challenge)}`);
    }
    const expiresAt = string(given, "expiresAt"); // the text as received, never reformatted
    const claimed = await this.call("/api/swarm/token-claim", sign({ memberId, challenge, expiresAt }, key));
    return string(claimed, "token");
  }

  // Takes, as sign() gives them.

  /* Sends the take until there is an answer: one nonce is filed once, and the 409 for a second
   * arrival of the very same bytes names the take that stands. In a blind session what it returns has the
   * `salt` of the take's seal: keep it. After a 409, take() with the token has it. */
  async submit(token, signedTake) {
    for (const pause of [...PAUSES, undefined]) {
      try {
        const received = {};
        const answer = await this.call("/api/swarm/submit", signedTake, bearer(token), received);
        const salt = received["swarm-seal"];
        return salt === undefined ? answer : { ...answer, salt };
      } catch (error) {
        if (error.status === 409 && error.answer?.recommendationId !== undefined) return error.answer;
        // After a 408 or 5xx, perhaps from a proxy, it is unknown whether the take was filed.
        const refused = error instanceof Refused && error.status < 500 && error.status !== 408;
        if (error instanceof Unreadable || refused) throw error;
        if (pause === undefined) {
          throw new NoAnswer(`no answer to nonce ${printable(signedTake.nonce)}: ${error.message || error.code}`);
        }
        await sleep(pause);
      }
    }
  }

  preflight(token, signedTake) {
    return this.call("/api/swarm/preflight", signedTake, bearer(token));
  }

  diagnose(body) {
    return this.call("/api/swarm/diagnose", body);
  }

  /* A take; with the token of its author also one that is sealed. */
  take(takeId, token) {
    return this.call("/api/swarm/takes/" + encodeURIComponent(takeId), undefined, token && bearer(token));
  }

  // Sessions and briefs.

  /* The open session, or null. */
  openSession() {
    return this.call("/api/swarm/open-session");
  }

  sessions(limit = 100, before = undefined) {
    const page = new URLSearchParams({ limit, ...(before !== undefined && { before }) });
    return this.call(`/api/swarm/sessions?${page}`);
  }

  session(sessionId) {
    return this.call("/api/swarm/sessions/" + encodeURIComponent(sessionId));
  }

  /* The brief of the session, or null. */
  brief(sessionId) {
    return this.call("/api/swarm/brief?" + new URLSearchParams({ session: sessionId }));
  }

  publishMemo(token, { title, body, subjectId, sessionId }) {
    return this.call("/api/swarm/memos", { title, body, subjectId, sessionId }, bearer(token));
  }

  // The daily committee.

  committeeBrief(memberId) {
    return this.call(`/data/committee/briefs/today/${encodeURIComponent(memberId)}.json`);
  }

  async committeeSubmit(apiKey, { stance, confidence, body, model = null }) {
    const sent = { stance, confidence, body, model };
    const receipt = await this.call("/api/ic/submit", sent, { "x-ic-key": apiKey });
    if (commitOf(sent, receipt) !== string(receipt, "commit")) {
      throw new Error(`the receipt is of another record: ${printable(receipt)}`);
    }
    return receipt;
  }

  /* Posts the request, or gets without one. Follows no redirect: a credential is for one server. Adds the
   * headers of the answer to `received`, by their names in lower case. */
  async call(path, request, headers, received) {
    const response = await new Promise((resolve, reject) => {
      (this.url.protocol === "https:" ? https : http).request(this.url, {
        method: request ? "POST" : "GET",
        path: this.url.pathname.replace(/\/+$/, "") + path,
        headers: {
          Accept: "application/json",
          ...(request && { "Content-Type": "application/json" }),
          ...headers,
          ...(this.host && { Host: this.host }), // which fetch would not let us set
        },
        agent: false,
        signal: AbortSignal.timeout(TIMEOUT),
      }, resolve).on("error", reject).end(request && Buffer.from(JSON.stringify(request)));
    });
    if (received) Object.assign(received, response.headers);
    const pieces = [];
    let length = 0;
    for await (const piece of response) {
      if ((length += piece.length) > MAX_ANSWER) throw new Unreadable("the answer is too long");
      pieces.push(piece);
    }
    const text = Buffer.concat(pieces).toString();
    const succeeded = response.statusCode >= 200 && response.statusCode < 300;
    let answer;
    try {
      answer = JSON.parse(text);
    } catch {
      if (succeeded) throw new Unreadable("an answer that is no JSON"); // not quoted: it may hold a token
      throw new Refused(response.statusCode, text); // the page of something in between
    }
    if (!succeeded) throw new Refused(response.statusCode, answer, response.headers["swarm-hint"]);
    return answer;
  }
}

/* Scheme and host, with the port unless it goes without saying; undefined where it is no URL. */
function originOf(url) {
  return URL.canParse(url) ? new URL(url).origin : undefined;
}

function bearer(token) {
  return { Authorization: `Bearer ${token}` };
}

// ---- The take: what is signed, in this order, from values or from a record of the service -------

/* What a member signs. weights: [{bucket, weight}]. The nonce is fresh unless given. */
export function take(fields) {
  return takePayload({ ...fields, nonce: fields.nonce ?? crypto.randomUUID() });
}

export function takePayload(take) {
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

/* The reference of a committee take, from what was sent and what was answered. */
function commitOf(sent, { member_id, date, subject_id, received_at }) {
  const record = { member_id, date, subject_id, ...sent, generated_at: received_at, received_at }; // in this order
  return "sha256:" + crypto.createHash("sha256").update(canonicalText(record)).digest("hex");
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

// ---- Verification: what a take proves on its own, and what it does not --------------------------

/* Whether nothing in a take is wrong, and in sentences what that says. `key`: the public key that its member is
 * known by from elsewhere; `asked`: the id that was asked for. Throws where this is no take, or `key` no key. A take whose texts
 * an operator withheld has a signature that nobody can check from it: the last sentence says that nothing was verified. */
export function verify(record, key, asked) {
  if (record?.sealed !== undefined && record.signature === undefined) {
    throw new Error("this take is sealed until its session is opened; its author reads it whole");
  }
  const payload = takePayload(record);
  const signature = string(record, "signature");
  checkRules(payload, signature);
  if (key !== undefined) checkKey(key);
  const named = string(record, "publicKey", key);
  const fails = (why) => ({ holds: false, sentences: [`does not hold: ${why}`] });
  if (asked !== undefined && record.id !== asked) {
    return fails(`asked for take ${asked}, got take ${printable(record.id ?? null)}`);
  }
  if (key !== undefined && named !== key) {
    return fails(`the record names the key ${printable(named)}, not the one given`);
  }
  const salt = record.salt ?? null;
  const sealed = record.sealed ?? null;
  if (sealed !== null && !/^sha256:[0-9a-f]{64}$/.test(string(record, "sealed"))) {
    throw new Error("sealed is not a digest");
  }
  const foreignSeal = fails("the seal is not of this take and its salt");
  if ((salt === null) !== (sealed === null)) return foreignSeal;
  const mark = record.body === undefined ? record.withheld ?? null : null;
  if (mark !== null) {
    return { holds: true, sentences: [
      `notable: body and memoUrl are withheld since ${printable(string(mark, "at"))}, `
        + `note ${printable(string(mark, "note"))}`,
      "unproven: that the key signed this: its texts are withheld. Its proof shows that the log has it, "
        + "and the digest that the log has of it",
      ...(sealed !== null ? [`unproven: that the seal ${sealed} is of this take and its salt`] : []),
      ...statements(payload, key),
      "nothing was verified of this take: neither its signature nor its place in the log",
    ] };
  }
  if (!isSigned(payload, named, signature)) return fails(`the key ${printable(named)} did not sign these fields`);
  if (salt !== null && sealOf(payload, signature, salt) !== sealed) return foreignSeal;
  return { holds: true, sentences: [
    `holds: the key ${named} signed this, to the byte`,
    ...(sealed !== null ? [`holds: the seal ${sealed} is of this take and its salt`] : []),
    ...statements(payload, key),
  ] };
}

/* Throws where this is no key, with which nothing could be compared: the key of a log, for example. */
function checkKey(key) {
  try {
    base64Bytes(key, 32);
  } catch {
    throw new Error("the key of a member is the base64 of 32 bytes, and the one given is not");
  }
}

const LENGTHS = { memberId: [1, 100], subjectId: [1, 100], nonce: [1, 200], stance: [1, 100], body: [0, 10_000],
  memoUrl: [0, 2_000], signature: [0, 2_000] };

/* Throws where a field breaks its rule: this is no take, whoever signed it. */
function checkRules(payload, signature) {
  const length = (text) => [...text].length; // of characters, not of UTF-16 units
  for (const [name, [least, most]] of Object.entries(LENGTHS)) {
    const has = length({ ...payload, signature }[name]);
    if (has < least || has > most) throw new Error(`${name} does not have ${least} to ${most} characters`);
  }
  if (!/^[0-9]{4}-[0-9]{2}-[0-9]{2}$/.test(payload.date)) throw new Error("date is not written YYYY-MM-DD");
  if (payload.confidence < 0 || payload.confidence > 1) throw new Error("confidence is not from 0 to 1");
  if (payload.weights === undefined) return;
  const buckets = payload.weights.map(({ bucket }) => bucket);
  const isAllowed = buckets.length <= 1000 && new Set(buckets).size === buckets.length
    && buckets.every((bucket) => length(bucket) >= 1 && length(bucket) <= 100)
    && payload.weights.every(({ weight }) => weight >= 0);
  const total = payload.weights.reduce((sum, { weight }) => sum + weight, 0);
  if (!isAllowed || !(total > 0 && total < Infinity)) throw new Error("weights breaks its rules");
}

/* What a take says, and what nothing in its record proves. */
function statements(payload, key) {
  const { memberId, date, subjectId, stance, confidence } = payload;
  const said = ["body", "memoUrl", "weights", "nonce"].filter((name) => payload[name]?.length);
  return [
    `member ${printable(memberId)} says of ${printable(subjectId)} on ${printable(date)}: `
      + `${printable(stance)}, confidence ${printable(confidence)}`,
    ...said.map((name) => `${name}: ${printable(payload[name])}`),
    key !== undefined ? "given: the key is the one that you named"
      : "unproven: that this is the member's key; it came with the take, and whoever makes one can "
        + "make both. Name the member's key, from another source, with --key",
    "unproven: when it was filed, and as which revision: this is the server's word",
  ];
}

/* The seal of a take in a blind session, from the salt that its author got with the answer to its submit. */
export function sealOf(payload, signature, salt) {
  const parts = [base64Bytes(salt, 32), Buffer.from(canonicalText(payload)), Buffer.of(0), base64Bytes(signature, 64)];
  return "sha256:" + crypto.createHash("sha256").update(Buffer.concat(parts)).digest("hex");
}

// ---- Canonical JSON -----------------------------------------------------------------------------

/* Numbers are ECMAScript's Number-to-String: the shortest digits that read back as the same double,
 * 1 for 1.0, 0 for -0, 1e-7, 1e+21. In strings only " and \ are escaped, and U+0000 to U+001F as
 * \b \t \n \f \r or else lower-case \u00xx; never "/", U+007F, U+2028 or other non-ASCII text.
 * No white space. Text that is not valid Unicode is refused: it has no UTF-8 bytes to sign. */
export function canonicalText(payload) {
  return JSON.stringify(payload, (key, value) => {
    if (typeof value === "string" && !value.isWellFormed()) throw new Error(`${key} is not valid Unicode`);
    return value;
  });
}

// ---- Ed25519: keys and signatures travel as standard base64 of their raw bytes ------------------

const PRIVATE_KEY_DER = Buffer.from("302e020100300506032b657004220420", "hex"); // PKCS #8, then the seed
const PUBLIC_KEY_DER = Buffer.from("302a300506032b6570032100", "hex"); // SPKI, then the public key

export function newKey() {
  return crypto.generateKeyPairSync("ed25519").privateKey;
}

/* The private key with this seed: standard base64 of 32 bytes. */
export function keyFromText(text) {
  const der = Buffer.concat([PRIVATE_KEY_DER, base64Bytes(text, 32)]);
  return crypto.createPrivateKey({ key: der, format: "der", type: "pkcs8" });
}

export function sign(payload, key) {
  const signature = crypto.sign(null, Buffer.from(canonicalText(payload)), key);
  return { ...payload, signature: signature.toString("base64") };
}

/* Strict: a weak key, or another spelling of a key or a signature, does not count. */
function isSigned(payload, publicKey, signatureText) {
  let raw, signature;
  try {
    [raw, signature] = [base64Bytes(publicKey, 32), base64Bytes(signatureText, 64)];
  } catch {
    return false;
  }
  const prime = 2n ** 255n - 19n;
  const order8 = 2707385501144840649318225287225658788936804267575313519463743609750303402022n;
  for (const point of [raw, signature.subarray(0, 32)]) {
    const littleEndian = BigInt("0x" + Buffer.from(point).reverse().toString("hex"));
    const y = BigInt.asUintN(255, littleEndian); // the top bit is the sign of x
    if (y >= prime || [0n, 1n, order8, prime - order8, prime - 1n].includes(y)) return false;
  }
  const der = Buffer.concat([PUBLIC_KEY_DER, raw]);
  const text = Buffer.from(canonicalText(payload));
  try {
    return crypto.verify(null, text, crypto.createPublicKey({ key: der, format: "der", type: "spki" }), signature);
  } catch {
    return false; // no point of the curve
  }
}

export function publicKeyOf(key) {
  return crypto.createPublicKey(key).export({ format: "der", type: "spki" }).subarray(-32).toString("base64");
}

function base64Bytes(text, length) {
  const raw = Buffer.from(text, "base64");
  if (raw.length !== length || raw.toString("base64") !== text) {
    throw new Error(`not the base64 of ${length} bytes`);
  }
  return raw;
}

// ---- Files and output ---------------------------------------------------------------------------

/* A file that only its owner can read, written completely before it gets its name. Never replaces a file. */
async function newPrivateFile(path, content) {
  if (fs.lstatSync(path, { throwIfNoEntry: false })) throw new Error(`${path} exists`);
  const part = `${path}.${crypto.randomUUID()}`;
  const file = fs.openSync(part, "wx", 0o600);
  try {
    fs.writeSync(file, (await content()) + "\n");
  } catch (error) {
    fs.unlinkSync(part);
    throw error;
  } finally {
    fs.closeSync(file);
  }
  fs.linkSync(part, path); // where this fails, the part stays, and the error names it
  fs.unlinkSync(part);
}

function readLine(path) {
  const line = fs.readFileSync(path, "utf8").trim();
  if (/[^\x20-\x7e]/.test(line)) throw new Error(`${path} has more than one line`); // and no error shows what is in it
  return line;
}

function readKey(path) {
  return keyFromText(readLine(path));
}

/* JSON on one line. */
function printable(answer) {
  return escaped(JSON.stringify(answer));
}

/* What a server sends stays text: no control character reaches a terminal, and no mark that turns the order
 * of letters. */
function escaped(text) {
  return text.replace(/[\0-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069]/g,
    (character) => "\\u" + character.charCodeAt(0).toString(16).padStart(4, "0"));
}

function told(error) {
  return escaped(error.message || error.code);
}

function writeLine(text, descriptor = 1) {
  let left = Buffer.from(text + "\n");
  while (left.length) {
    try {
      left = left.subarray(fs.writeSync(descriptor, left));
    } catch (error) {
      if (error.code !== "EAGAIN") throw error;
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 10); // a pipe that is full: 10 ms later
    }
  }
}

/* JSON in a file of UTF-8. */
function readJson(path) {
  return parseJson(new TextDecoder("utf-8", { fatal: true }).decode(fs.readFileSync(path)), path);
}

/* The error of JSON.parse quotes the text, which may be a secret; this one says only where the text is from. No key stands
 * twice: which of its values counts is not defined. */
function parseJson(text, where) {
  let value;
  try {
    value = JSON.parse(text);
  } catch {
    throw new Error(`${where} is no JSON`);
  }
  const open = [];
  for (const [token, name] of text.matchAll(/("(?:[^"\\]|\\.)*")\s*:|"(?:[^"\\]|\\.)*"|[{}]/g)) {
    if (token === "{") open.push(new Set());
    else if (token === "}") open.pop();
    else if (name !== undefined) {
      const key = JSON.parse(name);
      if (open.at(-1).has(key)) throw new Error(`${where} is no JSON: a key stands twice`);
      open.at(-1).add(key);
    }
  }
  return value;
}

// ---- Command line: exit status 0 done, 1 refused or failed, 2 bad usage -------------------------

class BadUsage extends Error {}

async function keygen(args) {
  await newPrivateFile(args.operand, () => crypto.randomBytes(32).toString("base64"));
  writeLine(publicKeyOf(readKey(args.operand)));
}

async function claim(args) {
  const key = readKey(args.key);
  // The file comes first: the token is shown only once.
  await newPrivateFile(args["token-file"], () => swarm(args).claim(key, args.member));
  return { memberId: args.member };
}

function signedTake(args) {
  try {
    const { member: memberId, date, subject: subjectId, nonce, stance, body, "memo-url": memoUrl } = args;
    const confidence = parseJson(args.confidence, "--confidence");
    const weights = parseJson(args.weights || "null", "--weights");
    const fields = { memberId, date, subjectId, stance, confidence, body, memoUrl, weights };
    fields.nonce = nonce ?? swarm(args).nonce();
    return sign(take(fields), readKey(args.key));
  } catch (error) {
    throw new BadUsage(error.message);
  }
}

/* Verifies a take from a file, a URL, or an id at --url. Status: 0 nothing is wrong, 1 not valid, 2 cannot be read. */
async function verifyCommand(args) {
  try {
    const [record, asked] = await readTake(args);
    const { holds, sentences } = verify(record, args.key, asked);
    process.exitCode = holds ? 0 : 1;
    tryToWrite(sentences.join("\n"), 1);
  } catch (error) {
    process.exitCode = 2;
    tryToWrite(`cannot be read: ${told(error)}`, 2);
  }
}

/* If the output is closed, the exit status still has the verdict. */
function tryToWrite(text, descriptor) {
  try {
    writeLine(text, descriptor);
  } catch {}
}

async function readTake(args) {
  if (args.url !== undefined) return [await swarm(args).take(args.operand), Number(args.operand)];
  if (!/^https?:\/\//i.test(args.operand)) return [readJson(args.operand)];
  const url = new URL(args.operand);
  const asked = decodeURIComponent(url.pathname).match(/\/takes\/([0-9]+)$/)?.[1];
  const record = await new Swarm(url.origin, args.host).call(url.pathname + url.search);
  return [record, asked && Number(asked)];
}

async function canonical() {
  const utf8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
  const text = utf8.decode(await buffer(process.stdin));
  for (const line of text.split("\n")) { // at "\n" and nowhere else
    if (line.trim()) writeLine(canonicalText(takePayload(parseJson(line, "a line"))));
  }
}

function swarm(args) {
  return new Swarm(args.url, args.host, args.origin);
}

function token(args) {
  return readLine(args["token-file"]);
}

const TAKE = "--url --key --token-file --member --date --subject --stance --confidence "
  + "[--body] [--memo-url] [--weights] [--nonce] [--host] [--origin]";

// What runs a command, and its arguments: an OPERAND, an --option, a [--option] that may be left out.
const COMMANDS = {
  keygen: [keygen, "KEYFILE"],
  apply: [(args) => swarm(args).apply(readKey(args.key), args.name, args.contact, args.lens),
    "--url --key --name --contact [--lens] [--host] [--origin]"],
  status: [(args) => swarm(args).application(args.operand), "--url MEMBER_ID [--host] [--origin]"],
  claim: [claim, "--url --key --member --token-file [--host] [--origin]"],
  "open-session": [(args) => swarm(args).openSession(), "--url [--host] [--origin]"],
  sessions: [(args) => swarm(args).sessions(args.limit, args.before), "--url [--limit] [--before] [--host] [--origin]"],
  brief: [(args) => swarm(args).brief(args.operand), "--url SESSION_ID [--host] [--origin]"],
  preflight: [(args) => swarm(args).preflight(token(args), signedTake(args)), TAKE],
  submit: [(args) => swarm(args).submit(token(args), signedTake(args)), TAKE],
  diagnose: [(args) => swarm(args).diagnose(readJson(args.operand)), "--url FILE [--host] [--origin]"],
  verify: [verifyCommand, "TAKE [--url] [--key] [--host] [--origin]"],
  memo: [(args) => swarm(args).publishMemo(token(args), { ...args, subjectId: args.subject, sessionId: args.session }),
    "--url --token-file --title --body [--subject] [--session] [--host] [--origin]"],
  "committee-brief": [(args) => swarm(args).committeeBrief(args.operand), "--url MEMBER_ID [--host] [--origin]"],
  "committee-submit": [(args) => swarm(args).committeeSubmit(readLine(args["api-key-file"]),
    { ...args, confidence: parseJson(args.confidence, "--confidence") }),
    "--url --api-key-file --stance --confidence --body [--model] [--host] [--origin]"],
  canonical: [canonical, ""],
};

async function main([name, ...rest]) {
  try {
    if (!Object.hasOwn(COMMANDS, name ?? "")) throw new BadUsage("no such command");
    const [run, usage] = COMMANDS[name];
    const answer = await run(commandLine(usage, rest));
    if (answer !== undefined) writeLine(printable(answer));
  } catch (error) {
    process.exitCode = error instanceof BadUsage ? 2 : 1;
    tryToWrite(told(error), 2);
    if (!(error instanceof BadUsage)) return;
    for (const [command, [, usage]] of Object.entries(COMMANDS)) {
      tryToWrite(`usage: swarm_client.mjs ${command} ${usage}`, 2);
    }
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
    if (values.url !== undefined) new Swarm(values.url);
    return { ...values, operand: positionals[0] };
  } catch (error) {
    throw new BadUsage(error.message);
  }
}

if (process.argv[1] && fs.realpathSync(process.argv[1]) === fileURLToPath(import.meta.url)) {
  await main(process.argv.slice(2));
}
