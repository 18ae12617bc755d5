// SPDX-License-Identifier: Apache-2.0
// Two runs side by side: numbers with the interval of their ratio, answers that flipped, layers that differ.
import { guesses } from '../parts/answers';
import { chart, intervals, labelWidth } from '../parts/chart';
import { whatOf } from '../parts/entries';
import { fill, h, type Child } from '../parts/dom';
import { counted, figureText, moment, tick, withDigits, withPrefix, words } from '../parts/figures';
import { distinguished, wrapped } from '../parts/labels';
import { table } from '../parts/table';
import { empty, figureCell, problem } from '../parts/words';
import { get, list, withQuery } from '../service/service';
import type { ComparedAnswers, ComparedLayer, ComparedRecord, Comparison, Run } from '../service/types';
import { address, type Place, type View } from '../view';

const kMostRows = 30;
const kTicks = [0.001, 0.01, 0.1, 0.2, 0.5, 0.7, 0.8, 0.9, 1, 1.1, 1.25, 1.5, 2, 5, 10, 20, 50, 100, 1000];

/** The verdict on a ratio: the runs differ only if its interval excludes 1. */
function verdict({ ratio, ratio_interval: interval, direction }: ComparedRecord): Child {
  if (typeof ratio !== 'number') return '';
  if (!interval) return h('span', { class: 'soft unbroken' }, 'no interval');
  if (interval[0] <= 1 && interval[1] >= 1) return h('span', { class: 'soft unbroken' }, 'no difference found');
  const isHigher = interval[0] > 1;
  if (direction !== 'higher_is_better' && direction !== 'lower_is_better') return isHigher ? 'B is higher' : 'B is lower';
  const isBetter = isHigher === (direction === 'higher_is_better');
  return h('span', { class: isBetter ? 'better' : 'worse' }, isBetter ? 'B is better' : 'B is worse');
}

const kSides = 36; // pixels beside the bars
const kLine = 16; // pixels

/** Names of rows without what all share, which is said once. */
function labelsOf(rows: ComparedRecord[]): { shared: string; titles: string[] } {
  const { shared, own } = distinguished(rows.map(({ name }) => name));
  const title = (row: ComparedRecord, i: number) => [[words(row.metric), row.statistic === 'single' ? '' : row.statistic].filter(Boolean).join(' '), own[i]].filter(Boolean).join(' · ');
  return { shared: shared.join(', '), titles: rows.map(title) };
}

