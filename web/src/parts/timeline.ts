// SPDX-License-Identifier: Apache-2.0
// A trace drawn on a canvas. What is narrower than a pixel is drawn as one: the cost of a picture is its width, not the
// number of spans.
import { h } from './dom';
import { scaledUnit, withPrefix } from './figures';
import { onSchemeChange, palette } from './palette';
import type { Row, Span, Trace } from './trace';

const kRow = 20;
const kHead = 22;
const kAxis = 26;
const kLeast = 1e-7; // s: nothing is measured more finely

/** Colours of the palette by kind; others share the last. */
export const kKinds: [string, number][] = [
  ['request', 0],
  ['evaluation', 2],
  ['network', 4],
  ['operator', 1],
  ['other', 3],
];
const colourOf = (kind: string) => kKinds.find(([name]) => name === kind)?.[1] ?? 3;

/** The first span that ends after `time`. */
function after({ spans }: Row, time: number): number {
  let [low, high] = [0, spans.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (spans[middle]!.end > time) high = middle;
    else low = middle + 1;
  }
  return low;
}

export interface Timeline {
  element: HTMLElement;
  zoomTo(start: number, end: number): void;
  /** Zooms to a span, and selects it. */
  show(span: Span): void;
  zoomBy(factor: number): void;
  all(): void;
  select(span: Span | null): void;
}

