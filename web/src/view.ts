// SPDX-License-Identifier: Apache-2.0
import type { Child } from './parts/dom';

/** Place of the reader: "#/runs/3f9a?piece=..." is {id: "3f9a"} and {piece: "..."} of the view "/runs/{id}". */
export interface Place {
  parameters: Record<string, string>;
  query: URLSearchParams;
  /** Ends when the reader leaves the view. */
  signal: AbortSignal;
  /** Writes the reader's choices into the address, without showing the view again, so that the address can be shared. */
  remember(query: Record<string, string | undefined>): void;
  /** Shows the view again. */
  again(): void;
}

/** One file in views/, whose default export it is. */
export interface View {
  /** "/runs/{id}" */
  path: string;
  /** Title of the tab; a view writes its own heading (h1). */
  title: string;
  /** Position among the links at the top; without it, only other views link to it. */
  menu?: number;
  show(place: Place): Promise<Child> | Child;
}

/** "#/runs/3f9a?piece=x": texts are escaped. */
export function address(path: string, parameters: Record<string, string> = {}, query: Record<string, string | undefined> = {}): string {
  const filled = path.replace(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(parameters[name] ?? ''));
  const words = new URLSearchParams();
  for (const [key, value] of Object.entries(query)) if (value) words.set(key, value);
  const text = words.toString();
  return `#${filled}${text ? `?${text}` : ''}`;
}

/** The parameters if `path` has the form; else null. */
export function match(form: string, path: string): Record<string, string> | null {
  const [parts, given] = [form.split('/'), path.split('/')];
  if (parts.length !== given.length) return null;
  const parameters: Record<string, string> = {};
  for (const [i, part] of parts.entries()) {
    if (part.startsWith('{')) {
      try {
        parameters[part.slice(1, -1)] = decodeURIComponent(given[i]!);
      } catch {
        return null;
      }
    } else if (part !== given[i]) return null;
  }
  return parameters;
}
