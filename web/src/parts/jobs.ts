// SPDX-License-Identifier: Apache-2.0
// What is said of jobs in more than one view.
import { fill } from './dom';
import { say } from './words';
import { follow } from '../service/events';
import { post, send, ServiceError } from '../service/service';
import type { Job, JobEvent, JobState } from '../service/types';

export const kStates: JobState[] = ['queued', 'leased', 'running', 'done', 'failed', 'cancelled', 'quarantined'];
export const isOver = (state: JobState) => ['done', 'failed', 'cancelled', 'quarantined'].includes(state);

/** What a job is about: "efficientnet-lite0 · torch · single_stream". */
export const subjectOf = (job: Job) => job.title || job.key.slice(0, 12);

/** Why parts of it failed, were put back, or were given up. */
export const reasonOf = (job: Job) => [...new Set((job.parts ?? []).map(({ reason }) => reason).filter(Boolean))].join('; ');

/** Asks for the job's end; whether the server agreed. */
export async function cancel(id: string): Promise<boolean> {
  try {
    await send('DELETE', `/v1/jobs/${encodeURIComponent(id)}`);
    say('Cancelled');
    return true;
  } catch (error) {
    say(error instanceof ServiceError ? error.message : String(error));
    return false;
  }
}

/** What is over without an answer. */
export const isLost = (state: JobState) => isOver(state) && state !== 'done';

/** Asks for the same job anew; the id of the new one, unless the server refused. */
export async function retry(id: string): Promise<string | undefined> {
  try {
    return (await post<Job>(`/v1/jobs/${encodeURIComponent(id)}/retry`, undefined)).id;
  } catch (error) {
    say(error instanceof ServiceError ? error.message : String(error));
    return undefined;
  }
}

/** Hears of jobs until `signal` ends it; `live` says where the line is lost, unless there is no more to hear. */
export function followJobs(path: string, signal: AbortSignal, live: Element, hear: (event: JobEvent) => void, isAll = () => false): void {
  const tell = (connected: boolean) => fill(live, connected || isAll() ? '' : 'The connection to the server is lost; trying again …');
  follow<JobEvent>(path, signal, hear, tell).catch((error: Error) => fill(live, error.message));
}
