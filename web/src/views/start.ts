// SPDX-License-Identifier: Apache-2.0
// Composes an evaluation, starting from a task. The choices are in the address, and shown as a manifest and as a command.
import { fill, h, type Child } from '../parts/dom';
import { nameOf, taskOf } from '../parts/entries';
import { commandOf, manifestOf, type Chosen } from '../parts/evaluation';
import { bytes, counted, words } from '../parts/figures';
import { machines, question } from '../parts/questions';
import { offered, readScenarios, scenarioOptions, writeScenarios } from '../parts/scenarios';
import { code, empty, problem, say } from '../parts/words';
import { list, post, send } from '../service/service';
import type { Agent, Dataset, Fit, Framework, Job, Model, Page, Scenario, System } from '../service/types';
import { address, type Place, type View } from '../view';

const kTraceLevels = ['none', 'model', 'framework', 'library', 'system'];

interface Known {
  models: Model[];
  datasets: Dataset[];
  frameworks: Framework[];
  systems: System[];
  scenarios: Scenario[];
  agents: Agent[];
}

/** The choices in the address. */
function read(query: URLSearchParams): Chosen & { task: string; on: string } {
  const many = (name: string) => query.get(name)?.split(',').filter(Boolean) ?? [];
  return {
    task: query.get('task') ?? '',
    models: many('model'),
    dataset: query.get('dataset') ?? '',
    frameworks: many('framework'),
    scenarios: readScenarios(query),
    systems: many('system'),
    batches: many('batch').map(Number).filter((n) => n >= 1),
    trace: query.get('trace') ?? 'none',
    queries: Number(query.get('queries')) || 0,
    on: query.get('on') ?? 'one',
  };
}

class Form {
  private readonly chosen;
  private readonly questions = h('div', { class: 'questions' });
  private readonly fitting = h('div', { 'aria-live': 'polite' });
  private readonly texts = h('div', {});
  private readonly send = h('button', { type: 'submit', class: 'main' }, 'Run it');
  private readonly missing = h('p', { class: 'soft', id: 'missing' });
  private readonly failed = h('div', {});
  private asked = new AbortController();

  constructor(
    private readonly known: Known,
    private readonly place: Place,
  ) {
    this.chosen = read(place.query);
    const { models, scenarios } = known;
    const first = models.find((model) => this.chosen.models.includes(nameOf(model)));
    this.chosen.task ||= first?.task ?? (this.tasks().length === 1 ? this.tasks()[0]! : '');
    const usual = scenarios.find(({ name }) => name === 'single_stream') ?? scenarios[0];
    this.chosen.scenarios = this.chosen.scenarios.filter(({ name }) => scenarios.some((known) => known.name === name));
    if (!this.chosen.scenarios.length && usual) this.chosen.scenarios = [{ name: usual.name, options: {} }];
    if (!this.chosen.batches.length) this.chosen.batches = [1];
  }

  private tasks(): string[] {
    return [...new Set(this.known.models.map(taskOf))].sort();
  }

  /** What connected machines run models in; without a machine, all that the server knows. */
  private runnable(): Framework[] {
    const { frameworks, agents } = this.known;
    const words = new Set(frameworks.filter(({ versions }) => versions?.length).map(({ word }) => word));
    const isHere = ({ name, word }: Framework) => words.has(word) || this.chosen.frameworks.includes(word || name);
    return agents.length ? frameworks.filter(isHere) : frameworks;
  }

  element(): Child {
    this.drawQuestions();
    this.drawAnswer();
    const submit = (event: Event) => {
      event.preventDefault();
      if (!this.lacks()) void this.submit();
    };
    return h(
      'form',
      { class: 'start', submit },
      this.questions,
      h('aside', { class: 'answer', 'aria-label': 'Your evaluation' }, h('h2', {}, 'Machines'), this.fitting, this.missing, this.send, this.failed, this.texts),
    );
  }

  private changed(redraw: boolean): void {
    const { task, models, dataset, frameworks, scenarios, systems, batches, trace, queries, on } = this.chosen;
    for (const name of [...this.place.query.keys()]) if (name.startsWith('option.')) this.place.query.delete(name);
    this.place.remember({
      task,
      model: models.join(','),
      dataset,
      framework: frameworks.join(','),
      system: systems.join(','),
      batch: batches.join(','),
      trace: trace === 'none' ? '' : trace,
      queries: queries === 0 ? '' : String(queries),
      on: on === 'one' ? '' : on,
      ...writeScenarios(scenarios),
    });
    if (redraw) this.drawQuestions();
    this.drawAnswer();
  }

