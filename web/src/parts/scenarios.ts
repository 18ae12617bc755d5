// SPDX-License-Identifier: Apache-2.0
// Scenarios of the start view: those that a server takes, in the address, and the fields of their options.
import { h, type Child } from './dom';
import type { ChosenScenario } from './evaluation';
import { words } from './figures';
import type { Scenario } from '../service/types';

/** A server takes no evaluation that names a file or a folder: its machines have others. */
const kPlaces = ['file', 'folder'];
export const offered = (scenarios: Scenario[]) => scenarios.filter(({ options }) => !options?.some(({ name }) => kPlaces.includes(name)));

/** "scenario=poisson,offline&option.poisson.rate=40" */
export function readScenarios(query: URLSearchParams): ChosenScenario[] {
  const names = query.get('scenario')?.split(',').filter(Boolean) ?? [];
  return names.map((name) => {
    const prefix = `option.${name}.`;
    return { name, options: Object.fromEntries([...query].filter(([key]) => key.startsWith(prefix)).map(([key, value]) => [key.slice(prefix.length), value])) };
  });
}

export function writeScenarios(scenarios: ChosenScenario[]): Record<string, string> {
  const options = scenarios.flatMap((scenario) => Object.entries(scenario.options).map(([name, value]) => [`option.${scenario.name}.${name}`, value]));
  return { scenario: scenarios.map(({ name }) => name).join(','), ...Object.fromEntries(options) };
}

/** Options without the batch, which the evaluation has once, for all scenarios. */
const optionsOf = (known: Scenario[], name: string) => (known.find((scenario) => scenario.name === name)?.options ?? []).filter((option) => option.name !== 'batch');

/** The fields of the options of each chosen scenario; `field` makes one. */
export function scenarioOptions(known: Scenario[], chosen: ChosenScenario[], field: (label: string, id: string, value: string, set: (text: string) => void, placeholder?: string, help?: string) => HTMLElement): Child {
  return chosen.map(({ name, options: values }) => {
    const options = optionsOf(known, name);
    if (!options.length) return null;
    return h(
      'fieldset',
      { class: 'inner' },
      h('legend', {}, `Options of ${words(name)}`),
      h('div', { class: 'fields' }, options.map((option) => field(option.name, `option-${name}-${option.name}`, values[option.name] ?? '', (text) => (values[option.name] = text), option.default, option.help))),
    );
  });
}
