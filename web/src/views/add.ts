// SPDX-License-Identifier: Apache-2.0
// Adds a model or a data set of the reader's own to the server: a manifest and its files.
import { fill, h } from '../parts/dom';
import { problem } from '../parts/words';
import { add, kindOf } from '../service/upload';
import { address, type View } from '../view';

const view: View = {
  path: '/add',
  title: 'Add a model',
  show({ signal }) {
    const manifest = h('input', { id: 'manifest', type: 'file', accept: '.yaml,.yml,.json', required: true });
    const files = h('input', { id: 'files', type: 'file', multiple: true });
    const replace = h('input', { id: 'replace', type: 'checkbox' });
    const submit = h('button', { type: 'submit', class: 'main' }, 'Add it');
    const live = h('p', { class: 'soft', role: 'status' });
    const told = h('div', {});

    async function send() {
      const text = await manifest.files![0]!.text();
      await add(text, [...(files.files ?? [])], replace.checked, (line) => fill(live, line), signal);
      fill(live);
      const isData = kindOf(text) === 'dataset';
      fill(told, h('p', { class: 'what' }, isData ? 'The data set is kept. ' : 'The model is kept. ', h('a', { href: address('/start') }, 'Start an evaluation'), '.'));
    }
    const submitted = (event: Event) => {
      event.preventDefault();
      submit.disabled = true;
      fill(told);
      send()
        .catch((error: unknown) => {
          fill(live);
          if (!signal.aborted) fill(told, problem(error));
        })
        .finally(() => (submit.disabled = false));
    };
    return [
      h('h1', {}, 'Add a model'),
      h('p', { class: 'lead' }, 'A manifest says how the model is used; its files go by their digests. ', h('code', {}, 'd5 net describe mine.onnx'), ' and ', h('code', {}, 'd5 data describe FOLDER'), ' write manifests.'),
      h(
        'form',
        { class: 'add', submit: submitted },
        h('div', { class: 'fields' },
          h('div', {}, h('label', { for: 'manifest' }, 'Manifest of a model or a data set'), manifest),
          h('div', {}, h('label', { for: 'files' }, 'Its files: the network, or the samples'), files)),
        h('p', {}, h('label', { for: 'replace' }, replace, ' Replace what is kept under its name')),
        submit,
        live,
        told,
      ),
    ];
  },
};
export default view;
