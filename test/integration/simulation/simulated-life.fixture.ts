import type { Billed, Command, Life, LineCommitment, Offer } from '../../simulation/life.ts';
import { written } from '../../simulation/oracle-charge.ts';
import type { Api } from '../../support/app.ts';
import { advanceTo, clockedCustomer, created, type InvoiceView, invoicesOf } from '../../support/billing.ts';
import type { OraclePrice } from '../../unit/billing/rating-oracle.ts';
import type { Wire } from '../invoice/invoice.fixture.ts';

const text = (instant: number): string => new Date(instant).toISOString();
const textOrNull = (instant: number | null): string | null => (instant === null ? null : text(instant));
const cadenceOf = ({ cadence }: Offer) => ({
  billing_period: cadence?.unit ?? 'ONETIME',
  ...(cadence ? { billing_period_count: cadence.count } : { billing_cadence: 'ONETIME' }),
});

/** The catalogue of a life as the API made it. */
export interface Catalogue {
  key: string;
  plans: string[];
  /** By offer. */
  prices: Map<string, string>;
}

/** Makes the meters, plans and prices of a life. */
export async function makeCatalogue(api: Api, life: Life): Promise<Catalogue> {
  const key = Math.random().toString(36).slice(2);
  const meters = new Map<string, string>();
  const meterOf = async ({ meter, bucket }: Offer): Promise<string> => {
    const known = meters.get(meter!);
    if (known) return known;
    const aggregation = { type: 'SUM', field: 'n', ...(bucket ? { bucket_size: bucket } : {}) };
    const named = `${meter} ${key}`;
    const of = { name: named, event_name: named, aggregation, reset_usage: 'BILLING_PERIOD' };
    const { meter_id } = await created<Wire>(api, '/features', { name: named, type: 'metered', meter: of });
    meters.set(meter!, meter_id);
    return meter_id;
  };
  const priceOf = async (offer: Offer) => ({
    ...termsOf(offer.price),
    ...cadenceOf(offer),
    type: offer.type,
    currency: life.currency,
    invoice_cadence: offer.advance ? 'ADVANCE' : 'ARREAR',
    display_name: nameOf(offer.id),
    start_date: '2020-01-01T00:00:00Z',
    ...(offer.type === 'FIXED' ? { min_quantity: offer.quantity } : { meter_id: await meterOf(offer) }),
  });
  const plans: string[] = [];
  const prices = new Map<string, string>();
  for (const [index, offers] of life.plans.entries()) {
    const { id: planId } = await created(api, '/plans', { name: `Plan ${key} ${index}` });
    plans.push(planId);
    for (const offer of offers) {
      const body = { ...(await priceOf(offer)), entity_type: 'PLAN', entity_id: planId };
      prices.set(offer.id, (await created(api, '/prices', body)).id);
    }
  }
  return { key, plans, prices };
}

/** What a price is called on invoices: an override as what it overrides. */
const nameOf = (id: string): string => id.replace(/p\d+$/, '');

function termsOf({ billing_model, amount, tier_mode, tiers, transform_quantity, percentage_rate }: OraclePrice) {
  const steps = tiers?.map(({ up_to, ...tier }) => ({ ...tier, up_to: up_to == null ? null : Number(up_to) }));
  return { billing_model, amount, tier_mode, tiers: steps, transform_quantity, percentage_rate };
}

function commitmentOf(commitment: LineCommitment) {
  const valued = (kind: string, value: string) => ({ commitment_type: kind, [`commitment_${kind}`]: value });
  const clock = (minutes: number) => ({ hour: Math.floor(minutes / 60), minute: minutes % 60 });
  return {
    ...valued(commitment.kind, commitment.value),
    overage_factor: commitment.factor,
    enable_true_up: commitment.trueUp,
    is_window_commitment: commitment.windowed,
    commitment_duration: commitment.duration,
    commitment_time_buckets: commitment.times.map((time) => ({
      commitment_type: time.kind,
      commitment_value: time.value,
      overage_factor: time.factor,
      true_up_enabled: time.trueUp,
      start: clock(time.from),
      end: clock(time.to),
      price: termsOf(time.price),
    })),
  };
}

