// SPDX-License-Identifier: Apache-2.0
// A table that sorts by a click on a column's head; on a narrow screen a row is a card.
import { h, type Child } from './dom';
import { counted } from './figures';

export interface Column<Row> {
  head: string;
  /** Content of the cell. */
  cell: (row: Row) => Child;
  /** Sort key of the column; without one the column does not sort. */
  by?: (row: Row) => number | string | null | undefined;
  /** Right-aligned. */
  number?: boolean;
  /** Hides the head's text, as for a check box or a button. */
  quiet?: boolean;
}

export interface TableOptions<Row> {
  /** Description for screen readers. */
  label: string;
  rows: Row[];
  columns: Column<Row>[];
  sort?: { column: string; descending?: boolean };
  class?: string;
  /** Number of rows at first; a button shows more. */
  most?: number;
  /** CSS class of a row. */
  kind?: (row: Row) => string | undefined;
}

const isNothing = (value: unknown) => value === null || value === undefined || value === '' || Number.isNaN(value);

function compare(a: number | string | null | undefined, b: number | string | null | undefined): number {
  if (isNothing(a) || isNothing(b)) return Number(isNothing(a)) - Number(isNothing(b));
  if (typeof a === 'number' && typeof b === 'number') return a - b;
  return String(a).localeCompare(String(b), 'en', { numeric: true });
}

export function table<Row>({ label, rows, columns, sort, kind, class: name, most = 50 }: TableOptions<Row>): HTMLElement {
  let order = { column: sort?.column ?? '', descending: sort?.descending ?? false };
  const body = h('tbody', { role: 'rowgroup' });
  // Makes each row once, so that its inputs keep their state.
  const made = new Map<Row, HTMLElement>();
  const make = (row: Row) => {
    const element = h(
      'tr',
      { role: 'row', class: kind?.(row) },
      columns.map((column) => h('td', { role: 'cell', 'data-head': column.quiet ? undefined : column.head, class: column.number ? 'number' : undefined }, h('div', {}, column.cell(row)))),
    );
    made.set(row, element);
    return element;
  };
  let shown = most;
  const more = h('button', { type: 'button', class: 'small', click: () => ((shown *= 4), arrange()) });
  const heads = columns.map((column) => {
    const text = column.quiet ? h('span', { class: 'unseen' }, column.head) : column.head;
    const click = () => {
      order = { column: column.head, descending: order.column === column.head && !order.descending };
      arrange();
    };
    return h('th', { role: 'columnheader', scope: 'col', class: column.number ? 'number' : undefined }, column.by ? h('button', { type: 'button', click }, text) : text);
  });
  function arrange() {
    const by = columns.find(({ head }) => head === order.column)?.by;
    const sorted = [...rows];
    if (by) {
      const sign = order.descending ? -1 : 1;
      sorted.sort((a, b) => {
        const [x, y] = [by(a), by(b)];
        return isNothing(x) || isNothing(y) ? compare(x, y) : sign * compare(x, y); // missing values stay last
      });
    }
    body.replaceChildren(...sorted.slice(0, shown).map((row) => made.get(row) ?? make(row)));
    more.textContent = `${counted(rows.length - shown, 'more row')}`;
    more.hidden = rows.length <= shown;
    columns.forEach((column, i) => {
      if (column.by && column.head === order.column) heads[i]!.setAttribute('aria-sort', order.descending ? 'descending' : 'ascending');
      else heads[i]!.removeAttribute('aria-sort');
    });
  }
  arrange();
  return h('div', { class: 'scroll' }, h('table', { role: 'table', 'aria-label': label, class: name }, h('thead', { role: 'rowgroup' }, h('tr', { role: 'row' }, heads)), body), more);
}
