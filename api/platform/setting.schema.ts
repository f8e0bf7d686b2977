import { z } from 'zod';
import { creditDestinations } from '../../billing/invoice/carried-credit.ts';
import { topupTaxes } from '../../billing/invoice/taxed-credit.ts';
import { terminationPolicies } from '../../billing/wallet/wallet-termination.ts';
import type { Setting } from '../../db/entities/platform/setting.ts';
import { badField } from '../../db/rows/record.ts';
import type { Scope } from '../../db/scope.ts';
import { effective } from '../../services/platform/setting.ts';
import { type SettingKey, settingDefaults, tenantSettings } from '../../services/platform/setting-defaults.ts';
import { canonicalDecimal } from '../decimal.ts';
import { timestampOutput, timezoneInput } from '../scalars.schema.ts';
import { firstIssue } from '../validation.ts';
import { bonusSetting } from '../wallet/setting-bonus.schema.ts';
import { listedMandates, mandateLimits } from './setting-mandate.schema.ts';
import { onboardingSetting, refuseUnbuiltActions } from './setting-onboarding.schema.ts';

const count = (min = 0) => z.int().min(min).max(1_000_000_000);
const decimal = () =>
  z
    .string()
    .refine((text) => canonicalDecimal(text) !== null && !text.startsWith('-'), 'must be a decimal of 0 or more');
