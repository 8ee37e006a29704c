/**
 * Reads the console of a server in a real browser: `node console.mjs URL TOKEN`, with the libraries in SWARM_NODE_TOOLS.
 * Prints what it found wrong, a line each, and last the paths that it looked at.
 *
 * It signs in, aggregates a session and signs out by keyboard alone. The text of each page is valid HTML. With
 * SWARM_EVERY_PAGE=1 each page, otherwise one of each template, is looked at in windows of several widths, light and dark,
 * and at 200 % text, scripts off: nothing runs, nothing is wider than the window, and axe finds no barrier.
 */
import {
  LARGEST, WIDTHS, browser, chosen, complain, examine, look, openWindow, origin, report, validate,
} from './browser.mjs';

const [, , , token, shots] = process.argv;

/** Tabs to the first element that this function of the page accepts, and says how often. */
async function tabTo(page, accepts, argument) {
  for (let times = 1; times <= 200; times += 1) {
    await page.keyboard.press('Tab');
    if (await page.evaluate(accepts, argument)) return times;
  }
  throw new Error(`not reached by Tab on ${page.url()}: ${argument}`);
}
const isButton = (text) => document.activeElement.tagName === 'BUTTON' && document.activeElement.textContent === text;
const isField = (name) => document.activeElement.name === name;
const isLink = (text) => document.activeElement.tagName === 'A' && document.activeElement.textContent === text;

const isSummary = (text) => document.activeElement.tagName === 'SUMMARY' && document.activeElement.textContent === text;

/** Whether what has the focus is seen to have it. */
const isOutlined = () => getComputedStyle(document.activeElement).outlineStyle !== 'none';

/** Signs in, gets the session of this subject to its end and signs out, by keyboard alone. */
async function byKeyboard() {
  const context = await browser.newContext({ viewport: { width: 1200, height: 900 } });
  const page = await context.newPage();
  await page.goto(`${origin}/operate`);
  await tabTo(page, isField, 'token');
  await page.keyboard.type(token);
  await Promise.all([page.waitForNavigation(), page.keyboard.press('Enter')]);
  await tabTo(page, isLink, 'Sessions');
  if (!(await page.evaluate(isOutlined))) complain('/operate', 'no focus to be seen');
  await Promise.all([page.waitForNavigation(), page.keyboard.press('Enter')]);
  await tabTo(page, isLink, 'Aurora');
  await Promise.all([page.waitForNavigation(), page.keyboard.press('Enter')]);
  // The key Enter in a field sends none of the acts.
  await tabTo(page, isField, 'note');
  await page.keyboard.type('by keyboard');
  const { pathname } = new URL(page.url());
  await page.keyboard.press('Enter');
  await page.waitForTimeout(300);
  if (new URL(page.url()).pathname !== pathname) complain(pathname, 'the key Enter in the note sent a form');
  await tabTo(page, isSummary, 'Compute the result');
  await page.keyboard.press('Enter');
  await tabTo(page, isButton, 'Compute the result');
  await Promise.all([page.waitForNavigation(), page.keyboard.press('Enter')]);
  if (!(await page.textContent('h1')).includes('Compute the result?')) complain(page.url(), 'no question before the result');
  if (shots) await page.screenshot({ path: `${shots}/confirm.png`, fullPage: true });
  await tabTo(page, isField, 'token');
  await page.keyboard.type(token);
  await Promise.all([page.waitForNavigation(), page.keyboard.press('Enter')]);
  const notice = await page.textContent('[role=status]');
  if (!notice.includes('The result is computed')) complain(page.url(), `said ${notice}`);
  await tabTo(page, isButton, 'Sign out');
  await Promise.all([page.waitForNavigation(), page.keyboard.press('Enter')]);
  await page.waitForSelector('input[type=password]');
  await context.close();
}

