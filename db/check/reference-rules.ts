import { alertReferences } from './alert-references.ts';
import { checkoutOtherIds, checkoutReferences } from './checkout-references.ts';
import { documentReferences } from './document-references.ts';
import type { InvariantRule } from './invariant.ts';
import { lifecycleReferences } from './lifecycle-references.ts';
import { paymentReferences } from './payment-references.ts';
import type { Reference } from './reference.ts';
import { creditTables, topUpTables, walletReferences } from './wallet-references.ts';
import { webhookReferences } from './webhook-references.ts';

const clocked = [
  'agenda_entry',
  'customer',
  'invoice',
  'opening_charge',
  'payment',
  'refund',
  'subscription',
  ...topUpTables,
];
const ofCustomer = [
  'agenda_entry',
  'credit_note',
  'entitlement_grant',
  'invoice',
  'invoice_line_item',
  'opening_charge',
  'payment',
  'payment_method',
  'refund',
  'subscription',
  'subscription_line_item',
  ...creditTables,
  'customer_onboarding',
  'alert_log',
  'alert_stream',
];
const ofLine = ['subscription_line_item', 'invoice_line_item'];
const auditedTypes = [
  'entitlement_grant',
  'credit_grant',
  'addon',
  'customer',
  'plan',
  'price',
  'price_sync',
  'feature',
  'meter',
  'entitlement',
  'payment_method',
  'price_unit',
  'integration_mapping',
  'coupon',
  'coupon_association',
  'subscription_phase',
  'credit_note',
  'tax_rate',
  'tax_association',
  'test_clock',
  'costsheet',
  'customer_onboarding',
  'connection',
  'environment_clone',
  'webhook_endpoint',
];

