// SPDX-License-Identifier: Apache-2.0
// Latencies of queries: a curve of percentiles that shows the tail, and a distribution.
import type { Query } from '../service/types';
import { intervals, isLogarithmic, type ChartOptions } from './chart';
import { scaledUnit, tick, withPrefix } from './figures';
import { h, type Child } from './dom';
import type { Palette } from './palette';

export interface LatencySeries {
  name: string;
  /** Index in the palette. */
  colour: number;
  /** Dashes distinguish series of one framework. */
  dash: number;
  /** Latencies in s, ascending. */
  values: number[];
  /** Percentiles from the records: probability, value, interval in s. */
  told: { probability: number; value: number; interval?: [number, number] | null }[];
}

/** Latencies in s, ascending, from the schedule if the scenario has one, as the scenario measures. */
export function latenciesOf(queries: Query[], from: string | undefined): number[] {
  const start = from === 'schedule' ? (query: Query) => query.scheduled : (query: Query) => query.issued;
  return queries.filter(({ status }) => status === 'passed').map((query) => (query.ended - start(query)) / 1e9).sort((a, b) => a - b);
}

const kDashes = ['solid', 'dashed', 'dotted'] as const;
const kTail = [0, 0.5, 0.9, 0.99, 0.999, 0.9999, 0.99999];
const asTail = (probability: number) => -Math.log10(1 - probability);
const percent = (probability: number) => (probability === 0.5 ? 'median' : `${Number((100 * probability).toPrecision(7))} %`);

/** The legend of colours and dashes, for both charts. */
export function legend(series: LatencySeries[]): Child {
  return h('ul', { class: 'legend' }, series.map(({ name, colour, dash }) => h('li', {}, h('span', { class: `line s${colour} dash${dash % 3}`, 'aria-hidden': 'true' }), name)));
}

function valueAxis(series: LatencySeries[]): { log: boolean; divisor: number; unit: string } {
  const lowest = Math.min(...series.map(({ values }) => values[0] ?? Infinity));
  const highest = Math.max(...series.map(({ values }) => values.at(-1) ?? 0));
  const { divisor, name } = scaledUnit(Math.sqrt(Math.max(lowest, 1e-12) * Math.max(highest, 1e-12)), 's');
  return { log: isLogarithmic(lowest, highest), divisor, unit: name };
}

/** A series' line in a chart, with its name. */
const lineOf = ({ name, colour, dash }: Pick<LatencySeries, 'name' | 'colour' | 'dash'>, colours: Palette) => ({
  type: 'line',
  name,
  showSymbol: false,
  triggerLineEvent: true,
  lineStyle: { width: 2, type: kDashes[dash % 3], color: colours.series[colour] },
  itemStyle: { color: colours.series[colour] },
  tooltip: { formatter: () => name },
});

export function percentileChart(series: () => LatencySeries[], signal: AbortSignal): ChartOptions {
  return {
    title: 'Latency by percentile',
    label: 'Latency by percentile, with a stretched tail; the same numbers are in the table of scenarios',
    note: 'Every query; bars are 95% intervals of the recorded percentiles. The axis stretches the tail.',
    signal,
    height: 320,
    option(colours: Palette) {
      const shown = series();
      const { log, divisor, unit } = valueAxis(shown);
      const most = Math.max(1, ...shown.map(({ values }) => values.length));
      const last = Math.ceil(asTail(1 - 1 / (2 * most)) * 2) / 2;
      return {
        xAxis: {
          type: 'value',
          min: 0,
          max: last,
          name: 'share of queries',
          nameGap: 30,
          interval: 0.01,
          axisLabel: { customValues: kTail.map(asTail), formatter: (value: number) => percent(1 - 10 ** -value) },
          axisTick: { customValues: kTail.map(asTail) },
          splitLine: { show: false },
        },
        yAxis: { type: log ? 'log' : 'value', scale: false, name: `latency, ${unit}`, nameGap: 46, axisLabel: { formatter: (value: number) => tick(value) } },
        series: shown.flatMap(({ name, colour, dash, values, told }) => [
          {
            ...lineOf({ name, colour, dash }, colours),
            step: values.length <= kWhole ? 'middle' : false,
            data: curve(values).map(([p, value]) => [asTail(p), value / divisor]),
          },
          {
            type: 'scatter',
            name,
            symbolSize: 8,
            itemStyle: { color: colours.series[colour], borderColor: colours.back, borderWidth: 1 },
            z: 4,
            data: told.map(({ probability: p, value, interval }) => ({ value: [asTail(p), value / divisor], told: `${percent(p)}: ${withPrefix(value, 's')}${interval ? ` [${withPrefix(interval[0], 's')}, ${withPrefix(interval[1], 's')}]` : ''}` })),
            tooltip: { formatter: ({ data }: { data: { told: string } }) => `${name}\n${data.told}` },
          },
          intervals(
            told.filter(({ interval }) => interval).map(({ probability: p, interval }) => [asTail(p), interval![0] / divisor, interval![1] / divisor] as [number, number, number]),
            colours.series[colour]!,
          ),
        ]),
      };
    },
  };
}

