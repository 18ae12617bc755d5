// SPDX-License-Identifier: Apache-2.0
// The results of a run: accuracy and speed with their intervals, and wrong answers.
import { answersSection } from '../parts/answers';
import { cellsOf, conditionOf, isAccuracy, nameOf, partedConditions, probability, recordOf, statisticsOf, statusOf, type Cell } from '../parts/cells';
import { chart } from '../parts/chart';
import { conditionsOf } from '../parts/conditions';
import { fill, h, type Child } from '../parts/dom';
import { bytes, capital, counted, figure, moment, words } from '../parts/figures';
import { distributionChart, latenciesOf, legend, percentileChart, type LatencySeries } from '../parts/latency';
import { seriesNumbers } from '../parts/palette';
import { table, type Column } from '../parts/table';
import { code, empty, facts, figureCell, say, state } from '../parts/words';
import { get, list, withQuery } from '../service/service';
import type { Measurement, Query, RunDetails } from '../service/types';
import { address, type View } from '../view';

const kMostCurves = 6;

function tile(what: string, record: Measurement | undefined, more: Child): Child {
  if (!record) return null;
  const { value, interval } = figure(record.value, record.unit, record.interval);
  return h('div', { class: 'tile' }, h('div', { class: 'what' }, what), h('div', { class: 'value' }, value), h('div', { class: 'more' }, interval, interval && ' ', more));
}

/** The best value of a metric among the cells that passed. */
function best(cells: Cell[], metric: string, statistic: string | undefined, sign: 1 | -1): { cell: Cell; record: Measurement } | undefined {
  const all = cells
    .flatMap((cell) => {
      const record = recordOf(cell, metric, statistic);
      return record && record.status === 'passed' && typeof record.value === 'number' ? [{ cell, record }] : [];
    })
    .sort((a, b) => sign * (a.record.value! - b.record.value!));
  return all[0];
}

function tiles(accuracies: Cell[], timed: Cell[], differing: string[]): Child {
  const claims = accuracies.flatMap(({ records }) => records);
  const told = new Set<string>();
  const ofAccuracy = claims
    .filter(({ metric }) => !told.has(metric) && told.add(metric))
    .map((record) => {
      const others = claims.filter(({ metric, value }) => metric === record.metric && value !== record.value).length;
      return tile(capital(words(record.metric)), record, [conditionsOf(record).claimed && `claimed ${conditionsOf(record).claimed} `, state(record.status), others > 0 && ` in ${record.framework}; others differ`]);
    });
  // Times of traced cells include the cost of tracing.
  const untraced = timed.filter(({ conditions }) => (conditions['trace level'] ?? 'none') === 'none');
  if (untraced.length) timed = untraced;
  const quick = best(timed, 'latency', 'median', 1);
  const tail = best(timed, 'latency', 'p99', 1);
  const rate = best(timed, 'throughput', undefined, -1);
  const of = (found: { cell: Cell } | undefined) => found && timed.length > 1 && nameOf(found.cell, differing);
  return h('div', { class: 'tiles' }, ofAccuracy, tile('Lowest median latency', quick?.record, of(quick)), tile('Lowest p99', tail?.record, of(tail)), tile('Highest throughput', rate?.record, of(rate)));
}

const cellFigure = (record: Measurement | undefined): Child => record && figureCell(record.value, record.unit, record.interval);

function accuracyTable(cells: Cell[]): Child {
  const rows = cells.flatMap(({ records }) => records);
  return table<Measurement>({
    label: 'Accuracy',
    rows,
    columns: [
      { head: 'Model', by: ({ subject }) => subject, cell: ({ subject }) => subject },
      { head: 'Framework', by: ({ framework }) => framework, cell: (row) => [row.framework, h('span', { class: 'soft' }, ` ${row.framework_version ?? ''}`)] },
      { head: 'Measure', by: ({ metric }) => metric, cell: ({ metric }) => words(metric) },
      { head: 'Accuracy', number: true, by: ({ value }) => value, cell: cellFigure },
      { head: 'Claimed', number: true, by: (row) => Number(conditionsOf(row).claimed), cell: (row) => conditionsOf(row).claimed },
      { head: 'Status', by: ({ status }) => status, cell: (row) => [state(row.status), h('div', { class: 'soft' }, row.reason)] },
    ],
  });
}

/** Scenarios with their percentiles; ticked ones are plotted. */
class Timed {
  private readonly charts = h('div', { class: 'charts' });
  private readonly names = h('div', {});
  private readonly series = new Map<Cell, LatencySeries>();
  private readonly numbers;
  private redraw = () => {};

