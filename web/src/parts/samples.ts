// SPDX-License-Identifier: Apache-2.0
// A data set's samples: what is right, what they are called, what they look like where the server holds them.
import { get, list, send } from '../service/service';
import type { Dataset } from '../service/types';

interface Manifest {
  samples?: { file: string; label: number }[];
  labels?: string[];
}

export interface Samples {
  /** What is right of a sample; undefined where that is not known. */
  truth(sample: number): string | undefined;
  file(sample: number): string | undefined;
  /** What a class is called. */
  className(number: number): string;
  picture(sample: number): Promise<ImageBitmap | null>;
}

/** `reference`: NAME@VERSION. Null where the server does not know it. */
export async function samplesOf(reference: string, signal: AbortSignal): Promise<Samples | null> {
  const known = (await list<Dataset>('/v1/datasets', signal)).find(({ name, version }) => reference === `${name}@${version}`);
  if (!known) return null;
  const path = `/v1/datasets/${encodeURIComponent(reference)}`;
  const { samples = [], labels = [] } = await get<Manifest>(path, signal);
  const className = (number: number) => labels[number] ?? `class ${number}`;
  return {
    className,
    truth: (sample) => samples[sample] && className(samples[sample].label),
    file: (sample) => samples[sample]?.file,
    async picture(sample) {
      if (!known.here) return null;
      try {
        return await createImageBitmap(await (await send('GET', `${path}/samples/${sample}`, { signal })).blob());
      } catch {
        return null; // no picture, or of a kind that the browser does not read
      }
    },
  };
}
