// SPDX-License-Identifier: Apache-2.0
// A data set's samples: right answers, class names, and pictures if the server has the files.
import { get, list, send } from '../service/service';
import type { Dataset } from '../service/types';

interface Manifest {
  samples?: { file: string; label: number }[];
  labels?: string[];
}

export interface Samples {
  /** The right answer of a sample; undefined if it is unknown. */
  truth(sample: number): string | undefined;
  file(sample: number): string | undefined;
  /** The name of a class. */
  className(number: number): string;
  picture(sample: number): Promise<ImageBitmap | null>;
}

/** `reference`: NAME@VERSION. Null if the server does not know it. */
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
        return null; // no picture, or a format that the browser does not support
      }
    },
  };
}
