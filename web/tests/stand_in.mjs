// SPDX-License-Identifier: Apache-2.0
// A server for the page's tests: it answers as `d5 serve` does, of records that d5 measured (records.json), and its
// machines work at once.
//
// usage: node stand_in.mjs FOLDER [PORT]    FOLDER: where build.mjs wrote the page
import { existsSync, readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

const here = path.dirname(fileURLToPath(import.meta.url));
const kPolicy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";
const kTypes = { '.html': 'text/html; charset=utf-8', '.js': 'text/javascript; charset=utf-8', '.css': 'text/css; charset=utf-8', '.svg': 'image/svg+xml', '.txt': 'text/plain; charset=utf-8' };
const kOver = ['done', 'failed', 'cancelled', 'quarantined'];

export const kHostile = '<img src=x onerror="document.title=1">';

const kModels = [
  {
    name: 'efficientnet-lite0', version: '1.0.0', task: 'image classification', licence: 'Apache-2.0', format: 'onnx', bytes: 18_553_255, frameworks: { torch: '>=2.4 <3', onnxruntime: '>=1.16' },
    summary: 'EfficientNet without squeeze and excitation, ReLU6, 4.7 M parameters, 0.4 G multiply-adds', source: 'https://github.com/tensorflow/tpu/tree/master/models/official/efficientnet/lite',
    claims: [{ dataset: 'imagenet-sample@1.0.0', measure: 'top1', value: 0.9, tolerance: 0.02, source: 'PyTorch and Pillow' }, { dataset: 'imagenet-sample@1.0.0', measure: 'top5', value: 0.99, tolerance: 0.015 }],
  },
  { name: kHostile, version: '0.1.0', task: 'image classification', licence: 'MIT', format: 'onnx', summary: "'; DROP TABLE run; --", source: 'javascript:alert(1)', claims: [] },
  { name: 'centerface', version: '1.0.0', task: 'face detection', licence: 'MIT', format: 'onnx', bytes: 7_296_646, summary: 'Faces as boxes, with five landmarks', claims: [] },
];
const kCatalogue = {
  models: kModels,
  datasets: [{ name: 'imagenet-sample', version: '1.0.0', summary: '200 photographs of 200 classes', licence: 'various', samples: 200, here: true }],
  frameworks: [{ name: 'onnxruntime-session', version: '1.0.0', word: 'onnxruntime:session', summary: "ONNX Runtime's own executor" }, { name: 'onnxruntime:session', word: 'onnxruntime:session', versions: ['1.31.1'] }, { name: 'openvino', word: 'openvino', versions: [] }, { name: 'reference', word: 'reference', versions: ['0.1.0'] }, { name: 'torch', word: 'torch', versions: ['2.13.0'] }],
  systems: [{ name: 'small-cloud', version: '1.0.0', summary: 'two cores of a shared machine', cores: 2, memory_bytes: 8 * 2 ** 30, device: 'cpu', price_per_hour: 0.09, currency: 'USD' }],
  scenarios: [
    { name: 'single_stream', summary: 'one query after the other, by LoadGen' },
    { name: 'offline', summary: 'all samples at once, by LoadGen' },
    { name: 'poisson', summary: 'many users who know nothing of each other', options: [{ name: 'rate', default: '', help: 'queries a second' }] },
    { name: 'recorded', summary: 'queries at the times of a file', options: [{ name: 'file', default: '', help: 'CSV file' }, { name: 'speed', default: '1', help: '' }] },
    { name: 'bursts', summary: 'nobody for long, then many', options: [{ name: 'rate', default: '100', help: 'queries a second' }, { name: 'on', default: '1', help: 's' }, { name: 'off', default: '1', help: 's' }] },
  ],
  measured: [
    { model: 'efficientnet-lite0', framework: 'torch', latency: 0.0213, throughput: 46.6, accuracy: { top1: 0.895, top5: 0.99 } },
    { model: 'efficientnet-lite0', framework: 'onnxruntime:session', latency: 0.0141, throughput: 71, accuracy: { top1: 0.895, top5: 0.99 } },
    { model: 'centerface', framework: 'torch', latency: 0.061, throughput: 16, accuracy: {} },
  ],
  tasks: [{ name: 'image classification' }, { name: 'face detection' }],
};
const kAnswering = [
  { name: 'efficientnet-lite0', version: '', state: 'UNAVAILABLE', reason: 'it is opened when it is asked' },
  { name: kHostile, version: '1', state: 'UNAVAILABLE', reason: `it was ended by SIGSEGV (Segmentation fault); it is begun again in 4 s ${kHostile}` },
  { name: 'lenet', version: '1', state: 'READY' },
];
const agent = (name, more) => ({
  facts: { name, hostname: name, cpu: 'AMD EPYC', architecture: 'x86_64', cores: 2, memory_bytes: 25276502016, devices: { cpu: 'AMD EPYC' }, frameworks: { reference: { version: '0.1.0' }, torch: { version: '2.13.0' }, onnxruntime: { version: '1.31.1' } }, models: [], labels: { rack: 'a' }, price_per_hour: 0.09, currency: 'USD', ...more },
  state: 'free',
  heartbeat: new Date().toISOString(),
});

const kSamples = [...readFileSync(path.join(here, '../../data/datasets/imagenet-sample.yaml'), 'utf8').matchAll(/\{file: (\S+), label: (\d+),/g)].map(([, file, label]) => ({ file, label: Number(label) }));

/** A picture of the sample: the file where D5_DATA_DIR has it, else stripes. */
function picture(sample) {
  const file = path.join(process.env.D5_DATA_DIR ?? '', 'imagenet-sample', kSamples[sample].file);
  if (existsSync(file)) return readFileSync(file);
  const [width, height] = [32, 20];
  const bytes = Buffer.alloc(54 + width * height * 3);
  bytes.write('BM');
  for (const [at, value] of [[2, bytes.length], [10, 54], [14, 40], [18, width], [22, height]]) bytes.writeUInt32LE(value, at);
  bytes.writeUInt16LE(1, 26);
  bytes.writeUInt16LE(24, 28);
  for (let i = 54; i < bytes.length; ++i) bytes[i] = (i * (sample + 3)) & 127;
  return bytes;
}

const plain = (word) => (word.startsWith('"') ? JSON.parse(word) : word); // a scalar of the page's YAML

/** Exact, two-sided: flips as uneven as these, if each went either way with equal chance. */
function mcnemar(a, b) {
  let [term, sum] = [0.5 ** (a + b), 0];
  for (let k = 0; k <= Math.min(a, b); ++k) [sum, term] = [sum + term, (term * (a + b - k)) / (k + 1)];
  return Math.min(1, 2 * sum);
}

/** Records of two runs that agree in all but their numbers, side by side. */
function compare(a, b) {
  const key = (record, run) => [run.subject ?? '', record.framework, record.metric, record.statistic, record.conditions.identity.scenario, record.conditions.identity.batch, record.conditions.identity['trace level']].join('|');
  const others = new Map(b.measurements.map((record) => [key(record, {}), record]));
  const records = a.measurements.flatMap((record) => {
    const other = others.get(key(record, {}));
    if (!other) return [];
    const side = ({ value, interval }) => ({ value, interval });
    const ratio = other.value / record.value;
    const sure = record.interval && other.interval;
    return [{
      subject: record.subject, name: [record.framework, ...Object.entries(record.conditions.identity).map(([name, value]) => `${name} ${value}`)].join(', '), metric: record.metric, unit: record.unit, statistic: record.statistic, direction: record.direction,
      a: side(record), b: side(other), ratio, ratio_interval: sure ? [other.interval[0] / record.interval[1], other.interval[1] / record.interval[0]] : null,
    }];
  });
  const answers = Object.keys(a.wrong).flatMap((name) => {
    const twin = Object.keys(b.wrong).find((other) => other.split(' ')[1] === name.split(' ')[1]);
    if (!twin) return [];
    const [left, right] = [a.wrong[name], b.wrong[twin]].map((list) => new Map(list.map((item) => [item.sample, item])));
    const flips = [...new Set([...left.keys(), ...right.keys()])].filter((sample) => left.has(sample) !== right.has(sample)).sort((x, y) => x - y);
    const neither = [...left.keys()].filter((sample) => right.has(sample)).length;
    const only_b = left.size - neither;
    const only_a = right.size - neither;
    return [{ name: name.split(' ')[1], samples: 200, both: 200 - neither - only_a - only_b, only_a, only_b, neither, p_value: mcnemar(only_a, only_b), flips: flips.map((sample) => ({ sample, a: left.get(sample)?.answer ?? '', b: right.get(sample)?.answer ?? '', score_a: left.has(sample) ? 0 : 1, score_b: right.has(sample) ? 0 : 1 })) }];
  });
  // No trace of both is kept here: these are made up.
  const nodes = ["Conv 'node_Conv_896'", "Conv 'node_Conv_870'", "Clip 'n4_30'", "Gemm 'node_linear'"];
  const layers = nodes.map((node, i) => ({ name: node.split("'")[1], type: node.split(' ')[0], a: 2.4e-4 / (i + 1), b: 1.1e-4 / (i + 1) + 2e-5 * i, share_of_all: 0.5 / (i + 1), is_sure: i < 3 }));
  const head = ({ id, time, title, command, hostname, cpu }) => ({ id, time, title, command, hostname, cpu });
  return { a: head(a), b: head(b), differences: [{ name: 'trace level', a: 'framework', b: 'none' }], records, answers, layers };
}

/** Starts it; `step` is how long a machine takes between two words, `words` how many it says (below 3 it never ends), `empty` a server that knows nothing. */
export async function standIn(folder, { step = 40, words = 3, empty = false, port = 0, token = '' } = {}) {
  const kept = JSON.parse(readFileSync(path.join(here, 'records.json'), 'utf8'));
  const runs = empty ? [] : kept.runs;
  const agents = empty ? [] : [agent('rack-a-1'), agent('rack-a-2'), agent('tiny', { cores: 1, memory_bytes: 2 ** 30, frameworks: { reference: { version: '0.1.0' } }, labels: {} })];
  const jobs = [];
  const events = [];
  const listeners = new Set();
  const streams = new Set();
  const timers = new Set();

  const later = (work) => {
    const timer = setTimeout(() => (timers.delete(timer), work()), step);
    timers.add(timer);
  };
  function tell(job, part, text = '') {
    const states = job.parts.map(({ state }) => state);
    job.state = states.find((state) => state === 'running') ?? states.find((state) => !kOver.includes(state)) ?? states[0];
    events.push({ number: events.length + 1, time: new Date().toISOString(), job: job.id, state: job.state, part: part?.number ?? -1, part_state: part?.state, agent: part?.agent ?? '', text });
    for (const listener of [...listeners]) listener();
  }
  function work(job, part, said = 0) {
    if (kOver.includes(part.state)) return;
    const all = ['accuracy: 50 of 200 samples', 'accuracy: 200 of 200 samples', 'single_stream: 100 of 100 queries'];
    if (said === words && words < all.length) return;
    if (part.state === 'queued') [part.state, part.attempt] = ['leased', 1];
    else if (part.state === 'leased') [part.state, part.begun] = ['running', new Date().toISOString()];
    else if (said < all.length) part.progress = all[said++];
    else [part.state, part.run] = ['done', kept.runs.at(part.number ? -2 : -1).id];
    tell(job, part, part.state === 'running' ? (part.progress ?? '') : '');
    later(() => work(job, part, said));
  }
  const fits = (manifest) =>
    agents.map(({ facts: { name, frameworks }, state }) => {
      const missing = /frameworks: \[(.*)\]/.exec(manifest)?.[1].split(', ').map((word) => plain(word).replace(/:.*/, '')).filter((word) => !frameworks[word]) ?? [];
      return { agent: name, fits: !missing.length, reason: missing.map((word) => `it has no framework '${word}'`).join('; '), state };
    });
  function submit({ manifest, on = 'one' }) {
    const key = `${manifest}${on}`;
    const known = jobs.find((job) => job.text === key && job.state !== 'cancelled');
    if (known) return [200, known];
    const able = fits(manifest).filter((fit) => fit.fits);
    const parts = (on === 'all' ? able : able.slice(0, 1)).map((fit, number) => ({ number, state: 'queued', agent: fit.agent, attempt: 0 }));
    const job = { id: `${jobs.length + 1}`.padStart(8, '0'), key: 'd3c0bf9651e22d07', title: titleOf(about(manifest).evaluation), owner: '', text: key, state: 'queued', submitted: new Date().toISOString(), on: String(on), manifest: about(manifest), parts };
    if (!parts.length) job.parts = [{ number: 0, state: 'queued', attempt: 0 }];
    else parts.forEach((part) => later(() => work(job, part)));
    jobs.unshift(job);
    tell(job, undefined);
    return [201, job];
  }
  const about = (manifest) => {
    const all = (name) => /\[(.*)\]/.exec(new RegExp(`^${name}: .*$`, 'm').exec(manifest)?.[0] ?? '')?.[1].split(', ').map(plain) ?? [];
    return { evaluation: { kind: 'evaluation', name: 'page', version: '1.0.0-dev', models: all('models'), frameworks: all('frameworks'), scenarios: [{ name: /scenarios: \[(?:\{name: )?([\w-]+)/.exec(manifest)?.[1] ?? '' }] } };
  };

  const titleOf = ({ models, frameworks, scenarios }) => [models.map((name) => name.replace(/@.*/, '')), frameworks, scenarios.map(({ name }) => name)].map((names) => names.join(', ')).join(' · ');

  function answer(method, url, body) {
    const [, version, kind, id, part, last] = url.pathname.split('/').map(decodeURIComponent);
    const asked = (name) => url.searchParams.get(name) ?? '';
    const page = (items) => {
      const [first, limit] = [Number(asked('cursor')) || 0, Number(asked('limit')) || 50];
      return [200, { items: items.slice(first, first + limit), next: first + limit < items.length ? String(first + limit) : null }];
    };
    if (url.pathname === '/v2/repository/index' && method === 'POST') return [200, empty ? [] : kAnswering];
    if (version !== 'v1') return [404, 'there is nothing here'];
    if (kind === 'health') return [200, { status: 'up', version: '0.1.0' }];
    if (kind === 'datasets' && id) return part === 'samples' ? [200, picture(Number(last))] : [200, { samples: kSamples }];
    if (kCatalogue[kind]) return page(empty ? [] : kCatalogue[kind]);
    if (kind === 'agents') return page(agents);
    if (kind === 'jobs') {
      if (method === 'POST' && part !== 'retry') return id === 'why' ? page(fits(body.manifest)) : submit(body);
      if (!id) return page(jobs.filter(({ state }) => !asked('state') || state === asked('state')));
      const job = jobs.find((one) => one.id === id);
      if (!job) return [404, `no job '${id}'`];
      if (part === 'why') return page(fits(job.text));
      if (part === 'retry') return kOver.includes(job.state) && job.state !== 'done' ? submit({ manifest: job.text.slice(0, -job.on.length), on: job.on }) : [409, `job '${id}' is ${job.state}`];
      if (method === 'DELETE') {
        for (const one of job.parts) if (!kOver.includes(one.state)) one.state = 'cancelled';
        tell(job, undefined, 'cancelled');
      }
      return [200, job];
    }
    if (kind === 'runs' && !id) return page(runs.map(({ measurements, queries, wrong, ...run }) => run));
    const runOf = (wanted) => kept.runs.find((run) => run.id === wanted);
    if (kind === 'runs') {
      const run = runOf(id);
      if (!run) return [404, `no run '${id}'`];
      const { measurements, queries, wrong, ...head } = run;
      if (!part) return [200, id === kept.runs.at(-2).id ? { ...head, pieces: [...head.pieces, { name: 'first requests', kind: 'trace', count: kept.trace.length }] } : head];
      if (part === 'records') return page(measurements);
      if (part === 'answers') return page(wrong[asked('piece')] ?? []);
      if (part === 'queries') return page((queries[asked('piece')] ?? []).map(([id, sample, scheduled, issued, begun, ended, batch]) => ({ id, sample, scheduled, issued, begun, ended, batch, status: 'passed' })));
      if (part === 'trace') return [200, { displayTimeUnit: 'ns', traceEvents: kept.trace }];
    }
    if (kind === 'compare') {
      const [a, b] = [runOf(asked('a')), runOf(asked('b'))];
      return a && b ? [200, compare(a, b)] : [404, `no run '${a ? asked('b') : asked('a')}'`];
    }
    if (kind === 'history') {
      const of = (record) => record.subject.replace(/@.*/, '') === asked('model').replace(/@.*/, '') && (!asked('metric') || record.metric === asked('metric'));
      return page([...runs].reverse().flatMap((run) => run.measurements.filter(of).map((record) => ({ ...record, run: run.id, time: run.time, hostname: run.hostname, series: `${record.framework} ${record.metric} ${record.statistic} on ${run.hostname}, ${Object.entries(record.conditions.identity).join(', ')}`, is_record: record.status === 'passed', is_best: false }))));
    }
    return [404, 'there is nothing here'];
  }

  function stream(request, response, job) {
    let sent = Number(request.headers['last-event-id'] ?? 0);
    response.writeHead(200, { 'Content-Type': 'text/event-stream', 'Cache-Control': 'no-store' });
    const send = () => {
      for (const event of events.slice(sent)) {
        sent = event.number;
        if (!job || event.job === job) response.write(`id: ${event.number}\ndata: ${JSON.stringify(event)}\n\n`);
      }
    };
    response.write(': here\n\n');
    send();
    listeners.add(send);
    streams.add(response);
    response.on('close', () => (listeners.delete(send), streams.delete(response)));
  }

  function file(url, response) {
    const name = url.pathname === '/' ? 'index.html' : path.basename(url.pathname);
    try {
      const content = readFileSync(path.join(folder, name));
      response.writeHead(200, { 'Content-Type': kTypes[path.extname(name)] ?? 'application/octet-stream', 'Content-Security-Policy': kPolicy, 'X-Content-Type-Options': 'nosniff' });
      response.end(content);
    } catch {
      response.writeHead(404).end();
    }
  }

  const server = createServer((request, response) => {
    const url = new URL(request.url, 'http://host');
    if (!/^\/v[12]\//.test(url.pathname)) return file(url, response);
    let text = '';
    request.on('data', (piece) => (text += piece));
    request.on('end', () => {
      const send = (status, value) => {
        if (Buffer.isBuffer(value)) return response.writeHead(status, { 'Content-Type': 'image/bmp' }).end(value);
        const wrong = typeof value === 'string';
        response.writeHead(status, { 'Content-Type': wrong ? 'application/problem+json' : 'application/json' });
        response.end(JSON.stringify(wrong ? { type: 'about:blank', title: 'Error', status, detail: value } : value));
      };
      if (token && request.headers.authorization !== `Bearer ${token}`) return send(401, 'a token is wanted');
      const events = /^\/v1\/(?:jobs\/([^/]+)\/)?events$/.exec(url.pathname);
      if (events) return stream(request, response, events[1]);
      const [status, value] = answer(request.method, url, text ? JSON.parse(text) : undefined);
      send(status, value);
    });
  });
  await new Promise((done) => server.listen(port, '127.0.0.1', done));
  return {
    address: `http://127.0.0.1:${server.address().port}`,
    /** Ends every connection that hears events. */
    cut() {
      for (const response of streams) response.destroy();
    },
    close() {
      for (const timer of timers) clearTimeout(timer);
      server.close();
      server.closeAllConnections();
    },
  };
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const server = await standIn(process.argv[2], { port: Number(process.argv[3] ?? 0), step: 1500 });
  console.log(server.address);
}
