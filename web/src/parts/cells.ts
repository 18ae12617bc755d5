// SPDX-License-Identifier: Apache-2.0
// The records of a run, grouped into cells: a model in a framework under a scenario.
import type { Measurement } from '../service/types';
import { conditionsOf, identitiesOf } from './conditions';

/** All records of one piece. */
export interface Cell {
  piece: string;
  subject: string;
  framework: string;
  version: string;
  device: string;
  conditions: Record<string, string>;
  records: Measurement[];
}

export function cellsOf(records: Measurement[]): Cell[] {
  const cells = new Map<string, Cell>();
  for (const record of records) {
    const key = record.piece ?? [record.subject, record.framework, record.device, JSON.stringify(identitiesOf(record))].join('\n');
    let cell = cells.get(key);
    if (!cell) {
      cell = { piece: record.piece ?? '', subject: record.subject, framework: record.framework, version: record.framework_version ?? '', device: record.device, conditions: {}, records: [] };
      cells.set(key, cell);
    }
    Object.assign(cell.conditions, conditionsOf(record));
    cell.records.push(record);
  }
  return [...cells.values()];
}

/** The record of a metric, and of a statistic if the metric has several. */
export const recordOf = (cell: Cell, metric: string, statistic?: string) => cell.records.find((record) => record.metric === metric && (!statistic || record.statistic === statistic));

/** The worst status of a cell's records. */
export function statusOf(cell: Cell): Measurement {
  const order = ['failed', 'mistrusted', 'unsupported', 'skipped', 'passed'];
  return [...cell.records].sort((a, b) => order.indexOf(a.status) - order.indexOf(b.status))[0]!;
}

export const isAccuracy = (cell: Cell) => cell.records.some((record) => 'claimed' in conditionsOf(record)) || /\baccuracy$/.test(cell.piece);

/** The percentiles that were measured, in order: "median", "p90", "p99". */
export function statisticsOf(cells: Cell[], metric: string): string[] {
  const all = new Set(cells.flatMap(({ records }) => records.filter((record) => record.metric === metric).map(({ statistic }) => statistic)));
  return [...all].sort((a, b) => probability(a) - probability(b));
}

/** "median" -> 0.5, "p99.9" -> 0.999; NaN for other names. */
export function probability(statistic: string): number {
  if (statistic === 'median') return 0.5;
  const match = /^p(\d+(?:\.\d+)?)$/.exec(statistic);
  return match ? Number(match[1]) / 100 : NaN;
}

/** Conditions that differ among cells; those that are the same everywhere are shown once. */
export function partedConditions(cells: Cell[]): { shared: [string, string][]; differing: string[] } {
  const identities = cells.flatMap(({ records }) => records.flatMap((record) => Object.keys(identitiesOf(record))));
  const names = [...new Set(['model', 'framework', 'device', 'scenario', ...identities.sort()])];
  const parted: { shared: [string, string][]; differing: string[] } = { shared: [], differing: [] };
  for (const name of names) {
    const values = new Set(cells.map((cell) => conditionOf(cell, name)));
    if (values.size > 1) parted.differing.push(name);
    else if (cells.length && [...values][0]) parted.shared.push([name, [...values][0]!]);
  }
  return parted;
}

export const conditionOf = (cell: Cell, name: string): string => ({ model: cell.subject, framework: cell.framework, device: cell.device })[name] ?? cell.conditions[name] ?? '';

/** A cell's short name, from the conditions that differ. */
export function nameOf(cell: Cell, differing: string[]): string {
  const parts = differing.map((name) => {
    const value = conditionOf(cell, name);
    return name === 'batch' ? `batch ${value}` : name === 'trace level' ? value && `trace ${value}` : value;
  });
  return parts.filter(Boolean).join(' · ') || cell.framework;
}
