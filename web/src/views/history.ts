// SPDX-License-Identifier: Apache-2.0
// A model over versions and time, with the best version.
import { probability } from '../parts/cells';
import { chart, intervals, isLogarithmic } from '../parts/chart';
import { identitiesOf } from '../parts/conditions';
import { fill, h, type Child } from '../parts/dom';
import { capital, figureText, moment, scaledUnit, tick, words } from '../parts/figures';
import { table } from '../parts/table';
import { empty, figureCell, problem, state } from '../parts/words';
import { list, withQuery } from '../service/service';
import type { HistoryEntry, Model } from '../service/types';
import { address, type View } from '../view';

const kMostSeries = 6;
const kTelling = ['framework', 'scenario', 'batch', 'trace level', 'device', 'machine', 'threads', 'dataset'];
const kSymbols = ['circle', 'diamond', 'triangle', 'rect', 'roundRect', 'pin'];

const versionOf = (subject: string) => subject.split('@')[1] ?? '';

/** Groups entries by metric and statistic, with lower percentiles first. */
const byMetric = (entries: HistoryEntry[]) =>
  [...Map.groupBy(entries, ({ metric, unit, statistic }) => `${metric}\n${unit}\n${statistic}`).values()].sort(([a], [b]) => a!.metric.localeCompare(b!.metric) || probability(a!.statistic) - probability(b!.statistic));

/** Each series' short name by its key, from the conditions that differ. */
function seriesNames(entries: HistoryEntry[]): Map<string, string> {
  const facts = (entry: HistoryEntry): Record<string, string> => ({ framework: entry.framework, device: entry.device, machine: entry.hostname ?? '', ...identitiesOf(entry) });
  const first = new Map(entries.map((entry) => [entry.series, facts(entry)]));
  const all = [...first.values()];
  const names = [...new Set(['framework', 'scenario', 'batch', 'trace level', 'device', 'machine', ...all.flatMap((one) => Object.keys(one))])];
  const differing = names.filter((name) => new Set(all.map((one) => one[name] ?? '')).size > 1);
  const told = differing.filter((name) => kTelling.includes(name));
  const taken = new Set<string>();
  return new Map(
    [...first].map(([series, one]) => {
      const word = (name: string) => one[name] && (['framework', 'scenario', 'machine'].includes(name) ? one[name] : `${name} ${one[name]}`);
      let name = (told.length ? told : ['framework']).map(word).filter(Boolean).join(' · ');
      if (taken.has(name)) name = differing.map(word).filter(Boolean).join(' · ');
      taken.add(name);
      return [series, name];
    }),
  );
}

/** A plot per metric and statistic: values with intervals over time, a line per series. */
function plot(entries: HistoryEntry[], signal: AbortSignal): Child {
  const told = entries.filter(({ value }) => typeof value === 'number');
  if (!told.length) return null;
  const all = [...Map.groupBy(told, ({ series }) => series)].sort(([, a], [, b]) => b.length - a.length);
  const names = seriesNames(told);
  const shown = all.slice(0, kMostSeries).map(([key, points]): [string, HistoryEntry[]] => [names.get(key)!, points]);
  const { divisor, name: unit } = scaledUnit(Math.max(...told.map(({ value }) => Math.abs(value!))), told[0]!.unit);
  const values = shown.flatMap(([, points]) => points.map(({ value }) => value!));
  const log = isLogarithmic(Math.min(...values), Math.max(...values));
  const { element } = chart({
    title: [capital(words(told[0]!.metric)), told[0]!.statistic].filter((word) => word !== 'single').join(', '),
    label: `${told[0]!.metric} over time; the same numbers are in the table`,
    note: [h('span', { class: 'legend inline' }, shown.map(([series], i) => h('span', {}, h('span', { class: `swatch s${i}`, 'aria-hidden': 'true' }), series))), all.length > kMostSeries && `The first ${kMostSeries} of ${all.length} series.`],
    signal,
    option: (colours) => ({
      xAxis: { type: 'time', name: 'UTC', nameGap: 28, splitLine: { show: false }, axisLabel: { showMinLabel: true } },
      yAxis: { type: log ? 'log' : 'value', scale: !log, name: unit || 'share', nameGap: 46, axisLabel: { formatter: (value: number) => tick(value) } },
      series: shown.flatMap(([series, points], i) => {
        const time = (entry: HistoryEntry) => Date.parse(entry.time);
        return [
          {
            type: 'line',
            name: series,
            symbol: kSymbols[i],
            symbolSize: 9,
            color: colours.series[i],
            lineStyle: { width: 1.5 },
            data: points.map((entry) => ({ value: [time(entry), entry.value! / divisor], told: `${series}\n${versionOf(entry.subject)}, ${moment(entry.time)}\n${figureText(entry.value, entry.unit, entry.interval)}` })),
            tooltip: { formatter: ({ data }: { data: { told: string } }) => data.told },
          },
          intervals(points.filter(({ interval }) => interval).map((entry) => [time(entry), entry.interval![0] / divisor, entry.interval![1] / divisor] as [number, number, number]), colours.series[i]!),
        ];
      }),
    }),
  });
  return element;
}

