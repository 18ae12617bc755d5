// SPDX-License-Identifier: Apache-2.0
import views from 'all:views';
import { fill, h } from './parts/dom';
import { notice, problem, tokenForm } from './parts/words';
import { ServiceError } from './service/service';
import { match, type Place, type View } from './view';

const menu = views.filter((view) => view.menu !== undefined).sort((a, b) => a.menu! - b.menu!);
const links = menu.map((view) => h('a', { href: `#${view.path}` }, view.title));
const main = h('main', { id: 'view', tabindex: -1 });
let leave = new AbortController();
let shownPath = '';

function shell(): void {
  const skip = h('button', { type: 'button', class: 'skip', click: () => main.focus() }, 'Skip to the content');
  const brand = h('a', { href: '#/', class: 'brand' }, h('span', { class: 'mark', 'aria-hidden': 'true' }, 'd5'), h('span', { class: 'unseen' }, 'd5, start page'));
  document.body.append(skip, h('header', { class: 'top' }, brand, h('nav', { 'aria-label': 'Views' }, links)), main, notice);
}

function where(): { view: View | undefined; path: string; parameters: Record<string, string>; query: URLSearchParams } {
  const [path = '', query = ''] = location.hash.slice(1).split(/\?(.*)/s);
  for (const view of views) {
    const parameters = match(view.path, path || '/');
    if (parameters) return { view, path, parameters, query: new URLSearchParams(query) };
  }
  return { view: undefined, path, parameters: {}, query: new URLSearchParams() };
}

async function show(): Promise<void> {
  leave.abort();
  leave = new AbortController();
  const { signal } = leave;
  let shownHash = location.hash;
  const { view, path, parameters, query } = where();
  const isOther = path !== shownPath;
  shownPath = path;
  for (const [i, link] of links.entries()) {
    const here = menu[i] === view || (menu[i]!.path !== '/' && path.startsWith(`${menu[i]!.path}/`));
    if (here) {
      link.setAttribute('aria-current', 'page');
      const line = link.parentElement!;
      line.scrollLeft = Math.min(link.offsetLeft - line.offsetLeft, Math.max(line.scrollLeft, link.offsetLeft + link.offsetWidth - line.offsetLeft - line.clientWidth));
    } else link.removeAttribute('aria-current');
  }
  document.title = view ? `${view.title} · d5` : 'd5';
  if (!view) {
    fill(main, h('h1', {}, 'No such view'), h('p', {}, 'No view has this address. ', h('a', { href: '#/' }, 'To the catalogue')));
    return;
  }
  const place: Place = {
    parameters,
    query,
    signal,
    remember(chosen) {
      if (signal.aborted || location.hash !== shownHash) return; // the reader has left; `hashchange` comes later
      for (const [key, value] of Object.entries(chosen)) {
        if (value) query.set(key, value);
        else query.delete(key);
      }
      const text = query.toString();
      history.replaceState(null, '', `#${path || '/'}${text ? `?${text}` : ''}`);
      shownHash = location.hash;
    },
    again: () => void show(),
  };
  main.setAttribute('aria-busy', 'true');
// Fast answers should not make the page flicker.
  const slow = setTimeout(() => fill(main, h('p', { class: 'waiting' }, 'Asking the server …')), 300);
  try {
    const content = await view.show(place);
    if (signal.aborted) return;
    clearTimeout(slow);
    fill(main, content);
    main.setAttribute('data-at', location.hash.slice(1)); // for scripts that wait for it
  } catch (error) {
    if (signal.aborted) return;
    const asksToken = error instanceof ServiceError && error.status === 401;
    fill(main, h('h1', {}, view.title), asksToken ? tokenForm(place.again) : problem(error, place.again));
    if (!(error instanceof ServiceError)) reportError(error); // a bug of the page
  } finally {
    clearTimeout(slow);
    if (!signal.aborted) main.removeAttribute('aria-busy');
  }
  if (isOther) {
    scrollTo(0, 0);
    if (document.activeElement !== document.body) main.focus({ preventScroll: true });
  }
}

shell();
addEventListener('hashchange', () => void show());
void show();