  private drawQuestions(): void {
    const { chosen, known } = this;
    const count = (task: string) => known.models.filter((model) => taskOf(model) === task).length;
    const ofTask = known.models.filter((model) => taskOf(model) === chosen.task);
    const frameworks = this.runnable();
    const versions = (framework: string) =>
      known.models.filter((model) => chosen.models.includes(nameOf(model))).map((model) => model.frameworks?.[framework]).find(Boolean);
    fill(
      this.questions,
      question(1, 'Task', 'what the model is for', 'radio', this.tasks().map((task) => ({ value: task, title: task, more: counted(count(task), 'model') })), [chosen.task], ([task = '']) => {
        chosen.task = task;
        chosen.models = [];
        this.changed(true);
      }),
      chosen.task && question(2, 'Model', 'one or more', 'checkbox', ofTask.map((model) => ({ value: nameOf(model), title: nameOf(model), more: model.summary })), chosen.models, (values) => {
        chosen.models = values;
        this.changed(true);
      }),
      chosen.models.length > 0 && question(3, 'Framework', 'several are compared', 'checkbox', frameworks.map((framework) => {
        const needed = versions(framework.name.replace(/:.*/, ''));
        return { value: framework.word || framework.name, title: framework.name, more: [framework.versions?.join(', ') || framework.summary || (known.agents.length > 0 && 'on no connected machine'), needed && `the model requires ${needed}`].filter(Boolean).join('; ') };
      }), chosen.frameworks, (values) => {
        chosen.frameworks = values;
        this.changed(true);
      }),
      chosen.frameworks.length > 0 && [
        question(4, 'Scenario', 'arrival patterns of queries, one or more', 'checkbox', known.scenarios.map(({ name, summary }) => ({ value: name, title: words(name), more: summary })), chosen.scenarios.map(({ name }) => name), (names) => {
          chosen.scenarios = names.map((name) => chosen.scenarios.find((scenario) => scenario.name === name) ?? { name, options: {} });
          this.changed(true);
        }),
        scenarioOptions(known.scenarios, chosen.scenarios, (...field) => this.field(...field)),
        this.onWhat(),
        this.details(),
      ],
    );
  }

  private field(label: string, id: string, value: string, set: (text: string) => void, placeholder = '', help = ''): HTMLElement {
    const input = h('input', { id, value, placeholder, autocomplete: 'off', 'aria-describedby': help ? `${id}-help` : undefined });
    input.addEventListener('input', () => {
      set(input.value.trim());
      this.changed(false);
    });
    return h('div', {}, h('label', { for: id }, words(label)), input, help && h('small', { class: 'soft', id: `${id}-help` }, help));
  }

  private onWhat(): Child {
    const { chosen, known } = this;
    const more = (system: System) => [system.summary, system.cores && counted(system.cores, 'core'), system.memory_bytes && bytes(system.memory_bytes)].filter(Boolean).join(' · ');
    return [
      known.systems.length > 0 && question(5, 'System', 'none ticked: any', 'checkbox', known.systems.map((system) => ({ value: nameOf(system), title: nameOf(system), more: more(system) })), chosen.systems, (values) => {
        chosen.systems = values;
        this.changed(false);
      }),
      question(known.systems.length ? 6 : 5, 'On', 'how many machines', 'radio', [
        { value: 'one', title: 'One that fits', more: 'whichever is free first' },
        { value: 'all', title: 'All that fit', more: 'each runs the whole evaluation' },
      ], [chosen.on], ([on = 'one']) => {
        chosen.on = on;
        this.changed(false);
      }),
    ];
  }

  private details(): Child {
    const { chosen, known } = this;
    const select = (id: string, label: string, values: [string, string][], value: string, set: (value: string) => void) => {
      const element = h('select', { id }, values.map(([text, title]) => h('option', { value: text }, title)));
      element.value = value;
      element.addEventListener('change', () => {
        set(element.value);
        this.changed(false);
      });
      return h('div', {}, h('label', { for: id }, label), element);
    };
    return h(
      'details',
      { open: this.unclaimed().length > 0 },
      h('summary', {}, 'Data set, batches, queries, traces'),
      h(
        'div',
        { class: 'fields' },
        select('dataset', 'Data set', [['', 'the one of the claim'], ...known.datasets.filter(({ task }) => !task || task === chosen.task).map((entry): [string, string] => [nameOf(entry), nameOf(entry)])], chosen.dataset, (value) => (chosen.dataset = value)),
        this.field('Batches', 'batches', chosen.batches.join(','), (text) => (chosen.batches = text.split(',').map(Number).filter((n) => Number.isInteger(n) && n >= 1)), '1,8'),
        this.field('Queries', 'queries', chosen.queries ? String(chosen.queries) : '', (text) => (chosen.queries = Math.max(0, Math.floor(Number(text)) || 0)), 'as many as its verdict needs'),
        select('trace', 'Trace level', kTraceLevels.map((level): [string, string] => [level, level]), chosen.trace, (value) => (chosen.trace = value)),
      ),
    );
  }

