// SPDX-License-Identifier: Apache-2.0
// The timeline of a run, from a request to a node, with a breakdown of the time of any span.
import { fill, h, type Child } from '../parts/dom';
import { capital, counted, withDigits, withPrefix } from '../parts/figures';
import { table } from '../parts/table';
import { kKinds, timeline, type Timeline } from '../parts/timeline';
import { pathOf, sharesOf, traceOf, type Share, type Span, type Trace, type TraceEvent } from '../parts/trace';
import { empty, facts } from '../parts/words';
import { get, withQuery } from '../service/service';
import type { RunDetails } from '../service/types';
import { address, type View } from '../view';

const lengthOf = (span: Span) => span.end - span.start;
const percent = (share: number) => (share > 0 && share < 1e-4 ? '< 0.01 %' : `${withDigits(100 * share, 3)} %`);

/** The table of requests; a click on one shows its spans. */
function requestsTable(trace: Trace, drawn: Timeline): Child {
  if (!trace.requests.length) return null;
  const partsOf = (request: Span) => request.children[0]?.children ?? [];
  const names = [...new Set(trace.requests.flatMap((request) => partsOf(request).map(({ name }) => name)))];
  const partOf = (request: Span, name: string) => partsOf(request).filter((part) => part.name === name).reduce((sum, part) => sum + lengthOf(part), 0);
  const waited = (request: Span) => (request.children[0] ? request.children[0].start - request.start : undefined);
  const time = (head: string, of: (request: Span) => number | undefined) => ({
    head,
    number: true,
    by: of,
    cell: (request: Span) => {
      const value = of(request);
      return value === undefined ? '' : withPrefix(value, 's');
    },
  });
  const numbers = new Map(trace.requests.map((request, i) => [request, i + 1]));
  const number = (request: Span) => numbers.get(request);
  return [
    h('h2', {}, 'Requests'),
    table<Span>({
      label: 'Requests',
      rows: trace.requests,
      most: 15,
      sort: { column: 'Latency', descending: true },
      columns: [
        { head: 'Request', number: false, by: number, cell: (request) => h('button', { type: 'button', class: 'small', click: () => show(request, drawn) }, `Request ${number(request)}`) },
        { head: 'Sample', number: true, by: (request) => Number(request.facts.find(([name]) => name === 'sample')?.[1]), cell: (request) => request.facts.find(([name]) => name === 'sample')?.[1] },
        time('Latency', lengthOf),
        time('Waited', waited),
        ...names.map((name) => time(capital(name), (request) => partOf(request, name))),
      ],
    }),
  ];
}

function show(span: Span, drawn: Timeline): void {
  drawn.show(span);
  drawn.element.scrollIntoView({ block: 'nearest' });
}

function details(span: Span | null, drawn: Timeline): Child {
  if (!span) return h('p', { class: 'soft' }, 'Click on a span, or choose a request below, to see its parents and a breakdown of its time.');
  const shares = sharesOf(span);
  const path = pathOf(span);
  return [
    h(
      'nav',
      { class: 'path', 'aria-label': 'Parents' },
      path.map((part, i) => [i > 0 && h('span', { class: 'soft', 'aria-hidden': 'true' }, ' › '), part === span ? h('b', { 'aria-current': 'true' }, part.name) : h('button', { type: 'button', class: 'small', click: () => drawn.select(part) }, part.name)]),
    ),
    facts([['Takes', withPrefix(lengthOf(span), 's')], ['Begins at', withPrefix(span.start, 's')], ['Share of its parent', span.parent && percent(lengthOf(span) / lengthOf(span.parent))], ...span.facts]),
    h('div', { class: 'row' }, h('button', { type: 'button', click: () => show(span, drawn) }, 'Zoom to it')),
    shares.length > 0 &&
      table<Share>({
        label: `Breakdown of the time of ${span.name}`,
        rows: shares,
        columns: [
          { head: 'Part', by: ({ name }) => name, cell: ({ name, longest }) => (longest ? h('button', { type: 'button', class: 'small', click: () => drawn.select(longest) }, name) : h('span', { class: 'soft' }, name)) },
          { head: 'Count', number: true, by: ({ count, longest }) => longest && count, cell: ({ count, longest }) => longest && count },
          { head: 'Total', number: true, by: ({ total }) => total, cell: ({ total }) => withPrefix(total, 's') },
          { head: 'Share', number: true, by: ({ total }) => total, cell: ({ total }) => percent(total / lengthOf(span)) },
          { head: 'Longest', number: true, by: ({ longest }) => longest && lengthOf(longest), cell: ({ longest }) => longest && withPrefix(lengthOf(longest), 's') },
        ],
      }),
  ];
}

