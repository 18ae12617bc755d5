// SPDX-License-Identifier: Apache-2.0
// What was chosen, as a manifest and as a command line: both say the same.

export interface Chosen {
  models: string[];
  dataset: string;
  frameworks: string[];
  scenario: string;
  /** Of the scenario. */
  options: Record<string, string>;
  systems: string[];
  batches: number[];
  trace: string;
  /** Of a scenario, at least; 0: as its verdict needs. */
  queries: number;
}

/** A scalar of YAML: as it is where that reads as the same text, in quotes otherwise. */
export function scalar(text: string): string {
  return /^[A-Za-z_][\w@./-]*$/.test(text) && !/^(true|false|yes|no|on|off|null|y|n)$/i.test(text) ? text : JSON.stringify(text);
}

const sequence = (items: string[]) => `[${items.map(scalar).join(', ')}]`;

/** The manifest's name: what it is about, in the letters of a name. */
function nameOf({ models, scenario }: Chosen): string {
  const text = `${models.map((model) => model.replace(/@.*/, '')).join('-')}-${scenario}`.toLowerCase();
  return text.replace(/[^a-z0-9]+/g, '-').replace(/^-+|-+$/g, '') || 'evaluation';
}

export function manifestOf(chosen: Chosen): string {
  const options = Object.entries(chosen.options).filter(([, value]) => value !== '');
  const scenario = options.length
    ? `{name: ${scalar(chosen.scenario)}, ${options.map(([name, value]) => `${scalar(name)}: ${Number.isFinite(Number(value)) ? value : scalar(value)}`).join(', ')}}`
    : scalar(chosen.scenario);
  const lines = [
    'kind: evaluation',
    `name: ${nameOf(chosen)}`,
    'version: 1.0.0-dev',
    `models: ${sequence(chosen.models)}`,
    chosen.dataset && `dataset: ${scalar(chosen.dataset)}`,
    `frameworks: ${sequence(chosen.frameworks)}`,
    chosen.systems.length > 0 && `systems: ${sequence(chosen.systems)}`,
    `scenarios: [${scenario}]`,
    `batches: [${chosen.batches.join(', ')}]`,
    `trace_levels: ${sequence([chosen.trace])}`,
    chosen.queries > 0 && `queries: ${chosen.queries}`,
  ];
  return `${lines.filter(Boolean).join('\n')}\n`;
}

/** A word of a POSIX shell. */
export const shellWord = (text: string) => (/^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`);

export function commandOf(chosen: Chosen, server: string): string {
  const options = Object.entries(chosen.options).filter(([, value]) => value !== '');
  const words = [
    'd5 eval run',
    ...chosen.models.map(shellWord),
    chosen.dataset && `--dataset ${shellWord(chosen.dataset)}`,
    `--framework ${shellWord(chosen.frameworks.join(','))}`,
    `--scenario ${shellWord([chosen.scenario, ...options.map(([name, value]) => `${name}=${value}`)].join(':'))}`,
    `--batch ${chosen.batches.join(',')}`,
    chosen.trace !== 'none' && `--trace-level ${shellWord(chosen.trace)}`,
    chosen.queries > 0 && `--queries ${chosen.queries}`,
    `--server ${shellWord(server)}`,
  ];
  return words.filter(Boolean).join(' ');
}
