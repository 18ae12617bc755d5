// SPDX-License-Identifier: Apache-2.0
// Elements are made without HTML, so that text always stays text.

export type Child = Node | string | number | null | undefined | false | Child[];
type Value = string | number | boolean | undefined | ((event: Event) => void);

/**
 * `h('a', {href: '#/runs', class: 'quiet'}, 'Runs')`. A function is a listener ({click: () => ...}); false and undefined
 * leave an attribute out, true sets it empty.
 */
export function h<Tag extends keyof HTMLElementTagNameMap>(tag: Tag, attributes: Record<string, Value> = {}, ...children: Child[]): HTMLElementTagNameMap[Tag] {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value === undefined || value === false) continue;
    if (typeof value === 'function') element.addEventListener(name, value);
    else element.setAttribute(name, value === true ? '' : String(value));
  }
  append(element, children);
  return element;
}

export function append(parent: Node, children: Child[]): void {
  for (const child of children) {
    if (Array.isArray(child)) append(parent, child);
    else if (child instanceof Node) parent.appendChild(child);
    else if (child !== null && child !== undefined && child !== false) parent.appendChild(document.createTextNode(String(child)));
  }
}

/** Replaces all children, and keeps the focus if an element of the same id exists again. */
export function fill(parent: Element, ...children: Child[]): void {
  const focused = parent.contains(document.activeElement) ? document.activeElement!.id : '';
  const fragment = document.createDocumentFragment();
  append(fragment, children);
  parent.replaceChildren(fragment);
  if (focused) document.getElementById(focused)?.focus();
}

/** A link to an address from elsewhere, if it is a web address; else plain text. */
export function foreignLink(address: string, text = address): Child {
  return /^https?:\/\//.test(address) ? h('a', { href: address, rel: 'noopener noreferrer', target: '_blank' }, text) : text;
}
