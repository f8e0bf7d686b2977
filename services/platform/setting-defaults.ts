import type { CreditDestination } from '../../billing/invoice/carried-credit.ts';
import type { TopupTax } from '../../billing/invoice/taxed-credit.ts';

const presets = ['today', 'last_7_days', 'last_30_days', 'current_month', 'last_month'];
const usageGraph = {
  id: 'usage_graph',
  enabled: true,
  presets,
  default_preset: 'last_7_days',
  filter_mode: 'inc',
  custom_range: true,
};
const tab = (id: string) => ({ id, enabled: true });
const section = (id: string, order: number, tabs: object[]) => ({ id, order, enabled: true, tabs });
const threshold = { threshold: '0', condition: 'below' };
type Threshold = { threshold: string; condition: string } | null;
const noThreshold = null as Threshold;

/** What each setting is while nothing is stored. Members are wire names. spec: platform §12 */
export const settingDefaults = {
  invoice_config: {
    prefix: 'INV',
    format: 'YYYYMM',
    start_sequence: 1,
    timezone: 'UTC',
    separator: '-',
    suffix_length: 5,
    due_date_days: 1,
    auto_complete_purchased_credit_transaction: false,
    finalization_delay_seconds: 7200,
  },
  subscription_config: { grace_period_days: 3, auto_cancellation_enabled: false },
  // `logo`, `footer`, `accent_color` and `paper` are own.
  invoice_pdf_config: {
    template_name: 'default',
    group_by: [] as string[],
    logo: '',
    footer: '',
    accent_color: '#1f4e8c',
    paper: 'a4',
  },
  // Own: what e-invoices say of the seller beyond its tenant's billing details, and how what bears no tax is called there.
  e_invoice_config: {
    vat_id: '',
    tax_number: '',
    registration_id: '',
    contact_name: '',
    iban: '',
    bic: '',
    untaxed_category: 'O',
    untaxed_reason: '',
    exempt_category: 'E',
    exempt_reason: '',
  },
  tenant_config: { production: 0, development: 2, max_users: 10 },
  customer_onboarding: {
    workflow_type: 'customer_onboarding',
    actions: [] as unknown[],
    custom_workflows: {} as Record<string, unknown>,
  },
  prepare_processed_events_config: { workflow_type: 'prepare_processed_events', actions: [] as unknown[] },
  wallet_balance_alert_config: {
    alert_enabled: false,
    alert_threshold_type: 'absolute',
    critical: threshold as Threshold,
    warning: noThreshold,
    info: noThreshold,
  },
  subscription_alert_config: { alert_enabled: false, critical: noThreshold, warning: noThreshold, info: noThreshold },
  entitlement_alert_config: { alert_enabled: false, critical: noThreshold, warning: noThreshold, info: noThreshold },
  // Its other member, min_topup_amount_per_currency, is the setting of that name. spec: README decision 20
  // Own: `tax` says when bought credits are taxed. design: money-in-wallets finding 6
  wallet_topup_config: { free_credit_limit_per_transaction: '0', tax: 'at_use' as TopupTax },
  // Bought credits of a terminated wallet: `forfeit`, or `refund_purchased`. spec: wallets-and-payments §2.9
  wallet_termination_policy: { policy: 'forfeit' },
  min_topup_amount_per_currency: { usd: '1' } as Record<string, string>,
  // Own: how often and how much wallets are charged by themselves. design: money-in-wallets finding 8
  auto_topup_limits: {
    declined_per_day: 4,
    declined_per_30_days: 15,
    succeeded_per_day: 24,
    most_times_amount: 10,
    monthly_amount: { usd: '10000', eur: '10000', gbp: '10000' } as Record<string, string>,
  },
  custom_analytics_config: { rules: [] as unknown[] },
  customer_portal_config: {
    version: '1.0',
    theme: { primary_color: '#111827', secondary_color: '#4b5563', tertiary_color: '#f3f4f6' },
    sections: [
      section('usage', 1, [tab('metric_cards'), usageGraph, tab('current_usage'), tab('usage_breakdown')]),
      section('credits', 2, [tab('wallet_balance'), tab('wallet_transactions')]),
      section('invoices', 3, [tab('invoices')]),
      section('overview', 4, [tab('wallet_balance'), tab('subscriptions'), usageGraph]),
    ] as unknown[],
    checkout: { customer_not_present: false },
  },
  event_ingestion_filter: { enabled: false, allowed_external_customer_ids: [] as string[] },
  bonus_credits_topup_config: { enabled: false, slabs: [] as unknown[] },
  payment_mandate_limits: { mandate_limits: [{ payment_method: 'UPI', currency: 'inr', max_limit: '100000' }] },
  draft_invoice_recompute_config: { enabled: false },
  // Own: days after finalization on which a declined charge is tried again; after the last the invoice waits for a person, and
  // its subscription goes on (none), is paused or cancelled.
  dunning_config: { retry_after_days: [1, 3, 5, 7] as number[], after_last_attempt: 'none' },
  // Own: where what a change of a subscription gives back goes: `auto`, `wallet` or `next_invoice`. spec: decision 50
  proration_credit_destination: { destination: 'auto' as CreditDestination },
  // Own: keeps and tells events that no meter counted. spec: catalogue-and-metering §6.6
  event_rejection_config: { enabled: false },
  // Own: `string` for strict clients, where the interface document shows numbers. spec: decision 42
  decimal_format: { format: 'interface' },
  // Own: where raw events hold what an event needs; empty is the usual place. spec: catalogue-and-metering §6.1
  raw_event_config: {
    event_name: '',
    external_customer_id: '',
    event_id: '',
    timestamp: '',
    source: '',
    properties: '',
  },
};

export type SettingKey = keyof typeof settingDefaults;
export type SettingValue<Key extends SettingKey> = (typeof settingDefaults)[Key];

/** Settings of the whole tenant instead of one environment. */
export const tenantSettings: ReadonlySet<string> = new Set<SettingKey>(['tenant_config']);
