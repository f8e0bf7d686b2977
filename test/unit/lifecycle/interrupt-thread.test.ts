import { once } from 'node:events';
import { Worker as Thread } from 'node:worker_threads';
import { expect, test } from 'vitest';
import { interruptThread } from '../../../activities/workflow-worker/interrupt-thread.ts';

/** A thread that says hello when greeted, and never comes back from what it says it is `stuck` in. */
async function startThread(): Promise<Thread> {
  const thread = new Thread(
    `const { parentPort } = require('node:worker_threads');
    parentPort.on('message', (asked) => {
      parentPort.postMessage(asked);
      while (asked === 'stuck');
    });`,
    { eval: true },
  );
  await once(thread, 'online');
  return thread;
}

async function ask(thread: Thread, text: string): Promise<void> {
  thread.postMessage(text);
  expect(await once(thread, 'message')).toEqual([text]);
}

test('a thread that does not come back is interrupted and goes on with what it is asked next', async () => {
  const thread = await startThread();
  await ask(thread, 'stuck');
  await interruptThread(thread.threadId);
  await ask(thread, 'hello');
  await thread.terminate();
});

test('the thread asked for is interrupted, whichever others run or have ended', async () => {
  await (await startThread()).terminate();
  const [other, thread] = [await startThread(), await startThread()];
  await ask(thread, 'stuck');
  await interruptThread(thread.threadId);
  await ask(thread, 'hello');
  await ask(other, 'hello');
  await Promise.all([other.terminate(), thread.terminate()]);
});
