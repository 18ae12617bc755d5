// SPDX-License-Identifier: Apache-2.0
// The chosen evaluation as a manifest and as an equivalent command line.

export interface Chosen {
  models: string[];
  dataset: string;
  frameworks: string[];
  scenario: string;
  /** Options of the scenario. */
  options: Record<string, string>;
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

/** The manifest's name, from its subject, in valid characters. */
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
