// SPDX-License-Identifier: Apache-2.0
// One job: its state, machines, messages and results, updated live.
import { fill, h, type Child } from '../parts/dom';
import { clock, moment } from '../parts/figures';
import { cancel, followJobs, isLost, reasonOf, retry, subjectOf } from '../parts/jobs';
import { elapsed, isOver, progressOf, shareOf } from '../parts/progress';
import { machines } from '../parts/questions';
import { table } from '../parts/table';
import { code, state } from '../parts/words';
import { get, list } from '../service/service';
import type { Agent, Fit, Job, JobEvent, JobPart } from '../service/types';
import { address, type View } from '../view';

const kWay = ['queued', 'leased', 'running'];
const kMostEvents = 200;

/** Progress as steps: queued, leased, running, and its end, with the current one marked. */
function way(job: Job): Child {
  const over = isOver(job.state);
  const reached = over ? kWay.length : kWay.indexOf(job.state);
  const steps = [...kWay, over ? job.state : 'done'];
  return h(
    'ol',
    { class: 'way', 'aria-label': 'Progress' },
    steps.map((name, i) => h('li', { class: i < reached ? 'past' : i === reached ? 'now' : '', 'aria-current': i === reached ? 'step' : undefined }, i === reached ? state(name) : name)),
  );
}

/** The last message, its share as a bar, and how long the part has run. */
function progress(part: JobPart, said?: string): Child {
  const text = progressOf(part, said);
  const share = part.state === 'running' && shareOf(text);
  return h(
    'div',
    { class: 'progress' },
    text,
    share && h('progress', { max: share.all, value: share.done, 'aria-label': text }),
    part.state === 'running' && part.begun && h('small', { class: 'soft', 'data-since': part.begun }),
  );
}

/** Writes into each time how long ago it was. */
function tick(within: Element): void {
  for (const element of within.querySelectorAll<HTMLElement>('[data-since]')) element.textContent = `for ${elapsed((Date.now() - Date.parse(element.dataset.since!)) / 1000)}`;
}

const partsTable = (rows: JobPart[], texts: Map<string, string>) =>
  table<JobPart>({
    label: 'Machines of the job',
    rows,
    columns: [
      { head: 'Machine', by: ({ agent }) => agent, cell: ({ agent }) => (agent ? h('b', {}, agent) : h('span', { class: 'soft' }, 'waiting for one')) },
      { head: 'State', by: (part) => part.state, cell: (part) => state(part.state) },
      { head: 'Attempt', number: true, by: ({ attempt }) => attempt, cell: ({ attempt }) => attempt || '' },
      { head: 'Progress', cell: (part) => progress(part, texts.get(part.agent ?? '')) },
      { head: 'Results', cell: ({ run, state: at }) => run && isOver(at) && h('a', { href: address('/runs/{id}', { id: run }) }, 'Show results') },
    ],
  });

const view: View = {
  path: '/jobs/{id}',
  title: 'Job',
  async show({ parameters, signal }) {
    const id = parameters.id!;
    const path = `/v1/jobs/${encodeURIComponent(id)}`;
    let job = await get<Job>(path, signal);
    const heard: JobEvent[] = [];
    const texts = new Map<string, string>();
    const [top, parts, why, log, live] = [h('div', {}), h('div', {}), h('div', { class: 'after' }), h('ol'), h('p', { class: 'soft', role: 'status' })];

    function draw() {
      fill(
        top,
        h(
          'div',
          { class: 'row apart' },
          h('h1', {}, subjectOf(job)),
          isLost(job.state) && h('button', { type: 'button', id: 'retry', click: () => void retry(id).then((made) => made && (location.hash = address('/jobs/{id}', { id: made }))) }, 'Try again'),
          !isOver(job.state) && h('button', { type: 'button', id: 'cancel', click: () => void cancel(id).then((done) => (done ? ask() : undefined)) }, 'Cancel'),
        ),
        h('p', { class: 'soft' }, `Job ${job.id}, submitted ${job.owner ? `by ${job.owner}, ` : ''}${moment(job.submitted)} UTC`),
        way(job),
        job.waits && h('p', { class: 'warning' }, job.waits),
        job.state !== 'done' && reasonOf(job) && h('p', { class: 'warning' }, reasonOf(job)),
      );
      const done = job.parts?.filter(({ run, state: at }) => run && at === 'done') ?? [];
      fill(
        parts,
        job.parts?.length ? partsTable(job.parts, texts) : h('p', { class: 'soft' }, 'No machine has it yet.'),
        done.length > 1 && h('p', { class: 'after' }, h('a', { class: 'button', href: address('/compare', {}, { a: done[0]!.run, b: done[1]!.run }) }, 'Compare the machines')),
      );
      tick(parts);
      fill(log, [...heard].reverse().map((event) => h('li', {}, h('time', { datetime: event.time }, clock(event.time)), h('span', { class: 'soft' }, event.agent), h('span', {}, event.text || ((event.part ?? -1) >= 0 ? event.part_state : event.state)))));
    }
    /** While a part waits: which machines could run it, and why others could not. */
    async function askWhy() {
      const waits = job.parts?.some(({ state: at }) => at === 'queued') ?? !isOver(job.state);
      if (!waits) return fill(why);
      const [fits, agents] = await Promise.all([list<Fit>(`${path}/why`, signal), list<Agent>('/v1/agents', signal)]);
      fill(why, h('h3', {}, 'Machines that could run it'), machines(fits, agents));
    }
    async function ask() {
      try {
        job = await get<Job>(path, signal);
        draw();
        await askWhy();
      } catch {
        // The next event reloads it.
      }
    }
    const over = new AbortController();
    const hear = (event: JobEvent) => {
      if (isOver(event.state)) over.abort(); // no more events can come
      heard.push(event);
      if (heard.length > kMostEvents) heard.shift();
      if (event.agent && event.text) texts.set(event.agent, event.text);
      draw();
      if (event.state !== job.state || isOver(event.state) || job.parts?.every(({ agent }) => agent !== event.agent)) void ask();
    };
    const clockwork = setInterval(() => tick(parts), 1000);
    signal.addEventListener('abort', () => clearInterval(clockwork), { once: true });
    draw();
    await askWhy();
    followJobs(`${path}/events`, AbortSignal.any([signal, over.signal]), live, hear, () => isOver(job.state));
    const manifest = typeof job.manifest === 'string' ? job.manifest : JSON.stringify(job.manifest, null, 2);
    return [
      top,
      live,
      h('h2', {}, 'Machines'),
      parts,
      why,
      h('h2', {}, 'Events'),
      h('p', { class: 'soft' }, 'Newest first; times in UTC.'),
      h('div', { class: 'log', tabindex: 0, role: 'region', 'aria-label': 'Events' }, log),
      manifest && h('details', { class: 'apart' }, h('summary', {}, 'Manifest'), code('Manifest', manifest)),
    ];
  },
};
export default view;
