import { randomUUID } from 'node:crypto';
import type { Meter, MeterAggregation, MeterFilter } from '../../db/entities/catalogue/meter.ts';
import type { Database } from '../../db/orm.ts';
import type { Scope } from '../../db/scope.ts';
import { inSqlTransaction, inTransaction } from '../../db/transaction.ts';
import { beginMetering } from '../../metering/begin-metering.ts';
import { type EventInput, prepareEvent } from '../../metering/event.ts';
import type { UsageQuestion, UsageStore } from '../../metering/usage-store.ts';
import { createMeter } from '../../services/catalogue/meter.ts';
import { createCustomer } from '../../services/customer/customer.ts';

/** The whole of January 2026, and the instants of it that tests name. */
export const january = { from: '2026-01-01T00:00:00.000Z', to: '2026-02-01T00:00:00.000Z' };

/** A meter as the API makes it: stored, and metering from its transaction on. */
export function newMeter(
  database: Database,
  scope: Scope,
  aggregation: Partial<MeterAggregation> & { type: string },
  options: { eventName?: string; filters?: MeterFilter[]; resetUsage?: string } = {},
): Promise<Meter> {
  const whole = { field: null, expression: null, multiplier: null, bucket_size: null, group_by: null, ...aggregation };
  return inTransaction(database, scope, async (tx) => {
    const meter = await createMeter(tx, {
      name: aggregation.type,
      eventName: options.eventName ?? 'call',
      aggregation: whole,
      filters: options.filters ?? [],
      resetUsage: options.resetUsage ?? 'BILLING_PERIOD',
    });
    await beginMetering(tx, meter);
    return meter;
  });
}

/** A new customer with the given external id. */
export async function newCustomer(database: Database, scope: Scope, externalId: string): Promise<string> {
  const customer = await inTransaction(database, scope, (tx) => createCustomer(tx, { externalId, name: externalId }));
  return customer.id;
}

/** Appends events given in their wire form; the name is `call` and the customer `acme` unless the event says so. */
export async function append(store: UsageStore, scope: Scope, events: readonly Partial<EventInput>[]): Promise<void> {
  const whole = events.map((event) => ({
    event_name: 'call',
    external_customer_id: 'acme',
    event_id: randomUUID(),
    ...event,
  }));
  const unstorable = await store.append(
    scope,
    whole.map((event) => prepareEvent(event)),
  );
  if (unstorable.length > 0) throw new Error(`not storable: ${unstorable.map(({ problem }) => problem).join('; ')}`);
}

/** The value of one question, January of the customer `acme` unless it says otherwise. */
export async function usageOf(
  database: Database,
  store: UsageStore,
  scope: Scope,
  question: { meterId: string } & Partial<UsageQuestion>,
): Promise<string> {
  const whole = {
    key: 'q',
    ...january,
    ...(question.customerIds ? {} : { externalCustomerIds: ['acme'] }),
    ...question,
  };
  const answers = await inSqlTransaction(database, scope, (tx) => store.usage(tx, scope, [whole]));
  return answers.get('q')?.value ?? 'no answer';
}
