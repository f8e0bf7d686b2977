import { plainTerms } from '../billing/subscription/new-subscription.ts';
import { newId } from '../db/id.ts';
import { inSqlTransaction, inTransaction } from '../db/transaction.ts';
import { usageReader } from '../metering/usage-reader.ts';
import { createCustomer } from '../services/customer/customer.ts';
import { createSubscription } from '../services/subscription/create/subscription-create.ts';
import type { BenchDatabase } from './platform.ts';

/** A subscription that was made by the stores alone, without a workflow. */
export interface Subscribed {
  subscriptionId: string;
  customerId: string;
}

/** Makes customers `customer-0` … with a monthly subscription each, in real time or on a test clock, paid by transfer. */
export async function subscribeDirectly(
  base: Pick<BenchDatabase, 'database' | 'scope' | 'metering'>,
  options: { count: number; planId: string; start: string; testClockId?: string },
): Promise<Subscribed[]> {
  const readUsage = usageReader(base.metering);
  const made: Subscribed[] = [];
  for (let index = 0; index < options.count; index += 1) {
    const externalId = `customer-${index}`;
    const { id: customerId } = await inTransaction(base.database, base.scope, (tx) =>
      createCustomer(tx, { externalId, name: externalId, testClockId: options.testClockId }),
    );
    const subscriptionId = newId('subs');
    const input = { ...creation, subscriptionId, customerId, planId: options.planId };
    await inSqlTransaction(base.database, base.scope, (tx) =>
      createSubscription(tx, tx.scope, { ...input, at: options.start, startDate: options.start }, readUsage),
    );
    made.push({ subscriptionId, customerId });
  }
  return made;
}

const creation = {
  ...plainTerms,
  currency: 'usd',
  billingPeriod: 'MONTHLY',
  billingPeriodCount: 1,
  billingCycle: 'anniversary',
  billingAnchor: null,
  endDate: null,
  lookupKey: '',
  metadata: {},
  collectionMethod: 'send_invoice',
  paymentBehavior: 'default_active',
  paymentTerms: null,
  prorationBehavior: 'none',
  explicitProration: false,
  lineItemGrouping: 'per_billing_period',
  timezone: null,
  includePriceIds: null,
  trialPeriodDays: null,
  gatewayPaymentMethodId: null,
};
