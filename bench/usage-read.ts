import { inSqlTransaction, inTransaction } from '../db/transaction.ts';
import { beginMetering } from '../metering/begin-metering.ts';
import { newEventId, prepareEvent } from '../metering/event.ts';
import { createMeter } from '../services/catalogue/meter.ts';
import { createSandbox } from '../services/platform/tenant.ts';
import { compare } from './measure.ts';
import { type BenchDatabase, withBenchDatabase } from './platform.ts';

const many = 3_000_000;
const few = 1_000;
const batchRows = 20_000;
const questions = 300;
const monthMs = 30 * 86_400_000;
const start = Date.parse('2026-01-01T00:00:00Z');
const window = { from: '2026-01-02T10:20:30.000Z', to: '2026-01-30T20:10:05.000Z' };

/** A month's usage of one customer with 3 M events against one with 1 k: of a sum, then of distinct values. */
export async function run(): Promise<void> {
  await withBenchDatabase(async (base) => {
    const large = await filled(base, many);
    const small = await filled(base, few);
    await base.fed();
    for (const kind of ['sum', 'distinct'] as const) {
      await compare({
        bench: kind === 'sum' ? 'usage-read' : 'usage-read-distinct',
        reference: () => msAQuestion(base, small, small[kind]),
        product: () => msAQuestion(base, large, large[kind]),
      });
    }
    await base.checkInvariants();
  });
}

interface Filled {
  scope: BenchDatabase['scope'];
  sum: string;
  distinct: string;
}

/** An environment of its own with `count` events of the customer, spread over a month. */
async function filled({ database, metering }: BenchDatabase, count: number): Promise<Filled> {
  const sandbox = await createSandbox(database, { tenantName: `With ${count}` });
  const scope = { ...sandbox, actor: 'bench', requestId: 'bench' };
  const meterOf = (type: string, field: string) =>
    inTransaction(database, scope, async (tx) => {
      const none = { expression: null, multiplier: null, bucket_size: null, group_by: null };
      const aggregation = { ...none, type, field };
      const names = { name: type, eventName: 'call', resetUsage: 'BILLING_PERIOD' };
      const meter = await createMeter(tx, { ...names, aggregation, filters: [] });
      await beginMetering(tx, meter);
      return meter.id;
    });
  const made = { scope, sum: await meterOf('SUM', 'units'), distinct: await meterOf('COUNT_UNIQUE', 'user') };
  // As an import does it: one batch is stored while the next one is sent.
  let stored: Promise<void> = Promise.resolve();
  for (let from = 0; from < count; from += batchRows) {
    const events = Array.from({ length: Math.min(batchRows, count - from) }, (_, index) => {
      const number = from + index;
      return prepareEvent({
        event_id: newEventId(),
        event_name: 'call',
        external_customer_id: 'acme',
        timestamp: new Date(start + (number * monthMs) / count).toISOString(),
        properties: { units: `${number % 100}.25`, user: `user-${number % 1_000}` },
      });
    });
    const next = metering.load(scope, events, async () => undefined, stored).then(() => undefined);
    await stored;
    stored = next;
  }
  await stored;
  return made;
}

async function msAQuestion({ database, metering }: BenchDatabase, { scope }: Filled, meterId: string): Promise<number> {
  const began = process.hrtime.bigint();
  for (let asked = 0; asked < questions; asked += 1) {
    const question = { key: 'q', meterId, externalCustomerIds: ['acme'], ...window };
    await inSqlTransaction(database, scope, (tx) => metering.usage(tx, scope, [question]));
  }
  return Number(process.hrtime.bigint() - began) / 1e6 / questions;
}
