// SPDX-License-Identifier: Apache-2.0
// What the catalogue is narrowed to: words, task, licence, size, and what was measured.
import { h } from './dom';
import { taskOf } from './entries';
import type { Measured, Model } from '../service/types';

/** The choices, as the address has them; empty: any. */
export interface Wish {
  find: string;
  task: string;
  licence: string;
  framework: string;
  /** Megabytes at most. */
  size: string;
  /** Milliseconds at most, of the best median. */
  latency: string;
  /** At least. */
  accuracy: string;
}
const kNames: (keyof Wish)[] = ['find', 'task', 'licence', 'framework', 'size', 'latency', 'accuracy'];

export const wishOf = (query: URLSearchParams): Wish => Object.fromEntries(kNames.map((name) => [name, query.get(name) ?? ''])) as unknown as Wish;

/** The measure by which a model is judged: that of its first claim, or else the first that was measured. */
function accuracyOf(model: Model, { accuracy = {} }: Measured): [string, number] | undefined {
  const measure = [model.claims?.[0]?.measure, ...Object.keys(accuracy).sort()].find((name) => name !== undefined && name in accuracy);
  return measure === undefined ? undefined : [measure, accuracy[measure]!];
}

/** The results that are asked for: of the framework, quick and accurate enough. */
function enough(model: Model, results: Measured[], wish: Wish): Measured[] {
  return results.filter((one) => {
    if (wish.framework && one.framework !== wish.framework) return false;
    if (wish.latency && !(typeof one.latency === 'number' && one.latency * 1000 <= Number(wish.latency))) return false;
    return !wish.accuracy || (accuracyOf(model, one)?.[1] ?? -1) >= Number(wish.accuracy);
  });
}

/** Whether a model is what is wished. `results` are the model's own. */
export function fits(model: Model, results: Measured[], wish: Wish): boolean {
  const words = wish.find.trim().toLowerCase();
  if (words && ![model.name, model.task, model.licence, model.summary].some((text) => text?.toLowerCase().includes(words))) return false;
  if (wish.task && taskOf(model) !== wish.task) return false;
  if (wish.licence && model.licence !== wish.licence) return false;
  if (wish.size && !((model.bytes ?? Infinity) <= Number(wish.size) * 1e6)) return false;
  return !(wish.framework || wish.latency || wish.accuracy) || enough(model, results, wish).length > 0;
}

/** The quickest result that is asked for, with its accuracy. */
export function best(model: Model, results: Measured[], wish: Wish): { latency?: number; framework: string; accuracy?: [string, number] } | undefined {
  const [first] = enough(model, results, wish).sort((a, b) => (a.latency ?? Infinity) - (b.latency ?? Infinity));
  return first && { latency: first.latency ?? undefined, framework: first.framework, accuracy: accuracyOf(model, first) };
}

/** Fields for a wish, which change it; `changed` is called after each change. */
export function fields(models: Model[], frameworks: string[], wish: Wish, changed: () => void): HTMLElement {
  const set = (name: keyof Wish) => (event: Event) => {
    wish[name] = (event.target as HTMLInputElement).value.trim();
    changed();
  };
  const field = (id: string, label: string, input: HTMLElement) => h('div', {}, h('label', { for: id }, label), input);
  const choice = (name: keyof Wish, label: string, any: string, values: string[]) => {
    const known = [...new Set(wish[name] ? [...values, wish[name]] : values)].sort();
    const options = [h('option', { value: '' }, any), ...known.map((value) => h('option', { value, selected: value === wish[name] }, value))];
    return field(`wish-${name}`, label, h('select', { id: `wish-${name}`, change: set(name) }, options));
  };
  const number = (name: keyof Wish, label: string, max?: string) =>
    field(`wish-${name}`, label, h('input', { id: `wish-${name}`, type: 'number', min: '0', max, step: 'any', placeholder: 'any', value: wish[name], input: set(name) }));
  return h(
    'div',
    { class: 'fields wish' },
    field('search', 'Find', h('input', { id: 'search', type: 'search', placeholder: 'name, task, licence …', value: wish.find, input: set('find') })),
    choice('task', 'Task', 'any', models.map(taskOf)),
    choice('licence', 'Licence', 'any', models.flatMap(({ licence }) => licence || [])),
    choice('framework', 'Measured in', 'any', frameworks),
    number('size', 'MB at most'),
    number('latency', 'Median ms at most'),
    number('accuracy', 'Accuracy at least', '1'),
  );
}
