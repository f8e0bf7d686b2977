import type { InvariantRule } from './invariant.ts';
import { isToldWhole, outboxRules } from './outbox-rules.ts';

const versioned = {
  subscription: 1,
  payment: 1,
  invoice: 2,
  credit_note: 1,
  refund: 1,
  wallet: 1,
  checkout_session: 1,
};
const recorded = [
  'catalogue_group',
  'price_unit',
  'customer',
  'plan',
  'price',
  'price_sync',
  'feature',
  'meter',
  'entitlement',
  'payment_method',
  'integration_mapping',
  'coupon',
  'coupon_association',
  'subscription_phase',
  'credit_note',
  'tax_rate',
  'tax_association',
  'test_clock',
  'setting',
  'costsheet',
  'customer_onboarding',
  'connection',
  'environment_clone',
  'webhook_endpoint',
];

const beganAsDraft = `(o.subscription_status = 'draft' or exists (
  select from audit_entry a where a.environment_id = o.environment_id and a.object_id = o.id and a.action = 'draft activated'))`;

/** Events that a state cannot have been reached without: table, the object in words, condition on its row `o`, event. */
const announced = [
  {
    table: 'subscription',
    object: 'a subscription that never was a draft',
    when: `not ${beganAsDraft}`,
    event: 'subscription.created',
  },
  {
    table: 'subscription',
    object: 'a subscription that is or was a draft',
    when: beganAsDraft,
    event: 'subscription.draft.created',
  },
  {
    table: 'subscription',
    object: 'a cancelled subscription',
    when: "o.subscription_status = 'cancelled'",
    event: 'subscription.cancelled',
  },
  // Nothing is told of an invoice that waits for its checkout session before it is final.
  {
    table: 'invoice',
    object: 'an invoice of no checkout session',
    when: "o.source_type <> 'checkout'",
    event: 'invoice.update',
  },
  {
    table: 'invoice',
    object: 'a finalized invoice',
    when: 'o.finalized_at is not null',
    event: 'invoice.update.finalized',
  },
  {
    table: 'invoice',
    object: 'a voided invoice',
    when: "o.voided_at is not null and o.status = 'published'",
    event: 'invoice.update.voided',
  },
  { table: 'payment', object: 'a payment', when: 'true', event: 'payment.created' },
  {
    table: 'payment',
    object: 'a payment that succeeded',
    when: 'o.succeeded_at is not null',
    event: 'payment.success',
  },
  { table: 'payment', object: 'a payment that failed', when: 'o.failed_at is not null', event: 'payment.failed' },
  { table: 'credit_note', object: 'a credit note', when: 'true', event: 'credit_note.created' },
  {
    table: 'credit_note',
    object: 'a finalized credit note',
    when: 'o.finalized_at is not null',
    event: 'credit_note.updated',
  },
  { table: 'refund', object: 'a refund', when: 'true', event: 'refund.created' },
  { table: 'refund', object: 'a refund that succeeded', when: 'o.succeeded_at is not null', event: 'refund.succeeded' },
  { table: 'refund', object: 'a refund that failed', when: 'o.failed_at is not null', event: 'refund.failed' },
  { table: 'wallet', object: 'a wallet', when: 'true', event: 'wallet.created' },
  { table: 'wallet', object: 'a terminated wallet', when: "o.wallet_status = 'closed'", event: 'wallet.terminated' },
  ...['completed', 'failed', 'expired'].map((end) => ({
    table: 'checkout_session',
    object: `a checkout session that is ${end}`,
    when: `o.checkout_status = '${end}'`,
    event: `checkout.session.${end}`,
  })),
  {
    table: 'wallet_transaction',
    object: 'a completed wallet transaction',
    when: "o.transaction_status = 'completed'",
    event: 'wallet.transaction.created',
  },
];

const answerable = [
  ...recorded,
  'checkout_session',
  'subscription',
  'invoice',
  'payment',
  'refund',
  'wallet',
  'api_key',
  'user_account',
  'environment',
  'tenant',
];