function numbers(rows: ComparedRecord[], signal: AbortSignal): Child {
  const side = (head: string, of: (row: ComparedRecord) => ComparedRecord['a']) => ({
    head,
    number: true,
    by: (row: ComparedRecord) => of(row)?.value,
    cell: (row: ComparedRecord) => figureCell(of(row)?.value, row.unit, of(row)?.interval),
  });
  const drawn = rows.filter(({ ratio, ratio_interval: interval }) => typeof ratio === 'number' && ratio > 0 && interval).slice(0, kMostRows);
  const ends = drawn.flatMap(({ ratio_interval: interval }) => interval!).filter((end) => end > 0 && Number.isFinite(end));
  const [least, most] = [Math.min(0.9, ...ends) * 0.95, Math.max(1.1, ...ends) * 1.05];
  const ticks = kTicks.filter((at) => at >= least && at <= most).map(Math.log);
  const { shared, titles } = labelsOf(drawn);
  const linesAt = (width: number) => titles.map((title) => wrapped(title, width - kSides, labelWidth));
  const forest = chart({
    title: 'B over A',
    label: 'Ratios of B to A with their intervals; the same numbers are in the table',
    note: ['95% intervals on a logarithmic axis: where one crosses 1, no difference was found.', shared && ` All: ${shared}.`],
    height: (width) => 90 + drawn.length * (24 + kLine * Math.max(1, ...linesAt(width).map((title) => title.split('\n').length))),
    signal,
    option: (colours, width) => ({
      grid: { left: 12, right: 24, top: 10, bottom: 46 },
      xAxis: { type: 'value', name: 'ratio', nameGap: 28, min: Math.log(least), max: Math.log(most), axisLabel: { customValues: ticks, formatter: (value: number) => tick(Math.exp(value)) }, axisTick: { customValues: ticks }, splitLine: { show: false } },
      yAxis: { type: 'category', inverse: true, data: linesAt(width), axisTick: { show: false }, axisLabel: { inside: true, verticalAlign: 'bottom', lineHeight: kLine, padding: [0, 0, 10, 0], color: colours.ink, hideOverlap: false, interval: 0 } }, // above its bar, over the whole width
      series: [
        { type: 'scatter', symbolSize: 9, itemStyle: { color: colours.series[0] }, data: drawn.map((row, i) => [Math.log(row.ratio!), i]), markLine: { silent: true, symbol: 'none', label: { show: false }, lineStyle: { color: colours.ink, type: 'solid', width: 1 }, data: [{ xAxis: 0 }] }, tooltip: { formatter: ({ dataIndex }: { dataIndex: number }) => `${titles[dataIndex]}\n${figureText(drawn[dataIndex]!.ratio, '1', drawn[dataIndex]!.ratio_interval)}` } },
        intervals(drawn.map(({ ratio_interval: interval }, i) => [i, Math.log(Math.max(interval![0], least)), Math.log(Math.min(interval![1], most))]), colours.series[0]!, true),
      ],
    }),
  });
  return [
    h('h2', {}, 'Numbers'),
    drawn.length > 0 && forest.element,
    table<ComparedRecord>({
      label: 'Numbers of both runs',
      rows,
      columns: [
        { head: 'Where', by: (row) => row.name, cell: (row) => row.name },
        { head: 'Metric', by: (row) => row.metric, cell: (row) => [words(row.metric), row.statistic !== 'single' && h('span', { class: 'soft' }, ` ${row.statistic}`)] },
        side('A', (row) => row.a),
        side('B', (row) => row.b),
        { head: 'B / A', number: true, by: ({ ratio }) => ratio, cell: ({ ratio, ratio_interval }) => figureCell(ratio, '1', ratio_interval) },
        { head: 'Verdict', cell: verdict },
      ],
    }),
  ];
}

function answers(all: ComparedAnswers[]): Child {
  if (!all.length) return null;
  return [
    h('h2', {}, 'Answers'),
    h('p', { class: 'lead' }, 'Runs of equal accuracy may still answer differently: McNemar’s exact test shows whether flips favour one run.'),
    table<ComparedAnswers>({
      label: 'Answers of both runs',
      rows: all,
      columns: [
        { head: 'Where', by: ({ name }) => name, cell: ({ name }) => name },
        { head: 'Both right', number: true, by: ({ both }) => both, cell: ({ both }) => both },
        { head: 'Only A', number: true, by: ({ only_a }) => only_a, cell: ({ only_a }) => only_a },
        { head: 'Only B', number: true, by: ({ only_b }) => only_b, cell: ({ only_b }) => only_b },
        { head: 'Neither', number: true, by: ({ neither }) => neither, cell: ({ neither }) => neither },
        { head: 'p', number: true, by: ({ p_value }) => p_value, cell: ({ p_value }) => withDigits(p_value, 2) },
      ],
    }),
    all.filter(({ flips }) => flips.length > 0).map(({ name, flips, only_a, only_b }) =>
      h(
        'details',
        { class: 'after' },
        h('summary', {}, `${name}: ${counted(only_a + only_b, 'sample')} flipped${flips.length < only_a + only_b ? `, of which ${flips.length} are shown` : ''}`),
        table<ComparedAnswers['flips'][number]>({
          label: `Flips of ${name}`,
          rows: flips,
          columns: [
            { head: 'Sample', number: true, by: ({ sample }) => sample, cell: ({ sample }) => sample },
            { head: 'Right in', by: ({ score_a, score_b }) => score_a - score_b, cell: ({ score_a, score_b }) => (score_a > score_b ? 'A' : 'B') },
            { head: 'Answer of A', cell: ({ a }) => a && guesses(a)[0]?.label },
            { head: 'Answer of B', cell: ({ b }) => b && guesses(b)[0]?.label },
          ],
        }),
      ),
    ),
  ];
}

