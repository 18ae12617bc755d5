// SPDX-License-Identifier: Apache-2.0
// A manifest of the reader's own and its files, on their way to the server.
import { send, ServiceError, withQuery } from './service';
import type { MissingFile } from './types';

const kPieceBytes = 4 * 2 ** 20; // below the server's limit of a body
const kMostRounds = 3;

/** Names a file's content: SHA-256, in hexadecimal digits. */
export async function digestOf(file: Blob): Promise<string> {
  if (!crypto.subtle) throw new ServiceError('The browser names files by their content over TLS or on this machine alone: use d5 model add.', 0);
  const sum = await crypto.subtle.digest('SHA-256', await file.arrayBuffer());
  return [...new Uint8Array(sum)].map((byte) => byte.toString(16).padStart(2, '0')).join('');
}

/** The kind of a manifest, in YAML or JSON; empty without one. */
export const kindOf = (text: string) => /^\s*\{?\s*"?kind"?\s*:\s*"?(\w+)/m.exec(text)?.[1] ?? '';

/** Sends a file from where the server has it; `tell` hears how many bytes are there. */
async function sendFile(file: Blob, sha256: string, tell: (bytes: number) => void, signal: AbortSignal): Promise<void> {
  for (let offset = 0, before = -1; ; ) {
    const path = withQuery(`/v1/files/${sha256}`, { bytes: file.size, offset });
    const response = await send('PUT', path, { body: file.slice(offset, offset + kPieceBytes), signal });
    if (response.status === 201) return;
    before = offset;
    offset = ((await response.json()) as { here: number }).here;
    if (offset === before) throw new ServiceError('The server takes no more of the file.', 0);
    tell(offset);
  }
}

/** The files that the server lacks; null: the manifest is kept. */
async function keep(text: string, replace: boolean, signal: AbortSignal): Promise<MissingFile[] | null> {
  const path = kindOf(text) === 'dataset' ? '/v1/datasets' : '/v1/models';
  try {
    await send('POST', path, { body: { manifest: text, ...(replace && { replace }) }, signal });
    return null;
  } catch (error) {
    if (error instanceof ServiceError && error.missing.length) return error.missing;
    throw error;
  }
}

/** Keeps a manifest on the server, with those of `files` that it lacks. */
export async function add(text: string, files: File[], replace: boolean, tell: (line: string) => void, signal: AbortSignal): Promise<void> {
  const byDigest = new Map<string, File>();
  for (let round = 0; ; ++round) {
    const missing = await keep(text, replace, signal);
    if (!missing) return;
    if (round === kMostRounds) throw new ServiceError('Files that were sent are missing again: does somebody remove them?', 0);
    if (!byDigest.size) for (const file of files) byDigest.set(await digestOf(file), file);
    const absent = missing.filter(({ sha256 }) => !byDigest.has(sha256));
    if (absent.length) throw new ServiceError(`The manifest names files that are neither chosen nor on the server: ${absent.slice(0, 5).map(({ name }) => name).join(', ')}${absent.length > 5 ? `, and ${absent.length - 5} more` : ''}.`, 0);
    for (const [i, { name, sha256, bytes }] of missing.entries()) {
      const said = (here: number) => tell(`${name}, ${i + 1} of ${missing.length}: ${Math.floor((100 * here) / Math.max(bytes, 1))} %`);
      said(0);
      await sendFile(byDigest.get(sha256)!, sha256, said, signal);
    }
  }
}
