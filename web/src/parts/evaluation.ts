// SPDX-License-Identifier: Apache-2.0
// The chosen evaluation as a manifest and as an equivalent command line.

export interface ChosenScenario {
  name: string;
  /** Its options; an empty text is the default. */
  options: Record<string, string>;
}

export interface Chosen {
  models: string[];
  dataset: string;
  frameworks: string[];
  scenarios: ChosenScenario[];
  systems: string[];
  batches: number[];
  trace: string;
  /** Minimum number of queries of a scenario; 0: as many as its verdict needs. */
  queries: number;
}

/** A YAML scalar: plain if that reads as the same text, else in quotes. */
export function scalar(text: string): string {
  return /^[A-Za-z_][\w@./-]*$/.test(text) && !/^(true|false|yes|no|on|off|null|y|n)$/i.test(text) ? text : JSON.stringify(text);
}

const sequence = (items: string[]) => `[${items.map(scalar).join(', ')}]`;

/** Options with a value. */
const given = ({ options }: ChosenScenario) => Object.entries(options).filter(([, value]) => value !== '');

function scenarioEntry(scenario: ChosenScenario): string {
  const options = given(scenario).map(([name, value]) => `${scalar(name)}: ${Number.isFinite(Number(value)) ? value : scalar(value)}`);
  return options.length ? `{name: ${[scalar(scenario.name), ...options].join(', ')}}` : scalar(scenario.name);
}

/** The manifest's name, from its subject, in valid characters. */
function nameOf({ models, scenarios }: Chosen): string {
  const text = [...models.map((model) => model.replace(/@.*/, '')), ...scenarios.map(({ name }) => name)].join('-').toLowerCase();
  return text.replace(/[^a-z0-9]+/g, '-').replace(/^-+|-+$/g, '') || 'evaluation';
}

export function manifestOf(chosen: Chosen): string {
  const lines = [
    'kind: evaluation',
    `name: ${nameOf(chosen)}`,
    'version: 1.0.0-dev',
    `models: ${sequence(chosen.models)}`,
    chosen.dataset && `dataset: ${scalar(chosen.dataset)}`,
    `frameworks: ${sequence(chosen.frameworks)}`,
    chosen.systems.length > 0 && `systems: ${sequence(chosen.systems)}`,
    `scenarios: [${chosen.scenarios.map(scenarioEntry).join(', ')}]`,
    `batches: [${chosen.batches.join(', ')}]`,
    `trace_levels: ${sequence([chosen.trace])}`,
    chosen.queries > 0 && `queries: ${chosen.queries}`,
  ];
  return `${lines.filter(Boolean).join('\n')}\n`;
}

/** A word of a POSIX shell. */
export const shellWord = (text: string) => (/^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`);

export function commandOf(chosen: Chosen, server: string): string {
  const scenarios = chosen.scenarios.map((scenario) => [scenario.name, ...given(scenario).map(([name, value]) => `${name}=${value}`)].join(':'));
  const words = [
    'd5 eval run',
    ...chosen.models.map(shellWord),
    chosen.dataset && `--dataset ${shellWord(chosen.dataset)}`,
    `--framework ${shellWord(chosen.frameworks.join(','))}`,
    `--scenario ${shellWord(scenarios.join(','))}`,
    `--batch ${chosen.batches.join(',')}`,
    chosen.trace !== 'none' && `--trace-level ${shellWord(chosen.trace)}`,
    chosen.queries > 0 && `--queries ${chosen.queries}`,
    `--server ${shellWord(server)}`,
  ];
  return words.filter(Boolean).join(' ');
}
