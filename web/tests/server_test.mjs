// SPDX-License-Identifier: Apache-2.0
// The page of `d5 serve` itself, with machines that work: the click path from a task to an answer on two of them.
//
// usage: node server_test.mjs D5_PROGRAM
import assert from 'node:assert/strict';
import { execFileSync, spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, before, test } from 'node:test';
import { browser as launch, chromium, page as folder } from './page.mjs';
import { makeToy } from './toy.mjs';

const program = process.argv[2];
if (!chromium) {
  console.log('skipped: no Chromium (Debian: chromium-headless-shell; or D5_CHROMIUM=FILE)');
  process.exit(4);
}

const work = mkdtempSync(path.join(tmpdir(), 'd5-page-'));
const environment = makeToy(work, folder);
const started = [];
let browser, address, agentsAt;

/** Starts the program, and waits until it has said a line that matches. */
async function start(words, line) {
  const child = spawn(program, words, { env: environment, stdio: ['ignore', 'pipe', 'pipe'] });
  started.push(child);
  let said = '';
  return new Promise((done, fail) => {
    const hear = (piece) => {
      said += piece;
      const found = line.exec(said);
      if (found) done({ child, found, said: () => said });
    };
    child.stdout.on('data', hear);
    child.stderr.on('data', hear);
    child.on('exit', (status) => fail(new Error(`d5 ${words.join(' ')} ended with ${status}:\n${said}`)));
  });
}

before(async () => {
  execFileSync(program, ['artefact', 'add', path.join(work, 'toy.onnx')], { env: environment });
  browser = await launch();
});
after(async () => {
  await browser?.close();
  for (const child of started) child.kill('SIGKILL');
  rmSync(work, { recursive: true, force: true });
});

test('from a task to an answer on two machines, one of which is killed in the middle, and again from where the browser kept it', { timeout: 240_000 }, async () => {
  const server = await start(['serve', '--database', path.join(work, 'results.db'), '--bind', '127.0.0.1:0', '--agents', '127.0.0.1:0'], /(http:\/\/127\.0\.0\.1:\d+)[^]*?agents[^\n]*?(127\.0\.0\.1:\d+)/);
  [, address, agentsAt] = server.found;
  const page = await (await browser.newContext({ viewport: { width: 1280, height: 900 } })).newPage();
  page.setDefaultTimeout(30_000);
  const said = [];
  page.on('console', (message) => said.push(message.text()));
  page.on('pageerror', (error) => said.push(error.message));
  await page.goto(address);
  await page.getByRole('table', { name: 'Models on this server' }).locator('tr', { hasText: 'toy' }).getByText('it is opened when it is asked').waitFor();
  await page.getByRole('link', { name: 'Evaluate toy' }).click();
  await page.getByRole('checkbox', { name: 'reference' }).check();
  await page.getByRole('checkbox', { name: 'single stream' }).uncheck();
  await page.getByRole('checkbox', { name: /^poisson/ }).check(); // eight seconds by the clock, however fast the machine is
  await page.getByLabel('rate', { exact: true }).fill('10');
  await page.getByText('Data set, batches, queries, traces').click();
  await page.getByLabel('Queries', { exact: true }).fill('80');
  await page.getByRole('radio', { name: 'All that fit' }).check();
  await page.getByText('No machine is connected').waitFor();

  const agent = (name) => start(['agent', 'run', '--server', agentsAt, '--name', name, '--spool', path.join(work, name)], /agent \w+ at /);
  const [left] = await Promise.all(['left', 'right'].map(agent));
  await page.reload();
  await page.getByText('No machine is connected').waitFor({ state: 'detached' });
  while ((await page.locator('.machines .fits').count()) < 2) await page.reload({ waitUntil: 'networkidle' });
  await page.getByRole('button', { name: 'Run it' }).click();
  const machine = (name) => page.getByRole('table', { name: 'Machines of the job' }).locator('tr', { hasText: name });
  await machine('left').filter({ hasText: 'running' }).waitFor(); // its child is in the middle of it ...
  left.child.kill('SIGKILL');
  await agent('left'); // ... and the next agent of its name starts over
  await page.locator('.way .now').filter({ hasText: /done|failed|quarantined/ }).waitFor({ timeout: 90_000 });
  assert.equal(await page.locator('.way .now').innerText(), '✓done', await page.locator('main').innerText());
  assert.match(await machine('left').innerText(), /^left\s+✓\s*done\s+2\b/);
  assert.match(await machine('right').innerText(), /^right\s+✓\s*done\s+1\b/);
  await page.getByRole('region', { name: 'Events' }).getByText('attempt 1 was lost').waitFor();
  for (const name of ['left', 'right']) {
    await machine(name).getByRole('link', { name: 'Show results' }).click();
    await page.getByRole('heading', { name: 'toy@1.0.0-dev' }).waitFor();
    assert.match(await page.locator('table[aria-label=Accuracy] tbody').innerText(), /top1\s+1\b[^]*passed/); // found by hand
    await page.getByText('All 12 answers are right').waitFor();
    await page.locator('.canvas canvas').first().waitFor();
    await page.goBack();
  }
  await page.reload();
  await page.getByRole('link', { name: 'Compare the machines' }).click();
  await page.getByRole('table', { name: 'Numbers of both' }).waitFor();
  assert.deepEqual(said, []);
});

test('a model of the reader is added with its file, once, and stays if nothing is replaced', { timeout: 120_000 }, async () => {
  const server = await start(['serve', '--database', path.join(work, 'kept.db'), '--bind', '127.0.0.1:0', '--agents', '127.0.0.1:0', '--models', path.join(work, 'kept')], /(http:\/\/127\.0\.0\.1:\d+)/);
  const at = server.found[1];
  const toy = readFileSync(path.join(work, 'share/data/models/toy.yaml'), 'utf8');
  const write = (name, text) => (writeFileSync(path.join(work, name), text), path.join(work, name));
  const mine = write('mine.yaml', toy.replace('name: toy\n', 'name: mine\n').replace("'https://models.invalid/toy.onnx'", `'file://${work}/toy.onnx'`));
  const page = await (await browser.newContext()).newPage();
  page.setDefaultTimeout(30_000);
  await page.goto(`${at}/#/add`);
  const add = async (manifest, files, text) => {
    await page.getByLabel('Manifest of a model').setInputFiles(manifest);
    await page.getByLabel('Its files').setInputFiles(files);
    await page.getByRole('button', { name: 'Add it' }).click();
    await page.getByText(text).waitFor();
  };
  await add(mine, [], 'neither chosen nor on the server: toy.onnx');
  await add(mine, [path.join(work, 'toy.onnx')], 'The model is kept');
  assert.equal((await (await fetch(`${at}/v1/models/mine`)).json()).name, 'mine');
  await add(write('other.yaml', readFileSync(mine, 'utf8').replace('task: colours', 'task: other')), [], 'is kept here already');
  await add(write('code.yaml', readFileSync(mine, 'utf8').replace('- decode', "- {name: python, function: 'a.py::f'}")), [], "step 'python' runs code");
  await page.goto(`${at}/#/`);
  await page.getByRole('link', { name: 'Evaluate mine' }).waitFor();
});
