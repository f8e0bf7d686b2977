import { inboundPlantings } from '../integration/inbound-invariants.fixture.ts';
import { checkoutPlantings } from '../payment/checkout/checkout-invariants.fixture.ts';
import { topupPlantings } from '../wallet/auto-top-up-invariants.fixture.ts';
import { lotPlantings } from '../wallet/lot-planting.fixture.ts';
import { walletPlantings } from '../wallet/wallet-invariants.fixture.ts';
import { historyPlantings } from './history-invariants.fixture.ts';

/** Objects of a sound database that a planting can break. */
export interface World {
  subscriptionId: string;
  otherSubscriptionId: string;
  invoiceId: string;
  paymentId: string;
  /** The usage line of `invoiceId`. */
  lineId: string;
  meterId: string;
  walletId: string;
  /** The debit of `walletId` on an invoice. */
  debitId: string;
  /** A checkout session that was paid. */
  sessionId: string;
  /** A notification of a provider that nobody needs to hear of. */
  notificationId: string;
  /** An automatic top-up that succeeded. */
  attemptId: string;
}

/** A statement that breaks one invariant of the object `by`, whose id stands for `$1`, and what the report must contain. */
export interface Planting {
  id: string;
  what: string;
  sql: string;
  by: keyof World;
  /** Another object, or a text, that the report names instead. */
  names?: keyof World | RegExp;
}