  /** Chosen models without a claimed accuracy, and so without a data set of their own. */
  private unclaimed(): string[] {
    return this.known.models.filter((model) => this.chosen.models.includes(nameOf(model)) && !model.claims?.length).map(nameOf);
  }

  /** What remains to be chosen; empty: nothing. */
  private lacks(): string {
    const { task, models, frameworks, scenarios, batches, dataset } = this.chosen;
    if (!task) return 'Choose a task first.';
    if (!models.length) return 'Choose a model.';
    if (!frameworks.length) return 'Choose a framework.';
    if (!scenarios.length) return 'Choose a scenario.';
    if (!batches.length) return 'Batches are whole numbers, as 1,8.';
    const unclaimed = this.unclaimed();
    if (!dataset && unclaimed.length) return `Choose a data set: ${unclaimed.join(', ')} has no claimed accuracy.`;
    return '';
  }

  private drawAnswer(): void {
    const lacks = this.lacks();
    this.send.setAttribute('aria-disabled', String(Boolean(lacks)));
    this.send.setAttribute('aria-describedby', 'missing');
    fill(this.missing, lacks);
    this.missing.hidden = !lacks;
    this.asked.abort();
    if (lacks) {
      fill(this.texts);
      fill(this.fitting, h('p', { class: 'soft' }, `${counted(this.known.agents.length, 'machine')} connected. Those that fit will be listed here.`));
      return;
    }
    fill(this.texts, h('h2', {}, 'Use elsewhere'), code('As a manifest', manifestOf(this.chosen)), code('As a command', commandOf(this.chosen, location.origin)));
    this.asked = new AbortController();
    void this.askWhoFits(AbortSignal.any([this.asked.signal, this.place.signal]));
  }

  private request() {
    const on = Number(this.chosen.on) || this.chosen.on;
    return { manifest: manifestOf(this.chosen), on };
  }

  private async askWhoFits(signal: AbortSignal): Promise<void> {
    await new Promise((done) => setTimeout(done, 150)); // requests only after typing pauses
    if (signal.aborted) return;
    try {
      const { items } = await post<Page<Fit>>('/v1/jobs/why', this.request(), signal);
      if (!signal.aborted) fill(this.fitting, machines(items, this.known.agents));
    } catch (error) {
      if (!signal.aborted) fill(this.fitting, problem(error));
    }
  }

  private async submit(): Promise<void> {
    this.send.setAttribute('aria-disabled', 'true');
    fill(this.failed);
    try {
      const response = await send('POST', '/v1/jobs', { body: this.request(), signal: this.place.signal });
      const job = (await response.json()) as Job;
      if (response.status === 200) say('This evaluation was submitted before: here it is');
      location.hash = address('/jobs/{id}', { id: job.id });
    } catch (error) {
      if (this.place.signal.aborted) return;
      fill(this.failed, problem(error));
      this.send.setAttribute('aria-disabled', 'false');
    }
  }
}

const view: View = {
  path: '/start',
  title: 'Start',
  menu: 2,
  async show(place) {
    const { signal } = place;
    const [models, datasets, frameworks, systems, scenarios, agents] = await Promise.all([
      list<Model>('/v1/models', signal),
      list<Dataset>('/v1/datasets', signal),
      list<Framework>('/v1/frameworks', signal),
      list<System>('/v1/systems', signal),
      list<Scenario>('/v1/scenarios', signal),
      list<Agent>('/v1/agents', signal),
    ]);
    const heading = [h('h1', {}, 'Start an evaluation'), h('p', { class: 'lead' }, 'First the accuracy is judged on all samples; then the model is timed under each scenario.')];
    if (!models.length) return [heading, empty('This server knows no model to evaluate', h('a', { href: '#/' }, 'Show the catalogue'))];
    return [heading, new Form({ models, datasets, frameworks, systems, scenarios: offered(scenarios), agents }, place).element()];
  },
};
export default view;
