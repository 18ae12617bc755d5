// SPDX-License-Identifier: Apache-2.0
// Server-sent events, read by fetch, because the browser's EventSource cannot send a token.
import { send, ServiceError } from './service';

export interface ServerEvent {
  id: string;
  data: string;
}

/** Splits a stream of text into events (WHATWG HTML, "Server-sent events"), and keeps an incomplete last one. */
export class EventReader {
  private rest = '';
  private id = '';

  read(text: string): ServerEvent[] {
    this.rest += text;
    const blocks = this.rest.split(/\r\n\r\n|\n\n|\r\r/);
    this.rest = blocks.pop() ?? '';
    const events: ServerEvent[] = [];
    for (const block of blocks) {
      const data: string[] = [];
      for (const line of block.split(/\r\n|\n|\r/)) {
        const colon = line.indexOf(':');
        if (colon === 0) continue; // a comment that keeps the connection open
        const field = colon < 0 ? line : line.slice(0, colon);
        const value = colon < 0 ? '' : line.slice(colon + 1).replace(/^ /, '');
        if (field === 'data') data.push(value);
        if (field === 'id') this.id = value;
      }
      if (data.length) events.push({ id: this.id, data: data.join('\n') });
    }
    return events;
  }
}

const pause = (milliseconds: number, signal: AbortSignal) =>
  new Promise<void>((done) => {
    const timer = setTimeout(done, milliseconds);
    signal.addEventListener('abort', () => (clearTimeout(timer), done()), { once: true });
  });

/**
 * Calls `hear` with every event until `signal` aborts. A broken connection is reopened after the last event that was
 * received. `tell` is called with whether there is a connection.
 */
export async function follow<Data>(path: string, signal: AbortSignal, hear: (data: Data) => void, tell: (connected: boolean) => void = () => {}): Promise<void> {
  let last = '';
  for (let failures = 0; !signal.aborted; ) {
    try {
      const headers: Record<string, string> = { Accept: 'text/event-stream' };
      if (last) headers['Last-Event-ID'] = last;
      const response = await send('GET', path, { signal, headers });
      const stream = response.body!.pipeThrough(new TextDecoderStream()).getReader();
      const reader = new EventReader();
      tell(true);
      for (;;) {
        const { done, value } = await stream.read();
        if (done) break;
        failures = 0;
        for (const event of reader.read(value)) {
          last = event.id || last;
          hear(JSON.parse(event.data) as Data);
        }
      }
    } catch (error) {
      if (signal.aborted) return;
      if (error instanceof ServiceError && error.status >= 400 && error.status < 500) throw error;
    }
    tell(false);
    await pause(Math.min(500 * 2 ** failures++, 10_000), signal);
  }
}
