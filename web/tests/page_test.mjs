// SPDX-License-Identifier: Apache-2.0
// The page in a browser: from a task to an answer by clicks and by keys, in all views, narrow and wide, light and dark.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { after, before, beforeEach, test } from 'node:test';
import { browser as launch, chromium, page as folder, required } from './page.mjs';
import { kHostile, standIn } from './stand_in.mjs';

if (!chromium) {
  console.log('skipped: no Chromium (Debian: chromium-headless-shell; or D5_CHROMIUM=FILE)');
  process.exit(4);
}

const axe = readFileSync(required.resolve('axe-core/axe.min.js'), 'utf8');
const kWide = { width: 1280, height: 900 };
const kNarrow = { width: 375, height: 800 };
const servers = [];
let browser, server, runs, job;
let said = [];

/** Ends with the tests, whatever becomes of them. */
async function stand(options) {
  servers.push(await standIn(folder, options));
  return servers.at(-1);
}

before(async () => {
  browser = await launch();
  server = await stand({ step: 25 });
  runs = (await (await fetch(`${server.address}/v1/runs`)).json()).items.map(({ id }) => id);
  const manifest = 'models: [efficientnet-lite0@1.0.0]\nframeworks: [torch]\nscenarios: [single_stream]\nqueries: 7';
  job = await (await fetch(`${server.address}/v1/jobs`, { method: 'POST', body: JSON.stringify({ manifest, on: 'all' }) })).json();
});
after(async () => {
  await browser?.close();
  for (const one of servers) one.close();
});
beforeEach(() => (said = []));

/** A tab that keeps what the console hears, and asks for nothing from elsewhere. */
async function tab(address, { viewport = kWide, colorScheme = 'light', at = server } = {}) {
  const context = await browser.newContext({ viewport, colorScheme, reducedMotion: 'reduce' });
  const page = await context.newPage();
  page.setDefaultTimeout(30_000); // long enough for a machine that others use, too
  page.on('console', (message) => said.push(message.text()));
  page.on('pageerror', (error) => said.push(error.message));
  page.on('request', (request) => request.url().startsWith(at.address) || said.push(`asked for ${request.url()}`));
  page.asked = 0; // requests not yet answered; streams of events never are
  const counts = (request) => !request.url().endsWith('/events');
  page.on('request', (request) => (page.asked += counts(request)));
  for (const over of ['requestfinished', 'requestfailed']) page.on(over, (request) => (page.asked -= counts(request)));
  await page.goto(`${at.address}/#${address}`);
  await page.locator('main h1').waitFor();
  return page;
}
const quiet = () => assert.deepEqual(said, []);

/** Everything that a view loads by itself has come. */
async function settled(page, address) {
  await page.waitForFunction((at) => document.querySelector('main').getAttribute('data-at')?.startsWith(at), address);
  while (page.asked > 0) await page.waitForTimeout(10);
  await page.waitForFunction(() => [...document.querySelectorAll('.canvas')].every((canvas) => canvas.querySelector('canvas')));
}

