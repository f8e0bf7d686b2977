import { walletPlantings } from './wallet-invariants.fixture.ts';

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
    sql: `update invoice_number_sequence set last = last + 1 where environment_id = (select environment_id from invoice where id = '$1')`,
    by: 'invoiceId',
    names: /numbers up to/,
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
    id: 'I10',
    what: 'a gap in the events of an object',
    sql: `delete from outbox_event where entity_id = '$1' and sequence = 1`,
    by: 'subscriptionId',
  },
  {
    id: 'I11',
    what: 'a payment without its event',
    sql: `update outbox_event set event_name = 'payment.pending' where entity_id = '$1' and event_name = 'payment.success'`,
    by: 'paymentId',
  },
  {
    id: 'I11',
    what: 'an event of what never happened',
    sql: `update outbox_event set event_name = 'invoice.update.voided' where entity_id = '$1' and event_name = 'invoice.update'`,
    by: 'invoiceId',
  },
  {
    id: 'I13',
    what: 'time that is billed twice',
    sql: `update invoice_line_item set period_start = period_start - interval '40 days' where subscription_line_item_id = (
      select subscription_line_item_id from invoice_line_item where id = '$1') and id > '$1'`,
    by: 'lineId',
    names: /is billed until/,
  },
  {
    id: 'I14',
    what: 'a plan that is not there',
    sql: `update subscription set plan_id = 'plan_gone' where id = '$1'`,
    by: 'subscriptionId',
    names: /plan_gone/,
  },
  {
    id: 'I15',
    what: 'a version without an audit row',
    sql: `delete from audit_entry where object_id = '$1' and version = 2`,
    by: 'invoiceId',
  },
  {
    id: 'I16',
    what: 'an answer that shows an object nobody has',
    sql: `insert into idempotent_request (environment_id, key, request_hash, status_code, body, created_at)
      select environment_id, 'gone', '', 201, '{"id":"pay_gone"}', now() from invoice where id = '$1'`,
    by: 'invoiceId',
    names: /pay_gone/,
  },
  {
    id: 'I16',
    what: 'two payments of one key',
    sql: `drop index payment_idempotency_key_unique; create temp table twin on commit drop as select * from payment where id = '$1';
      update twin set id = 'pay_zz', intent_token = 'zz'; insert into payment select * from twin`,
    by: 'paymentId',
  },
  {
    id: 'I17',
    what: 'a version that was given back',
    sql: `update subscription set version = version - 1 where id = '$1'`,
    by: 'subscriptionId',
  },
  {
    id: 'I18',
    what: 'an entry that is long due',
    sql: `update agenda_entry set due_at = '2026-02-01' where object_id = '$1';
      update subscription set updated_at = updated_at - interval '1 hour' where id = '$1'`,
    by: 'subscriptionId',
  },
  {
    id: 'I18',
    what: 'a payment that waits for more than a day',
    sql: `update payment set payment_status = 'PROCESSING' where id = '$1'`,
    by: 'paymentId',
    names: /PROCESSING since/,
  },
  {
    id: 'I18',
    what: 'a subscription that waits for nothing',
    sql: `delete from agenda_entry where object_id = '$1'`,
    by: 'subscriptionId',
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
  ...walletPlantings,
];
