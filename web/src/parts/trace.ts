// SPDX-License-Identifier: Apache-2.0
// A trace file (docs/reference/file_formats.md, "Traces") as spans with parents: from a request to its batch, to predict,
// to the network's nodes.

export interface TraceEvent {
  ph: string;
  name: string;
  cat?: string;
  pid?: number;
  tid?: number;
  /** µs */
  ts?: number;
  dur?: number;
  id?: string | number;
  id2?: { local?: string };
  args?: Record<string, unknown>;
}

export interface Span {
  name: string;
  kind: string;
  /** In s, from the first span on. */
  start: number;
  end: number;
  id: number;
  parent: Span | null;
  children: Span[];
  facts: [string, string][];
  row: Row | null;
}

/** Spans of one row of the drawing, which do not overlap. */
export interface Row {
  spans: Span[];
}
export interface Track {
  title: string;
  rows: Row[];
}
export interface Trace {
  tracks: Track[];
  requests: Span[];
  /** s */
  length: number;
  count: number;
}

const kLinks = ['id', 'parent', 'answered in', 'query']; // meaningless outside the file

function spanOf(event: TraceEvent, start: number, end: number): Span {
  const facts = Object.entries(event.args ?? {}).filter(([name]) => !kLinks.includes(name)).map(([name, value]): [string, string] => [name, String(value)]);
  return { name: event.name, kind: event.name === 'request' ? 'request' : (event.cat ?? ''), start, end, id: Number(event.args?.id ?? 0), parent: null, children: [], facts, row: null };
}

/** Places spans, sorted by their start, in as few rows as possible: each in the first free one. */
function packed(spans: Span[]): Row[] {
  const rows: Row[] = [];
  for (const span of spans) {
    let row = rows.find(({ spans: taken }) => taken.at(-1)!.end <= span.start);
    if (!row) rows.push((row = { spans: [] }));
    row.spans.push(span);
    span.row = row;
  }
  return rows;
}

/** One row per depth: a span is below those that contain it. */
function nested(spans: Span[]): Row[] {
  const rows: Row[] = [];
  const open: Span[] = [];
  for (const span of spans) {
    while (open.length && open.at(-1)!.end < span.end) open.pop();
    const row = (rows[open.length] ??= { spans: [] });
    row.spans.push(span);
    span.row = row;
    open.push(span);
  }
  return rows;
}

export function traceOf(events: TraceEvent[]): Trace {
  const threads = new Map<string, string>();
  const lanes = new Map<string, Span[]>();
  const begun = new Map<string, TraceEvent>();
  const requests: Span[] = [];
  const byId = new Map<number, Span>();
  const parents = new Map<Span, number>();
  const answered = new Map<Span, number>();
  let first = Infinity;
  for (const { ph, ts = 0 } of events) if (ph === 'X' || ph === 'b') first = Math.min(first, ts);
  const seconds = (microseconds: number) => (microseconds - first) / 1e6;
  const keep = (span: Span, event: TraceEvent) => {
    if (span.id) byId.set(span.id, span);
    if (event.args?.parent !== undefined) parents.set(span, Number(event.args.parent));
    if (event.args?.['answered in'] !== undefined) answered.set(span, Number(event.args['answered in']));
  };
  for (const event of events) {
    const lane = `${event.pid ?? 0}/${event.tid ?? 0}`;
    if (event.ph === 'M' && event.name === 'thread_name') threads.set(lane, String(event.args?.name ?? ''));
    else if (event.ph === 'X') {
      const span = spanOf(event, seconds(event.ts ?? 0), seconds((event.ts ?? 0) + (event.dur ?? 0)));
      if (!lanes.has(lane)) lanes.set(lane, []);
      lanes.get(lane)!.push(span);
      keep(span, event);
    } else if (event.ph === 'b' || event.ph === 'e') {
      const key = `${event.cat}/${event.name}/${event.id2?.local ?? event.id}`;
      if (event.ph === 'b') begun.set(key, event);
      else {
        const start = begun.get(key);
        if (!start) continue;
        begun.delete(key);
        const span = spanOf(start, seconds(start.ts ?? 0), seconds(event.ts ?? 0));
        requests.push(span);
        keep(span, start);
      }
    }
  }
  for (const [span, id] of parents) span.parent = byId.get(id) ?? null;
  for (const [request, id] of answered) {
    const batch = byId.get(id);
    if (!batch) continue;
    request.children.push(batch);
    batch.parent ??= request;
  }
  for (const span of parents.keys()) span.parent?.children.push(span);
  const inOrder = (a: Span, b: Span) => a.start - b.start || b.end - a.end;
  requests.sort(inOrder);
  const tracks: Track[] = requests.length ? [{ title: 'requests', rows: packed(requests) }] : [];
  let length = requests.reduce((most, { end }) => Math.max(most, end), 0);
  let count = requests.length;
  for (const [lane, spans] of [...lanes].sort(([a], [b]) => a.localeCompare(b, 'en', { numeric: true }))) {
    spans.sort(inOrder);
    count += spans.length;
    for (const span of spans) {
      span.children.sort(inOrder);
      length = Math.max(length, span.end);
    }
    tracks.push({ title: threads.get(lane) || `thread ${lane}`, rows: nested(spans) });
  }
  return { tracks, requests, length, count };
}

/** The span and its ancestors, the outermost first. */
export function pathOf(span: Span): Span[] {
  const path: Span[] = [];
  for (let at: Span | null = span; at && path.length < 32; at = at.parent) path.unshift(at);
  return path;
}

export interface Share {
  name: string;
  count: number;
  /** Total time in s. */
  total: number;
  longest: Span | null;
}

/** A breakdown of a span's time: its children by name, and the rest. */
export function sharesOf(span: Span): Share[] {
  const shares = new Map<string, Share>();
  let covered = 0;
  for (const child of span.children) {
    const name = child.kind === 'operator' ? child.name.replace(/ '.*'$/, '') : child.name;
    const share = shares.get(name) ?? { name, count: 0, total: 0, longest: null };
    share.count += 1;
    share.total += child.end - child.start;
    if (!share.longest || child.end - child.start > share.longest.end - share.longest.start) share.longest = child;
    shares.set(name, share);
    covered += Math.min(child.end, span.end) - Math.max(child.start, span.start);
  }
  const rest = { name: span.kind === 'request' ? 'waiting' : 'itself', count: 1, total: Math.max(0, span.end - span.start - covered), longest: null };
  return [...shares.values(), ...(shares.size ? [rest] : [])].sort((a, b) => b.total - a.total);
}
