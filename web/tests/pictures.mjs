// SPDX-License-Identifier: Apache-2.0
// A picture of every view, wide and narrow, light and dark, to look at; and how long the first view takes.
//
// usage: node pictures.mjs FOLDER [VIEW...]    of the stand-in; with D5_SERVER=ADDRESS of a server that runs
import { mkdirSync } from 'node:fs';
import path from 'node:path';
import { browser as launch, page as built } from './page.mjs';
import { standIn } from './stand_in.mjs';

const [folder, ...only] = process.argv.slice(2);
mkdirSync(folder, { recursive: true });
const server = process.env.D5_SERVER ? { address: process.env.D5_SERVER, close() {} } : await standIn(built, { step: 50 });
const ask = async (address, options) => (await fetch(`${server.address}/v1/${address}`, options)).json();

if (!process.env.D5_SERVER) {
  for (const framework of ['torch', 'openvino']) {
    await ask('jobs', { method: 'POST', body: JSON.stringify({ manifest: `models: [efficientnet-lite0@1.0.0]\nframeworks: [${framework}]\nscenarios: [single_stream]`, on: 'all' }) });
  }
}
const runs = (await ask('runs?limit=100')).items;
const models = (await ask('models')).items;
const jobs = (await ask('jobs')).items;
const traced = (await Promise.all(runs.map(({ id }) => ask(`runs/${id}`)))).find(({ pieces }) => pieces.some(({ kind }) => kind === 'trace'));
const [model] = models;
const views = {
  catalogue: '/',
  start: model && `/start?task=${encodeURIComponent(model.task)}&model=${encodeURIComponent(`${model.name}@${model.version}`)}&framework=torch&scenario=poisson&option.poisson.rate=40`,
  jobs: '/jobs',
  job: jobs.length > 0 && `/jobs/${jobs.at(-1).id}`,
  runs: '/runs',
  result: runs.length > 0 && `/runs/${runs.at(-1).id}`,
  compare: runs.length > 1 && `/compare?a=${runs.at(-1).id}&b=${runs[1].id}`,
  timeline: traced && `/runs/${traced.id}/timeline`,
  history: model && `/history?model=${encodeURIComponent(model.name)}`,
};
const browser = await launch();
for (const [width, height] of [[1440, 900], [800, 900], [375, 800]]) {
  for (const colorScheme of ['light', 'dark']) {
    const context = await browser.newContext({ viewport: { width, height }, colorScheme });
    const page = await context.newPage();
    page.on('console', (message) => console.log(`console: ${message.text()}`));
    page.on('pageerror', (error) => console.log(`error: ${error.message}`));
    for (const [name, address] of Object.entries(views)) {
      if (!address || (only.length && !only.includes(name))) continue;
      await page.goto('about:blank');
      const began = performance.now();
      await page.goto(`${server.address}/#${address}`);
      await page.waitForFunction(() => document.querySelector('main')?.hasAttribute('data-at'));
      console.log(`${name}, ${width}, ${colorScheme}: shown after ${Math.round(performance.now() - began)} ms`);
      await page.waitForTimeout(1000); // charts
      await page.screenshot({ path: path.join(folder, `${name}-${width}-${colorScheme}.png`), fullPage: true });
    }
    await context.close();
  }
}
await browser.close();
server.close();