const threshold = z.strictObject({ threshold: decimal(), condition: z.enum(['below', 'above']) }).nullable();
const alerts = { alert_enabled: z.boolean(), critical: threshold, warning: threshold, info: threshold };
/** What runs by itself is not built yet: an empty list is the only one that says the truth. */
const noActions = z.array(z.unknown()).max(0, 'are not available yet; the list must be empty');
/** Names joined by dots; empty for the usual place. */
const path = z.string().max(255);
const named = z.looseObject({ id: z.string().min(1) });
const vatCategory = z.enum(['E', 'AE', 'K', 'G', 'O', 'Z']);
const colour = z.string().regex(/^#(?:[0-9a-fA-F]{3}){1,2}$/, 'must be a hexadecimal colour');

/** What each setting accepts after merging; a member that is not named here is refused. spec: platform §12 */
const shapes: Record<SettingKey, z.ZodType> = {
  invoice_config: z.strictObject({
    prefix: z.string().min(1).max(50),
    format: z.enum(['YYYYMM', 'YYYYMMDD', 'YYMMDD', 'YY', 'YYYY']),
    start_sequence: count(),
    timezone: timezoneInput(),
    separator: z.string().max(10),
    suffix_length: z.int().min(1).max(10),
    due_date_days: count(),
    auto_complete_purchased_credit_transaction: z.boolean(),
    finalization_delay_seconds: count(),
  }),
  subscription_config: z.strictObject({ grace_period_days: count(1), auto_cancellation_enabled: z.boolean() }),
  invoice_pdf_config: z.strictObject({
    template_name: z.literal('default', 'must be default'),
    group_by: z.array(z.string().min(1)),
    logo: z
      .string()
      .max(300_000, 'must be an image of at most 220 kB')
      .regex(/^(data:image\/(png|jpeg);base64,[A-Za-z0-9+/]+={0,2})?$/, 'must be a data URL of a PNG or JPEG image'),
    footer: z.string().max(500),
    accent_color: z.string().regex(/^#[0-9a-fA-F]{6}$/, 'must be a colour as #rrggbb'),
    paper: z.enum(['a4', 'us-letter']),
  }),
  e_invoice_config: z.strictObject({
    vat_id: z.string().regex(/^([A-Z]{2}[A-Z0-9+*]{2,13})?$/, 'must be a VAT number with its country, as DE123456789'),
    tax_number: z.string().max(50),
    registration_id: z.string().max(50),
    contact_name: z.string().max(255),
    iban: z.string().regex(/^([A-Z]{2}\d{2}[A-Z0-9]{11,30})?$/, 'must be an IBAN without spaces'),
    bic: z.string().regex(/^([A-Z]{6}[A-Z0-9]{2}([A-Z0-9]{3})?)?$/, 'must be a BIC of 8 or 11 characters'),
    untaxed_category: vatCategory,
    untaxed_reason: z.string().max(255),
    exempt_category: vatCategory,
    exempt_reason: z.string().max(255),
  }),
  tenant_config: z.strictObject({ production: count(), development: count(), max_users: count(1) }),
  customer_onboarding: onboardingSetting,
  prepare_processed_events_config: z.strictObject({
    workflow_type: z.literal('prepare_processed_events'),
    actions: noActions,
  }),
  wallet_balance_alert_config: z.strictObject({ ...alerts, alert_threshold_type: z.enum(['absolute', 'percentage']) }),
  subscription_alert_config: z.strictObject(alerts),
  entitlement_alert_config: z.strictObject(alerts),
  wallet_topup_config: z.strictObject({
    free_credit_limit_per_transaction: decimal(),
    tax: z.enum(topupTaxes, { error: `must be ${topupTaxes.join(' or ')}` }),
  }),
  wallet_termination_policy: z.strictObject({
    policy: z.enum(terminationPolicies, { error: `must be ${terminationPolicies.join(' or ')}` }),
  }),
  min_topup_amount_per_currency: z.record(z.string().regex(/^[a-z]{3}$/), decimal()),
  auto_topup_limits: z.strictObject({
    declined_per_day: count(1),
    declined_per_30_days: count(1),
    succeeded_per_day: count(1),
    most_times_amount: z.int().min(1).max(10, 'must be at most 10'),
    monthly_amount: z.record(z.string().regex(/^[a-z]{3}$/), decimal()),
  }),
  custom_analytics_config: z.strictObject({
    rules: z.array(
      z.strictObject({
        id: z.literal('revenue-per-minute'),
        target_type: z.enum(['feature', 'meter', 'event_name']),
        target_id: z.string().min(1),
      }),
    ),
  }),
  customer_portal_config: z.strictObject({
    version: z.literal('1.0'),
    theme: z.strictObject({ primary_color: colour, secondary_color: colour, tertiary_color: colour }),
    sections: z
      .array(named.extend({ tabs: z.array(named).refine(areUnique, 'must have unique ids') }))
      .refine(areUnique, {
        message: 'must have unique ids',
      }),
    checkout: z.strictObject({ customer_not_present: z.boolean() }),
  }),
  event_ingestion_filter: z
    .strictObject({ enabled: z.boolean(), allowed_external_customer_ids: z.array(z.string().min(1)) })
    .refine((value) => !value.enabled || value.allowed_external_customer_ids.length > 0, {
      path: ['allowed_external_customer_ids'],
      message: 'must not be empty while enabled',
    }),
  bonus_credits_topup_config: bonusSetting,
  payment_mandate_limits: z.strictObject({ mandate_limits: mandateLimits }),
  draft_invoice_recompute_config: z.strictObject({ enabled: z.boolean() }),
  dunning_config: z.strictObject({
    retry_after_days: z
      .array(z.int().min(1).max(365))
      .max(20)
      .refine((days) => days.every((day, index) => index === 0 || day > days[index - 1]!), 'must rise'),
    after_last_attempt: z.enum(['none', 'pause', 'cancel'], { error: 'must be none, pause or cancel' }),
  }),
  proration_credit_destination: z.strictObject({
    destination: z.enum(creditDestinations, { error: `must be ${creditDestinations.join(', ')}` }),
  }),
  event_rejection_config: z.strictObject({ enabled: z.boolean() }),
  decimal_format: z.strictObject({ format: z.enum(['interface', 'string'], { error: 'must be interface or string' }) }),
  raw_event_config: z.strictObject({
    event_name: path,
    external_customer_id: path,
    event_id: path,
    timestamp: path,
    source: path,
    properties: path,
  }),
};

function areUnique(items: readonly { id: string }[]): boolean {
  return new Set(items.map((item) => item.id)).size === items.length;
}

export const settingParams = z.object({ key: z.string().min(1).max(255) });
export const updateSettingBody = z
  .object({ value: z.record(z.string(), z.unknown()) })
  .meta({ examples: [{ value: { prefix: 'ACME', due_date_days: 14 } }] });

/** The key of a setting. Throws `validation_error` for an unknown one. spec: platform §12 */
export function settingKey(text: string): SettingKey {
  if (Object.hasOwn(settingDefaults, text)) return text as SettingKey;
  throw badField('key', `must be one of ${Object.keys(settingDefaults).join(', ')}`);
}

/** Throws `validation_error` naming the first member that is unknown or not accepted. */
export function checkSetting(key: SettingKey, merged: Record<string, unknown>): void {
  if (key === 'customer_onboarding') refuseUnbuiltActions(merged);
  const result = shapes[key].safeParse(merged);
  if (result.success) return;
  const { field, reason } = firstIssue(result.error.issues);
  throw badField(['value', field].filter((part) => part !== '').join('.'), reason);
}

/** The members of a setting as they are kept: what may be written in two forms is kept in one. */
export function writtenSetting(key: SettingKey, value: Record<string, unknown>): Record<string, unknown> {
  return key === 'payment_mandate_limits' ? listedMandates(value) : value;
}

export const setting = z
  .object({
    id: z.string().nullable(),
    key: z.string(),
    value: z.record(z.string(), z.unknown()),
    environment_id: z.string().nullable(),
    tenant_id: z.string(),
    status: z.string(),
    created_at: timestampOutput().nullable(),
    updated_at: timestampOutput().nullable(),
    created_by: z.string().nullable(),
    updated_by: z.string().nullable(),
  })
  .meta({ id: 'Setting' });

export const settingDeleted = z.object({ message: z.string() });

export function viewSetting(scope: Scope, key: SettingKey, row: Setting | null): z.output<typeof setting> {
  return {
    id: row?.id ?? null,
    key,
    value: effective(key, row),
    environment_id: tenantSettings.has(key) ? null : scope.environmentId,
    tenant_id: scope.tenantId,
    status: 'published',
    created_at: row?.createdAt ?? null,
    updated_at: row?.updatedAt ?? null,
    created_by: row?.createdBy ?? null,
    updated_by: row?.updatedBy ?? null,
  };
}
