/**
 * What the checks of pages in a real browser share: the browser, the validator, axe, and what was found wrong. The libraries
 * are those in SWARM_NODE_TOOLS.
 */
import { createRequire } from 'node:module';
import { readFileSync } from 'node:fs';

const require = createRequire(`${process.env.SWARM_NODE_TOOLS}/`);
const { chromium } = require('playwright-core');
const { HtmlValidate } = require('html-validate');
const axe = readFileSync(require.resolve('axe-core/axe.min.js'), 'utf8');

/** Whether every page is looked at in every window; otherwise one page of each template, in the narrowest and a wide one. */
export const EVERYTHING = process.env.SWARM_EVERY_PAGE === '1';
export const WIDTHS = EVERYTHING ? [320, 390, 768, 1200, 1600] : [320, 1200];
export const LARGEST = 50 * 1024;

export const origin = new URL(process.argv[2]).origin;

const wrong = [];
export const complain = (path, text) => wrong.push(`${path}: ${text}`);

/** Prints what was found wrong, a line each, and the paths that were looked at. */
export async function report(paths) {
  await browser.close();
  for (const line of wrong) console.log(`wrong: ${line}`);
  for (const path of paths) console.log(path);
}

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
    // Boxes of one name are a list.
    'form-dup-name': ['error', { shared: ['checkbox', 'radio', 'submit', 'button', 'reset'] }],
  },
});

/** The pages to look at: of those whose paths differ only in ids, unless everything is looked at, the longest. */
export function chosen(pages) {
  if (EVERYTHING) return pages;
  const longest = new Map();
  for (const page of pages) {
    const { pathname, searchParams } = new URL(page.path, origin);
    const template = pathname.replace(/^((?:\/[a-z.]+)*?\/(?:sessions|members|subjects|takes|memos|committee))\/[^/]+/, '$1/*');
    const key = `${template}?${[...searchParams.keys()]}`;
    if (!(longest.get(key)?.text.length >= page.text.length)) longest.set(key, page);
  }
  return [...longest.values()];
}

/** Validates the HTML of a page. */
export async function validate(path, text) {
  const { results } = await validator.validateString(text);
  for (const { ruleId, message, line } of results.flatMap((result) => result.messages)) {
    complain(path, `html-validate: ${ruleId}: ${message}: ${text.split('\n')[line - 1]}`);
  }
}

export const browser = await chromium.launch({
  executablePath: process.env.SWARM_CHROMIUM ?? '/usr/bin/chromium',
  args: ['--no-sandbox', '--disable-gpu', '--disable-background-networking'],
});

/** A window, in which no page asks for anything from elsewhere or says anything. */
export async function openWindow(options) {
  const context = await browser.newContext(options);
  const page = await context.newPage();
  page.on('request', (request) => {
    if (!request.url().startsWith(`${origin}/`)) complain(page.url(), `asked for ${request.url()}`);
  });
  page.on('dialog', (dialog) => complain(page.url(), `said ${dialog.message()}`));
  return page;
}

/** The one page with a script. */
const isVerifier = (path) => new URL(path, origin).pathname === '/verify';

/** Opens a page: it is not wider than its window, and nothing on it runs. */
export async function look(page, path, at) {
  await page.goto(origin + path);
  const seen = await page.evaluate(() => ({
    over: document.documentElement.scrollWidth - window.innerWidth,
    title: document.title,
    scripts: document.scripts.length,
  }));
  if (seen.over > 0) complain(path, `${seen.over} px too wide at ${at}`);
  if (seen.scripts !== (isVerifier(path) ? 1 : 0) || seen.title === 'owned') complain(path, 'a script');
}

/** One page, to axe: which needs scripts, that the pages' policy keeps from everybody else. */
export async function examine(page, path, at) {
  await page.goto(origin + path);
  await page.evaluate(axe);
  const tags = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'];
  const { violations } = await page.evaluate((tags) => window.axe.run({ runOnly: tags, resultTypes: ['violations'] }), tags);
  for (const { id, nodes } of violations) {
    complain(path, `axe: ${id} at ${at}: ${nodes[0].html} ${nodes[0].failureSummary}`);
  }
}