/** Everything a subscription asks for at its creation. */
export async function creationOf(api: Api, life: Life, { plans, prices }: Catalogue): Promise<Record<string, unknown>> {
  const committed = life.plans[0]!.flatMap(({ id, commitment }) =>
    commitment ? [[prices.get(id), commitmentOf(commitment)]] : [],
  );
  const { commitment: whole } = life;
  return {
    plan_id: plans[0],
    currency: life.currency,
    billing_period: life.cadence.unit,
    billing_period_count: life.cadence.count,
    billing_cycle: life.calendar ? 'calendar' : 'anniversary',
    ...(life.anchor === null ? {} : { billing_anchor: text(life.anchor) }),
    start_date: text(life.start),
    end_date: textOrNull(life.end),
    trial_period_days: life.trialDays,
    proration_behavior: life.prorate ? 'create_prorations' : 'none',
    line_item_grouping: life.folded ? 'per_billing_period' : 'per_charge_period',
    include_price_ids: life.plans[0]!.map(({ id }) => prices.get(id)),
    line_item_commitments: Object.fromEntries(committed),
    ...(whole && {
      commitment_amount: whole.amount,
      overage_factor: whole.factor,
      enable_true_up: whole.trueUp,
      commitment_duration: whole.duration,
    }),
    phases: life.phases.map((phase) => ({
      start_date: text(phase.start),
      end_date: textOrNull(phase.end),
      override_line_items: phase.items.map(({ replaces, offer }) => ({
        price_id: prices.get(replaces!),
        ...termsOf(offer.price),
        ...(offer.type === 'FIXED' ? { quantity: offer.quantity } : {}),
      })),
    })),
    ...(await reductionsOf(api, life)),
  };
}

async function reductionsOf(api: Api, life: Life): Promise<Record<string, unknown>> {
  const { discount, discountPeriods, tax, currency } = life;
  const code = `c${Math.random().toString(36).slice(2)}`;
  const percent = (hundredths: bigint) => written(hundredths, 'usd');
  if (discount !== null) {
    const off = { type: 'percentage', percentage_off: percent(discount) };
    const lasts =
      discountPeriods === null ? { cadence: 'forever' } : { cadence: 'repeated', duration_in_periods: discountPeriods };
    await created(api, '/coupons', { name: code, coupon_code: code, ...off, ...lasts });
  }
  if (tax !== null) {
    await created(api, '/taxes/rates', { name: code, code, percentage_value: percent(tax.percentage) });
  }
  const behavior = tax?.isInclusive ? 'inclusive' : 'exclusive';
  return {
    ...(discount === null ? {} : { subscription_coupons: [{ coupon_code: code }] }),
    ...(tax && { tax_rate_overrides: [{ tax_rate_code: code, currency, tax_behavior: behavior }] }),
  };
}

/** Sends the usage of a life, each event from the customer himself or from one of the heirs. */
export async function sendUsage(api: Api, life: Life, { catalogue: { key }, externalId, heirs }: Begun) {
  if (life.usage.length === 0) return;
  const events = life.usage.map(({ meter, at, quantity, by }, index) => ({
    event_id: `${key}-${index}`,
    event_name: `${meter} ${key}`,
    external_customer_id: by === 0 ? externalId : heirs[by - 1],
    timestamp: text(at),
    properties: { n: quantity },
  }));
  await created(api, '/events/bulk', { events });
}

/** A subscription of the life for a customer on a clock at its start. */
export async function beginLife(api: Api, life: Life, beside: { clockId?: string; groupedId?: string } = {}) {
  const catalogue = await makeCatalogue(api, life);
  const { clockId, groupedId } = beside;
  const onClock = { frozenTime: text(life.start), timezone: life.timezone, ...(clockId ? { clockId } : {}) };
  const customer = await clockedCustomer(api, onClock);
  const heirs: string[] = [];
  for (const _ of life.heirs) {
    heirs.push((await clockedCustomer(api, { ...onClock, clockId: customer.clockId })).externalId);
  }
  const atOnce = heirs.filter((_heir, index) => life.heirs[index]);
  const inheritance = {
    ...(atOnce.length > 0 ? { external_customer_ids_to_inherit_subscription: atOnce } : {}),
    ...(groupedId ? { subscriptions_ids_for_grouped_invoicing: [groupedId] } : {}),
  };
  const body = { customer_id: customer.customerId, ...(await creationOf(api, life, catalogue)), inheritance };
  const { id } = await created(api, '/subscriptions', body);
  return { ...customer, catalogue, heirs, id };
}

type Begun = Awaited<ReturnType<typeof beginLife>>;

/** Asks for everything at its instant, and moves the clock to the end; whether each command was carried out. */
export async function lead(api: Api, life: Life, begun: Begun): Promise<boolean[]> {
  const accepted: boolean[] = [];
  for (const command of life.commands) {
    await advanceTo(api, begun.clockId, text(command.at));
    accepted.push(await ask(api, command, begun));
  }
  await advanceTo(api, begun.clockId, text(life.until));
  return accepted;
}

