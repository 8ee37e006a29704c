/**
 * The page of the verifier. Whatever comes from texts is set as text, never as markup.
 */
import { Verifier } from './verifier.js';

const MAX_BYTES = 64 * 1024 * 1024;

const part = (id) => document.getElementById(id);

/** `verifier.wasm` inside of this file, or null on a page of a service. */
const embedded = part('wasm');
/** The address of the service, or null in a file of its own. */
const service = embedded ? null : new URL('..', import.meta.url);

let verifier;
/** The verifier, which is loaded once. */
function loaded() {
  verifier ??= Verifier.load(embedded
    ? Uint8Array.from(atob(embedded.textContent), (character) => character.charCodeAt(0))
    : fetch(new URL('verifier.wasm', import.meta.url)));
  return verifier;
}

/** Files and answers of the service, besides the texts in the form: `{ name, bytes, isServed }`. */
let given = [];
/** The key of the log that the service names. */
let servedKey;
/** What the service was asked for: `{ session }` or `{ take }`, by id. */
let wanted = {};
/** The number of the latest verification; an earlier one that ends later shows nothing. */
let latest = 0;

function element(name, text, kind) {
  const made = document.createElement(name);
  if (text) made.textContent = text;
  if (kind) made.className = kind;
  return made;
}

function showGiven() {
  part('given').replaceChildren(...given.map((input) => {
    const row = element('li');
    const remove = element('button', 'Remove');
    remove.type = 'button';
    remove.setAttribute('aria-label', `Remove ${input.name}`);
    remove.addEventListener('click', () => {
      given = given.filter((other) => other !== input);
      showGiven();
    });
    row.append(element('bdi', input.name), ` ${input.bytes.byteLength} bytes `, remove);
    return row;
  }));
}

/** Takes files in place of what the service answered, and beside one other file. */
async function take(files) {
  given = given.filter(({ isServed }) => !isServed);
  if (given.length + files.length > 2) given = [];
  let size = given.reduce((size, { bytes }) => size + bytes.byteLength, 0);
  for (const file of files) {
    size += file.size;
    if (size > MAX_BYTES) {
      show({ status: 2, error: 'the texts are too large: swarm verify reads them' });
      return;
    }
    given.push({ name: file.name, bytes: await file.arrayBuffer() });
  }
  showGiven();
  await verifyGiven();
}

/** What is verified: files and answers, then the texts in the form. */
function inputs() {
  const texts = [part('text').value, part('other').value].filter((text) => text.trim());
  return [...given.map(({ bytes }) => bytes), ...texts];
}

/** Whether an input is a receipt, perhaps after a byte order mark. */
const startsWithHttp = (input) => (typeof input === 'string' ? input
  : new TextDecoder().decode(new Uint8Array(input, 0, Math.min(8, input.byteLength)))).replace(/^\ufeff/, '').startsWith('HTTP/');

/** The options in the form. */
function options(texts) {
  // It is the key of what this service answered, and of nothing else.
  const isServed = texts.length === given.length && given.every((input) => input.isServed);
  const found = isServed ? { servedKey, ...wanted } : {};
  for (const [name, id] of [['key', 'key'], ['memberKey', 'member-key'], ['members', 'members'], ['policy', 'policy']]) {
    found[name] = part(id).value.trim() || undefined;
  }
  if (texts.some(startsWithHttp)) found.request = part('request').value.trim();
  return found;
}

async function verify() {
  latest += 1;
  const number = latest;
  const texts = inputs();
  if (texts.length === 0) {
    show({ status: 2, error: 'there is nothing to verify' });
    return;
  }
  part('verdict').textContent = 'Verifying …';
  part('report').hidden = false;
  const report = await loaded().then((it) => it.verify(texts, options(texts)))
    .catch((error) => ({ status: 2, error: `the verifier gave up: ${error.message}` }));
  if (number === latest) show(report);
}

/** Verifies what the reader gave, and shows below the form what was found. */
async function verifyGiven() {
  part('verifier').after(part('report'));
  await verify();
  if (part('lines').getBoundingClientRect().top > innerHeight / 2) part('report').scrollIntoView();
}

/** A report in a sentence. */
function summary(report) {
  const { verified, lines, error } = report;
  if (error !== undefined) return `Nothing was verified: ${error}`;
  const number = (verdict) => lines.filter((line) => line.verdict === verdict).length;
  const fails = number('fails');
  const none = verified ? 'Nothing fails' : 'Nothing fails, and nothing was verified';
  const begins = fails === 0 ? none : `${fails} ${fails === 1 ? 'finding fails' : 'findings fail'}`;
  return `${begins}; ${number('notable')} notable, ${number('unproven')} unproven.`;
}

function show(report) {
  const status = report.status === 0 && !report.verified ? 2 : report.status;
  part('verdict').textContent = summary(report);
  part('verdict').className = ['holds', 'fails', 'unproven'][status] ?? 'holds';
  part('lines').replaceChildren(...(report.lines ?? []).map(({ verdict, text }) => {
    if (!verdict) return element('li', text, 'said');
    // A line begins with its verdict, but where it says it in other words.
    const begins = text.startsWith(`${verdict}: `);
    const row = element('li', '', verdict);
    row.append(element('strong', verdict), ' ', element('span', begins ? text.slice(verdict.length + 2) : text));
    return row;
  }));
  part('report').hidden = false;
}

/** The bytes that the service answers at a path; throws if it refuses. */
async function read(path) {
  const answer = await fetch(new URL(path, service), { headers: { accept: 'application/json, text/plain;q=0.9' } });
  if (!answer.ok) throw new Error(`${answer.status} for ${path}`);
  return { name: path, bytes: await answer.arrayBuffer(), isServed: true };
}

/** Verifies the session or the take of this service that the address names, if it names one. */
async function asked() {
  const parameters = new URLSearchParams(location.search);
  const id = (name) => (/^[1-9][0-9]{0,15}$/.test(parameters.get(name) ?? '') ? parameters.get(name) : null);
  const [session, number] = [id('session'), id('take')];
  if (!session && !number) return;
  part('verifier').before(part('report'));
  const manifest = JSON.parse(new TextDecoder().decode((await read('.well-known/swarm.json')).bytes));
  servedKey = typeof manifest.logKey === 'string' ? manifest.logKey : undefined;
  wanted = session ? { session } : { take: number };
  if (session) {
    given = [await read(`api/swarm/sessions/${session}/bundle`)];
  } else {
    given = [await read(`api/swarm/takes/${number}`)];
    const record = JSON.parse(new TextDecoder().decode(given[0].bytes));
    if (servedKey && record.signature) given.push(await read(`api/swarm/takes/${number}/proof`));
  }
  showGiven();
  await verify();
}

part('verifier').hidden = false;
part('verifier').addEventListener('submit', (event) => {
  event.preventDefault();
  verifyGiven();
});
part('files').addEventListener('change', async ({ target }) => {
  await take(target.files);
  target.value = '';
});
document.addEventListener('dragover', (event) => event.preventDefault());
document.addEventListener('drop', (event) => {
  event.preventDefault();
  take(event.dataTransfer.files);
});
if (service) asked().catch((error) => show({ status: 2, error: error.message }));
