// SPDX-License-Identifier: Apache-2.0
// What the page computes by itself, held against d5's own tables, RFCs and closed forms.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { partOf } from './page.mjs';

test('numbers are written as d5 writes them', async () => {
  const { figure, bytes } = await partOf('parts/figures.ts');
  // README.md, and `d5 eval run` of the records in records.json.
  const told = [
    [0.0228677715, 's', [0.022615111, 0.023121722], '22.87 ms', '[22.62, 23.12]'],
    [0.0244843267, 's', [0.023982069, 0.030449872], '24.5 ms', '[24.0, 30.4]'],
    [0.0270499739, 's', [0.025369927, 0.038827447], '27 ms', '[25, 39]'],
    [0.05141402537, 's', null, '51.4 ms', ''],
    [41.972506153284826, 'sample/s', null, '42.0 sample/s', ''],
    [0.895, '1', [0.8439812944524971, 0.9338187729712882], '0.895', '[0.844, 0.934]'],
    [0.99, '1', [0.9643453316027603, 0.998786650986264], '0.990', '[0.964, 0.999]'],
    [3.24e9, 'byte/s', [2.66e9, 3.57e9], '3.24 GB/s', '[2.66, 3.57]'],
    [5.33e-7, '1', null, '5.33e-7', ''],
    [null, 's', null, '', ''],
  ];
  for (const [value, unit, interval, text, range] of told) assert.deepEqual(figure(value, unit, interval), { value: text, interval: range });
  assert.equal(bytes(25276502016), '23.5 GiB');
});

test('a stream of events may be cut anywhere', async () => {
  const { EventReader } = await partOf('service/events.ts');
  const stream = ': here\n\nid: 7\ndata: {"a":\ndata: 1}\n\ndata: x\r\n\r\nid: 9\n\nevent: e\ndata:y\n\ndata: not yet';
  const whole = new EventReader().read(stream);
  assert.deepEqual(whole, [{ id: '7', data: '{"a":\n1}' }, { id: '7', data: 'x' }, { id: '9', data: 'y' }]);
  for (let cut = 0; cut < stream.length; ++cut) {
    if (stream.slice(cut - 1, cut + 1) === '\r\n' || stream.slice(cut - 2, cut) === '\r\n') continue;
    const reader = new EventReader();
    assert.deepEqual([...reader.read(stream.slice(0, cut)), ...reader.read(stream.slice(cut))], whole);
  }
});

