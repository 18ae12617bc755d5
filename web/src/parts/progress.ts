// SPDX-License-Identifier: Apache-2.0
// How far a job's part is, in words and as a share.
import type { JobPart, JobState } from '../service/types';

export const isOver = (state: JobState) => ['done', 'failed', 'cancelled', 'quarantined'].includes(state);

const kBeforeWords: Partial<Record<JobState, string>> = { queued: 'waiting for a free machine', leased: 'the machine starts it', running: 'opening data set and model' };

/** Progress of a part: the machine's last message, or else what its state means. */
export const progressOf = (part: JobPart, said?: string) => (isOver(part.state) ? part.reason ?? '' : (part.state === 'running' && (said || part.progress)) || kBeforeWords[part.state] || '');

/** The share that a message tells, as "50 of 200 samples". */
export function shareOf(text: string): { done: number; all: number } | null {
  const found = /(\d+) of (\d+)/.exec(text);
  const [done, all] = [Number(found?.[1]), Number(found?.[2])];
  return found && all > 0 && done <= all ? { done, all } : null;
}

/** "12 s", "3 min 20 s", "2 h 5 min" */
export function elapsed(seconds: number): string {
  const whole = Math.max(0, Math.floor(seconds));
  if (whole < 60) return `${whole} s`;
  if (whole < 3600) return `${Math.floor(whole / 60)} min ${whole % 60} s`;
  return `${Math.floor(whole / 3600)} h ${Math.floor((whole % 3600) / 60)} min`;
}