async function ask(api: Api, command: Command, { id, catalogue, heirs }: Begun): Promise<boolean> {
  const proration_behavior = 'prorate' in command && command.prorate ? 'create_prorations' : 'none';
  const post = async (path: string, body: object) => (await api('POST', `/subscriptions${path}`, body)).status < 300;
  const cancel = (body: object) => post(`/${id}/cancel`, body);
  switch (command.kind) {
    case 'pause':
    case 'resume':
      return post(`/${id}/${command.kind}`, { proration_behavior });
    case 'cancelNow':
      return cancel({
        cancellation_type: 'immediate',
        ...(command.back > 0 ? { cancel_at: text(command.at - command.back) } : {}),
        proration_behavior,
        cancel_immediately_invoice_policy: command.invoice ? 'generate_invoice' : 'skip',
      });
    case 'cancelAt':
      return cancel({ cancellation_type: 'scheduled_date', cancel_at: text(command.end) });
    case 'cancelAtPeriodEnd':
      return cancel({ cancellation_type: 'end_of_period' });
    case 'keep':
      return post('/schedules/cancel', { subscription_id: id, schedule_type: 'cancellation' });
    case 'endTrial':
      return post(`/${id}/modify/execute`, { type: 'trial_end', trial_end_params: { action: 'immediate' } });
    case 'plan':
      return post(`/${id}/change/v2/execute`, { target_plan_id: catalogue.plans[command.plan], proration_behavior });
    case 'quantity':
      return changeQuantity(api, id, command);
    case 'inherit': {
      const inheritance_params = { external_customer_ids_to_inherit_subscription: [heirs[command.heir - 1]] };
      return post(`/${id}/modify/execute`, { type: 'inheritance', inheritance_params });
    }
    case 'disinherit': {
      const inheritance_params = { action: 'remove', external_customer_ids_to_remove: [heirs[command.heir - 1]] };
      return post(`/${id}/modify/execute`, { type: 'inheritance', inheritance_params });
    }
  }
}

async function changeQuantity(api: Api, id: string, command: Command & { kind: 'quantity' }): Promise<boolean> {
  const { body } = await api<Wire>('GET', `/subscriptions/${id}`);
  const items: Wire[] = body.line_items.filter(
    ({ display_name, end_date }: Wire) =>
      display_name === command.offer && (end_date === null || Date.parse(end_date) > command.at),
  );
  const item = items.sort((a, b) => (a.start_date < b.start_date ? -1 : 1)).at(-1);
  if (!item) return false;
  const line_items = [{ id: item.id, quantity: command.quantity }];
  const change = { type: 'quantity_change', quantity_change_params: { line_items } };
  return (await api('POST', `/subscriptions/${id}/modify/execute`, change)).status < 300;
}

type TellingLine = InvoiceView['line_items'][number] & { metadata: Record<string, string> };
const nameOfLine = ({ metadata, display_name: name }: TellingLine): string => {
  const told = metadata.is_commitment_trueup ? 'true-up' : metadata.proration === 'carried_credit' ? 'credit' : null;
  return told ?? name.replace('Unused time of ', '').replace(' (Overage)', ' overage');
};

/** The invoices of a subscription in words; credits of a wallet are a way to pay. */
export async function toldByApi(api: Api, id: string): Promise<string[]> {
  const invoices = (await invoicesOf(api, id)) as (InvoiceView & { total_prepaid_credits_applied: string })[];
  return invoices.flatMap((invoice) => {
    const { billing_reason: reason, period_start, period_end, line_items } = invoice;
    const span = `${reason} ${period_start}–${period_end}`;
    const paid = Number(invoice.total) + Number(invoice.total_prepaid_credits_applied);
    const lines = reason === 'SUBSCRIPTION_TRIAL_START' ? [] : (line_items as TellingLine[]);
    return [
      `${span} ${invoice.invoice_status === 'SKIPPED' ? 'SKIPPED' : paid.toFixed(4)}`,
      ...lines.map((line) => {
        const [start, end] = [line.period_start, line.period_end];
        return `${span} ${nameOfLine(line)} ${start}–${end} ${Number(line.quantity)} ${Number(line.amount).toFixed(4)}`;
      }),
    ].sort();
  });
}

/** What a parent is billed for itself and a child that joined it when both had opened. */
export function billedTogether(parent: Billed, child: Billed): Billed {
  const invoices = parent.invoices.map((invoice) => ({ ...invoice }));
  for (const own of child.invoices.slice(1)) {
    const { reason, start, end } = own;
    const same = invoices.find((one) => one.reason === reason && one.start === start && one.end === end);
    if (!same) {
      const after = invoices.findIndex((one) => one.end > start);
      invoices.splice(after < 0 ? invoices.length : after, 0, own);
      continue;
    }
    same.lines = [...same.lines, ...own.lines];
    same.total += own.total;
    same.skipped = same.skipped && own.skipped;
  }
  return { ...parent, invoices };
}

/** The same of what the oracle billed. */
export function toldByOracle(billed: Billed, currency: string): string[] {
  const money = (amount: bigint) => Number(written(amount, currency)).toFixed(4);
  return billed.invoices.flatMap(({ reason, start, end, skipped, total, lines }) => {
    const span = `${reason} ${text(start)}–${text(end)}`;
    return [
      `${span} ${skipped ? 'SKIPPED' : money(total)}`,
      ...lines.map((line) => {
        const name = line.item.replace(/^\d+ /, '').replace(/p\d+( overage)?$/, '$1');
        return `${span} ${name} ${text(line.start)}–${text(line.end)} ${Number(line.quantity)} ${money(line.amount)}`;
      }),
    ].sort();
  });
}
