import { Agent, get } from 'node:http';

/** Tasks of the process that plays the readers, each answered with the number of events all of them have had. */
export type ReadersTask = { kind: 'attach'; port: number; keys: string[]; readers: number } | { kind: 'count' };

const mark = '\ndata: ';
const agent = new Agent({ maxSockets: Number.POSITIVE_INFINITY });
let events = 0;

/** Opens a stream, and counts its events from then on. Resolves when it has begun. */
function attach(port: number, key: string): Promise<void> {
  return new Promise((resolve, reject) => {
    const headers = { 'x-api-key': key };
    get({ host: '127.0.0.1', port, path: '/v1/outbound-events/stream', headers, agent }, (response) => {
      if (response.statusCode !== 200) reject(new Error(`a stream was answered ${response.statusCode}`));
      let tail = '';
      response.setEncoding('latin1').on('data', (chunk: string) => {
        // A mark may lie across two chunks.
        const text = tail + chunk;
        events += text.split(mark).length - 1;
        tail = text.slice(1 - mark.length);
        resolve();
      });
    }).on('error', reject);
  });
}

process.on('message', async (task: ReadersTask) => {
  if (task.kind === 'attach') {
    const { port, keys, readers } = task;
    await Promise.all(Array.from({ length: readers }, (_, index) => attach(port, keys[index % keys.length] ?? '')));
  }
  process.send?.(events);
});