export function timeline(trace: Trace, signal: AbortSignal, chosen: (span: Span | null) => void, moved: (from: number, to: number) => void): Timeline {
  const height = kAxis + trace.tracks.reduce((sum, { rows }) => sum + kHead + rows.length * kRow + 6, 0);
  const canvas = h('canvas', { tabindex: 0, role: 'img', 'aria-label': 'Timeline. Arrows left and right move, plus and minus zoom, 0 shows all; up goes to the parent of a span, down to its first child, n and p to its neighbours, Enter zooms to it.' });
  canvas.style.setProperty('height', `${height}px`);
  const tip = h('div', { class: 'tip', 'aria-hidden': 'true' });
  tip.hidden = true;
  const element = h('div', { class: 'timeline' }, canvas, tip);
  const context = canvas.getContext('2d')!;
  let [from, to] = [0, trace.length || 1];
  let selected: Span | null = null;
  let width = 300;
  let due = 0;

  const x = (time: number) => ((time - from) / (to - from)) * width;
  const time = (at: number) => from + (at / width) * (to - from);
  const redraw = () => (due ||= requestAnimationFrame(draw));

  function move(start: number, end: number) {
    const span = Math.min(Math.max(end - start, kLeast), trace.length || 1);
    const middle = (start + end) / 2;
    from = Math.min(Math.max(0, middle - span / 2), Math.max(0, (trace.length || 1) - span));
    to = from + span;
    moved(from, to);
    redraw();
  }
  const zoom = (factor: number, at = (from + to) / 2) => move(at - (at - from) * factor, at + (to - at) * factor);

  function axis(colours: ReturnType<typeof palette>) {
    const { divisor, name } = scaledUnit(to, 's');
    const target = ((to - from) / divisor / Math.max(2, width / 110)) as number;
    const power = 10 ** Math.floor(Math.log10(target));
    const step = ([1, 2, 5, 10].find((n) => n * power >= target) ?? 10) * power;
    const digits = Math.max(0, -Math.floor(Math.log10(step) + 1e-9));
    context.fillStyle = colours.soft;
    context.strokeStyle = colours.line;
    for (let k = Math.ceil(from / divisor / step); k * step * divisor <= to; ++k) {
      const at = Math.round(x(k * step * divisor)) + 0.5;
      context.beginPath();
      context.moveTo(at, kAxis - 6);
      context.lineTo(at, height);
      context.stroke();
      context.fillText(`${(k * step).toFixed(digits)} ${name}`, at + 4, 14);
    }
  }

  function drawRow(row: Row, top: number, colours: ReturnType<typeof palette>) {
    for (let i = after(row, from); i < row.spans.length; ) {
      const span = row.spans[i]!;
      if (span.start > to) break;
      const left = Math.max(0, x(span.start));
      const right = Math.min(width, x(span.end));
      const wide = Math.max(1, right - left - (right - left > 3 ? 1 : 0));
      context.fillStyle = colours.series[colourOf(span.kind)]!;
      context.globalAlpha = selected && span !== selected && !isInside(span) ? 0.55 : 1;
      context.fillRect(left, top + 1, wide, kRow - 3);
      context.globalAlpha = 1;
      if (wide > 36) {
        context.save();
        context.beginPath();
        context.rect(left, top, wide - 4, kRow);
        context.clip();
        context.fillStyle = colours.back;
        context.fillText(span.name, left + 5, top + 13.5);
        context.restore();
      }
      if (span === selected) {
        context.strokeStyle = colours.ink;
        context.lineWidth = 2;
        context.strokeRect(left, top + 1, wide, kRow - 3);
        context.lineWidth = 1;
      }
      i = wide > 1 ? i + 1 : Math.max(i + 1, after(row, time(left + 1)));
    }
  }
  const isInside = (span: Span) => {
    for (let at: Span | null = span.parent; at; at = at.parent) if (at === selected) return true;
    return false;
  };

  function draw() {
    due = 0;
    const colours = palette();
    const ratio = devicePixelRatio || 1;
    canvas.width = Math.round(width * ratio);
    canvas.height = Math.round(height * ratio);
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    context.font = '12px system-ui, -apple-system, "Segoe UI", Helvetica, Arial, sans-serif';
    axis(colours);
    let top = kAxis;
    for (const { title, rows } of trace.tracks) {
      const words = context.measureText(title).width;
      context.fillStyle = colours.back;
      context.fillRect(0, top + 3, words + 12, kHead - 6);
      context.fillStyle = colours.ink;
      context.fillText(title, 4, top + 15);
      top += kHead;
      for (const row of rows) {
        drawRow(row, top, colours);
        top += kRow;
      }
      top += 6;
    }
  }

  function at(offsetX: number, offsetY: number): Span | null {
    let top = kAxis;
    for (const { rows } of trace.tracks) {
      const i = Math.floor((offsetY - top - kHead) / kRow);
      const row = offsetY >= top + kHead ? rows[i] : undefined;
      if (row) {
        const span = row.spans[after(row, time(offsetX - 1))];
        return span && x(span.start) <= offsetX + 1 ? span : null;
      }
      top += kHead + rows.length * kRow + 6;
    }
    return null;
  }

  function select(span: Span | null) {
    selected = span;
    if (span && (span.end < from || span.start > to)) move(span.start - (to - from) / 2, span.start + (to - from) / 2);
    redraw();
    chosen(span);
  }

  // One finger or the mouse pans, two fingers zoom.
  const held = new Map<number, number>();
  let dragged = false;
  canvas.addEventListener('pointerdown', (event) => {
    held.set(event.pointerId, event.offsetX);
    dragged = false;
    canvas.setPointerCapture(event.pointerId);
  });
  canvas.addEventListener('pointermove', (event) => {
    const before = held.get(event.pointerId);
    if (before === undefined) {
      const span = at(event.offsetX, event.offsetY);
      tip.hidden = !span;
      if (span) {
        tip.textContent = `${span.name}: ${withPrefix(span.end - span.start, 's')}`;
        tip.style.setProperty('left', `${Math.min(event.offsetX + 12, Math.max(0, width - 240))}px`);
        tip.style.setProperty('top', `${event.offsetY + 16}px`);
      }
      return;
    }
    if (Math.abs(event.offsetX - before) > 2) dragged = true;
    tip.hidden = true;
    if (held.size === 1 && dragged) {
      const shift = time(before) - time(event.offsetX);
      move(from + shift, to + shift);
    } else if (held.size === 2) {
      const other = [...held].find(([id]) => id !== event.pointerId)![1];
      const factor = Math.abs(before - other) / Math.max(1, Math.abs(event.offsetX - other));
      zoom(Math.min(4, Math.max(0.25, factor)), time((event.offsetX + other) / 2));
    } else return;
    held.set(event.pointerId, event.offsetX);
  });
  const release = (event: PointerEvent) => {
    if (held.delete(event.pointerId) && !dragged && event.type === 'pointerup') select(at(event.offsetX, event.offsetY));
  };
  canvas.addEventListener('pointerup', release);
  canvas.addEventListener('pointercancel', release);
  canvas.addEventListener('pointerleave', () => (tip.hidden = true));
  canvas.addEventListener('dblclick', (event) => {
    const span = at(event.offsetX, event.offsetY);
    if (span) zoomToSpan(span);
  });
  canvas.addEventListener(
    'wheel',
    (event) => {
      if (!event.ctrlKey && !event.metaKey && Math.abs(event.deltaX) <= Math.abs(event.deltaY)) return; // the page scrolls
      event.preventDefault();
      if (event.ctrlKey || event.metaKey) zoom(Math.exp(event.deltaY / 300), time(event.offsetX));
      else move(time(event.deltaX), time(event.deltaX) + (to - from));
    },
    { passive: false },
  );
  const zoomToSpan = ({ start, end }: Span) => move(start - (end - start) * 0.05, end + (end - start) * 0.05);
  const neighbour = (step: number) => {
    const spans = selected?.row?.spans;
    return spans ? spans[spans.indexOf(selected!) + step] : trace.requests[0];
  };
  canvas.addEventListener('keydown', (event) => {
    const step = (to - from) / 5;
    const keys: Record<string, () => void> = {
      ArrowLeft: () => move(from - step, to - step),
      ArrowRight: () => move(from + step, to + step),
      '+': () => zoom(0.5),
      '=': () => zoom(0.5),
      '-': () => zoom(2),
      '0': () => move(0, trace.length),
      ArrowUp: () => selected?.parent && select(selected.parent),
      ArrowDown: () => select(selected ? (selected.children[0] ?? selected) : (trace.requests[0] ?? null)),
      n: () => select(neighbour(1) ?? selected),
      p: () => select(neighbour(-1) ?? selected),
      Enter: () => selected && zoomToSpan(selected),
      Escape: () => select(null),
    };
    const act = keys[event.key];
    if (!act || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    act();
  });
  const observer = new ResizeObserver(() => {
    width = canvas.clientWidth || 300;
    draw(); // at once: a resized canvas is empty
  });
  observer.observe(canvas);
  signal.addEventListener('abort', () => (observer.disconnect(), cancelAnimationFrame(due)), { once: true });
  onSchemeChange(signal, redraw);
  const show = (span: Span) => (zoomToSpan(span), select(span));
  return { element, zoomTo: move, show, zoomBy: (factor) => zoom(factor), all: () => move(0, trace.length), select };
}
