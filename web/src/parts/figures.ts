// SPDX-License-Identifier: Apache-2.0
// Numbers formatted for people, by the rules of d5's tables (src/core/results/scaled_unit.cpp).
import type { Interval } from '../service/types';

interface ScaledUnit {
  divisor: number;
  name: string;
}

const kMostDigits = 6;
const kPrefixes = ['f', 'p', 'n', 'µ', 'm', '', 'k', 'M', 'G', 'T', 'P'];

/** The power of ten of the first digit, after rounding to `significant` digits. */
const firstPlace = (value: number, significant: number) => Number(Math.abs(value).toExponential(significant - 1).split('e')[1]);

/** The unit in which `value` has one to three digits before the point. */
export function scaledUnit(value: number, unit: string): ScaledUnit {
  if (unit === '1' || unit === '') return { divisor: 1, name: '' };
  const name = unit.startsWith('byte') ? `B${unit.slice(4)}` : unit;
  if (!Number.isFinite(value) || value === 0) return { divisor: 1, name };
  const most = name === 's' ? 0 : 5; // nobody uses kiloseconds
  const least = name === 'B' || name === 'flop' ? 0 : -5;
  const power = Math.min(most, Math.max(least, Math.floor(firstPlace(value, 3) / 3)));
  return { divisor: 10 ** (3 * power), name: kPrefixes[power + 5] + name };
}

/** `value` rounded to the place of the last of `reference`'s `significant` digits. */
export function withDigits(value: number, significant: number, reference = value): string {
  if (Number.isNaN(value)) return 'nan';
  if (!Number.isFinite(value)) return value > 0 ? 'inf' : '-inf';
  if (value === 0) return '0';
  const place = firstPlace(reference === 0 || !Number.isFinite(reference) ? value : reference, significant);
  if (place < -4 || place > 5) return value.toExponential(significant - 1);
  return value.toFixed(Math.max(0, significant - 1 - place));
}

/** Number of significant digits of `value` for an uncertainty of `width`; three if it is unknown. */
function supportedDigits(value: number, width: number): number {
  if (!Number.isFinite(value) || value === 0 || !Number.isFinite(width)) return 3;
  if (width <= 0) return kMostDigits;
  const place = (x: number) => Math.floor(Math.log10(Math.abs(x)));
  return Math.min(kMostDigits, Math.max(1, place(value) - place(width) + 2));
}

export interface Figure {
  value: string;
  interval: string;
}

/** "24.5 ms" and "[24.0, 30.4]": with as many digits as the interval justifies. */
export function figure(value: number | null | undefined, unit: string, interval?: Interval | null): Figure {
  if (value === null || value === undefined) return { value: '', interval: '' };
  const scaled = scaledUnit(value, unit);
  const digits = interval ? supportedDigits(value, interval[1] - interval[0]) : 3;
  const print = (number: number) => withDigits(number / scaled.divisor, digits, value / scaled.divisor);
  return {
    value: print(value) + (scaled.name ? ` ${scaled.name}` : ''),
    interval: interval && interval[0] < interval[1] ? `[${print(interval[0])}, ${print(interval[1])}]` : '',
  };
}

/** "24.5 ms [24.0, 30.4]" */
export function figureText(value: number | null | undefined, unit: string, interval?: Interval | null): string {
  const told = figure(value, unit, interval);
  return `${told.value} ${told.interval}`;
}

/** A number for an axis: "0.5", "100". */
export const tick = (value: number) => String(Number(value.toPrecision(3)));

/** "1.25 ms" */
export const withPrefix = (value: number, unit: string) => figure(value, unit).value;

const kBinaryPrefixes = ['B', 'KiB', 'MiB', 'GiB', 'TiB'];
/** "23.5 GiB" */
export function bytes(value: number): string {
  const power = value > 0 ? Math.min(4, Math.floor(Math.log2(value) / 10)) : 0;
  return `${withDigits(value / 1024 ** power, 3)} ${kBinaryPrefixes[power]}`;
}

/** "3 runs", "1 run" */
export const counted = (count: number, one: string, many = `${one}s`) => `${count.toLocaleString('en')} ${count === 1 ? one : many}`;

/** "2026-11-26 11:45", UTC, of an ISO time. */
export const moment = (iso: string) => iso.replace('T', ' ').replace(/(:\d\d)(:\d\d)?(\.\d+)?Z?$/, '$1');

/** "11:45:27", UTC. */
export const clock = (iso: string) => iso.slice(11, 19);

/** A time relative to now: "12 s ago", "3 min ago"; absolute beyond a day. */
export function ago(iso: string, now = Date.now()): string {
  const seconds = (now - Date.parse(iso)) / 1000;
  if (!(seconds >= 0)) return moment(iso);
  if (seconds < 60) return `${Math.floor(seconds)} s ago`;
  if (seconds < 3600) return `${Math.floor(seconds / 60)} min ago`;
  if (seconds < 86_400) return `${Math.floor(seconds / 3600)} h ago`;
  return moment(iso);
}

/** "single_stream" -> "single stream": a name as a word in a sentence. */
export const words = (name: string) => name.replaceAll('_', ' ');
/** "Median"; "p90" stays what it is. */
export const capital = (text: string) => (/^p\d/.test(text) ? text : text.replace(/^./u, (letter) => letter.toUpperCase()));
