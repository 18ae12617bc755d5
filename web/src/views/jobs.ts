// SPDX-License-Identifier: Apache-2.0
// Submitted jobs with their progress, and the machines.
import { fill, h, type Child } from '../parts/dom';
import { ago, bytes, counted } from '../parts/figures';
import { cancel, followJobs, kStates, reasonOf, subjectOf } from '../parts/jobs';
import { isOver } from '../parts/progress';
import { table } from '../parts/table';
import { empty, noMachine, state } from '../parts/words';
import { get, list, withQuery } from '../service/service';
import type { Agent, Job, JobEvent, Page } from '../service/types';
import { address, type View } from '../view';

const kShown = 100;

function agentsTable(agents: Agent[]): Child {
  if (!agents.length) return noMachine('To connect one, run');
  return table<Agent>({
    label: 'Machines',
    rows: agents,
    sort: { column: 'Machine' },
    columns: [
      { head: 'Machine', by: ({ facts }) => facts.name, cell: ({ facts }) => [h('b', {}, facts.name), h('div', { class: 'soft' }, facts.cpu)] },
      { head: 'State', by: (agent) => agent.state, cell: (agent) => [agent.state, agent.job && [': ', h('a', { href: address('/jobs/{id}', { id: agent.job }) }, agent.job.slice(0, 8))]] },
      { head: 'Cores', number: true, by: ({ facts }) => facts.cores, cell: ({ facts }) => facts.cores },
      { head: 'Memory', number: true, by: ({ facts }) => facts.memory_bytes, cell: ({ facts }) => facts.memory_bytes && bytes(facts.memory_bytes) },
      { head: 'Frameworks', cell: ({ facts }) => Object.entries(facts.frameworks ?? {}).map(([name, { version }], i) => [i > 0 && ', ', h('span', { class: 'unbroken' }, name), version && h('span', { class: 'soft' }, ` ${version}`)]) },
      { head: 'Labels', cell: ({ facts }) => Object.entries(facts.labels ?? {}).map(([name, value], i) => [i > 0 && ', ', h('span', { class: 'unbroken' }, `${name}=${value}`)]) },
      { head: 'Price an hour', number: true, by: ({ facts }) => facts.price_per_hour || undefined, cell: ({ facts }) => Boolean(facts.price_per_hour) && `${facts.price_per_hour} ${facts.currency ?? 'USD'}` },
      { head: 'Last heartbeat', number: true, by: ({ heartbeat }) => heartbeat, cell: ({ heartbeat }) => heartbeat && ago(heartbeat) },
    ],
  });
}

const view: View = {
  path: '/jobs',
  title: 'Jobs',
  menu: 3,
  async show({ query, signal, remember }) {
    let wanted = query.get('state') ?? '';
    const jobs = new Map<string, Job>();
    const progress = new Map<string, string>();
    let next: string | undefined;
    const [queue, agents, live] = [h('div', {}), h('div', {}), h('p', { class: 'soft', role: 'status' })];

    async function load(cursor?: string) {
      const page = await get<Page<Job>>(withQuery('/v1/jobs', { state: wanted, cursor, limit: kShown }), signal);
      if (!cursor) jobs.clear();
      for (const job of page.items) jobs.set(job.id, job);
      next = page.next || undefined;
      draw();
    }
    const loadAgents = async () => fill(agents, agentsTable(await list<Agent>('/v1/agents', signal)));

    function draw() {
      const rows = [...jobs.values()].filter((job) => !wanted || job.state === wanted);
      const filters = h(
        'div',
        { class: 'tabs', role: 'group', 'aria-label': 'Only jobs that are' },
        ['', ...kStates].map((name) =>
          h('button', { type: 'button', id: `state-${name || 'any'}`, 'aria-pressed': String(name === wanted), click: () => {
            wanted = name;
            remember({ state: name });
            void load();
          } }, name || 'all'),
        ),
      );
      fill(
        queue,
        filters,
        rows.length
          ? table<Job>({
              label: 'Jobs',
              rows,
              columns: [
                { head: 'Evaluation', by: subjectOf, cell: (job) => [h('a', { href: address('/jobs/{id}', { id: job.id }) }, subjectOf(job)), h('div', { class: 'soft' }, !isOver(job.state) && (progress.get(job.id) ?? job.parts?.map((part) => part.progress).filter(Boolean).join('; ')))] },
                { head: 'State', by: (job) => kStates.indexOf(job.state), cell: (job) => [state(job.state), h('div', { class: 'soft' }, reasonOf(job))] },
                { head: 'On', by: (job) => String(job.on ?? ''), cell: (job) => job.parts?.map((part) => part.agent).filter(Boolean).join(', ') || job.on },
                ...(rows.some((job) => job.owner) ? [{ head: 'Submitted by', by: (job: Job) => job.owner, cell: (job: Job) => job.owner }] : []),
                { head: 'Submitted', number: true, by: (job) => job.submitted, cell: (job) => ago(job.submitted) },
                {
                  head: 'Actions',
                  quiet: true,
                  cell: (job) => !isOver(job.state) && h('button', { type: 'button', class: 'small', id: `cancel-${job.id}`, click: () => void cancel(job.id).then((done) => (done ? load() : undefined)) }, 'Cancel', h('span', { class: 'unseen' }, ` ${subjectOf(job)}`)),
                },
              ],
            })
          : empty(wanted ? `No job is ${wanted}` : 'No jobs yet', h('a', { href: '#/start' }, 'Start an evaluation')),
        next && h('p', {}, h('button', { type: 'button', id: 'more', click: () => void load(next) }, 'Older ones')),
      );
    }

    await Promise.all([load(), loadAgents()]);
    // Many events at once cause one request.
    let due: ReturnType<typeof setTimeout> | undefined;
    const ask = () => {
      clearTimeout(due);
      due = setTimeout(() => void Promise.all([load(), loadAgents()]).catch(() => {}), 300);
    };
    signal.addEventListener('abort', () => clearTimeout(due));
    const hear = (event: JobEvent) => {
      const job = jobs.get(event.job);
      if (event.text) progress.set(event.job, event.text);
      if (!job || job.state !== event.state) ask();
      else if (event.text) draw();
    };
    followJobs('/v1/events', signal, live, hear);
    return [
      h('div', { class: 'row apart' }, h('h1', {}, 'Jobs'), h('a', { class: 'button main', href: '#/start' }, 'Start an evaluation')),
      h('p', { class: 'lead' }, `Newest first, ${counted(kShown, 'job')} at a time. The page updates itself.`),
      live,
      queue,
      h('h2', {}, 'Machines'),
      agents,
    ];
  },
};
export default view;