test('by clicks from a task to an answer on two machines', async () => {
  const page = await tab('/');
  await page.getByRole('link', { name: 'Evaluate efficientnet-lite0' }).click();
  await page.getByRole('checkbox', { name: 'torch' }).check();
  assert.deepEqual(await page.locator('input[name=framework]').evaluateAll((all) => all.map(({ value }) => value)), ['onnxruntime:session', 'onnxruntime:session', 'reference', 'torch']); // what machines run: no openvino
  assert.equal(await page.getByRole('checkbox', { name: /^recorded/ }).count(), 0); // a server takes no file's name
  await page.getByRole('checkbox', { name: /^poisson/ }).check();
  await page.getByLabel('rate', { exact: true }).fill('40');
  assert.match(await page.getByRole('region', { name: 'As a manifest' }).innerText(), /^scenarios: \[single_stream, \{name: poisson, rate: 40\}\]$/m);
  assert.match(page.url(), /scenario=single_stream%2Cpoisson.*option\.poisson\.rate=40/);
  await page.reload(); // the address holds what is chosen
  assert.equal(await page.getByLabel('rate', { exact: true }).inputValue(), '40');
  await page.getByRole('checkbox', { name: 'poisson' }).uncheck();
  await page.getByRole('radio', { name: 'All that fit' }).check();
  await page.getByText("it has no framework 'torch'").waitFor(); // why one of three does not fit
  assert.equal(await page.locator('.machines .fits').count(), 2);
  assert.match(await page.getByRole('region', { name: 'As a manifest' }).innerText(), /^models: \[efficientnet-lite0@1\.0\.0\]$/m);
  assert.match(await page.getByRole('region', { name: 'As a command' }).innerText(), /^d5 eval run efficientnet-lite0@1\.0\.0 --framework torch --scenario single_stream --batch 1 --server http:/);
  await page.getByRole('button', { name: 'Run it' }).click();
  await page.getByRole('link', { name: 'Compare the machines' }).waitFor();
  assert.equal(await page.locator('.way .now').innerText(), '✓done');
  await page.locator('tr', { hasText: 'rack-a-1' }).getByRole('link', { name: 'Show results' }).click();
  await page.getByRole('heading', { name: 'efficientnet-lite0@1.0.0' }).waitFor();
  // Numbers of d5's own table of this run.
  assert.match(await page.locator('tr', { hasText: '22.87 ms' }).first().innerText(), /\[22\.62, 23\.12\][^]*24\.5 ms[^]*51\.4 ms[^]*42\.0 sample\/s[^]*passed/);
  await page.getByText('15 wrong answers of 200 samples, and more').waitFor();
  await page.getByRole('button', { name: 'More' }).click();
  await page.getByText('21 wrong answers of 200 samples').waitFor();
  const card = page.locator('.answer-card', { hasText: 'Sample 21' });
  assert.match(await card.innerText(), /n01910747_jellyfish\.JPEG\s+Right: class 107/);
  await card.locator('canvas:not([hidden])').waitFor();
  await page.goBack();
  await page.getByRole('link', { name: 'Compare the machines' }).waitFor(); // each view has its address
  quiet();
  await page.context().close();
});

test('by keys alone', async () => {
  const page = await tab('/start?task=face+detection');
  const press = async (...keys) => {
    for (const key of keys) await page.keyboard.press(key);
  };
  await page.keyboard.press('Tab');
  assert.equal(await page.evaluate(() => document.activeElement.textContent), 'Skip to the content');
  await press('Enter', 'Tab', 'ArrowDown'); // the other task
  assert.equal(await page.evaluate(() => document.activeElement.value), 'image classification');
  await press('Tab', 'Space', 'Tab', 'Tab', 'Tab', 'Tab', 'Tab', 'Space'); // the first model, the fourth framework
  assert.match(page.url(), /model=efficientnet-lite0%401\.0\.0&framework=torch/);
  await page.getByRole('button', { name: 'Run it' }).press('Enter');
  await page.locator('.state.done').first().waitFor();
  await page.goto(`${server.address}/#/runs/${runs.at(-2)}/timeline`);
  await page.locator('canvas').focus();
  await press('ArrowDown', 'ArrowDown', 'n', 'ArrowDown', 'Enter', '+', 'ArrowRight');
  assert.deepEqual(await page.locator('.path').innerText(), 'request › batch › prepare');
  await press('0', 'Escape');
  assert.equal(await page.locator('.path').count(), 0);
  quiet();
  await page.context().close();
});

test('a column sorts, up and down, and what is missing stays last', async () => {
  const page = await tab(`/runs/${runs.at(-1)}`);
  const column = () => page.locator('table[aria-label=Scenarios] tbody tr td:nth-child(4)').allInnerTexts();
  await page.getByRole('button', { name: 'Median' }).press('Enter');
  assert.deepEqual((await column()).map((text) => text.split('\n')[0]), ['7.60 ms', '7.83 ms', '22.87 ms', '23.37 ms']);
  await page.getByRole('button', { name: 'Median' }).click();
  assert.equal((await column())[0].split('\n')[0], '23.37 ms');
  quiet();
  await page.context().close();
});

