import { sandboxCardNumber } from '../../integrations/sandbox-gateway/card.ts';
import { claimPlan } from './catalogue.ts';
import { type DemoClient, demoClient, inParallel } from './client.ts';
import { type BoughtTokens, type DemoCard, prepaidCustomers } from './prepaid-customers.ts';
import type { PrepaidCustomer, PrepaidResult } from './prepaid-result.ts';
import type { DemoInvoice } from './result.ts';
import { advance, type DemoProgress, daysBetween, type Report, readAll, reportedSteps } from './steps.ts';

export interface PrepaidOptions {
  /** Of a running installation, with or without `/v1`. */
  address: string;
  apiKey: string;
  customers?: number;
  onProgress?: (progress: DemoProgress) => void;
}

export const clockStart = '2026-01-01T00:00:00.000Z';
/** After January's invoices are final. */
const clockEnd = '2026-02-01T03:00:00.000Z';
const lanes = 4;
const batchSize = 1_000;
const startDate = '2020-01-01T00:00:00Z';
export const pricePerToken = '0.00002';
export const freeCredits = '20';
export const threshold = '10';
export const amount = '25';

type Buyer = BoughtTokens & { customerId: string; walletId: string; subscriptionId: string };

/**
 * An AI product sells tokens: each customer begins with free credits, uses them up on some days of January, and has a wallet that fills itself
 * from a card, which declines for some. All through the public API, on a test clock.
 */
export async function runPrepaid({
  address,
  apiKey,
  customers = 200,
  onProgress,
}: PrepaidOptions): Promise<PrepaidResult> {
  const startedMs = performance.now();
  const api = demoClient(address, apiKey);
  const step = reportedSteps(onProgress);
  const { planId, eventName, suffix } = await step('Making the plan', 1, 'plan', () => sellTokens(api));
  const clock = await api.send<{ id: string }>('POST', '/test-clocks', {
    name: `Tokens of January${suffix}`,
    frozen_time: clockStart,
  });
  const people = prepaidCustomers(customers);
  const buyers = await step('Opening wallets', customers, 'wallets', (report) =>
    openWallets(api, { planId, suffix, clockId: clock.id, people }, report),
  );
  const events = buyers.flatMap((buyer) => usageEvents(buyer, eventName, suffix));
  await step('Sending usage events', events.length, 'events', (report) => sendAll(api, events, report));
  await step('Advancing the clock', daysBetween(clockStart, clockEnd), 'days', (report) =>
    advance(api, { id: clock.id, from: clockStart, to: clockEnd }, report),
  );
  const wallets = await step('Reading wallets and invoices', customers, 'wallets', (report) =>
    inParallelTold(buyers, report, (buyer) => readBuyer(api, buyer)),
  );
  return { wallets, events: events.length, seconds: (performance.now() - startedMs) / 1000 };
}

/** A plan of one price: so much a token, in arrear. */
async function sellTokens(api: DemoClient): Promise<{ planId: string; eventName: string; suffix: string }> {
  const { plan, suffix } = await claimPlan(api, { name: 'Tokens', lookupKey: 'tokens' });
  const eventName = `tokens_used${suffix}`;
  const feature = await api.send<{ meter_id: string }>('POST', '/features', {
    name: `Tokens${suffix}`,
    type: 'metered',
    meter: {
      name: `Tokens${suffix}`,
      event_name: eventName,
      aggregation: { type: 'SUM', field: 'tokens' },
      reset_usage: 'BILLING_PERIOD',
    },
  });
  await api.send('POST', '/prices', {
    plan_id: plan.id,
    type: 'USAGE',
    billing_model: 'FLAT_FEE',
    amount: pricePerToken,
    billing_period: 'MONTHLY',
    invoice_cadence: 'ARREAR',
    currency: 'usd',
    meter_id: feature.meter_id,
    display_name: 'Tokens',
    start_date: startDate,
  });
  return { planId: plan.id, eventName, suffix };
}

