// SPDX-License-Identifier: Apache-2.0
// What the server's REST interface answers (data/openapi.yaml), as far as the page reads it. Nothing of it is trusted:
// all of it may be missing, and every text is shown as text.

/** Items, and where the next ones are. */
export interface Page<Item> {
  items: Item[];
  next?: string | null;
}

export interface Claim {
  dataset: string;
  measure: string;
  value: number;
  tolerance?: number;
  source?: string;
}

/** A model, data set, framework or system that the server has a manifest of, and scenarios. */
export interface CatalogueEntry {
  name: string;
  version?: string;
  summary?: string;
  licence?: string;
}
export interface Model extends CatalogueEntry {
  task?: string;
  format?: string;
  source?: string;
  /** Versions that will do, by the framework's name. */
  frameworks?: Record<string, string>;
  claims?: Claim[];
}
export interface Framework extends CatalogueEntry {
  /** What an evaluation calls it; empty: its name. */
  word?: string;
  /** That machines have. */
  versions?: string[];
}
export interface Dataset extends CatalogueEntry {
  samples?: number;
  splits?: string[];
  /** The server holds the samples. */
  here?: boolean;
}
export interface System extends CatalogueEntry {
  architecture?: string;
  cores?: number;
  memory_bytes?: number;
  device?: string;
  price_per_hour?: number;
  currency?: string;
}
/** A model that answers below /v2, or why it does not: the index of the Open Inference Protocol. */
export interface AnsweringModel {
  name: string;
  version?: string;
  state?: string;
  reason?: string;
}
export interface ScenarioOption {
  name: string;
  default?: string;
  help?: string;
}
export interface Scenario extends CatalogueEntry {
  options?: ScenarioOption[];
}

export interface Agent {
  facts: AgentFacts;
  state: 'free' | 'busy' | 'silent';
  heartbeat?: string;
  job?: string;
}
export interface AgentFacts {
  name: string;
  hostname?: string;
  cpu?: string;
  architecture?: string;
  cores?: number;
  memory_bytes?: number;
  devices?: Record<string, string>;
  frameworks?: Record<string, { version?: string }>;
  models?: string[];
  labels?: Record<string, string>;
  price_per_hour?: number;
  currency?: string;
}

export interface Fit {
  agent: string;
  fits: boolean;
  reason?: string;
}

export type JobState = 'queued' | 'leased' | 'running' | 'done' | 'failed' | 'cancelled' | 'quarantined';

/** What one machine does of a job. */
export interface JobPart {
  number: number;
  state: JobState;
  agent?: string;
  attempt?: number;
  progress?: string;
  reason?: string;
  /** Where its records are. */
  run?: string;
}
export interface Job {
  id: string;
  key: string;
  /** What it is about: "efficientnet-lite0 · torch · single_stream". */
  title?: string;
  /** The name of the token that asked for it. */
  owner?: string;
  state: JobState;
  submitted: string;
  on?: string;
  manifest?: unknown;
  parts?: JobPart[];
}
export interface JobEvent {
  number: number;
  time: string;
  job: string;
  state: JobState;
  /** Of the job's; -1: the job as a whole. */
  part?: number;
  part_state?: JobState;
  agent?: string;
  text?: string;
}

export interface Run {
  id: string;
  key?: string;
  /** What its evaluation is about. */
  title?: string;
  time: string;
  command?: string;
  hostname?: string;
  cpu?: string;
  records?: number;
  not_passed?: number;
}
export interface Piece {
  name: string;
  kind: 'measurements' | 'queries' | 'answers' | 'trace';
  count: number;
}
export interface RunDetails extends Run {
  pieces?: Piece[];
  manifest?: unknown;
  environment?: Record<string, unknown>;
}

export type Interval = [number, number];

export type ConditionValue = string | number | { value: number | string; unit: string };
/** By role: other identities are other cases, settings say how it was measured, findings came out. */
export type Conditions = Partial<Record<'identity' | 'setting' | 'finding' | 'aside', Record<string, ConditionValue>>>;

/** A record, as in a results file (data/results.schema.json); its samples are left out. */
export interface Measurement {
  piece?: string;
  subject: string;
  command?: string;
  framework: string;
  framework_version?: string;
  device: string;
  metric: string;
  unit: string;
  direction?: string;
  statistic: string;
  status: string;
  reason?: string;
  value?: number | null;
  interval?: Interval | null;
  conditions: Conditions;
}

/** Times in nanoseconds on the monotonic clock of the machine that asked. */
export interface Query {
  id: number;
  sample: number;
  scheduled: number;
  issued: number;
  begun: number;
  ended: number;
  batch: number;
  status: string;
}
export interface Answer {
  sample: number;
  answer: string;
  score: number | null;
}

/** A record of a run among those that were measured before it. */
export interface HistoryEntry extends Measurement {
  run: string;
  time: string;
  hostname?: string;
  series: string;
  is_record?: boolean;
  is_best?: boolean;
}

export interface ComparedRecord {
  subject: string;
  metric: string;
  unit: string;
  statistic: string;
  direction?: string;
  /** How the two are told from others of their runs. */
  name: string;
  a?: { value: number | null; interval?: Interval | null };
  b?: { value: number | null; interval?: Interval | null };
  ratio?: number | null;
  ratio_interval?: Interval | null;
}
export interface ComparedAnswers {
  name: string;
  samples: number;
  both: number;
  only_a: number;
  only_b: number;
  neither: number;
  p_value: number;
  flips: { sample: number; a: string; b: string; score_a: number; score_b: number }[];
}
export interface ComparedLayer {
  name: string;
  type: string;
  a: number;
  b: number;
  share_of_all: number;
  is_sure: boolean;
}
export interface Comparison {
  a: Run;
  b: Run;
  /** Of the machines, libraries and conditions. */
  differences?: { name: string; a: string; b: string }[];
  records: ComparedRecord[];
  answers: ComparedAnswers[];
  layers: ComparedLayer[];
}

export interface Problem {
  title?: string;
  status?: number;
  detail?: string;
}
export interface LintComplaint {
  line?: number;
  column?: number;
  text: string;
}
