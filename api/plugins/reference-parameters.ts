const ids = (nouns: string) => `Only those of these ${nouns}, ids separated by commas.`;
const only = (what: string) => `Only ${what}.`;

/** Descriptions of parameters by name, for those whose schema has none of its own. */
const parameterDescriptions: Readonly<Record<string, string>> = {
  limit: 'Rows to answer at most, 1 to 1000; 50 when absent.',
  offset: 'Rows to leave out before the first one that is answered.',
  sort: 'Field to sort by; `created_at` when absent.',
  order: '`asc` or `desc`, newest first when absent.',
  expand: 'Related objects to answer with each row, names separated by commas.',
  start_time: 'Rows from this instant on; the time they were created, for events and usage the time they tell.',
  end_time: 'Rows before this instant; not before `start_time`.',
  status: 'State of the record: `published` when absent, else `archived` or `deleted`.',
  external_id: 'Your own id of the customer.',
  lookup_key: 'Your own key of the object.',
  key: 'Name of the setting.',
  code: 'Code of the object.',
  provider: 'Name of the payment provider or other system.',
  schedule_id: 'Id of the schedule.',
  subscription_id: 'Id of the subscription.',
  customer_id: 'Id of the customer.',
  invoice_id: 'Id of the invoice.',
  payment_method_id: 'Id of the payment method.',
  object_type: 'Kind of the parked object, such as `subscription`.',
  object_id: 'Id of the parked object.',
  tenant_id: 'Id of the tenant.',
  environment_id: 'Id of the environment.',
  target_environment_id: 'Id of the environment that is copied to.',
  subscription_ids: ids('subscriptions'),
  feature_ids: ids('features'),
  plan_ids: ids('plans'),
  addon_ids: ids('add-ons'),
  customer_ids: ids('customers'),
  meter_ids: ids('meters'),
  coupon_ids: ids('coupons'),
  credit_note_ids: ids('credit notes'),
  invoice_ids: ids('invoices'),
  payment_ids: ids('payments'),
  invoicing_customer_ids: ids('customers who pay'),
  parent_subscription_ids: ids('parent subscriptions'),
  parent_customer_ids: ids('parent customers'),
  entity_ids: ids('objects'),
  connection_ids: ids('connections'),
  credit_grant_ids: ids('credit grants'),
  refund_ids: ids('refunds'),
  price_ids: ids('prices'),
  price_unit_ids: ids('custom currencies'),
  taxrate_ids: ids('tax rates'),
  wallet_ids: ids('wallets'),
  external_ids: 'Only customers with these ids of yours, separated by commas.',
  lookup_keys: 'Only objects with these keys of yours, separated by commas.',
  feature_lookup_keys: 'Only features with these keys of yours, separated by commas.',
  coupon_codes: 'Only coupons with these codes, separated by commas.',
  taxrate_codes: 'Only tax rates with these codes, separated by commas.',
  billing_periods: 'Only prices of these periods, separated by commas.',
  external_customer_id: 'Your own id of the customer.',
  customer_lookup_key: 'Your own key of the customer.',
  subscription_customer_id: 'Id of the customer who has the subscription, where another one pays.',
  plan_id: 'Id of the plan.',
  entity_type: only('those of this kind of object'),
  entity_id: only('those of the object with this id'),
  event_name: only('events of this name'),
  event_id: only('the event with this id'),
  source: only('events from this source'),
  reason: only('events rejected for this reason'),
  property_filters: 'Only events with these properties, as `key:value,value;key:value`.',
  page: 'Page to answer, from 1 on; 1 when absent.',
  page_size: 'Events to answer at most.',
  iter_first_key: 'Key of the first event of a page: answers newer ones.',
  iter_last_key: 'Key of the last event of a page: answers older ones.',
  window_size: 'Length of the windows that are answered, such as `DAY`.',
  pending_only: only('schedules that are still to come'),
  from_cache: 'Accepted and without effect: a balance is computed whenever it is read.',
  'x-max-live': 'Seconds that a balance may be old; it is computed whenever it is read, so any number will do.',
  include_real_time_balance: 'Whether usage that is not billed yet is taken off the balance.',
  payment_provider: only('those of this payment provider'),
  checkout_status: only('checkout sessions in one of these states'),
  action: only('checkout sessions for one of these actions'),
  wallet_id: only('those of this wallet'),
  payment_gateway: only('those of this payment provider'),
  scope: only('those that belong to this kind of object'),
  subscription_type: only('subscriptions of this type'),
  subscription_status: only('subscriptions in this state'),
  billing_cadence: only('subscriptions of this cadence; every subscription is `RECURRING`'),
  billing_period: only('subscriptions of this period'),
  active_at: only('subscriptions that are in service at this instant'),
  effective_date_for_update: only(
    'subscriptions whose current period ends until this instant, which are due for their next period then; no drafts and nothing cancelled',
  ),
  trial_end_due_lte: only('subscriptions whose trial ends until this instant'),
  with_line_items: 'Whether each subscription is answered with its items: it is, unless this is false.',
  with_coupon_associations:
    'Whether each subscription is answered with the coupons it redeemed: it is, unless this is false.',
  payment_status: only('those whose payment is in this state'),
  currency: only('those in this currency, three letters'),
  created_by: only('those that this user made'),
  user_id: only('keys of this user'),
  not_expired_at: only('keys that are still valid at this instant'),
  at: 'Instant at which the run ends that is told.',
  hours: 'Hours before it that belong to the run; 24 when absent.',
  provider_type: only('connections to this provider'),
  active_only: only('associations that are in force now'),
  credit_note_status: only('credit notes in this state'),
  credit_note_type: only('credit notes of this type'),
  payment_id: only('refunds of this payment'),
  credit_note_id: only('refunds of this credit note'),
  refund_status: only('refunds in this state'),
  refund_reason: only('refunds for this reason'),
  email: only('customers with this mail address'),
  user_type: only('roles for this type of user'),
  feature_type: only('entitlements to features of this type'),
  is_enabled: only('entitlements that are on, or off'),
  has_grant_config: only('entitlements that give a budget, or those that do not'),
  name_contains: 'Part of the name, in upper or lower case.',
  invoice_status: only('invoices in this state'),
  skip_line_items: 'Whether invoices are answered without their lines.',
  invoice_type: only('invoices of this type'),
  billing_reason: only('invoices that were made for this reason'),
  amount_due_gt: only('invoices of which more than this was due'),
  amount_remaining_gt: only('invoices of which more than this is still to be paid'),
  period_start_gte: only('invoices whose period begins at this instant or later'),
  period_start_lte: only('invoices whose period begins at this instant or earlier'),
  period_end_gte: only('invoices whose period ends at this instant or later'),
  period_end_lte: only('invoices whose period ends at this instant or earlier'),
  finalize: 'Whether the invoice is finalized once it was computed again.',
  destination_type: only('payments for this kind of object'),
  destination_id: only('payments for the object with this id'),
  payment_method_type: only('payments by this means'),
  gateway_payment_id: only('the payment that has this id at its provider'),
  gateway_tracking_id: only('the payment that has this tracking id at its provider'),
  parent_price_id: only('prices that override this one'),
  start_date_lt: only('prices that begin before this instant'),
  allow_expired_prices: 'Whether prices that have ended are answered too.',
  tax_rate_id: only('associations of this tax rate'),
  auto_apply: only('associations that apply by themselves, or those that do not'),
  task_type: only('tasks of this type'),
  task_status: only('tasks in this state'),
  scheduled_task_id: only('tasks of this schedule'),
  workflow_id: 'Id of the workflow of the task.',
  wait: 'Seconds to wait for a running advance to end.',
  alert_enabled: only('wallets whose alerts are on, or off'),
  type: only('credits, or debits'),
  transaction_status: only('movements in this state'),
  transaction_reason: only('movements for this reason'),
  reference_type: only('movements that refer to this kind of object'),
  reference_id: only('movements that refer to the object with this id'),
  credits_available_gt: only('movements of which more credits than this are left'),
  expiry_date_before: only('credits that expire before this instant'),
  expiry_date_after: only('credits that expire after this instant'),
  priority: only('credits of this priority; lower ones are used first'),
};

const nouns: Readonly<Record<string, string>> = {
  addons: 'add-on',
  creditnotes: 'credit note',
  creditgrants: 'credit grant',
};

interface Parameter {
  in: string;
  name: string;
  description?: string;
  schema?: { description?: string; examples?: unknown; anyOf?: { examples?: unknown }[] };
}

/**
 * Describes a parameter of the operation at `path`, and takes its example from a query: the reference page would send it with the first try,
 * and a filter that nobody asked for hides everything.
 */
export function describeParameter(path: string, parameter: Parameter): void {
  const { name, schema } = parameter;
  const described = schema?.description ?? (name === 'id' ? idOf(path) : parameterDescriptions[name]);
  if (described !== undefined) parameter.description ??= described;
  if (parameter.in !== 'query' || !schema) return;
  for (const part of [schema, ...(schema.anyOf ?? [])]) delete part.examples;
}

function idOf(path: string): string {
  const segments = path.split('/');
  const collection = segments[segments.indexOf('{id}') - 1] ?? segments.at(-1) ?? '';
  const singular = collection
    .replace(/ies$/, 'y')
    .replace(/(?<!s)s$/, '')
    .replaceAll('-', ' ');
  return `Id of the ${nouns[collection] ?? singular}.`;
}