/** Every column that names a row of the same environment. A test compares the list with the columns that exist. */
export const references: readonly Reference[] = [
  ...clocked.map((table) => ({ table, column: 'test_clock_id', target: 'test_clock' })),
  ...ofCustomer.map((table) => ({ table, column: 'customer_id', target: 'customer' })),
  ...[...ofLine, 'entitlement_grant'].map((table) => ({ table, column: 'subscription_id', target: 'subscription' })),
  { table: 'entitlement_grant', column: 'entitlement_config_id', target: 'entitlement' },

  ...ofLine.map((table) => ({ table, column: 'price_id', target: 'price' })),
  ...[...ofLine, 'feature', 'price'].map((table) => ({ table, column: 'meter_id', target: 'meter' })),
  ...[...ofLine, 'price', 'entitlement'].map((table) => ({
    table,
    column: 'entity_id',
    target: 'plan',
    where: "upper(t.entity_type) = 'PLAN'",
  })),
  { table: 'price', column: 'entity_id', target: 'costsheet', where: "upper(t.entity_type) = 'COSTSHEET'" },
  ...['price', 'feature'].map((table) => ({ table, column: 'group_id', target: 'catalogue_group' })),
  { table: 'audit_entry', column: 'object_id', target: 'catalogue_group', where: "t.object_type = 'group'" },
  ...['price', 'invoice_line_item'].map((table) => ({ table, column: 'price_unit_id', target: 'price_unit' })),
  ...['price', 'entitlement'].map((table) => ({
    table,
    column: 'entity_id',
    target: 'subscription',
    where: "upper(t.entity_type) = 'SUBSCRIPTION'",
  })),
  ...lifecycleReferences,
  ...auditedTypes.map((type) => ({
    table: 'audit_entry',
    column: 'object_id',
    target: type,
    where: `t.object_type = '${type}'`,
  })),
  ...[
    'customer',
    'plan',
    'feature',
    'entitlement',
    'entitlement_grant',
    'subscription',
    'invoice',
    'payment',
    'credit_note',
    'refund',
    'wallet',
    'wallet_transaction',
  ].map((type) => ({
    table: 'outbox_event',
    column: 'entity_id',
    target: type,
    where: `t.entity_type = '${type}'`,
  })),
  ...[...ofLine, 'price', 'entitlement'].map((table) => ({
    table,
    column: 'entity_id',
    target: 'addon',
    where: "upper(t.entity_type) = 'ADDON'",
  })),
  ...['plan_id', 'origin_plan_id'].map((column) => ({ table: 'credit_grant', column, target: 'plan' })),
  { table: 'credit_grant', column: 'addon_id', target: 'addon' },
  { table: 'credit_grant', column: 'subscription_id', target: 'subscription' },
  { table: 'credit_grant', column: 'addon_association_id', target: 'addon_association' },
  { table: 'credit_grant_application', column: 'credit_grant_id', target: 'credit_grant' },
  { table: 'credit_grant_application', column: 'subscription_id', target: 'subscription' },
  { table: 'addon_association', column: 'addon_id', target: 'addon' },
  { table: 'addon_association', column: 'entity_id', target: 'subscription' },
  { table: 'addon_association', column: 'invoice_id', target: 'invoice' },
  { table: 'subscription_line_item', column: 'addon_association_id', target: 'addon_association' },
  ...[
    {
      types: [
        'customer',
        'invoice',
        'subscription',
        'payment',
        'credit_note',
        'addon',
        'invoice_line_item',
        'subscription_line_item',
      ],
    },
    { types: ['plan', 'item'], target: 'plan' },
    { types: ['price', 'item_price'], target: 'price' },
  ].flatMap(({ types, target }) =>
    types.map((type) => ({
      table: 'integration_mapping',
      column: 'entity_id',
      target: target ?? type,
      where: `t.entity_type = '${type}'`,
    })),
  ),
  ...['customer', 'subscription', 'invoice'].map((target) => ({
    table: 'tax_association',
    column: 'entity_id',
    target,
    where: `t.entity_type = '${target}'`,
  })),
  ...['tax_association', 'tax_applied'].map((table) => ({ table, column: 'tax_rate_id', target: 'tax_rate' })),
  ...['coupon_association', 'coupon_application'].flatMap((table) => [
    { table, column: 'coupon_id', target: 'coupon' },
    { table, column: 'subscription_id', target: 'subscription' },
  ]),
  { table: 'coupon_association', column: 'subscription_line_item_id', target: 'subscription_line_item' },
  { table: 'coupon_application', column: 'coupon_association_id', target: 'coupon_association' },
  { table: 'coupon_application', column: 'invoice_id', target: 'invoice' },
  { table: 'coupon_application', column: 'invoice_line_item_id', target: 'invoice_line_item' },
  { table: 'tax_applied', column: 'tax_association_id', target: 'tax_association' },
  { table: 'tax_applied', column: 'entity_id', target: 'invoice', where: "t.entity_type = 'invoice'" },
  { table: 'customer', column: 'parent_customer_id', target: 'customer' },
  ...['entitlement', 'entitlement_grant'].map((table) => ({ table, column: 'feature_id', target: 'feature' })),
  { table: 'entitlement', column: 'parent_entitlement_id', target: 'entitlement' },
  { table: 'price', column: 'parent_price_id', target: 'price' },
  { table: 'price_sync', column: 'plan_id', target: 'plan' },
  { table: 'subscription', column: 'invoicing_customer_id', target: 'customer' },
  { table: 'subscription', column: 'parent_subscription_id', target: 'subscription' },
  { table: 'subscription', column: 'plan_id', target: 'plan' },
  { table: 'subscription', column: 'gateway_payment_method_id', target: 'payment_method' },
  { table: 'subscription_change', column: 'subscription_id', target: 'subscription' },
  { table: 'subscription_change', column: 'successor_subscription_id', target: 'subscription' },
  { table: 'subscription_change', column: 'from_plan_id', target: 'plan' },
  { table: 'subscription_change', column: 'to_plan_id', target: 'plan' },
  { table: 'subscription_proration', column: 'subscription_id', target: 'subscription' },
  { table: 'subscription_proration', column: 'subscription_line_item_id', target: 'subscription_line_item' },
  { table: 'subscription_proration', column: 'invoice_id', target: 'invoice' },
  ...['subscription_schedule', 'subscription_pause', 'subscription_phase'].map((table) => ({
    table,
    column: 'subscription_id',
    target: 'subscription',
  })),
  ...['subscription_line_item', 'coupon_association'].map((table) => ({
    table,
    column: 'subscription_phase_id',
    target: 'subscription_phase',
  })),
  { table: 'subscription', column: 'active_pause_id', target: 'subscription_pause', where: "t.active_pause_id <> ''" },
  { table: 'invoice', column: 'subscription_id', target: 'subscription' },
  { table: 'invoice', column: 'subscription_customer_id', target: 'customer' },
  { table: 'invoice', column: 'recalculated_invoice_id', target: 'invoice' },
  ...['invoice_line_item', 'invoice_document'].map((table) => ({ table, column: 'invoice_id', target: 'invoice' })),
  { table: 'invoice_line_item', column: 'subscription_line_item_id', target: 'subscription_line_item' },
  { table: 'invoice_line_item', column: 'plan_id', target: 'plan' },
  ...paymentReferences,
  ...webhookReferences,
  ...documentReferences,
  ...walletReferences,
  ...alertReferences,
  ...checkoutReferences,
];