  constructor(
    private readonly run: string,
    private readonly cells: Cell[],
    private readonly differing: string[],
    private readonly signal: AbortSignal,
  ) {
    this.numbers = seriesNumbers(cells.map(({ framework }) => framework));
  }

  private dash(cell: Cell): number {
    return this.cells.filter(({ framework }) => framework === cell.framework).indexOf(cell);
  }

  element(): Child {
    const { cells, differing } = this;
    const statistics = statisticsOf(cells, 'latency');
    const drawn = new Set(cells.slice(0, kMostCurves));
    const box = (cell: Cell) => {
      const input = h('input', { type: 'checkbox', 'aria-label': `Draw ${nameOf(cell, differing)}` });
      input.checked = drawn.has(cell);
      input.addEventListener('change', () => {
        if (input.checked && drawn.size >= kMostCurves) {
          input.checked = false;
          say(`At most ${kMostCurves} curves can be drawn: untick one`);
          return;
        }
        if (input.checked) drawn.add(cell);
        else drawn.delete(cell);
        void this.draw(drawn);
      });
      return h('span', { class: 'row' }, input, h('span', { class: `swatch s${this.numbers.get(cell.framework)}`, 'aria-hidden': 'true' }));
    };
    const number = (head: string, of: (cell: Cell) => Measurement | undefined): Column<Cell> => ({ head, number: true, by: (cell) => of(cell)?.value, cell: (cell) => cellFigure(of(cell)) });
    void this.draw(drawn);
    return [
      table<Cell>({
        label: 'Scenarios',
        rows: cells,
        columns: [
          { head: 'Draw', quiet: true, cell: box },
          ...(differing.length ? differing : ['framework']).map((name): Column<Cell> => ({ head: capital(words(name)), by: (cell) => conditionOf(cell, name), cell: (cell) => conditionOf(cell, name) })),
          ...statistics.map((statistic) => number(capital(statistic), (cell) => recordOf(cell, 'latency', statistic))),
          number('Throughput', (cell) => recordOf(cell, 'throughput')),
          { head: 'Status', by: (cell) => statusOf(cell).status, cell: (cell) => [state(statusOf(cell).status), h('div', { class: 'soft' }, statusOf(cell).reason)] },
        ],
      }),
      this.names,
      this.charts,
    ];
  }

  private async seriesOf(cell: Cell): Promise<LatencySeries> {
    const path = withQuery(`/v1/runs/${encodeURIComponent(this.run)}/queries`, { piece: cell.piece, limit: 10_000 });
    const queries = await list<Query>(path, this.signal, 100_000);
    return {
      name: nameOf(cell, this.differing),
      colour: this.numbers.get(cell.framework) ?? 5,
      dash: this.dash(cell),
      values: latenciesOf(queries, cell.conditions.latency_from),
      told: cell.records
        .filter(({ metric, statistic, value }) => metric === 'latency' && typeof value === 'number' && probability(statistic) < 1)
        .map(({ statistic, value, interval }) => ({ probability: probability(statistic), value: value!, interval })),
    };
  }

  private async draw(drawn: Set<Cell>): Promise<void> {
    try {
      await Promise.all([...drawn].filter((cell) => !this.series.has(cell)).map(async (cell) => this.series.set(cell, await this.seriesOf(cell))));
    } catch (error) {
      if (!this.signal.aborted) say(`The queries could not be read: ${(error as Error).message}`);
    }
    if (this.signal.aborted) return;
    const shown = () => this.cells.filter((cell) => drawn.has(cell)).map((cell) => this.series.get(cell)).filter((series) => series !== undefined && series.values.length > 0) as LatencySeries[];
    fill(this.names, shown().length > 0 && legend(shown()));
    this.charts.hidden = shown().length === 0;
    if (!this.charts.hidden && !this.charts.childElementCount) {
      const both = [percentileChart(shown, this.signal), distributionChart(shown, this.signal)].map(chart);
      this.redraw = () => both.forEach((one) => one.redraw());
      fill(this.charts, both.map(({ element }) => element));
    } else this.redraw();
  }
}

const scenarioOf = (said: Record<string, string>) => [said.scenario, said.batch && said.batch !== '1' && ` · batch ${said.batch}`, said['trace level'] && ` · trace ${said['trace level']}`];

