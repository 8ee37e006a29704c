/**
 * The verifier in a real browser: `node verifier.mjs URL FOLDER`, with the libraries in SWARM_NODE_TOOLS. FOLDER has `cases.json`,
 * the files that it names, `verify.html`, and `package/`, which is `examples/npm-verifier` as it is packed.
 *
 * Prints what it found wrong, a line each, and what each page said, as JSON.
 */
import { readFileSync } from 'node:fs';
import { pathToFileURL } from 'node:url';

import { browser, complain, openWindow, origin, report } from './browser.mjs';

const folder = process.argv[3];
const cases = JSON.parse(readFileSync(`${folder}/cases.json`, 'utf8'));
const said = [];

/** What the page found: its lines as `swarm verify` prints them, after the verdict in words. */
async function found(page) {
  await page.waitForFunction(() => document.querySelector('#verdict').textContent
    && !document.querySelector('#verdict').textContent.startsWith('Verifying'));
  return page.evaluate(() => ({
    verdict: document.querySelector('#verdict').textContent,
    lines: [...document.querySelectorAll('#lines > li')].map((row) => (row.className === 'said' ? row.textContent
      : `${row.className}: ${row.querySelector('span').textContent}`)),
    elements: [...new Set([...document.querySelectorAll('#lines *')].map((it) => it.localName))].join(),
    over: document.documentElement.scrollWidth - window.innerWidth,
    title: document.title,
  }));
}

/** Opens a page, and gives it each case in a form of its own. */
async function giveEach(page, name, address) {
  for (const { title, files, pasted, fields } of cases) {
    await page.goto(address);
    await page.evaluate(() => document.querySelectorAll('details').forEach((it) => { it.open = true; }));
    for (const [id, text] of Object.entries(fields)) await page.fill(`#${id}`, text);
    for (const [id, file] of Object.entries(pasted)) await page.fill(`#${id}`, readFileSync(`${folder}/${file}`, 'utf8'));
    if (files.length) await page.setInputFiles('#files', files.map((file) => `${folder}/${file}`));
    else await page.click('form:not([role=search]) button[type=submit]');
    const { elements, over, title: shown, ...lines } = await found(page);
    if (elements.replace('li,strong,span', '').replace('li', '')) complain(name, `${title}: elements ${elements}`);
    if (over > 0) complain(name, `${title}: ${over} px too wide`);
    if (shown === 'owned') complain(name, `${title}: a script ran`);
    said.push({ page: name, title, ...lines });
  }
}

// The page of the service, narrow, and in the dark.
const page = await openWindow({ viewport: { width: 390, height: 900 }, colorScheme: 'dark' });
page.on('pageerror', (error) => complain('/verify', error.message));
page.on('console', (message) => message.type() === 'error' && complain('/verify', message.text()));
await giveEach(page, '/verify', `${origin}/verify`);
for (const asked of ['session=1', 'take=1', 'take=1&session=1']) {
  await page.goto(`${origin}/verify?${asked}`);
  const { verdict, lines } = await found(page);
  said.push({ page: '/verify', title: asked, verdict, lines });
}

// The key that the service names is of what the service answered, and of nothing else.
await page.setInputFiles('#files', `${folder}/bundle.json`);
await page.waitForFunction(() => document.querySelectorAll('#given > li').length === 1);
await page.waitForFunction(() => document.querySelector('#lines').textContent.includes('name the key of the log with --key'));

// A file of the package, as a page of this origin loads it.
await page.route('**/package/*', (route) => {
  const name = new URL(route.request().url()).pathname.split('/').pop();
  const contentType = name.endsWith('.wasm') ? 'application/wasm' : 'text/javascript';
  return route.fulfill({ body: readFileSync(`${folder}/package/${name}`), contentType });
});
await page.goto(`${origin}/verify`);
const { files: [bundle], fields: { key } } = cases[0];
said.push({
  page: 'package',
  title: cases[0].title,
  ...await page.evaluate(async ([text, key]) => {
    const { verify } = await import('/package/index.js');
    const { status, lines } = await verify([text], { key });
    return { verdict: String(status), lines: lines.map((line) => line.text) };
  }, [readFileSync(`${folder}/${bundle}`, 'utf8'), key]),
});

// Without a script: the commands, and no form.
const plain = await openWindow({ viewport: { width: 390, height: 900 }, javaScriptEnabled: false });
await plain.goto(`${origin}/verify?session=1`);
if (await plain.isVisible('#verifier')) complain('/verify', 'a form that needs a script is shown without one');
if (!await plain.isVisible('pre')) complain('/verify', 'no commands are shown');

// The one file, from the disk and without a network.
const context = await browser.newContext({ viewport: { width: 390, height: 900 }, offline: true });
const file = await context.newPage();
const address = pathToFileURL(`${folder}/verify.html`).href;
file.on('request', (request) => request.url() !== address && complain('verify.html', `asked for ${request.url()}`));
file.on('pageerror', (error) => complain('verify.html', error.message));
file.on('console', (message) => message.type() === 'error' && complain('verify.html', message.text()));
await giveEach(file, 'verify.html', address);
file.removeAllListeners();
await context.setOffline(false);
const reached = await file.evaluate((url) => fetch(url, { mode: 'no-cors' }).then(() => 'reached', () => 'not reached'), origin);
if (reached !== 'not reached') complain('verify.html', 'its policy lets it reach the network');

await report(said.map((line) => JSON.stringify(line)));
