// SPDX-License-Identifier: Apache-2.0
// The runs in the server's database; two of them can be compared.
import { h, fill, type Child } from '../parts/dom';
import { counted, moment } from '../parts/figures';
import { whatOf } from '../parts/entries';
import { table } from '../parts/table';
import { empty, state } from '../parts/words';
import { get, withQuery } from '../service/service';
import type { Page, Run } from '../service/types';
import { address, type View } from '../view';

const kShown = 100;

const view: View = {
  path: '/runs',
  title: 'Runs',
  menu: 4,
  async show({ query, signal, remember }) {
    const runs: Run[] = [];
    let next: string | undefined;
    let chosen = query.get('chosen')?.split(',').filter(Boolean) ?? [];
    const [rows, pair] = [h('div', {}), h('div', { class: 'row pair' })];

    async function load(cursor?: string) {
      const page = await get<Page<Run>>(withQuery('/v1/runs', { cursor, limit: kShown }), signal);
      runs.push(...page.items);
      next = page.next || undefined;
      draw();
    }
    function drawPair() {
      remember({ chosen: chosen.join(',') });
      const [a, b] = chosen;
      fill(
        pair,
        b ? h('a', { class: 'button main', href: address('/compare', {}, { a, b }) }, 'Compare the two') : h('span', { class: 'soft' }, a ? 'Tick one more to compare the two.' : 'Tick two to compare them.'),
        chosen.length > 0 && h('button', { type: 'button', click: () => ((chosen = []), draw()) }, 'Untick'),
      );
    }
    function tick(id: string, on: boolean) {
      chosen = chosen.filter((other) => other !== id);
      if (on) chosen = [...chosen, id].slice(-2);
      for (const box of rows.querySelectorAll<HTMLInputElement>('input[type=checkbox]')) box.checked = chosen.includes(box.value);
      drawPair();
    }
    const box = (run: Run) => {
      const input = h('input', { type: 'checkbox', value: run.id, 'aria-label': `Compare the run of ${moment(run.time)}`, change: () => tick(run.id, input.checked) });
      input.checked = chosen.includes(run.id);
      return input;
    };
    function draw() {
      drawPair();
      pair.hidden = runs.length < 2;
      const trouble = (run: Run): Child => (run.not_passed ? [state('mistrusted').firstChild, ` ${run.not_passed}`] : run.records ? '0' : '');
      fill(
        rows,
        runs.length
          ? table<Run>({
              label: 'Runs',
              rows: runs,
              columns: [
                { head: 'Compare', quiet: true, cell: box },
                { head: 'When (UTC)', by: ({ time }) => time, cell: (run) => h('a', { href: address('/runs/{id}', { id: run.id }) }, moment(run.time)) },
                { head: 'What', by: whatOf, cell: (run) => (run.title ? whatOf(run) : h('code', {}, whatOf(run))) },
                { head: 'Machine', by: ({ hostname }) => hostname, cell: (run) => [run.hostname, h('div', { class: 'soft' }, run.cpu)] },
                { head: 'Records', number: true, by: (run) => run.records, cell: (run) => run.records },
                { head: 'Not passed', number: true, by: (run) => run.not_passed, cell: trouble },
              ],
            })
          : empty('No results yet', h('a', { href: '#/start' }, 'Start an evaluation'), ', or import existing results: ', h('code', {}, 'd5 eval import RESULTS.json')),
        next && h('p', {}, h('button', { type: 'button', id: 'more', click: () => void load(next) }, 'Older ones')),
      );
    }
    await load();
    return [h('h1', {}, 'Runs'), h('p', { class: 'lead' }, `Newest first, ${counted(kShown, 'run')} at a time.`), pair, rows];
  },
};
export default view;
