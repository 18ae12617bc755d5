// SPDX-License-Identifier: Apache-2.0
// Requests to the server of the page.
import type { MissingFile, Page, Problem } from './types';

/** The server refused a request, or did not answer; `message` is for the reader. */
export class ServiceError extends Error {
  constructor(
    message: string,
    readonly status: number,
    /** Files that the server lacks for what it was asked. */
    readonly missing: MissingFile[] = [],
  ) {
    super(message);
  }
}

const kToken = 'd5 token';

/** Kept until the tab is closed; a server on loopback needs none. */
export function token(): string {
  return sessionStorage.getItem(kToken) ?? '';
}
export function rememberToken(value: string): void {
  if (value) sessionStorage.setItem(kToken, value);
  else sessionStorage.removeItem(kToken);
}

/** "/v1/jobs" and {state: "queued"} -> "/v1/jobs?state=queued"; empty values are left out. */
export function withQuery(path: string, query: Record<string, string | number | undefined>): string {
  const words = new URLSearchParams();
  for (const [key, value] of Object.entries(query)) {
    if (value !== undefined && value !== '') words.set(key, String(value));
  }
  const text = words.toString();
  return text ? `${path}?${text}` : path;
}

export async function send(method: string, path: string, options: { body?: unknown; signal?: AbortSignal; headers?: Record<string, string> } = {}): Promise<Response> {
  const headers: Record<string, string> = { Accept: 'application/json', ...options.headers };
  if (token()) headers.Authorization = `Bearer ${token()}`;
  const isPiece = options.body instanceof Blob;
  if (options.body !== undefined) headers['Content-Type'] = isPiece ? 'application/octet-stream' : 'application/json';
  let response: Response;
  try {
    response = await fetch(path, {
      method,
      headers,
      body: isPiece ? (options.body as Blob) : options.body === undefined ? undefined : JSON.stringify(options.body),
      signal: options.signal,
      cache: 'no-store',
    });
  } catch (error) {
    if (options.signal?.aborted) throw error;
    throw new ServiceError('The server does not answer. Is d5 serve still running?', 0);
  }
  if (!response.ok) throw await errorOf(response);
  return response;
}

async function errorOf(response: Response): Promise<ServiceError> {
  let problem: Problem = {};
  try {
    problem = (await response.json()) as Problem;
  } catch {
    // Perhaps a proxy's text: only the status is usable.
  }
  const reason = problem.detail || problem.title || `The server answered with status ${response.status}.`;
  return new ServiceError(reason, response.status, problem.missing);
}

export async function get<Answer>(path: string, signal?: AbortSignal): Promise<Answer> {
  return (await send('GET', path, { signal })).json() as Promise<Answer>;
}

export async function post<Answer>(path: string, body: unknown, signal?: AbortSignal): Promise<Answer> {
  return (await send('POST', path, { body, signal })).json() as Promise<Answer>;
}

/** Items of all pages, up to about `most`. */
export async function list<Item>(path: string, signal?: AbortSignal, most = 10_000): Promise<Item[]> {
  const items: Item[] = [];
  let cursor: string | undefined;
  do {
    const address: string = cursor ? `${path}${path.includes('?') ? '&' : '?'}cursor=${encodeURIComponent(cursor)}` : path;
    const page: Page<Item> = await get(address, signal);
    items.push(...page.items);
    cursor = page.next || undefined;
  } while (cursor && items.length < most);
  return items;
}