test('a job is cancelled and tried again, and lines that break are mended', async () => {
  const slow = await stand({ step: 200, words: 2 });
  const page = await tab('/start?task=image+classification&model=efficientnet-lite0%401.0.0&framework=torch&scenario=single_stream', { at: slow });
  await page.getByRole('button', { name: 'Run it' }).click();
  const part = page.getByRole('table', { name: 'Machines of the job' }).locator('tbody tr');
  await part.getByText(/waiting for a free machine|the machine starts it|opening data set and model/).waitFor(); // before the machine says anything
  await page.locator('.way .now', { hasText: 'running' }).waitFor();
  await part.getByText(/^for \d+ s$/).waitFor();
  slow.cut();
  await page.getByText('accuracy: 200 of 200 samples').first().waitFor(); // told after the line was cut
  await page.getByRole('progressbar', { name: 'accuracy: 200 of 200 samples' }).waitFor();
  const words = await page.locator('.log li').allInnerTexts();
  assert.equal(new Set(words.map((text) => text.replace(/^\S+\s/, ''))).size, words.length, 'nothing is heard twice');
  await page.getByRole('button', { name: 'Cancel' }).click();
  await page.locator('.way .now', { hasText: 'cancelled' }).waitFor();
  const lost = page.url();
  await page.getByRole('button', { name: 'Try again' }).press('Enter');
  await page.waitForURL((url) => url.href !== lost);
  await page.locator('.way .now', { hasText: 'running' }).waitFor(); // a job of its own
  assert.equal(await page.getByRole('button', { name: 'Try again' }).count(), 0);
  await page.goto(`${slow.address}/#/jobs?state=cancelled`);
  await page.getByRole('link', { name: /efficientnet-lite0/ }).waitFor();
  await page.context().close();
});

test('models that the server answers with are shown, the ready ones first, others with why not', async () => {
  const page = await tab('/');
  const rows = page.getByRole('table', { name: 'Models on this server' }).locator('tbody tr');
  await rows.first().waitFor();
  const told = (await rows.allInnerTexts()).map((text) => text.replace(/\s+/g, ' ').trim());
  assert.equal(told.length, 3);
  assert.match(told[0], /^lenet 1 ✓ ?ready$/);
  assert.match(told[1], /^efficientnet-lite0 … ?waiting it is opened when it is asked$/);
  assert.match(told[2], /it was ended by SIGSEGV/);
  await page.getByText('1 of 3 models is ready to be asked').waitFor();
  await page.getByRole('table', { name: 'Models on this server' }).getByRole('button', { name: 'Model' }).press('Enter'); // by key, by name
  assert.match(await rows.nth(2).innerText(), /^lenet/);
  quiet();
  await page.context().close();
});

test('the catalogue is narrowed by task, licence, size and what was measured, and the address holds it', async () => {
  const page = await tab('/');
  const shown = async () => (await page.locator('table.models tbody tr td:first-child b').allInnerTexts()).filter((name) => name !== kHostile);
  const wish = (label, value) => page.getByLabel(label, { exact: true })[typeof value === 'string' ? 'fill' : 'selectOption'](value);
  const best = page.locator('tr', { hasText: 'efficientnet-lite0' }).locator('td:nth-child(5)');
  await page.getByText('in onnxruntime:session').waitFor(); // the quickest
  assert.match(await best.innerText(), /top1 0\.895\s+14\.1 ms\s+in onnxruntime:session/);
  await wish('Measured in', ['torch']);
  assert.match(await best.innerText(), /21\.3 ms\s+in torch/);
  assert.deepEqual(await shown(), ['centerface', 'efficientnet-lite0']);
  await wish('Median ms at most', '30');
  assert.deepEqual(await shown(), ['efficientnet-lite0']);
  await wish('Median ms at most', '20');
  await page.getByText('No model is like this').waitFor();
  await wish('Median ms at most', '');
  await wish('Accuracy at least', '0.9'); // its first claim's measure, not top5
  await page.getByText('No model is like this').waitFor();
  await wish('Accuracy at least', '0.89');
  assert.deepEqual(await shown(), ['efficientnet-lite0']);
  await wish('Accuracy at least', '');
  await wish('MB at most', '10');
  assert.deepEqual(await shown(), ['centerface']);
  assert.match(page.url(), /framework=torch&size=10/);
  await page.reload();
  await page.locator('table.models tbody tr').first().waitFor();
  await page.waitForFunction(() => document.querySelector('#wish-framework')?.value === 'torch');
  assert.deepEqual(await shown(), ['centerface']);
  await wish('MB at most', '');
  await wish('Licence', ['Apache-2.0']);
  assert.deepEqual(await shown(), ['efficientnet-lite0']);
  await wish('Task', ['face detection']);
  await page.getByText('No model is like this').waitFor();
  quiet();
  await page.context().close();
});

