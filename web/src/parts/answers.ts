// SPDX-License-Identifier: Apache-2.0
// Answers that were wrong, sample by sample.
import { fill, h, type Child } from './dom';
import { counted, withDigits } from './figures';
import { empty, problem } from './words';
import { get, withQuery } from '../service/service';
import type { Answer, Page, Piece } from '../service/types';
import type { Place } from '../view';

const kShown = 15;

/** What a classifier's answer holds: classes with their scores; of another, its text. */
export function guesses(answer: string): { label: string; score?: number }[] {
  let value: unknown;
  try {
    value = JSON.parse(answer);
  } catch {
    return [{ label: answer }];
  }
  const { classes, labels, scores } = (value ?? {}) as { classes?: unknown; labels?: unknown; scores?: unknown };
  const names = Array.isArray(labels) ? labels : Array.isArray(classes) ? classes : undefined;
  if (!names) return [{ label: answer.length > 200 ? `${answer.slice(0, 200)} …` : answer }];
  return names.slice(0, 5).map((name, i) => ({ label: Array.isArray(labels) ? String(name) : `class ${name}`, score: Array.isArray(scores) && typeof scores[i] === 'number' ? scores[i] : undefined }));
}

function card({ sample, answer, truth }: Answer): Child {
  return h(
    'li',
    { class: 'answer-card' },
    h('div', { class: 'row apart' }, h('b', {}, `Sample ${sample}`), truth !== undefined && h('span', {}, h('span', { class: 'soft' }, 'right: '), truth)),
    h(
      'ol',
      {},
      guesses(answer).map(({ label, score }) => {
        const bar = h('span', { class: 'bar', 'aria-hidden': 'true' });
        bar.style.setProperty('width', `${100 * Math.min(1, Math.max(0, score ?? 0))}%`);
        return h('li', {}, h('span', { class: 'label' }, label), score !== undefined && h('span', { class: 'score' }, withDigits(score, 2)), score !== undefined && bar);
      }),
    ),
  );
}

export function answersSection(run: string, pieces: Piece[], { query, signal, remember }: Place): Child {
  const [cards, tabs, more] = [h('ul', { class: 'answers' }), h('div', { class: 'tabs', role: 'group', 'aria-label': 'Answers of' }), h('p', {})];
  let piece = pieces.find(({ name }) => name === query.get('answers')) ?? pieces[0]!;
  let cursor: string | undefined;
  let shown = 0;
  async function load() {
    try {
      const page = await get<Page<Answer>>(withQuery(`/v1/runs/${encodeURIComponent(run)}/answers`, { piece: piece.name, wrong: 'true', limit: kShown, cursor }), signal);
      if (!cursor) fill(cards);
      cursor = page.next || undefined;
      shown += page.items.length;
      for (const item of page.items) cards.append(card(item) as Node);
      fill(more, shown ? [h('span', { class: 'soft' }, `${counted(shown, 'wrong answer')} of ${counted(piece.count, 'sample')}${cursor ? ', and more' : ''} `), cursor && h('button', { type: 'button', class: 'small', click: () => void load() }, 'More')] : empty(`All ${counted(piece.count, 'answer')} are right`));
    } catch (error) {
      if (!signal.aborted) fill(more, problem(error));
    }
  }
  function draw() {
    fill(
      tabs,
      pieces.length > 1 &&
        pieces.map((one) =>
          h('button', { type: 'button', id: `answers-${one.name}`, 'aria-pressed': String(one === piece), click: () => {
            piece = one;
            cursor = undefined;
            shown = 0;
            remember({ answers: one.name });
            draw();
          } }, one.name.replace(/ accuracy$/, '')),
        ),
    );
    void load();
  }
  draw();
  return [h('h2', {}, 'Wrong answers'), tabs, cards, more];
}
