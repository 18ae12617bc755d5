// SPDX-License-Identifier: Apache-2.0
// Answers of the server's REST interface (data/openapi.yaml), as far as the page uses them. They are not trusted:
// everything may be missing, and every text is shown as text.

/** Items, and the cursor of the next ones. */
export interface Page<Item> {
  items: Item[];
  next?: string | null;
}

/** A file that a manifest names and the server lacks. */
export interface MissingFile {
  name: string;
  bytes: number;
  sha256: string;
}

export interface Claim {
  dataset: string;
  measure: string;
  value: number;
  tolerance?: number;
  source?: string;
}

/** A model, data set, framework or system of which the server has a manifest, or a scenario. */
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
  /** Size of its files. */
  bytes?: number;
  /** Supported versions, by the framework's name. */
  frameworks?: Record<string, string>;
  claims?: Claim[];
}
/** The best results of a model in a framework. */
export interface Measured {
  /** Without its version. */
  model: string;
  framework: string;
  /** Smallest median, in seconds. */
  latency?: number | null;
  /** Largest value by measure. */
  accuracy?: Record<string, number>;
}
export interface Framework extends CatalogueEntry {
  /** Its word in an evaluation; empty: its name. */
  word?: string;
  /** Versions on machines. */
  versions?: string[];
}
export interface Dataset extends CatalogueEntry {
  task?: string;
  samples?: number;
  splits?: string[];
  /** Whether the server has the samples. */
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
/** A model below /v2, or the reason why it is not ready, from the index of the Open Inference Protocol. */
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

/** The work of one machine for a job. */
export interface JobPart {
  number: number;
  state: JobState;
  agent?: string;
  attempt?: number;
  progress?: string;
  reason?: string;
  /** Times of its lease and begin: ISO 8601, UTC; empty: not yet. */
  leased?: string;
  begun?: string;
  /** Id of the run with its records. */
  run?: string;
}
export interface Job {
  id: string;
  key: string;
  /** Its subject: "efficientnet-lite0 · torch · single_stream". */
  title?: string;
  /** Name of the token that submitted it. */
  owner?: string;
  state: JobState;
  /** Why no machine can take it now. */
  waits?: string;
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
  /** Number of the job's part; -1: the job as a whole. */
  part?: number;
  part_state?: JobState;
  agent?: string;
  text?: string;
}

export interface Run {
  id: string;
  key?: string;
  /** Subject of its evaluation. */
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
/** By role: identities distinguish cases, settings say how it was measured, findings are results. */
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

/** A record of a run, compared with earlier ones of its series. */
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
  /** What distinguishes the two from others of their runs. */
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
  /** Differences of machines, libraries and conditions. */
  differences?: { name: string; a: string; b: string }[];
  records: ComparedRecord[];
  answers: ComparedAnswers[];
  layers: ComparedLayer[];
}

export interface Problem {
  missing?: MissingFile[];
  title?: string;
  status?: number;
  detail?: string;
}
export interface LintComplaint {
  line?: number;
  column?: number;
  text: string;
}