/** Id columns that name no row of the environment: names given by others, and what no table exists for yet. */
export const otherIdColumns: ReadonlySet<string> = new Set([
  ...checkoutOtherIds,
  'alert_stream.setting_id',
  'api_key.display_id',
  'api_key.user_id',
  'audit_entry.request_id',
  ...['connection', 'webhook_endpoint'].map((table) => `${table}.secret_key_id`),
  'customer.external_id',
  // These go across environments on purpose, which rules of their own allow within a tenant only.
  'environment_clone.after_id',
  'environment_clone.source_environment_id',
  'meter.source_environment_meter_id',
  'inbound_event.provider_event_id',
  'integration_mapping.provider_entity_id',
  // A command of a creation without an answer may name an object that was never made.
  'kept_command.object_id',
  'opening_charge.subscription_id',
  'outbox_event.transaction_id',
  'outbox_relay.system_id',
  ...['outbox_sequence', 'webhook_line', 'webhook_skip'].map((table) => `${table}.entity_id`),
  'dispute.gateway_dispute_id',
  'payment.gateway_payment_id',
  'payment.gateway_tracking_id',
  'payment.provider_object_id',
  'opening_charge.provider_object_id',
  'payment_attempt.gateway_attempt_id',
  'price_sync.after_subscription_id',
  'refund.gateway_refund_id',
  'refund.gateway_tracking_id',
  'subscription.active_pause_id',
  'task.run_id',
  'task.workflow_id',
]);

function referenceRule({ table, column, target, where }: Reference): InvariantRule {
  const applies = `t.${column} <> '' ${where ? `and ${where}` : ''}`;
  const kind = where?.replace(/^.*= '(\w+)'.*$/, ' of a $1') ?? '';
  return {
    id: 'I14',
    rule: `${table}.${column}${kind} names a ${target} of its own tenant and environment`,
    examines: `select count(*) from ${table} t where ${applies}`,
    violatesOnlyExamined: true,
    violations: `
      select t.${column} as object, case when o.id is null then 'no such ${target}, but ${table}.${column} names it'
        else format('${table} of tenant %s, environment %s names a ${target} of %s, %s', t.tenant_id, t.environment_id, o.tenant_id,
          o.environment_id) end as problem
      from ${table} t left join ${target} o on o.id = t.${column}
      where ${applies} and (o.id is null or o.environment_id <> t.environment_id or o.tenant_id <> t.tenant_id)`,
  };
}

/** I14: no reference crosses a tenant or an environment, and every environment is of the tenant beside it. */
export const referenceRules: readonly InvariantRule[] = [
  ...references.map(referenceRule),
  ...[
    ...new Set([
      ...references.map(({ table }) => table),
      'plan',
      'meter',
      'test_clock',
      'api_key',
      'environment_clone',
    ]),
  ].map(
    (table): InvariantRule => ({
      id: 'I14',
      rule: `the environment of a row of ${table} belongs to its tenant`,
      examines: `select count(*) from ${table}`,
      violatesOnlyExamined: true,
      // A tenant's own settings and changes stand under the tenant's id instead of an environment's.
      violations: `
        select t.environment_id as object, format('${table} has it with tenant %s, of which it is not', t.tenant_id) as problem
        from ${table} t where t.environment_id <> t.tenant_id and not exists (
          select from environment e where e.id = t.environment_id and e.tenant_id = t.tenant_id) limit 1`,
    }),
  ),
  {
    id: 'I14',
    rule: 'an API key belongs to an account of its tenant',
    examines: 'select count(*) from api_key',
    violations: `
      select k.id as object, format('its account %s is not of tenant %s', k.user_id, k.tenant_id) as problem from api_key k
      where not exists (select from user_account u where u.id = k.user_id and u.tenant_id = k.tenant_id)`,
  },
];