/** How each invariant is broken, whom a report must name, and in which rule. */
export const plantings: Planting[] = [
  ...lotPlantings,
  {
    id: 'I1',
    what: 'a second live invoice of one period',
    sql: `drop index invoice_period_unique; create temp table twin on commit drop as select * from invoice where id = '$1';
      alter table twin drop column amount_due_rank, drop column amount_remaining_rank;
      update twin set id = 'inv_zz', idempotency_key = 'zz', invoice_number = 'zz';
      do 'begin execute (select format(''insert into invoice (%1$s) select %1$s from twin'', string_agg(quote_ident(attname), '', ''))
        from pg_attribute where attrelid = ''twin''::regclass and attnum > 0 and not attisdropped); end'`,
    by: 'invoiceId',
  },
  {
    id: 'I1',
    what: 'a closed period without an invoice',
    sql: `update invoice set billing_reason = 'MANUAL' where subscription_id = '$1' and billing_reason = 'SUBSCRIPTION_CYCLE'`,
    by: 'subscriptionId',
  },
  {
    id: 'I2',
    what: 'a finalized invoice without a number',
    sql: `update invoice set invoice_number = null where id = '$1'`,
    by: 'invoiceId',
  },
  {
    id: 'I2',
    what: 'a number on a draft',
    sql: `update invoice set finalized_at = null where id = '$1'`,
    by: 'invoiceId',
  },
  {
    id: 'I2',
    what: 'a number given twice',
    sql: `drop index invoice_number_unique; update invoice set invoice_number = (select invoice_number from invoice where id = '$1')
      where subscription_id = (select subscription_id from invoice where id = '$1')`,
    by: 'invoiceId',
    names: /number .* is on/,
  },
  {
    id: 'I2',
    what: 'a gap in the numbers',
    sql: `update invoice_number_sequence set last = last + 1 where date_key not like 'credit-note/%'
      and environment_id = (select environment_id from invoice where id = '$1')`,
    by: 'invoiceId',
    names: /numbers up to/,
  },
  {
    id: 'I2',
    what: 'a gap in the numbers of credit notes',
    sql: `insert into invoice_number_sequence (environment_id, date_key, last)
      select environment_id, 'credit-note/9901', 1 from invoice where id = '$1'`,
    by: 'invoiceId',
    names: /credit notes of month 9901 0 numbers up to 1/,
  },
  {
    id: 'I4',
    what: 'an invoice that totals of lists count as another kind',
    sql: `update invoice set currency = 'xxx' where id = '$1'`,
    by: 'invoiceId',
    names: /xxx: 0 are counted and there are 1/,
  },
  {
    id: 'I3',
    what: 'a hole between two periods',
    sql: `update subscription set current_period_start = current_period_start + interval '1 hour' where id = '$1'`,
    by: 'subscriptionId',
  },
  {
    id: 'I3',
    what: 'periods that overlap',
    sql: `update invoice set period_start = period_start - interval '1 day' where id = '$1'`,
    by: 'invoiceId',
    names: 'subscriptionId',
  },
  {
    id: 'I6',
    what: 'a line that the subtotal does not hold',
    sql: `update invoice_line_item set amount = amount + 1 where id = '$1'`,
    by: 'lineId',
    names: 'invoiceId',
  },
  {
    id: 'I6',
    what: 'a line its derivation does not explain',
    sql: `update invoice_line_item set amount = amount + 1 where id = '$1'`,
    by: 'lineId',
  },
  {
    id: 'I6',
    what: 'a total that does not follow',
    sql: `update invoice set total = total + 1 where id = '$1'`,
    by: 'invoiceId',
  },
  {
    id: 'I6',
    what: 'a paid invoice with a rest',
    sql: `update invoice set amount_paid = 0 where id = '$1'`,
    by: 'invoiceId',
  },
  {
    id: 'I6',
    what: 'a payment the invoice does not count',
    sql: `update payment set payment_status = 'FAILED' where id = '$1'`,
    by: 'paymentId',
    names: 'invoiceId',
  },
  {
    id: 'I22',
    what: 'a payment that was charged back and still counts',
    sql: `update dispute set dispute_status = 'lost', closed_at = now() where payment_id = '$1'`,
    by: 'paymentId',
    names: /lost, with nothing given back/,
  },
  {
    id: 'I6',
    what: 'a payment in another currency',
    sql: `update payment set currency = 'eur' where id = '$1'`,
    by: 'paymentId',
  },
  {
    id: 'I6',
    what: 'a coupon row that the discount does not hold',
    sql: `insert into coupon_application (id, tenant_id, environment_id, created_at, updated_at, coupon_id, coupon_association_id, invoice_id,
        position, discount_type, original_price, discounted_amount, final_price, currency, applied_at, coupon_snapshot)
      select 'coupon_app_zz', tenant_id, environment_id, now(), now(), 'coupon_zz', 'coupon_assoc_zz', id, 0, 'fixed', 1, 1, 0, currency,
        now(), '{}' from invoice where id = '$1'`,
    by: 'invoiceId',
  },
  {
    id: 'I13',
    what: 'a coupon counted more often than it was redeemed',
    sql: `insert into coupon (id, tenant_id, environment_id, created_at, updated_at, name, coupon_code, type, cadence, percentage_off, total_redemptions)
      select 'coupon_zz', tenant_id, environment_id, now(), now(), 'zz', 'zz', 'percentage', 'once', 10, 1 from invoice where id = '$1'`,
    by: 'invoiceId',
    names: /coupon_zz.*counted 1 of any, redeemed 0 times/,
  },
  {
    id: 'I6',
    what: 'a tax row that the total does not hold',
    sql: `insert into tax_applied (id, tenant_id, environment_id, created_at, updated_at, entity_id, tax_rate_id, tax_behavior, position, currency,
        taxable_amount, tax_amount, applied_at, tax_rate, idempotency_key)
      select 'taxapp_zz', tenant_id, environment_id, now(), now(), id, 'taxrate_zz', 'exclusive', 0, currency, subtotal, 1, now(), '{}', 'zz'
      from invoice where id = '$1'`,
    by: 'invoiceId',
  },
  {
    id: 'I6',
    what: 'an invoice without tax that does not say why',
    sql: `update invoice set no_tax_reason = null where id = '$1'`,
    by: 'invoiceId',
  },
  {
    id: 'I6',
    what: 'a custom currency its derivation does not know',
    sql: `update invoice_line_item set price_unit_id = 'price_unit_x', conversion_rate = 2 where id = '$1'`,
    by: 'lineId',
  },
  {
    id: 'I19',
    what: 'a changed line',
    sql: `update invoice_line_item set display_name = 'Other' where id = '$1'`,
    by: 'lineId',
    names: 'invoiceId',
  },
  {
    id: 'I19',
    what: 'another issue date',
    sql: `update invoice set issue_date = issue_date + interval '1 day' where id = '$1'`,
    by: 'invoiceId',
  },
  ...checkoutPlantings,
  ...inboundPlantings,
  ...historyPlantings,
  ...walletPlantings,
  ...topupPlantings,
];