/** I15 for one table with versions: each version from the given one on has its audit row. A draft's first is its subscription's. */
function versionsAreAudited([table, first]: [string, number]): InvariantRule {
  return {
    id: 'I15',
    rule: `every version of a ${table} has its audit row`,
    examines: `select coalesce(sum(greatest(version - ${first} + 1, 0)), 0) from ${table}`,
    violations: `
      select o.id as object, format('version %s of %s has no audit row', v, o.version) as problem
      from ${table} o cross join generate_series(${first}, o.version) v
      where not exists (select from audit_entry a where a.environment_id = o.environment_id and a.object_id = o.id and a.version = v)`,
  };
}

function versionsRise([table]: [string, number]): InvariantRule {
  return {
    id: 'I17',
    rule: `the version of a ${table} strictly increases and is the last one audited`,
    examines: `select count(*) from audit_entry where object_type = '${table}' and version is not null`,
    violations: `
      with step as (
        select object_id, version, lag(version) over (partition by object_id order by id) as before,
          max(version) over (partition by object_id) as last
        from audit_entry where object_type = '${table}' and version is not null
      )
      select object_id as object, format('version %s came after %s', version, before) as problem from step where version <= before
      union
      select o.id, format('version is %s, the last audited one %s', o.version, s.last) from ${table} o join step s on s.object_id = o.id
      where o.version <> s.last`,
  };
}

/** I10 (the part before delivery), I11, I15, I16 and I17: the history and the rows tell the same story. */
export const historyRules: readonly InvariantRule[] = [
  ...outboxRules,
  ...announced.map(
    ({ table, object, when, event }): InvariantRule => ({
      id: 'I11',
      rule: `${object} has its event ${event}`,
      examines: `select count(*) from ${table} o where ${when}`,
      violations: `
        select o.id as object, 'its event ${event} is missing' as problem from ${table} o where ${when} and not exists (
          select from outbox_event e where e.environment_id = o.environment_id and e.entity_id = o.id and e.event_name = '${event}')
          and ${isToldWhole('o')}`,
    }),
  ),
  {
    id: 'I11',
    rule: 'an event of a finalization, a void or a success tells what happened',
    examines: `select count(*) from outbox_event where event_name in ('invoice.update.finalized', 'invoice.update.voided', 'payment.success')`,
    violations: `
      select e.entity_id as object, format('event %s, but it did not happen', e.event_name) as problem from outbox_event e
      left join invoice i on i.id = e.entity_id left join payment p on p.id = e.entity_id
      where (e.event_name = 'invoice.update.finalized' and i.finalized_at is null)
        or (e.event_name = 'invoice.update.voided' and i.voided_at is null)
        or (e.event_name = 'payment.success' and p.succeeded_at is null)`,
  },
  ...Object.entries(versioned).map(versionsAreAudited),
  ...recorded.map(
    (table): InvariantRule => ({
      id: 'I15',
      rule: `every ${table} has an audit row`,
      examines: `select count(*) from ${table}`,
      violations: `
        select o.id as object, 'no audit row tells who made it' as problem from ${table} o
        where not exists (select from audit_entry a where a.object_id = o.id)`,
    }),
  ),
  {
    id: 'I16',
    rule: 'the object a stored answer shows exists',
    examines: 'select count(*) from idempotent_request where status_code between 200 and 299',
    violations: `
      with answered as (
        select environment_id, key, substring(body from '^\\{"id":"([^"]+)"') as id from idempotent_request where status_code = 201
      ), object as (${answerable.map((table) => `select id from ${table}`).join(' union all ')})
      select a.id as object, format('key %s answers an object that does not exist', a.key) as problem from answered a
      where a.id is not null and not exists (select from object o where o.id = a.id)`,
  },
  {
    id: 'I16',
    rule: 'one idempotency key makes one live payment',
    examines: 'select count(*) from payment',
    violations: `
      select min(id) as object, format('key %s made %s', idempotency_key, string_agg(id, ', ' order by id)) as problem
      from payment where payment_status <> 'FAILED' and status = 'published'
      group by environment_id, idempotency_key having count(*) > 1`,
  },
  ...Object.entries(versioned).map(versionsRise),
];
