// SPDX-License-Identifier: Apache-2.0
// Texts about jobs, and actions on them, that several views share.
import { fill } from './dom';
import { isOver } from './progress';
import { say } from './words';
import { follow } from '../service/events';
import { post, send, ServiceError } from '../service/service';
import type { Job, JobEvent, JobState } from '../service/types';

export const kStates: JobState[] = ['queued', 'leased', 'running', 'done', 'failed', 'cancelled', 'quarantined'];

/** Subject of a job: "efficientnet-lite0 · torch · single_stream". */
export const subjectOf = (job: Job) => job.title || job.key.slice(0, 12);

/** Reasons why its parts failed, were put back or were cancelled. */
export const reasonOf = (job: Job) => [...new Set((job.parts ?? []).map(({ reason }) => reason).filter(Boolean))].join('; ');

/** Cancels a job; returns whether the server accepted that. */
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

/** Whether a job ended without results. */
export const isLost = (state: JobState) => isOver(state) && state !== 'done';

/** Retries a job; returns the id of the new one, unless the server refused. */
export async function retry(id: string): Promise<string | undefined> {
  try {
    return (await post<Job>(`/v1/jobs/${encodeURIComponent(id)}/retry`, undefined)).id;
  } catch (error) {
    say(error instanceof ServiceError ? error.message : String(error));
    return undefined;
  }
}

/** Receives events of jobs until `signal` aborts; `live` shows a lost connection, unless no more events can come. */
export function followJobs(path: string, signal: AbortSignal, live: Element, hear: (event: JobEvent) => void, isAll = () => false): void {
  const tell = (connected: boolean) => fill(live, connected || isAll() ? '' : 'The connection to the server is lost; reconnecting …');
  follow<JobEvent>(path, signal, hear, tell).catch((error: Error) => fill(live, error.message));
}
