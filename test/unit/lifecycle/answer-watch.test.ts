import { expect, test } from 'vitest';
import { AnswerWatch } from '../../../activities/workflow-worker/answer-watch.ts';

/** A thread whose answers, and whose confirmations of being interrupted, are given by hand. */
function watchedThread() {
  const interruptions: (() => void)[] = [];
  const watch = new AnswerWatch({
    interrupt: () => new Promise((confirm) => interruptions.push(confirm)),
    unanswered: (question) => new Error(`${question}: unanswered`),
    lost: (question) => new Error(`${question}: lost`),
  });
  const ask = (question: string) => {
    const { promise, resolve } = Promise.withResolvers<string>();
    const outcome = watch.watch(question, promise).catch((error: Error) => error.message);
    return { outcome, answer: () => resolve('answered') };
  };
  const tick = (times: number) => {
    for (let tick = 0; tick < times; tick += 1) watch.tick();
  };
  return { ask, tick, interruptions, confirm: () => interruptions.at(-1)?.() };
}

/** What was resolved has been heard. */
const heard = () => new Promise((resolve) => setImmediate(resolve));

test('a thread that answers now and then is never interrupted, however long a question waits', async () => {
  const { ask, tick, interruptions } = watchedThread();
  const slow = ask('slow');
  for (let second = 0; second < 20; second += 1) {
    const quick = ask('quick');
    tick(4);
    quick.answer();
    await heard();
  }
  slow.answer();
  expect(await slow.outcome).toBe('answered');
  expect(interruptions).toHaveLength(0);
});

test('a thread that is not asked may be silent', () => {
  const { tick, interruptions } = watchedThread();
  tick(100);
  expect(interruptions).toHaveLength(0);
});

test('a silent thread is interrupted, and what it answers a tick later counts', async () => {
  const { ask, tick, interruptions, confirm } = watchedThread();
  const [stuck, behind] = [ask('stuck'), ask('behind')];
  tick(4);
  expect(interruptions).toHaveLength(0);
  tick(1);
  expect(interruptions).toHaveLength(1);
  confirm();
  await heard();
  const later = ask('later');
  behind.answer();
  await heard();
  tick(1);
  expect(await stuck.outcome).toBe('stuck: unanswered');
  expect(await behind.outcome).toBe('answered');
  later.answer();
  expect(await later.outcome).toBe('answered');
});

test('what an interruption ends that comes late is given up, though it was asked after the silence', async () => {
  const { ask, tick, confirm } = watchedThread();
  const slow = ask('slow');
  tick(5);
  slow.answer();
  const ended = ask('ended');
  await heard();
  confirm();
  await heard();
  const other = ask('other');
  other.answer();
  await heard();
  tick(1);
  expect(await Promise.all([slow.outcome, ended.outcome, other.outcome])).toEqual([
    'answered',
    'ended: unanswered',
    'answered',
  ]);
});

test('the next silence is interrupted like the first', async () => {
  const { ask, tick, interruptions, confirm } = watchedThread();
  for (const name of ['first', 'second']) {
    const stuck = ask(name);
    tick(5);
    confirm();
    await heard();
    tick(1);
    expect(await stuck.outcome).toBe(`${name}: unanswered`);
  }
  expect(interruptions).toHaveLength(2);
});

test('a thread that confirms no interruption is lost with all that it was asked', async () => {
  const { ask, tick, interruptions } = watchedThread();
  const [stuck, behind] = [ask('stuck'), ask('behind')];
  tick(9);
  const later = ask('later');
  tick(1);
  expect(await Promise.all([stuck.outcome, behind.outcome, later.outcome])).toEqual([
    'stuck: lost',
    'behind: lost',
    'later: lost',
  ]);
  expect(interruptions).toHaveLength(1);
});
