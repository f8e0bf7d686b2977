import type { DemoCatalogue } from '../../dev/demo/catalogue.ts';
import type { DemoClient } from '../../dev/demo/client.ts';
import { sandboxCardNumber } from '../../integrations/sandbox-gateway/card.ts';

/** A customer of a wave and how it subscribes. */
export interface NewSubscriber {
  code: string;
  zone: string;
  card: string;
  terms: Record<string, unknown>;
}

/** Where the customers of a wave live. */
export interface Place {
  catalogue: DemoCatalogue;
  clockId: string;
}

/** What the strangers have beside the demo's catalogue. */
export interface OtherPlans {
  /** A dearer monthly fee. */
  targetPlanId: string;
  /** Usage alone, with a threshold. */
  watchedPlanId: string;
  watchedEvent: string;
  /** A fee and usage, for a family. */
  familyPlanId: string;
  familyEvent: string;
}

const monthly = {
  billing_model: 'FLAT_FEE',
  billing_period: 'MONTHLY',
  currency: 'usd',
  start_date: '2000-01-01T00:00:00Z',
};

/** Makes the plans of the customers that are no airports. */
export async function createOtherPlans(api: DemoClient, { suffix }: DemoCatalogue): Promise<OtherPlans> {
  const plan = async (terms: { name: string; auto_invoice_threshold?: string }): Promise<string> =>
    (await api.send<{ id: string }>('POST', '/plans', terms)).id;
  const fee = (plan_id: string, amount: string) =>
    api.send('POST', '/prices', { ...monthly, plan_id, type: 'FIXED', amount, invoice_cadence: 'ADVANCE' });
  const usage = async (plan_id: string, name: string, event_name: string) => {
    const meter = { name, event_name, aggregation: { type: 'COUNT' }, reset_usage: 'BILLING_PERIOD' };
    const { meter_id } = await api.send<{ meter_id: string }>('POST', '/features', { name, type: 'metered', meter });
    const price = { ...monthly, plan_id, type: 'USAGE', amount: '1', invoice_cadence: 'ARREAR', meter_id };
    await api.send('POST', '/prices', price);
  };
  const targetPlanId = await plan({ name: `Dearer${suffix}` });
  await fee(targetPlanId, '200');
  const watchedEvent = `watched${suffix}`;
  const watchedPlanId = await plan({ name: `Watched${suffix}`, auto_invoice_threshold: '2' });
  await usage(watchedPlanId, `Watched${suffix}`, watchedEvent);
  const familyEvent = `family${suffix}`;
  const familyPlanId = await plan({ name: `Family${suffix}` });
  await fee(familyPlanId, '20');
  await usage(familyPlanId, `Family${suffix}`, familyEvent);
  return { targetPlanId, watchedPlanId, watchedEvent, familyPlanId, familyEvent };
}

/** Makes a customer on the clock of the wave, with a card if it pays, and returns its id. */
export async function createCustomer(
  api: DemoClient,
  { catalogue, clockId }: Place,
  { code, zone, card }: Pick<NewSubscriber, 'code' | 'zone'> & { card?: string },
): Promise<string> {
  const { id } = await api.send<{ id: string }>('POST', '/customers', {
    external_id: `${code}${catalogue.suffix}`,
    name: code,
    timezone: zone,
    test_clock_id: clockId,
  });
  const method = { gateway: 'sandbox', card_number: card, set_default: true };
  if (card) await api.send('POST', `/customers/${id}/payment-methods`, method);
  return id;
}

/**
 * Makes customers whose wallets fill themselves from the first use on: a card whose answer is lost is charged once, and invoices that
 * nobody pays lapse every two days, until the limits hold.
 */
export async function fillWallets(api: DemoClient, place: Place): Promise<void> {
  const terms = { enabled: true, threshold: 20, amount: 50, invoicing: true, invoice_lifetime_days: 2 };
  for (const [code, card] of [['FILLED', sandboxCardNumber('loses_answer')], ['LAPSING']] as const) {
    const customer_id = await createCustomer(api, place, { code, zone: 'UTC', ...(card ? { card } : {}) });
    const wallet = { customer_id, currency: 'usd', initial_credits_to_load: '15', auto_topup: terms };
    const { id } = await api.send<{ id: string }>('POST', '/wallets', wallet);
    const debit = { credits: '1', transaction_reason: 'MANUAL_BALANCE_DEBIT', idempotency_key: `use-${id}` };
    await api.send('POST', `/wallets/${id}/debit`, debit);
  }
}

/**
 * Watches the balance of a customer that uses what it has no credits for: its alarm comes with its usage, and goes when it has paid. Without
 * credits the wallet pays nothing.
 */
export async function watchBalance(api: DemoClient, customerId: string): Promise<void> {
  const alert_settings = { alert_enabled: true, critical: { threshold: '-1' } };
  await api.send('POST', '/wallets', { customer_id: customerId, currency: 'usd', alert_settings });
}

/** Credits that nothing uses: each month's leave the wallet as expired. */
const monthlyGrant = {
  name: 'Monthly credits',
  scope: 'SUBSCRIPTION',
  credits: '10',
  cadence: 'RECURRING',
  period: 'MONTHLY',
  period_count: 1,
  expiration_type: 'DURATION',
  expiration_duration: 10,
  expiration_duration_unit: 'DAY',
};

/** Two phases, each inside a period, after which the subscription goes on as its plan has it. */
const phases = [
  { start_date: '2001-01-01T00:00:00Z', end_date: '2001-01-20T00:00:00Z', amount: '31' },
  { start_date: '2001-01-20T00:00:00Z', end_date: '2001-02-15T00:00:00Z', amount: '62' },
].map(({ amount, ...phase }) => {
  const { start_date: _, ...price } = { ...monthly, type: 'FIXED', amount, invoice_cadence: 'ADVANCE' };
  return { ...phase, line_items: [{ price }] };
});

/** The customers that meet what no airport meets. */
export function strangersOf(plans: OtherPlans): NewSubscriber[] {
  const succeeds = sandboxCardNumber('succeeds');
  return [
    { code: 'TRIAL', zone: 'UTC', card: sandboxCardNumber('loses_answer'), terms: { trial_period_days: 14 } },
    {
      code: 'INCOMPLETE',
      zone: 'UTC',
      card: sandboxCardNumber('declines_times', 1),
      terms: { payment_behavior: 'allow_incomplete' },
    },
    { code: 'RESTLESS', zone: 'UTC', card: succeeds, terms: {} },
    { code: 'GRANTED', zone: 'UTC', card: succeeds, terms: { credit_grants: [monthlyGrant] } },
    { code: 'PHASED', zone: 'UTC', card: succeeds, terms: { phases } },
    { code: 'MOVING', zone: 'UTC', card: succeeds, terms: {} },
    { code: 'REPLACED', zone: 'UTC', card: succeeds, terms: {} },
    { code: 'LATE', zone: 'UTC', card: sandboxCardNumber('declines'), terms: {} },
    {
      code: 'PAIDFIRST',
      zone: 'UTC',
      card: sandboxCardNumber('loses_answer'),
      terms: { payment_behavior: 'error_if_incomplete' },
    },
    { code: 'WATCHED', zone: 'UTC', card: succeeds, terms: { plan_id: plans.watchedPlanId } },
  ];
}
