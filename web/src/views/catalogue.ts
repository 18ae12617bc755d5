// SPDX-License-Identifier: Apache-2.0
// The catalogue by task, from which an evaluation starts.
import { best, fields, fits, wishOf, type Wish } from '../parts/catalogue_filter';
import { capital, counted, withDigits, withPrefix, words } from '../parts/figures';
import { append, fill, foreignLink, h, type Child } from '../parts/dom';
import { nameOf, taskOf } from '../parts/entries';
import { table } from '../parts/table';
import { empty, problem, state } from '../parts/words';
import { list, post } from '../service/service';
import type { AnsweringModel, CatalogueEntry, Dataset, Framework, Measured, Model, Scenario, System } from '../service/types';
import { address, type View } from '../view';

function claims(model: Model): Child {
  return (model.claims ?? []).map(({ measure, value, tolerance, dataset, source }) =>
    h('div', { title: source }, `${words(measure)} ${value}${tolerance ? ` ± ${tolerance}` : ''}`, h('span', { class: 'soft' }, ` on ${dataset}`)),
  );
}

function models(task: string, rows: Model[], results: Map<string, Measured[]>, wish: Wish): HTMLElement {
  const measured = (model: Model) => best(model, results.get(model.name) ?? [], wish);
  return table({
    label: `Models for ${task}`,
    rows,
    sort: { column: 'Model' },
    class: 'models',
    columns: [
      {
        head: 'Model',
        by: nameOf,
        cell: (model) => [
          h('b', {}, model.name),
          model.version && h('span', { class: 'soft' }, ` ${model.version}`),
          model.summary && h('div', { class: 'soft' }, model.summary),
        ],
      },
      { head: 'Claimed', cell: claims },
      { head: 'Licence', by: (model) => model.licence, cell: (model) => [model.licence, model.source && h('div', {}, foreignLink(model.source, 'source'))] },
      { head: 'Size', by: (model) => model.bytes, cell: (model) => (model.bytes ? withPrefix(model.bytes, 'byte') : null) },
      {
        head: 'Best here',
        by: (model) => measured(model)?.latency,
        cell: (model) => {
          const told = measured(model);
          return told && [
            told.accuracy && h('div', {}, `${words(told.accuracy[0])} ${withDigits(told.accuracy[1], 3)}`),
            told.latency !== undefined && h('div', {}, withPrefix(told.latency, 's')),
            h('div', { class: 'soft' }, `in ${told.framework}`),
          ];
        },
      },
      {
        head: 'Actions',
        quiet: true,
        cell: (model) =>
          h(
            'div',
            { class: 'row' },
            h('a', { class: 'button small', href: address('/start', {}, { task: model.task, model: nameOf(model) }) }, 'Evaluate', h('span', { class: 'unseen' }, ` ${model.name}`)),
            h('a', { class: 'button small', href: address('/history', {}, { model: model.name }) }, 'History', h('span', { class: 'unseen' }, ` of ${model.name}`)),
          ),
      },
    ],
  });
}

const isReady = ({ state: at }: AnsweringModel) => at === 'READY';

/** Models that the server itself runs, those that are ready first. */
function answering(all: AnsweringModel[]): Child {
  if (!all.length) return empty('This server runs no model', 'Start a server with one: ', h('code', {}, 'd5 serve --model lenet'), '.');
  const ready = all.filter(isReady);
  return [
    h('p', { class: 'lead' }, `${ready.length} of ${counted(all.length, 'model')} ${ready.length === 1 ? 'is' : 'are'} ready to be asked by the Open Inference Protocol, at `, h('code', {}, `${location.origin}/v2`), '.'),
    table<AnsweringModel>({
      label: 'Models on this server',
      rows: [...ready, ...all.filter((model) => !isReady(model))],
      columns: [
        { head: 'Model', by: ({ name }) => name, cell: ({ name, version }) => [h('b', {}, name), version && h('span', { class: 'soft' }, ` ${version}`)] },
        { head: 'State', by: (model) => Number(!isReady(model)), cell: (model) => state(isReady(model) ? 'ready' : 'waiting') },
        { head: 'Why', cell: (model) => (isReady(model) ? null : (model.reason ?? 'unknown')) },
      ],
    }),
  ];
}

