// SPDX-License-Identifier: Apache-2.0
// Labels of charts: without what all have in common, and broken into lines that fit.

/** Splits names at their commas into the words that all have, and those that are left of each. */
export function distinguished(names: string[]): { shared: string[]; own: string[] } {
  const all = names.map((name) => name.split(', '));
  const shared = names.length > 1 ? (all[0] ?? []).filter((word) => all.every((words) => words.includes(word))) : [];
  return { shared, own: all.map((words) => words.filter((word) => !shared.includes(word)).join(', ')) };
}

/** Breaks a text between words, and longer words anywhere, so that `measure` of no line exceeds `width`. */
export function wrapped(text: string, width: number, measure: (text: string) => number): string {
  const lines: string[] = [];
  let line = '';
  for (const word of text.split(' ')) {
    const longer = line ? `${line} ${word}` : word;
    if (measure(longer) <= width) {
      line = longer;
      continue;
    }
    if (line) lines.push(line);
    line = '';
    for (const letter of word) {
      if (line && measure(line + letter) > width) {
        lines.push(line);
        line = '';
      }
      line += letter;
    }
  }
  return [...lines, line].join('\n');
}