function allRecords(records: Measurement[]): Child {
  return table<Measurement>({
    label: 'All records',
    rows: records,
    columns: [
      { head: 'Model', by: ({ subject }) => subject, cell: ({ subject }) => subject },
      { head: 'Framework', by: ({ framework }) => framework, cell: ({ framework }) => framework },
      { head: 'Scenario', by: (row) => conditionsOf(row).scenario, cell: (row) => scenarioOf(conditionsOf(row)) },
      { head: 'Metric', by: ({ metric }) => metric, cell: ({ metric }) => words(metric) },
      { head: 'Statistic', by: ({ statistic }) => statistic, cell: ({ statistic }) => (statistic === 'single' ? '' : statistic) },
      { head: 'Value', number: true, by: ({ value }) => value, cell: ({ value, unit, interval }) => figure(value, unit, interval).value },
      { head: '95% interval', number: true, by: ({ interval }) => interval?.[0], cell: ({ value, unit, interval }) => figure(value, unit, interval).interval },
      { head: 'Status', by: ({ status }) => status, cell: ({ status }) => state(status) },
    ],
  });
}

function machineFacts(run: RunDetails): Child {
  const environment = run.environment ?? {};
  const text = (name: string) => (typeof environment[name] === 'string' ? (environment[name] as string) : undefined);
  const number = (name: string) => (typeof environment[name] === 'number' && environment[name] ? (environment[name] as number) : undefined);
  return facts([
    ['Machine', run.hostname],
    ['Processor', run.cpu],
    ['Cores', number('cores')],
    ['Memory', number('memory_bytes') && bytes(number('memory_bytes')!)],
    ['System', text('os')],
    ['Runs on', text('virtualisation')],
    ['Compiler', text('compiler')],
    ['d5', text('d5_version')],
    ['Evaluation', run.key && h('code', {}, run.key.slice(0, 16))],
  ]);
}

const view: View = {
  path: '/runs/{id}',
  title: 'Result',
  async show(place) {
    const { parameters, signal } = place;
    const id = parameters.id!;
    const path = `/v1/runs/${encodeURIComponent(id)}`;
    const [run, records] = await Promise.all([get<RunDetails>(path, signal), list<Measurement>(`${path}/records`, signal)]);
    const cells = cellsOf(records);
    const accuracies = cells.filter(isAccuracy);
    const timed = cells.filter((cell) => recordOf(cell, 'latency') ?? recordOf(cell, 'throughput'));
    const { shared, differing } = partedConditions(timed);
    const traces = run.pieces?.filter(({ kind }) => kind === 'trace') ?? [];
    const answers = run.pieces?.filter(({ kind }) => kind === 'answers') ?? [];
    const subjects = [...new Set(records.map(({ subject }) => subject))];
    const warnings = Array.isArray(run.environment?.warnings) ? (run.environment.warnings as unknown[]).map(String) : [];
    return [
      h(
        'div',
        { class: 'row apart' },
        h('h1', {}, subjects.length === 1 ? subjects[0] : subjects.length ? counted(subjects.length, 'model') : 'A run'),
        h('div', { class: 'row' }, traces.length > 0 && h('a', { class: 'button', href: address('/runs/{id}/timeline', { id }) }, 'Timeline'), h('a', { class: 'button', href: address('/compare', {}, { a: id }) }, 'Compare')),
      ),
      h('p', { class: 'soft' }, [`${moment(run.time)} UTC`, run.hostname, run.cpu, ...shared.filter(([name]) => name !== 'model').map(([name, value]) => (name === 'framework' ? value : `${words(name)} ${words(value)}`))].filter(Boolean).join(' · ')),
      !records.length && empty('This run has no records', 'It may still be running.'),
      tiles(accuracies, timed, differing),
      warnings.length > 0 && h('div', { class: 'warning' }, h('ul', {}, warnings.map((text) => h('li', {}, text)))),
      timed.length > 0 && [h('h2', {}, 'How fast'), new Timed(id, timed, differing, signal).element()],
      accuracies.length > 0 && [h('h2', {}, 'How accurate'), accuracyTable(accuracies)],
      answers.length > 0 && answersSection(id, answers, new Map(cells.map(({ piece, conditions }) => [piece, conditions.dataset ?? ''])), place),
      records.length > 0 && h('details', { class: 'apart' }, h('summary', {}, `All ${counted(records.length, 'record')}`), allRecords(records)),
      h('details', {}, h('summary', {}, 'Machine and command'), machineFacts(run), run.command && code('The command', run.command), run.manifest ? code('The manifest', typeof run.manifest === 'string' ? run.manifest : JSON.stringify(run.manifest, null, 2)) : null),
    ];
  },
};
export default view;
