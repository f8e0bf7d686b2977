import { setTimeout as delay } from 'node:timers/promises';
import type { Api } from './app.ts';

interface ClockBody {
  id: string;
  frozen_time: string;
  clock_status: string;
}

/** Makes a test clock and returns its id. */
export async function createClock(api: Api, frozenTime: string): Promise<string> {
  const { status, body } = await api<ClockBody>('POST', '/test-clocks', { frozen_time: frozenTime });
  if (status !== 201) throw new Error(`no test clock: ${status} ${JSON.stringify(body)}`);
  return body.id;
}

/** Advances a test clock and returns when everything due until then is done. A clock that needs longer than `limitMs` is an error. */
export async function advanceClock(api: Api, clockId: string, to: string, limitMs = 50_000): Promise<void> {
  const accepted = await api<ClockBody>('POST', `/test-clocks/${clockId}/advance`, { to });
  if (accepted.status >= 300) throw new Error(`not advanced: ${accepted.status} ${JSON.stringify(accepted.body)}`);
  const end = performance.now() + limitMs;
  for (;;) {
    const { body } = await api<ClockBody>('GET', `/test-clocks/${clockId}`);
    if (body.clock_status === 'ready') return;
    if (performance.now() > end) throw new Error(`the test clock is still ${body.clock_status} at ${body.frozen_time}`);
    await delay(20);
  }
}
