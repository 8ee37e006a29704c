/**
 * Reads all pages of a server in a real browser: `node pages.mjs URL`, with the libraries in
 * NODE_PATH. Prints what it found wrong, a line each, and last the paths that it reached.
 *
 * Each page is checked in five widths, light and dark, scripts off: nothing runs, nothing is wider
 * than the window, no request leaves the server. Its text is valid HTML, and axe finds no barrier.
 */
import { createRequire } from 'node:module';
import { readFileSync } from 'node:fs';

const require = createRequire(`${process.env.SWARM_NODE_TOOLS}/`);
const { chromium } = require('playwright-core');
const { HtmlValidate } = require('html-validate');
const axe = readFileSync(require.resolve('axe-core/axe.min.js'), 'utf8');

const WIDTHS = [320, 390, 768, 1200, 1600];
const LARGEST = 50 * 1024;
const LARGEST_CHAPTER = 30 * 1024;

const validator = new HtmlValidate({
  extends: ['html-validate:recommended'],
  rules: {
    // Templates leave line ends where parts of them are left out.
    'no-trailing-whitespace': 'off',
    // `<!doctype html>` is as good as in capitals.
    'doctype-style': 'off',
    // Parts of a page have lists and breadcrumbs; browsers do not ask for more.
    'prefer-native-element': 'off',
    // It counts what is escaped as it is written; titles are clipped as they are read.
    'long-title': 'off',
  },
});

const origin = new URL(process.argv[2]).origin;
const only = process.argv[3]; // a part that paths must have to be looked at, for trying things
const wrong = [];
const complain = (path, text) => wrong.push(`${path}: ${text}`);

/** All addresses of this server that its pages lead to, each with the page it was found on. */
async function crawl() {
  const found = new Map([['/', 'the beginning']]);
  const pages = [];
  const style = (await (await fetch(`${origin}/swarm/style.css`)).text()).length;
  for (const [path, from] of found) {
    const answer = await fetch(origin + path, { headers: { accept: 'text/html' }, redirect: 'manual' });
    const text = await answer.text();
    if (answer.status !== 200) {
      complain(path, `${answer.status}, linked from ${from}`);
      continue;
    }
    if (!answer.headers.get('content-type').startsWith('text/html')) continue;
    pages.push({ path, text });
    if (text.length + style > LARGEST) complain(path, `${text.length + style} bytes with styles`);
    if (path.startsWith('/docs') && text.length > LARGEST_CHAPTER) complain(path, `${text.length} bytes`);
    const again = await fetch(origin + path, { headers: { accept: 'text/html', 'if-none-match': answer.headers.get('etag') } });
    await again.text();
    if (again.status !== 304 && path.startsWith('/swarm/takes/')) complain(path, `${again.status} to its ETag`);
    for (const [, href] of text.matchAll(/<(?:a|link)\b[^>]*? href="([^"]*)"/g)) {
      const to = new URL(href.replaceAll('&amp;', '&').replaceAll('&#38;', '&'), origin + path);
      const key = to.pathname + to.search;
      if (to.origin === origin && !found.has(key)) found.set(key, path);
    }
  }
  return { pages, reached: [...found.keys()] };
}

/** One page in one window. */
async function look(page, path, width, scheme) {
  await page.goto(origin + path);
  const seen = await page.evaluate(() => ({
    over: document.documentElement.scrollWidth - window.innerWidth,
    title: document.title,
    scripts: document.scripts.length,
    small: [...document.querySelectorAll('svg.chart text')]
      .filter((text) => text.getClientRects().length && parseFloat(getComputedStyle(text).fontSize) < 13).length,
  }));
  if (seen.over > 0) complain(path, `${seen.over} px too wide at ${width}`);
  if (seen.scripts || seen.title === 'owned') complain(path, 'a script');
  if (seen.small) complain(path, `${seen.small} texts of a chart under 13 px at ${width}`);
}

/** One page, to axe: which needs scripts, that the pages' policy keeps from everybody else. */
async function examine(page, path, width, scheme) {
  await page.goto(origin + path);
  await page.evaluate(axe);
  const tags = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'];
  const { violations } = await page.evaluate((tags) => window.axe.run({ runOnly: tags, resultTypes: ['violations'] }), tags);
  for (const { id, nodes } of violations) {
    complain(path, `axe: ${id} at ${width} ${scheme}: ${nodes[0].html} ${nodes[0].failureSummary}`);
  }
}

const { pages, reached } = await crawl();
const titles = new Map();
for (const { path, text } of pages) {
  const report = await validator.validateString(text);
  for (const { ruleId, message, line } of report.results.flatMap((result) => result.messages)) {
    complain(path, `html-validate: ${ruleId}: ${message}: ${text.split('\n')[line - 1]}`);
  }
  const title = text.match(/<title>([^<]*)/)[1];
  if (titles.has(title)) complain(path, `has the title of ${titles.get(title)}: ${title}`);
  titles.set(title, path);
}

const browser = await chromium.launch({
  executablePath: process.env.SWARM_CHROMIUM ?? '/usr/bin/chromium',
  args: ['--no-sandbox', '--disable-gpu', '--disable-background-networking'],
});
async function inWindow(width, colorScheme, javaScriptEnabled, visit) {
  const viewport = { width, height: 900 };
  const context = await browser.newContext({ viewport, colorScheme, javaScriptEnabled });
  const page = await context.newPage();
  page.on('request', (request) => {
    if (!request.url().startsWith(`${origin}/`)) complain(page.url(), `asked for ${request.url()}`);
  });
  page.on('dialog', (dialog) => complain(page.url(), `said ${dialog.message()}`));
  for (const { path } of pages) {
    if (!only || path.includes(only)) await visit(page, path, width, colorScheme);
  }
  await context.close();
}
for (const colorScheme of ['light', 'dark']) {
  for (const width of WIDTHS) await inWindow(width, colorScheme, false, look);
  for (const width of [390, 1200]) await inWindow(width, colorScheme, true, examine);
}
await browser.close();
for (const line of wrong) console.log(`wrong: ${line}`);
for (const path of reached) console.log(path);
