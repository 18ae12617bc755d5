// SPDX-License-Identifier: Apache-2.0
// Common texts: empty states, errors, passing messages, states, and numbers with their intervals.
import { rememberToken } from '../service/service';
import { fill, h, type Child } from './dom';
import { figure } from './figures';
import type { Interval } from '../service/types';

/** An empty state, with what to do about it. */
export const empty = (what: string, ...todo: Child[]) => h('div', { class: 'empty' }, h('p', { class: 'what' }, what), todo.length ? h('p', {}, todo) : null);

/** Says that no machine is connected, and how to connect one. */
export const noMachine = (what: string) => empty('No machine is connected', `${what} `, h('code', {}, `d5 agent run --server ${location.hostname}:PORT`), '; d5 serve prints the port for agents.');

export function problem(error: unknown, again?: () => void): HTMLElement {
  const message = error instanceof Error ? error.message : String(error);
  return h('div', { class: 'problem', role: 'alert' }, h('p', {}, message), again && h('button', { type: 'button', click: again }, 'Try again'));
}

export function tokenForm(again: () => void): HTMLElement {
  const input = h('input', { id: 'token', type: 'password', autocomplete: 'off', required: true, spellcheck: 'false' });
  const submit = (event: Event) => {
    event.preventDefault();
    rememberToken(input.value.trim());
    again();
  };
  return h(
    'form',
    { class: 'problem', submit },
    h('p', {}, 'This server requires a token. Its administrator creates one: ', h('code', {}, 'd5 token add'), '.'),
    h('label', { for: 'token' }, 'Token'),
    h('div', { class: 'row' }, input, h('button', { type: 'submit', class: 'main' }, 'Enter')),
  );
}

/** The place of passing messages, which screen readers announce. */
export const notice = h('div', { class: 'notice', role: 'status' });
let hide: ReturnType<typeof setTimeout> | undefined;
export function say(text: string): void {
  clearTimeout(hide);
  fill(notice, h('span', {}, text));
  hide = setTimeout(() => fill(notice), 4000);
}

/** Code with a button that copies it. */
export function code(label: string, text: string): HTMLElement {
  const copy = async () => {
    try {
      await navigator.clipboard.writeText(text);
      say(`Copied: ${label}`);
    } catch {
      say('The browser does not allow copying: select the text instead');
    }
  };
  return h('figure', { class: 'code' }, h('figcaption', {}, label, h('button', { type: 'button', class: 'small', click: () => void copy() }, 'Copy')), h('pre', { tabindex: 0, role: 'region', 'aria-label': label }, h('code', {}, text)));
}

const kMarks: Record<string, string> = { passed: '✓', done: '✓', ready: '✓', waiting: '…', failed: '✕', mistrusted: '!', quarantined: '!', running: '▶', leased: '▷', queued: '…', cancelled: '–', skipped: '–', unsupported: '–' };
/** A state as a word with a mark, so that it is clear without colours. */
export const state = (name: string) => h('span', { class: `state ${/^[a-z]+$/.test(name) ? name : ''}` }, h('span', { 'aria-hidden': 'true' }, kMarks[name] ?? '·'), name);

/** Names with their values; empty values are left out. */
export function facts(rows: [string, Child][]): HTMLElement {
  return h('dl', { class: 'facts' }, rows.filter(([, value]) => value !== undefined && value !== null && value !== '').map(([name, value]) => h('div', {}, h('dt', {}, name), h('dd', {}, value))));
}

/** A number with its interval below. */
export function figureCell(value: number | null | undefined, unit: string, interval?: Interval | null): Child {
  const told = figure(value, unit, interval);
  return [told.value, told.interval && h('div', { class: 'interval' }, told.interval)];
}
