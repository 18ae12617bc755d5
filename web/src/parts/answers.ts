// SPDX-License-Identifier: Apache-2.0
// Wrong answers, sample by sample.
import { fill, h, type Child } from './dom';
import { counted, withDigits } from './figures';
import { samplesOf, type Samples } from './samples';
import { empty, problem } from './words';
import { get, withQuery } from '../service/service';
import type { Answer, Page, Piece } from '../service/types';
import type { Place } from '../view';

const kShown = 15;

export interface Guess {
  /** Score of a class. */
  number?: number;
  label: string;
  score?: number;
}

/** A classifier's answer as classes with their scores; any other answer as its text. */
export function guesses(answer: string): Guess[] {
  let value: unknown;
  try {
    value = JSON.parse(answer);
  } catch {
    return [{ label: answer }];
  }
  const { classes, labels, scores } = (value ?? {}) as { classes?: unknown; labels?: unknown; scores?: unknown };
  const names = Array.isArray(labels) ? labels : Array.isArray(classes) ? classes : undefined;
  if (!names) return [{ label: answer.length > 200 ? `${answer.slice(0, 200)} …` : answer }];
  return names.slice(0, 5).map((name, i) => ({
    number: Array.isArray(classes) ? Number(classes[i]) : undefined,
    label: Array.isArray(labels) ? String(name) : `class ${name}`,
    score: Array.isArray(scores) && typeof scores[i] === 'number' ? scores[i] : undefined,
  }));
}

const kPicture = { width: 240, height: 150 };

/** The middle of a picture, cropped to the card's size. */
function drawPicture(canvas: HTMLCanvasElement, picture: ImageBitmap): void {
  const scale = Math.max(kPicture.width / picture.width, kPicture.height / picture.height);
  const [width, height] = [kPicture.width / scale, kPicture.height / scale];
  canvas.getContext('2d')!.drawImage(picture, (picture.width - width) / 2, (picture.height - height) / 2, width, height, 0, 0, kPicture.width, kPicture.height);
  canvas.hidden = false;
}

function card({ sample, answer }: Answer, samples: Samples | null): HTMLElement {
  const truth = samples?.truth(sample);
  const file = samples?.file(sample);
  const canvas = h('canvas', { class: 'picture', role: 'img', 'aria-label': `Sample ${sample}`, ...kPicture });
  canvas.hidden = true;
  void samples?.picture(sample).then((picture) => picture && drawPicture(canvas, picture));
  return h(
    'li',
    { class: 'answer-card' },
    canvas,
    h('div', {}, h('b', {}, `Sample ${sample}`), file && h('div', { class: 'file' }, file)),
    truth && h('div', {}, h('span', { class: 'soft' }, 'Right: '), truth),
    h(
      'ol',
      {},
      guesses(answer).map(({ number, label, score }) => {
        const name = number !== undefined && samples ? samples.className(number) : label;
        const bar = h('span', { class: 'bar', 'aria-hidden': 'true' });
        bar.style.setProperty('width', `${100 * Math.min(1, Math.max(0, score ?? 0))}%`);
        return h('li', { class: name === truth ? 'right' : undefined }, h('span', { class: 'label' }, name === truth && '✓ ', name), score !== undefined && h('span', { class: 'score' }, withDigits(score, 2)), score !== undefined && bar);
      }),
    ),
  );
}

/** `datasets` has NAME@VERSION of each piece's data set. */
export function answersSection(run: string, pieces: Piece[], datasets: Map<string, string>, { query, signal, remember }: Place): Child {
  const [cards, tabs, more] = [h('ul', { class: 'answers' }), h('div', { class: 'tabs', role: 'group', 'aria-label': 'Answers of' }), h('p', {})];
  let piece = pieces.find(({ name }) => name === query.get('answers')) ?? pieces[0]!;
  let cursor: string | undefined;
  let shown = 0;
  const known = new Map<string, Promise<Samples | null>>();
  const samplesOfPiece = () => {
    const dataset = datasets.get(piece.name);
    if (!dataset) return null;
    if (!known.has(dataset)) known.set(dataset, samplesOf(dataset, signal));
    return known.get(dataset)!;
  };
  async function load() {
    try {
      const page = await get<Page<Answer>>(withQuery(`/v1/runs/${encodeURIComponent(run)}/answers`, { piece: piece.name, wrong: 'true', limit: kShown, cursor }), signal);
      const samples = await samplesOfPiece();
      if (!cursor) fill(cards);
      cursor = page.next || undefined;
      shown += page.items.length;
      for (const item of page.items) cards.append(card(item, samples));
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