function layers(all: ComparedLayer[]): Child {
  if (!all.length) return null;
  return [
    h('h2', {}, 'Layers that differ'),
    table<ComparedLayer>({
      label: 'Layers of both runs',
      rows: all,
      most: kMostRows,
      columns: [
        { head: 'Node', by: ({ name }) => name, cell: ({ name }) => h('code', {}, name) },
        { head: 'Type', by: ({ type }) => type, cell: ({ type }) => type },
        { head: 'A', number: true, by: ({ a }) => a, cell: ({ a }) => withPrefix(a, 's') },
        { head: 'B', number: true, by: ({ b }) => b, cell: ({ b }) => withPrefix(b, 's') },
        { head: 'B − A', number: true, by: ({ a, b }) => b - a, cell: ({ a, b }) => withPrefix(b - a, 's') },
        { head: 'Share', number: true, by: ({ share_of_all }) => share_of_all, cell: ({ share_of_all }) => `${withDigits(100 * share_of_all, 2)} %` },
        { head: 'Significant', by: ({ is_sure }) => Number(is_sure), cell: ({ is_sure }) => (is_sure ? 'yes' : h('span', { class: 'soft' }, 'intervals overlap')) },
      ],
    }),
  ];
}

/** Other differences, which may be the reason. */
const differences = (all: Comparison['differences']) =>
  all?.length
    ? [
        h('h2', {}, 'Other differences'),
        table<{ name: string; a: string; b: string }>({
          label: 'Other differences',
          rows: all,
          columns: [
            { head: 'Of', by: ({ name }) => name, cell: ({ name }) => words(name) },
            { head: 'A', cell: ({ a }) => a },
            { head: 'B', cell: ({ b }) => b },
          ],
        }),
      ]
    : null;

const runTitle = (run: Run) => [moment(run.time), whatOf(run), run.hostname].filter(Boolean).join(' · ');

async function comparison(a: string, b: string, signal: AbortSignal): Promise<Child> {
  const found = await get<Comparison>(withQuery('/v1/compare', { a, b }), signal);
  const head = (letter: string, run: Run) => h('div', { class: 'tile' }, h('div', { class: 'what' }, letter), h('a', { href: address('/runs/{id}', { id: run.id }) }, `${moment(run.time)} UTC`), h('div', { class: 'more' }, [run.hostname, run.cpu].filter(Boolean).join(' · ')), run.title ? h('div', {}, whatOf(run)) : h('code', {}, run.command));
  return [
    h('div', { class: 'tiles two' }, head('A', found.a), head('B', found.b)),
    differences(found.differences ?? []),
    found.records.length ? numbers(found.records, signal) : empty('The runs have nothing in common', 'Numbers are compared if model, framework, metric and conditions agree.'),
    answers(found.answers),
    layers(found.layers),
  ];
}

function chooser(runs: Run[], place: Place, chosen: { a: string; b: string }, changed: () => void): Child {
  const select = (letter: 'a' | 'b') => {
    const element = h('select', { id: `run-${letter}` }, h('option', { value: '' }, 'choose a run'), runs.map((run) => h('option', { value: run.id }, runTitle(run))));
    element.value = chosen[letter];
    element.addEventListener('change', () => {
      chosen[letter] = element.value;
      place.remember(chosen);
      changed();
    });
    return h('div', {}, h('label', { for: `run-${letter}` }, letter.toUpperCase()), element);
  };
  return h('div', { class: 'fields wide' }, select('a'), select('b'));
}

const view: View = {
  path: '/compare',
  title: 'Compare',
  menu: 5,
  async show(place) {
    const { query, signal } = place;
    const runs = await list<Run>('/v1/runs', signal, 500);
    const idOf = (name: string) => runs.find(({ id }) => id === query.get(name))?.id ?? query.get(name) ?? '';
    const chosen = { a: idOf('a'), b: idOf('b') };
    const content = h('div', {});
    const draw = async () => {
      if (!chosen.a || !chosen.b) {
        fill(content, runs.length < 2 ? empty('A comparison needs two runs', h('a', { href: '#/start' }, 'Start an evaluation')) : empty('Choose two runs', 'Or tick two of them ', h('a', { href: '#/runs' }, 'in the list'), '.'));
        return;
      }
      try {
        fill(content, await comparison(chosen.a, chosen.b, signal));
      } catch (error) {
        if (!signal.aborted) fill(content, problem(error, () => void draw()));
      }
    };
    await draw();
    return [h('h1', {}, 'Compare two runs'), chooser(runs, place, chosen, () => void draw()), content];
  },
};
export default view;
