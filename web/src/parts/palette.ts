// SPDX-License-Identifier: Apache-2.0
// The colours of style/palette.css, for canvases; they follow the system's dark or light mode.

export interface Palette {
  back: string;
  card: string;
  ink: string;
  soft: string;
  line: string;
  series: string[];
}

export function palette(): Palette {
  const style = getComputedStyle(document.documentElement);
  const of = (name: string) => style.getPropertyValue(`--${name}`).trim();
  return { back: of('back'), card: of('card'), ink: of('ink'), soft: of('soft'), line: of('line'), series: [0, 1, 2, 3, 4, 5].map((i) => of(`s${i}`)) };
}

/** Calls `redraw` when the reader's system becomes dark or light. */
export function onSchemeChange(signal: AbortSignal, redraw: () => void): void {
  matchMedia('(prefers-color-scheme: dark)').addEventListener('change', redraw, { signal });
}

/** One colour for each framework, in the order of their names: the same in all views of a run. */
export function seriesNumbers(names: Iterable<string>): Map<string, number> {
  return new Map([...new Set(names)].sort().map((name, i) => [name, i % 6]));
}