/** All pages that the console leads to, by links alone. */
async function crawl(page) {
  const found = new Set(['/operate']);
  const pages = [];
  for (const path of found) {
    const answer = await page.goto(origin + path);
    const text = await answer.text();
    if (answer.status() !== 200) complain(path, `${answer.status()}`);
    pages.push({ path, text });
    const links = await page.evaluate(() => [...document.querySelectorAll('a[href]')].map((a) => a.href));
    for (const link of links.map((href) => new URL(href))) {
      const to = link.pathname + link.search;
      if (link.origin === origin && link.pathname.startsWith('/operate')) found.add(to);
      else if (link.origin !== origin) complain(path, `leads to ${link.href}`);
    }
  }
  return pages;
}

async function signedIn(options) {
  const page = await openWindow(options);
  await page.goto(`${origin}/operate`);
  await page.fill('input[type=password]', token);
  await Promise.all([page.waitForNavigation(), page.click('main button')]);
  return page;
}

/** One page in one window: what is pressed on it is large enough. */
async function lookAtTargets(page, path, at) {
  await look(page, path, at);
  // What is folded is looked at too.
  const over = await page.evaluate(() => {
    for (const fold of document.querySelectorAll('details')) fold.open = true;
    return document.documentElement.scrollWidth - window.innerWidth;
  });
  if (over > 0) complain(path, `${over} px too wide at ${at}, unfolded`);
  const small = await page.evaluate(() => [...document.querySelectorAll('main button:not([hidden]), main input:not([type=hidden]), main select')]
    .filter((element) => element.checkVisibility())
    .map((element) => (element.closest('label') ?? element).getBoundingClientRect())
    .filter(({ width, height }) => width < 24 || height < 24).length);
  if (small) complain(path, `${small} targets under 24 px at ${at}`);
}

try {
  await byKeyboard();
} catch (error) {
  complain('keyboard', error.message);
}
const everyPage = await crawl(await signedIn({ javaScriptEnabled: true }));
const styles = await Promise.all(['style', 'console'].map(async (name) => (await (await fetch(`${origin}/swarm/${name}.css`)).text()).length));
const size = styles.reduce((sum, length) => sum + length, 0);
for (const { path, text } of everyPage) {
  if (text.length + size > LARGEST) complain(path, `${text.length + size} bytes with styles`);
  await validate(path, text);
}
const pages = chosen(everyPage);
for (const colorScheme of ['light', 'dark']) {
  for (const width of WIDTHS) {
    const page = await signedIn({ viewport: { width, height: 900 }, colorScheme, javaScriptEnabled: false });
    for (const { path } of pages) {
      await lookAtTargets(page, path, `${width} ${colorScheme}`);
      if (shots && (width === 390 || width === 1200)) {
        await page.screenshot({ path: `${shots}/${path.replace(/\W+/g, '_')}-${width}-${colorScheme}.png`, fullPage: true });
      }
    }
    await page.context().close();
  }
  const page = await signedIn({ viewport: { width: 390, height: 900 }, colorScheme });
  for (const { path } of pages) await examine(page, path, `390 ${colorScheme}`);
  // Who reviews applications on a phone sees each of them whole.
  await page.goto(`${origin}/operate/applications`);
  const hidden = await page.evaluate(() => {
    const table = document.querySelector('main .table');
    return table.scrollWidth - table.clientWidth;
  });
  if (hidden > 0) complain('/operate/applications', `${hidden} px of the table are hidden at 390`);
  await page.context().close();
}
// Text at 200 %: half the width at twice the size.
const large = await signedIn({ viewport: { width: 640, height: 900 }, javaScriptEnabled: true });
for (const { path } of pages) {
  await large.goto(origin + path);
  const over = await large.evaluate(() => {
    document.documentElement.style.fontSize = '200%';
    return document.documentElement.scrollWidth - window.innerWidth;
  });
  if (over > 0) complain(path, `${over} px too wide at 200 %`);
}
await report(everyPage.map(({ path }) => path));