test('a manifest quotes what YAML would read otherwise', async () => {
  const { manifestOf, commandOf } = await partOf('parts/evaluation.ts');
  const chosen = { models: ['a@1.0.0', 'no', "it's: {x}"], dataset: '', frameworks: ['torch', 'onnxruntime:session'], scenarios: [{ name: 'offline', options: {} }, { name: 'poisson', options: { rate: '40', seed: '' } }], systems: [], batches: [1, 8], trace: 'none', queries: 100 };
  const manifest = manifestOf(chosen);
  assert.match(manifest, /^models: \[a@1\.0\.0, "no", "it's: \{x\}"\]$/m);
  assert.match(manifest, /^frameworks: \[torch, "onnxruntime:session"\]$/m);
  assert.match(manifest, /^scenarios: \[offline, \{name: poisson, rate: 40\}\]$/m);
  assert.match(commandOf(chosen, 'http://h:1'), /^d5 eval run a@1\.0\.0 no 'it'\\''s: \{x\}' --framework torch,onnxruntime:session --scenario offline,poisson:rate=40 --batch 1,8 --queries 100 --server http:\/\/h:1$/);
});

test('a label is what distinguishes it, and no line is wider than its place', async () => {
  const { distinguished, wrapped } = await partOf('parts/labels.ts');
  const names = ['torch, batch 1, threads 2', 'torch, batch 8, threads 2'];
  assert.deepEqual(distinguished(names), { shared: ['torch', 'threads 2'], own: ['batch 1', 'batch 8'] });
  assert.deepEqual(distinguished([names[0]]), { shared: [], own: [names[0]] });
  assert.deepEqual(distinguished([]), { shared: [], own: [] });
  const measure = (text) => 7 * text.length;
  for (const text of ['latency p90 · onnxruntime:session, scenario single_stream', 'a', 'x'.repeat(100), '']) {
    for (const width of [70, 300]) {
      const lines = wrapped(text, width, measure).split('\n');
      assert.ok(lines.every((line) => measure(line) <= width), text);
      assert.equal(lines.join('').replaceAll(' ', ''), text.replaceAll(' ', ''));
    }
  }
  assert.equal(wrapped('one two three', 49, measure), 'one two\nthree');
});

test('progress is told before the first message, and as a share', async () => {
  const { progressOf, shareOf, elapsed } = await partOf('parts/progress.ts');
  assert.equal(progressOf({ number: 0, state: 'queued' }), 'waiting for a free machine');
  assert.equal(progressOf({ number: 0, state: 'running' }), 'opening data set and model');
  assert.equal(progressOf({ number: 0, state: 'running', progress: 'accuracy: 50 of 200 samples' }), 'accuracy: 50 of 200 samples');
  assert.equal(progressOf({ number: 0, state: 'queued', progress: 'of an attempt that was lost' }), 'waiting for a free machine');
  assert.equal(progressOf({ number: 0, state: 'failed', reason: 'no memory', progress: 'half' }), 'no memory');
  assert.deepEqual(shareOf('accuracy: 50 of 200 samples'), { done: 50, all: 200 });
  for (const text of ['', 'opening', '3 of 0 samples', '9 of 3']) assert.equal(shareOf(text), null);
  assert.deepEqual([0, 59.9, 200, 7500, -3].map(elapsed), ['0 s', '59 s', '3 min 20 s', '2 h 5 min', '0 s']);
});

test('addresses survive any name', async () => {
  const { address, match } = await partOf('view.ts');
  for (const name of ['a/b', '../..', '%2F', 'ü"<>', '?x#y']) {
    const path = address('/runs/{id}', { id: name }).slice(1);
    assert.deepEqual(match('/runs/{id}', path), { id: name });
  }
  assert.equal(match('/runs/{id}', '/runs'), null);
  assert.equal(match('/runs/{id}', '/runs/%'), null);
});

test('quantiles of a million queries are those of all of them', async () => {
  const { curve, binned } = await partOf('parts/latency.ts');
  const n = 1_000_000;
  const values = Array.from({ length: n }, (_, i) => (i + 0.5) / n); // the quantile function of a uniform distribution is p
  const points = curve(values);
  assert.ok(points.length < 400);
  for (const [p, value] of points) assert.ok(Math.abs(p - value) < 1e-12);
  assert.ok(points.at(-1)[0] > 1 - 1e-6);
  const { shares } = binned([values, [0.5]], false, 40);
  for (const share of shares[0]) assert.ok(Math.abs(share - 1 / 40) < 1e-3);
  assert.equal(shares[1].reduce((a, b) => a + b), 1);
});

test('a span knows what it is a part of, and where its time goes', async () => {
  const { traceOf, pathOf, sharesOf } = await partOf('parts/trace.ts');
  const x = (name, ts, dur, args, tid = 0) => ({ ph: 'X', cat: 'evaluation', name, pid: 0, tid, ts, dur, args });
  const trace = traceOf([
    { ph: 'b', cat: 'evaluation', name: 'request', ts: 1000, id2: { local: '0x9' }, args: { query: 1, 'answered in': 3, id: 9 } },
    { ph: 'e', cat: 'evaluation', name: 'request', ts: 2000, id2: { local: '0x9' } },
    { ph: 'b', cat: 'evaluation', name: 'request', ts: 1500, id2: { local: '0xa' }, args: { 'answered in': 3, id: 10 } },
    { ph: 'e', cat: 'evaluation', name: 'request', ts: 2000, id2: { local: '0xa' } },
    x('predict', 1300, 600, { id: 5, parent: 3 }),
    x('batch', 1200, 800, { id: 3 }),
    x('prepare', 1200, 50, { id: 4, parent: 3 }),
    x('Conv', 1400, 300, { id: 6, parent: 5 }, 1),
  ]);
  assert.equal(trace.requests.length, 2);
  assert.deepEqual(trace.tracks.map(({ title, rows }) => [title, rows.length]), [['requests', 2], ['thread 0/0', 2], ['thread 0/1', 1]]);
  const conv = trace.tracks[2].rows[0].spans[0];
  assert.deepEqual(pathOf(conv).map(({ name }) => name), ['request', 'batch', 'predict', 'Conv']);
  const shares = sharesOf(pathOf(conv)[1]).map(({ name, total }) => [name, Math.round(total * 1e6)]);
  assert.deepEqual(shares, [['predict', 600], ['itself', 150], ['prepare', 50]]);
  assert.deepEqual(sharesOf(trace.requests[0]).map(({ name, total }) => [name, Math.round(total * 1e6)]), [['batch', 800], ['waiting', 200]]);
});