/** Up to this number of queries each one is drawn. */
const kWhole = 300;

/** The quantile function at some 300 points, denser in the tail: value i of n is the quantile (i + 1/2) / n. */
export function curve(values: number[]): [number, number][] {
  const n = values.length;
  if (n <= kWhole) return values.map((value, i) => [(i + 0.5) / n, value]);
  const points = new Map<number, number>();
  const last = asTail(1 - 0.5 / n);
  for (let k = 0; k <= kWhole; ++k) {
    const i = Math.min(n - 1, Math.max(0, Math.round((1 - 10 ** ((-last * k) / kWhole)) * n - 0.5)));
    points.set((i + 0.5) / n, values[i]!);
  }
  return [...points];
}

export function distributionChart(series: () => LatencySeries[], signal: AbortSignal): ChartOptions {
  return {
    title: 'Distribution',
    label: 'Distribution of latencies; the same numbers are in the table of scenarios',
    note: 'Share of queries in each of 40 equal bins; the axis is logarithmic if latencies span more than a factor of 20.',
    signal,
    height: 320,
    option(colours: Palette) {
      const shown = series();
      const { log, divisor, unit } = valueAxis(shown);
      const bins = binned(shown.map(({ values }) => values.map((value) => value / divisor)), log);
      return {
        xAxis: { type: log ? 'log' : 'value', min: bins.edges[0], max: bins.edges.at(-1), name: `latency, ${unit}`, nameGap: 30, splitLine: { show: false }, axisLabel: { showMinLabel: false, showMaxLabel: false, formatter: (value: number) => tick(value) } },
        yAxis: { type: 'value', name: 'share of queries', nameGap: 46, min: 0, axisLabel: { formatter: (value: number) => `${Number((100 * value).toFixed(1))} %` } },
        series: shown.map((one, i) => ({
          ...lineOf(one, colours),
          step: 'end',
          areaStyle: { opacity: 0.08, color: colours.series[one.colour] },
          data: bins.edges.map((edge, k) => [edge, bins.shares[i]![Math.min(k, bins.shares[i]!.length - 1)]]),
        })),
      };
    },
  };
}

/** Bins of equal width, or of equal ratio, from the lowest value of all to the highest. */
export function binned(all: number[][], log: boolean, count = 40): { edges: number[]; shares: number[][] } {
  const values = all.flat();
  const to = log ? Math.log : (x: number) => x;
  const back = log ? Math.exp : (x: number) => x;
  // No spread syntax: a million arguments would overflow the stack.
  let [low, high] = [Infinity, -Infinity];
  for (const value of values) [low, high] = [Math.min(low, value), Math.max(high, value)];
  if (!(low < high)) [low, high] = Number.isFinite(low) ? [low * 0.9, low * 1.1 || 1] : [1, 2];
  const [first, last] = [to(low), to(high)];
  const edges = Array.from({ length: count + 1 }, (_, k) => back(first + ((last - first) * k) / count));
  const shares = all.map((numbers) => {
    const bins = new Array<number>(count).fill(0);
    for (const value of numbers) bins[Math.min(count - 1, Math.max(0, Math.floor(((to(value) - first) / (last - first)) * count)))]! += 1 / numbers.length;
    return bins;
  });
  return { edges, shares };
}
