/**
 * Reads all pages of a server in a real browser: `node pages.mjs URL`, with the libraries in
 * SWARM_NODE_TOOLS. Prints what it found wrong, a line each, and last the paths that it reached.
 *
 * The text of each page is valid HTML. With SWARM_EVERY_PAGE=1 each page, otherwise one of each template, is looked at in
 * windows of several widths, light and dark, scripts off: nothing runs, nothing is wider than the window, no request leaves
 * the server, and axe finds no barrier.
 */
import {
  EVERYTHING, LARGEST, WIDTHS, chosen, complain, examine, look, openWindow, origin, report, validate,
} from './browser.mjs';

const LARGEST_CHAPTER = 30 * 1024;

const only = process.argv[3]; // a part that paths must have to be looked at, for trying things

/** All addresses of this server that its pages lead to, each with the page it was found on. */
async function crawl() {
  const found = new Map([['/', 'the beginning']]);
  const pages = [];
  const sheets = new Map();
  const stylesOf = async (text) => {
    let size = 0;
    for (const [, href] of text.matchAll(/<link rel="stylesheet" href="([^"]*)"/g)) {
      if (!sheets.has(href)) sheets.set(href, (await (await fetch(origin + href)).text()).length);
      size += sheets.get(href);
    }
    return size;
  };
  for (const [path, from] of found) {
    const answer = await fetch(origin + path, { headers: { accept: 'text/html' }, redirect: 'manual' });
    const text = await answer.text();
    if (answer.status !== 200) {
      complain(path, `${answer.status}, linked from ${from}`);
      continue;
    }
    if (!answer.headers.get('content-type').startsWith('text/html')) continue;
    pages.push({ path, text });
    const size = text.length + await stylesOf(text);
    if (size > LARGEST) complain(path, `${size} bytes with styles`);
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

/** One page in one window: the texts of its charts can be read, and each part of a write-up has a direction of its own. */
async function lookAtTexts(page, path, at) {
  await look(page, path, at);
  const small = await page.evaluate(() => [...document.querySelectorAll('svg.chart text')]
    .filter((text) => text.getClientRects().length && parseFloat(getComputedStyle(text).fontSize) < 13).length);
  if (small) complain(path, `${small} texts of a chart under 13 px at ${at}`);
  const mixed = await page.evaluate(() => [...document.querySelectorAll('.prose :is(p, code)')].filter((part) => (
    getComputedStyle(part).unicodeBidi !== (part.matches('code') ? 'isolate' : 'plaintext'))).length);
  if (mixed) complain(path, `${mixed} parts of a write-up in the direction of others at ${at}`);
}

/** One page in forced colours: legend and scale keep their colours, there and in print, and a band hides no dots. */
async function lookForced(page, path) {
  await page.emulateMedia({ forcedColors: 'active' });
  await page.goto(origin + path);
  const lost = await page.evaluate(() => [...document.querySelectorAll('.legend span')].filter((span) => {
    const { forcedColorAdjust, printColorAdjust } = getComputedStyle(span, '::before');
    return forcedColorAdjust !== 'none' || printColorAdjust !== 'exact';
  }).length);
  if (lost) complain(path, 'a legend without colours');
  const plain = await page.evaluate(() => [...document.querySelectorAll('.scale li')]
    .filter((step) => getComputedStyle(step).forcedColorAdjust !== 'none').length);
  if (plain) complain(path, 'a scale without colours');
  const filled = await page.evaluate(() => [...document.querySelectorAll('.chart .dissent')]
    .filter((band) => getComputedStyle(band).fill !== 'none').length);
  if (filled) complain(path, 'a band that hides what is behind it');
}

/** One page in print: nothing that searches or sorts, and no summary of what is not printed. */
async function lookPrinted(page, path) {
  await page.emulateMedia({ media: 'print' });
  await page.goto(origin + path);
  const dead = await page.evaluate(() => [...document.querySelectorAll('.find, .sorts, details:not([open]) > summary')]
    .filter((part) => part.getClientRects().length && getComputedStyle(part).listStyleType !== 'none')
    .map((part) => part.outerHTML));
  if (dead.length) complain(path, `printed: ${dead[0]}`);
}

/** One page with text of twice the size: it is not wider than its window. */
async function lookLarge(page, path) {
  await page.goto(origin + path);
  const over = await page.evaluate(() => {
    document.documentElement.style.fontSize = '200%';
    return document.documentElement.scrollWidth - window.innerWidth;
  });
  if (over > 0) complain(path, `${over} px too wide with text of twice the size`);
}

const { pages, reached } = await crawl();
const seen = chosen(pages);
const titles = new Map();
for (const { path, text } of pages) {
  await validate(path, text);
  const title = text.match(/<title>([^<]*)/)[1];
  if (titles.has(title)) complain(path, `has the title of ${titles.get(title)}: ${title}`);
  titles.set(title, path);
}

async function inWindow(width, colorScheme, javaScriptEnabled, visit) {
  const page = await openWindow({ viewport: { width, height: 900 }, colorScheme, javaScriptEnabled });
  for (const { path } of seen) {
    if (!only || path.includes(only)) await visit(page, path, `${width} ${colorScheme}`);
  }
  await page.context().close();
}
for (const colorScheme of ['light', 'dark']) {
  for (const width of WIDTHS) await inWindow(width, colorScheme, false, lookAtTexts);
  for (const width of EVERYTHING ? [390, 1200] : [390]) await inWindow(width, colorScheme, true, examine);
}
await inWindow(390, 'light', true, lookLarge);
// The legend is shown where the strips are.
await inWindow(1200, 'light', true, lookForced);
await inWindow(1200, 'light', true, lookPrinted);
await report(reached);
