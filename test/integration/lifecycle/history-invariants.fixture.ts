import type { Planting } from './invariants.fixture.ts';

/** Statements that break the rules about events, audit, references and deadlines. */
export const historyPlantings: readonly Planting[] = [
  {
    id: 'I10',
    what: 'a gap in the events of an object',
    sql: `delete from outbox_event where entity_id = '$1' and sequence = 1`,
    by: 'subscriptionId',
  },
  {
    id: 'I10',
    what: 'an event without a place in the feed, though a later one has one',
    sql: `with placed as (insert into outbox_feed select environment_id, 1000000, tenant_id, id from outbox_event where entity_id = '$1'
        and sequence = (select max(sequence) from outbox_event where entity_id = '$1') on conflict do nothing)
      delete from outbox_feed where event_id = (select id from outbox_event where entity_id = '$1' and sequence = 1)`,
    by: 'subscriptionId',
  },
  {
    id: 'I10',
    what: 'an event that is forgotten although the feed shows it',
    sql: `update outbox_event set payload = null where entity_id = '$1' and sequence = 1`,
    by: 'subscriptionId',
    names: /its number alone is kept/,
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
      update twin set id = 'pay_zz', intent_token = 'zz', gateway_payment_id = 'zz'; insert into payment select * from twin`,
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
];