/** The rest of the catalogue; each kind is folded. */
function others(kind: string, entries: CatalogueEntry[], more: (entry: never) => Child): Child {
  if (!entries.length) return null;
  const rows = entries.map((entry) =>
    h('li', {}, h('b', {}, entry.name), entry.version && h('span', { class: 'soft' }, ` ${entry.version}`), entry.summary && `: ${entry.summary}`, h('span', { class: 'soft' }, more(entry as never))),
  );
  return h('details', {}, h('summary', {}, `${kind} (${entries.length})`), h('ul', { class: 'known' }, rows));
}

const view: View = {
  path: '/',
  title: 'Catalogue',
  menu: 1,
  async show({ query, signal, remember }) {
    const [known, datasets, frameworks, systems, scenarios] = await Promise.all([
      list<Model>('/v1/models', signal),
      list<Dataset>('/v1/datasets', signal),
      list<Framework>('/v1/frameworks', signal),
      list<System>('/v1/systems', signal),
      list<Scenario>('/v1/scenarios', signal),
    ]);
    const found = h('div', {});
    const wish = wishOf(query);
    let results = new Map<string, Measured[]>();
    const draw = () => {
      remember({ ...wish });
      const chosen = known.filter((model) => fits(model, results.get(model.name) ?? [], wish));
      const byTask = Map.groupBy(chosen, taskOf);
      fill(
        found,
        [...byTask].sort().map(([task, rows]) => [h('h2', {}, capital(task)), models(task, rows, results, wish)]),
        !chosen.length && (known.length ? empty('No model is like this', 'Choose less above.') : empty('This server knows no model yet', h('a', { href: address('/add') }, 'Add a model'), '.')),
      );
    };
    draw();
    const narrow = h('div', {}, fields(known, [], wish, draw));
    const askWhatIsMeasured = async () => {
      try {
        const all = await list<Measured>('/v1/measured', signal);
        results = Map.groupBy(all, ({ model }) => model);
        fill(narrow, fields(known, all.map(({ framework }) => framework), wish, draw));
        draw();
      } catch (error) {
        if (!signal.aborted) append(narrow, [problem(error, () => void askWhatIsMeasured())]);
      }
    };
    void askWhatIsMeasured(); // nor for this
    const here = h('div', {});
    const askWhoAnswers = async () => {
      try {
        fill(here, answering(await post<AnsweringModel[]>('/v2/repository/index', {}, signal)));
      } catch (error) {
        if (!signal.aborted) fill(here, problem(error, () => void askWhoAnswers()));
      }
    };
    void askWhoAnswers(); // the catalogue does not wait for it
    const content: Child[] = [
      h('h1', {}, 'Which model, in which framework, on which system?'),
      h('p', { class: 'lead' }, `${counted(known.length, 'model')}, ${counted(datasets.length, 'data set')}, ${counted(frameworks.length, 'framework')} in this server's catalogue.`),
      h('div', { class: 'row apart' }, narrow, h('a', { class: 'button', href: address('/add') }, 'Add a model')),
      found,
    ];
    return [
      content,
      h('h2', {}, 'Models on this server'),
      here,
      h(
        'section',
        { class: 'others' },
        h('h2', {}, 'More of the catalogue'),
        others('Data sets', datasets, (entry: Dataset) => (entry.samples ? ` · ${counted(entry.samples, 'sample')}` : null)),
        others('Frameworks', frameworks, (entry: Framework) => (entry.versions?.length ? ` · ${entry.versions.join(', ')} on machines` : null)),
        others('Scenarios', scenarios, () => null),
        others('Systems', systems, (entry: System) => (entry.cores ? ` · ${counted(entry.cores, 'core')}` : null)),
      ),
    ];
  },
};
export default view;