const cardNumbers: Record<Exclude<DemoCard, 'none'>, string> = {
  good: sandboxCardNumber('succeeds'),
  'declines twice': sandboxCardNumber('declines_times', 2),
  declines: sandboxCardNumber('declines'),
  stolen: sandboxCardNumber('declines_for_good'),
  'wants its payer': sandboxCardNumber('requires_action'),
};

interface Opening {
  planId: string;
  suffix: string;
  clockId: string;
  people: readonly BoughtTokens[];
}

function openWallets(api: DemoClient, { planId, suffix, clockId, people }: Opening, report: Report): Promise<Buyer[]> {
  return inParallelTold(people, report, async (person) => {
    const customer = { external_id: `${person.name}${suffix}`, name: person.name, test_clock_id: clockId };
    const { id: customerId } = await api.send<{ id: string }>('POST', '/customers', customer);
    if (person.card !== 'none') {
      const card = { gateway: 'sandbox', card_number: cardNumbers[person.card], set_default: true };
      await api.send('POST', `/customers/${customerId}/payment-methods`, card);
    }
    const { id: walletId } = await api.send<{ id: string }>('POST', '/wallets', {
      customer_id: customerId,
      currency: 'usd',
      initial_credits_to_load: freeCredits,
      auto_topup: { enabled: true, threshold, amount, invoicing: true },
      alert_settings: { alert_enabled: true, critical: { threshold: '0' }, warning: { threshold } },
    });
    const { id: subscriptionId } = await api.send<{ id: string }>('POST', '/subscriptions', {
      customer_id: customerId,
      plan_id: planId,
      currency: 'usd',
      billing_period: 'MONTHLY',
      collection_method: 'send_invoice',
      start_date: clockStart,
    });
    return { ...person, customerId, walletId, subscriptionId };
  });
}

function usageEvents({ name, uses }: Buyer, eventName: string, suffix: string): object[] {
  return uses.map(({ at, tokens }, index) => ({
    event_name: eventName,
    external_customer_id: `${name}${suffix}`,
    event_id: `${name}${suffix}-${index}`,
    timestamp: at,
    properties: { tokens },
  }));
}

async function sendAll(api: DemoClient, events: readonly object[], report: Report): Promise<void> {
  for (let sent = 0; sent < events.length; sent += batchSize) {
    await api.send('POST', '/events/bulk', { events: events.slice(sent, sent + batchSize) });
    report(Math.min(events.length, sent + batchSize));
  }
}

async function readBuyer(api: DemoClient, buyer: Buyer): Promise<PrepaidCustomer> {
  const { walletId, customerId, subscriptionId } = buyer;
  const wallet = await api.send<PrepaidCustomer['wallet']>('GET', `/wallets/${walletId}`);
  const [attempts, ledger, invoices, topUpInvoices] = await Promise.all([
    readAll<PrepaidCustomer['attempts'][number]>(api, `/wallets/${walletId}/auto-topup/attempts?order=asc`),
    readAll<PrepaidCustomer['ledger'][number]>(api, `/wallets/${walletId}/transactions?order=asc`),
    readAll<DemoInvoice>(api, `/invoices?subscription_id=${subscriptionId}`),
    readAll<DemoInvoice>(api, `/invoices?customer_id=${customerId}&invoice_type=ONE_OFF`),
  ]);
  const paymentIds = attempts.flatMap(({ payment_id }) => payment_id ?? []);
  const payments = await inParallel(paymentIds, 1, (id) =>
    api.send<PrepaidCustomer['payments'][number]>('GET', `/payments/${id}`),
  );
  const { items: alerts } = await api.send<{ items: PrepaidCustomer['alerts'] }>('POST', '/alerts/search', {
    customer_id: customerId,
    order: 'asc',
    limit: 1000,
  });
  return { ...buyer, wallet, attempts, ledger, invoices, topUpInvoices, payments, alerts };
}

function inParallelTold<Item, Result>(
  items: readonly Item[],
  report: Report,
  work: (item: Item) => Promise<Result>,
): Promise<Result[]> {
  let done = 0;
  return inParallel(items, lanes, async (item) => {
    const result = await work(item);
    done += 1;
    report(done);
    return result;
  });
}