function records(entries: HistoryEntry[]): Child {
  const names = new Map(byMetric(entries).flatMap((group) => [...seriesNames(group)]));
  return table<HistoryEntry>({
    label: 'Records over time',
    rows: entries,
    sort: { column: 'When (UTC)', descending: true },
    columns: [
      { head: 'When (UTC)', by: ({ time }) => time, cell: (entry) => h('a', { class: 'whole', href: address('/runs/{id}', { id: entry.run }) }, moment(entry.time)) },
      { head: 'Version', by: (entry) => versionOf(entry.subject), cell: (entry) => versionOf(entry.subject) },
      { head: 'Series', by: ({ series }) => names.get(series), cell: ({ series }) => names.get(series) },
      { head: 'Machine', by: ({ hostname }) => hostname, cell: ({ hostname }) => hostname },
      { head: 'Metric', by: ({ metric }) => metric, cell: ({ metric, statistic }) => [words(metric), statistic !== 'single' && h('span', { class: 'soft' }, ` ${statistic}`)] },
      { head: 'Value', number: true, by: ({ value }) => value, cell: ({ value, unit, interval }) => figureCell(value, unit, interval) },
      { head: 'Status', by: ({ status }) => status, cell: (entry) => [state(entry.status), entry.is_best && h('div', { class: 'better whole' }, 'best so far')] },
    ],
  });
}

const view: View = {
  path: '/history',
  title: 'History',
  menu: 6,
  async show({ query, signal, remember }) {
    const models = [...new Set((await list<Model>('/v1/models', signal)).map(({ name }) => name))].sort();
    const asked = query.get('model')?.replace(/@.*/, '');
    if (asked && !models.includes(asked)) models.push(asked);
    let entries: HistoryEntry[] = [];
    const content = h('div', {});
    const choice = (id: string, label: string, change: () => void) => {
      const element = h('select', { id, change });
      return { element, field: h('div', {}, h('label', { for: id }, label), element) };
    };
    const model = choice('model', 'Model', () => void load());
    const metric = choice('metric', 'Metric', () => draw());
    fill(model.element, h('option', { value: '' }, 'choose a model'), models.map((name) => h('option', { value: name }, name)));
    model.element.value = asked ?? (models.length === 1 ? models[0]! : '');

    function draw() {
      remember({ model: model.element.value, metric: metric.element.value });
      const chosen = entries.filter((entry) => !metric.element.value || entry.metric === metric.element.value);
      if (!model.element.value) fill(content, empty(models.length ? 'Choose a model' : 'This server knows no model yet'));
      else if (!chosen.length) fill(content, empty(`${model.element.value} has no measurements yet`, h('a', { href: address('/start', {}, { model: model.element.value }) }, 'Evaluate it')));
      else {
        const plots = byMetric(chosen).map((group) => plot(group, signal));
        fill(content, h('div', { class: 'charts after' }, plots), h('h2', {}, 'Records'), records(chosen));
      }
    }
    async function load() {
      entries = [];
      if (model.element.value) {
        try {
          entries = await list<HistoryEntry>(withQuery('/v1/history', { model: model.element.value }), signal);
        } catch (error) {
          if (!signal.aborted) fill(content, problem(error, () => void load()));
          return;
        }
      }
      const wanted = metric.element.value || query.get('metric') || '';
      const metrics = [...new Set(entries.map(({ metric: of }) => of))].sort();
      fill(metric.element, h('option', { value: '' }, 'all'), metrics.map((name) => h('option', { value: name }, words(name))));
      metric.element.value = [wanted, 'latency'].find((name) => metrics.includes(name)) ?? '';
      draw();
    }
    await load();
    return [h('h1', {}, 'History of a model'), h('p', { class: 'lead' }, 'Its versions over time, on the machines that measured them. Lines join measurements under the same conditions.'), h('div', { class: 'fields' }, model.field, metric.field), content];
  },
};
export default view;
