import { expect, it } from 'vitest';
import { workflowScope } from '../../../db/scope.ts';
import { type PreparedEvent, prepareEvent } from '../../../metering/event.ts';
import { WriteQueue } from '../../../metering/postgres/event/write-queue.ts';

const limits = { batchRows: 10, waitingRows: 20, waitingBytes: 100_000, writers: 1 };
const scopeOf = (environmentId: string) => workflowScope({ tenantId: 'tenant', environmentId });
const events = (count: number) =>
  Array.from({ length: count }, () => prepareEvent({ event_name: 'call', external_customer_id: 'acme' }));

/** A queue whose writer stops until it is told to go on. */
function heldQueue() {
  const written: { environmentId: string; rows: number }[] = [];
  const gate = Promise.withResolvers<void>();
  const queue = new WriteQueue(async (scope, batch) => {
    await gate.promise;
    written.push({ environmentId: scope.environmentId, rows: batch.length });
    return [];
  }, limits);
  return { queue, written, go: () => gate.resolve() };
}

it('writes alone what comes alone, and together what waits', async () => {
  const { queue, written, go } = heldQueue();
  const first = queue.append(scopeOf('a'), events(1));
  await new Promise((resolve) => setImmediate(resolve));
  const waiting = Array.from({ length: 12 }, () => queue.append(scopeOf('a'), events(1)));
  go();
  await Promise.all([first, ...waiting]);
  expect(written.map(({ rows }) => rows)).toEqual([1, 10, 2]);
});

it('refuses with too_many_requests above its bound, and accepts again afterwards', async () => {
  const { queue, go } = heldQueue();
  const accepted = [queue.append(scopeOf('a'), events(10)), queue.append(scopeOf('a'), events(10))];
  expect(() => queue.append(scopeOf('a'), events(1))).toThrow('Too many events wait');
  go();
  await Promise.all(accepted);
  await queue.append(scopeOf('a'), events(20));
});

it('lets environments take turns', async () => {
  const { queue, written, go } = heldQueue();
  const all = [
    queue.append(scopeOf('a'), events(8)),
    queue.append(scopeOf('a'), events(8)),
    queue.append(scopeOf('b'), events(1)),
  ];
  go();
  await Promise.all(all);
  expect(written.map(({ environmentId }) => environmentId)).toEqual(['a', 'b', 'a']);
});

it('tells each caller of a batch its own bad events alone', async () => {
  const bad = events(1);
  const write = async (_: unknown, batch: readonly PreparedEvent[]) =>
    batch.filter((event) => event === bad[0]).map((event) => ({ event, problem: 'invalid text' }));
  const queue = new WriteQueue(write, limits);
  const results = await Promise.all(
    [events(1), [...events(1), ...bad], events(1)].map((each) => queue.append(scopeOf('a'), each)),
  );
  expect(results).toEqual([[], [{ event: bad[0], problem: 'invalid text' }], []]);
  await queue.drained();
});
