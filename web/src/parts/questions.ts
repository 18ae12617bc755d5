// SPDX-License-Identifier: Apache-2.0
// Parts of the start view: questions with cards to tick, and the machines that fit, or the reasons why not.
import { h, type Child } from './dom';
import { bytes, counted } from './figures';
import { noMachine } from './words';
import type { Agent, Fit } from '../service/types';

export interface Choice {
  value: string;
  title: string;
  more?: Child;
}

/** Cards with a box or a button to tick. */
export function question(number: number, title: string, hint: string, kind: 'radio' | 'checkbox', entries: Choice[], chosen: string[], choose: (values: string[]) => void): HTMLElement {
  const name = title.toLowerCase();
  const change = (event: Event) => {
    const form = (event.currentTarget as HTMLElement).closest('fieldset')!;
    choose([...form.querySelectorAll<HTMLInputElement>('input:checked')].map(({ value }) => value));
  };
  return h(
    'fieldset',
    {},
    h('legend', {}, `${number}. ${title} `, h('span', { class: 'soft' }, hint)),
    h(
      'div',
      { class: 'choices' },
      entries.map((entry, i) => {
        const input = h('input', { type: kind, name, id: `${name}-${i}`, value: entry.value, change });
        input.checked = chosen.includes(entry.value);
        return h('label', { class: 'choice', for: `${name}-${i}` }, input, h('span', {}, h('b', {}, entry.title), entry.more && h('small', {}, entry.more)));
      }),
    ),
  );
}

/** The machines that fit first, then the others with the reason. */
export function machines(fits: Fit[], agents: Agent[]): Child {
  if (!fits.length) return noMachine('The evaluation would wait for one:');
  const facts = (name: string) => {
    const known = agents.find((agent) => agent.facts.name === name)?.facts;
    return [known?.cpu, known?.cores && counted(known.cores, 'core'), known?.memory_bytes && bytes(known.memory_bytes), known?.price_per_hour && `${known.price_per_hour} ${known.currency ?? 'USD'} an hour`].filter(Boolean).join(' · ');
  };
  const none = !fits.some(({ fits: does }) => does);
  const sorted = [...fits].sort((a, b) => Number(b.fits) - Number(a.fits));
  const list = h(
    'ul',
    { class: 'machines' },
    sorted.map(({ agent, fits: does, reason }) =>
      h('li', { class: does ? 'fits' : 'misfit' }, h('span', { class: 'verdict', 'aria-hidden': 'true' }, does ? '✓' : '✕'), h('div', {}, h('b', {}, agent), h('span', { class: 'unseen' }, does ? ' fits' : ' does not fit'), h('small', {}, does ? facts(agent) : reason))),
    ),
  );
  return [none && h('p', { class: 'warning' }, 'No machine fits: the evaluation would wait for one that does.'), list];
}