const view: View = {
  path: '/runs/{id}/timeline',
  title: 'Timeline',
  async show({ parameters, query, signal, remember, again }) {
    const id = parameters.id!;
    const path = `/v1/runs/${encodeURIComponent(id)}`;
    const run = await get<RunDetails>(path, signal);
    const pieces = (run.pieces ?? []).filter(({ kind }) => kind === 'trace');
    const heading = [h('div', { class: 'row apart' }, h('h1', {}, 'Timeline'), h('a', { class: 'button', href: address('/runs/{id}', { id }) }, 'Results'))];
    if (!pieces.length) return [heading, empty('This run has no trace', 'Choose the trace level “model” or “framework” when you ', h('a', { href: '#/start' }, 'start an evaluation'), '.')];
    const piece = pieces.find(({ name }) => name === query.get('piece')) ?? pieces[0]!;
    const { traceEvents } = await get<{ traceEvents: TraceEvent[] }>(withQuery(`${path}/trace`, { piece: piece.name }), signal);
    const trace = traceOf(traceEvents);
    if (!trace.count) return [heading, empty('The trace holds no spans')];
    const [told, window_] = [h('div', { class: 'told', 'aria-live': 'polite' }), h('span', { class: 'soft', role: 'status' })];
    const drawn: Timeline = timeline(
      trace,
      signal,
      (span) => fill(told, details(span, drawn)),
      (from, to) => {
        fill(window_, `${withPrefix(to - from, 's')} from ${withPrefix(from, 's')}`);
        remember({ from: from > 0 || to < trace.length ? from.toPrecision(6) : undefined, to: to < trace.length ? to.toPrecision(6) : undefined });
      },
    );
    fill(told, details(null, drawn));
    const [from, to] = [Number(query.get('from')), Number(query.get('to') ?? trace.length)];
    if (to > from) drawn.zoomTo(from, to);
    const select = h('select', { id: 'piece' }, pieces.map(({ name }) => h('option', { value: name }, name)));
    select.value = piece.name;
    select.addEventListener('change', () => {
      remember({ piece: select.value, from: undefined, to: undefined });
      again();
    });
    const button = (label: string, words: string, click: () => void) => h('button', { type: 'button', 'aria-label': words, click }, label);
    return [
      heading,
      h('p', { class: 'lead' }, `${counted(trace.count, 'span')}, ${counted(trace.requests.length, 'request')}. Drag to move; Ctrl and the wheel, two fingers, or the buttons zoom; a double click zooms to a span.`),
      pieces.length > 1 && h('div', { class: 'fields' }, h('div', {}, h('label', { for: 'piece' }, 'Trace of'), select)),
      h('div', { class: 'row tools' }, button('−', 'Zoom out', () => drawn.zoomBy(2)), button('+', 'Zoom in', () => drawn.zoomBy(0.5)), button('All', 'Show all', () => drawn.all()), window_),
      h('ul', { class: 'legend kinds' }, kKinds.map(([kind, colour]) => h('li', {}, h('span', { class: `swatch s${colour}`, 'aria-hidden': 'true' }), kind))),
      drawn.element,
      told,
      requestsTable(trace, drawn),
    ];
  },
};
export default view;