test('a view that is left at once does not take the address back', async () => {
  const page = await tab('/');
  await page.evaluate(() => {
    location.hash = '#/runs'; // its event comes after what follows
    const search = document.querySelector('#search');
    search.value = 'lenet';
    search.dispatchEvent(new Event('input'));
  });
  await settled(page, '/runs');
  assert.match(page.url(), /#\/runs/);
  quiet();
  await page.context().close();
});

test('a name that holds a script stays a text', async () => {
  const page = await tab('/');
  await page.getByText(kHostile).first().waitFor();
  await page.getByRole('link', { name: `Evaluate ${kHostile}` }).click();
  await page.getByRole('checkbox', { name: 'torch' }).check();
  await page.getByText('Choose a data set:').waitFor();
  await page.getByLabel('Data set').selectOption('imagenet-sample@1.0.0');
  await page.getByRole('button', { name: 'Run it' }).click();
  await page.locator('h1', { hasText: kHostile }).waitFor();
  await page.goto(`${server.address}/#/history?model=${encodeURIComponent(kHostile)}`);
  await page.getByText(`${kHostile} has no measurements yet`).waitFor();
  assert.equal(await page.locator('img, a[href^="javascript:"]').count(), 0);
  assert.notEqual(await page.title(), '1');
  quiet();
  await page.context().close();
});

test('a token is asked for, and kept for the tab alone', async () => {
  const closed = await stand({ token: 'secret' });
  const page = await tab('/runs', { at: closed });
  await page.getByLabel('Token').fill('secret');
  await page.getByRole('button', { name: 'Enter' }).click();
  await page.getByRole('table', { name: 'Runs' }).waitFor();
  assert.deepEqual(await page.evaluate(() => [localStorage.length, document.cookie]), [0, '']);
  await page.context().close();
});

const views = () => ({
  catalogue: '/',
  add: '/add',
  start: '/start?task=image+classification&model=efficientnet-lite0%401.0.0&framework=torch&scenario=poisson&option.poisson.rate=40',
  jobs: '/jobs',
  job: `/jobs/${job.id}`,
  runs: '/runs',
  result: `/runs/${runs.at(-1)}`,
  compare: `/compare?a=${runs.at(-1)}&b=${runs[1]}`,
  timeline: `/runs/${runs.at(-2)}/timeline`,
  history: '/history?model=efficientnet-lite0',
});

for (const [viewport, colorScheme] of [[kWide, 'light'], [kNarrow, 'dark']]) {
  test(`every view at ${viewport.width} pixels, ${colorScheme}: fits, is accessible, says nothing on the console`, async () => {
    const page = await tab('/', { viewport, colorScheme });
    await page.evaluate(axe);
    for (const [name, address] of Object.entries(views())) {
      await page.goto(`${server.address}/#${address}`);
      await settled(page, address.replace(/\?.*/, ''));
      const tooWide = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
      assert.ok(tooWide <= 0, `${name} is ${tooWide} pixels too wide`);
      const cut = await page.evaluate(() => document.querySelector('nav').scrollWidth - document.querySelector('nav').clientWidth);
      assert.ok(cut <= 0, `${cut} pixels of the menu are cut off`);
      const { violations } = await page.evaluate(() => globalThis.axe.run(document, { resultTypes: ['violations'] }));
      const serious = violations.filter(({ impact }) => impact === 'serious' || impact === 'critical').map(({ id, nodes }) => `${name}: ${id} at ${nodes.map(({ target }) => target).join(', ')}`);
      assert.deepEqual(serious, []);
      assert.equal(await page.locator('h1').count(), 1, `${name} has one heading`);
    }
    quiet();
    await page.context().close();
  });
}

test('where nothing is, a view says so and what to do', async () => {
  const nothing = await stand({ empty: true });
  const page = await tab('/', { at: nothing });
  for (const address of ['/', '/start', '/jobs', '/runs', '/compare', '/history']) {
    await page.goto(`${nothing.address}/#${address}`);
    await page.locator('main .empty').first().waitFor();
  }
  await page.goto(`${nothing.address}/#/`);
  await page.getByText('This server runs no model').waitFor();
  quiet();
  await page.goto(`${nothing.address}/#/runs/none`); // the browser itself tells of the status 404
  await page.getByText("no run 'none'").waitFor();
  await page.goto(`${nothing.address}/#/nowhere`);
  await page.getByText('No such view').waitFor();
  await page.context().close();
});

test('the colours are those of reports', () => {
  const source = readFileSync(new URL('../../src/core/report/palette.cpp', import.meta.url), 'utf8');
  const style = readFileSync(new URL('../src/style/palette.css', import.meta.url), 'utf8');
  const [light, dark] = style.split('@media');
  const rows = [...source.matchAll(/\{"(s\d)", "(#\w+)", "(#\w+)"\}/g)];
  assert.equal(rows.length, 6);
  for (const [, name, inLight, inDark] of rows) {
    assert.ok(light.includes(`--${name}: ${inLight};`) && dark.includes(`--${name}: ${inDark};`), name);
  }
});
