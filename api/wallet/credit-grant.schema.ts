import { z } from 'zod';
import type { NewCreditGrant } from '../../billing/subscription/new-subscription.ts';
import type { CreditGrant } from '../../db/entities/wallet/credit-grant.ts';
import type { CreditGrantApplication } from '../../db/entities/wallet/credit-grant-application.ts';
import { badField } from '../../db/rows/record.ts';
import type { GrantOwner } from '../../services/ledger/grant-record.ts';
import { subscriptionStatusOnWire } from '../../services/subscription/read/subscription-event.ts';
import type { DecimalFormat } from '../decimal-format.ts';
import { listOf, listQuery } from '../list.ts';
import {
  decimalInput,
  decimalOutput,
  formattedOutput,
  idListQuery,
  metadataInput,
  metadataOutput,
  recordOutput,
  timestampInput,
  timestampOutput,
  viewRecord,
} from '../scalars.schema.ts';

const id = z.string().min(1).max(255);
const scopes = ['PLAN', 'SUBSCRIPTION', 'ADDON'] as const;
const scope = z.enum(scopes, { error: `must be one of ${scopes.join(', ')}` });
const pays = ['any_open_invoice', 'from_grant_on'] as const;
const periods = ['DAILY', 'WEEKLY', 'MONTHLY', 'QUARTERLY', 'HALF_YEARLY', 'ANNUAL'] as const;

/** The members of a grant whoever it is for. spec: wallets-and-payments §1.2 */
const grantFields = {
  name: z.string().min(1, 'must not be empty').max(255),
  cadence: z.enum(['ONETIME', 'RECURRING'], { error: 'must be ONETIME or RECURRING' }),
  credits: decimalInput({ above: '0' }),
  conversion_rate: decimalInput({ above: '0' }).nullish(),
  topup_conversion_rate: decimalInput({ above: '0' }).nullish(),
  period: z.union([z.literal(''), z.enum(periods, { error: `must be one of ${periods.join(', ')}` })]).nullish(),
  period_count: z.int('must be an integer').max(1_000, 'must be 1000 at most').nullish(),
  expiration_type: z.enum(['NEVER', 'DURATION', 'BILLING_CYCLE']).nullish(),
  expiration_duration: z.int().min(1, 'must be 1 or more').max(36_500).nullish(),
  expiration_duration_unit: z.union([z.literal(''), z.enum(['DAY', 'WEEK', 'MONTH', 'YEAR'])]).nullish(),
  priority: z.int().min(0, 'must be 0 or more').max(1_000_000_000, 'must be 1000000000 at most').nullish(),
  pays: z
    .enum(pays, { error: `must be one of ${pays.join(', ')}` })
    .nullish()
    .describe('from_grant_on: not the period that had ended when the credits were granted. Default any_open_invoice.'),
  start_date: timestampInput().nullish(),
  end_date: timestampInput().nullish(),
  metadata: metadataInput().nullish(),
};

/** A grant inside the creation of a subscription. */
export const subscriptionGrantInput = z.object({ ...grantFields, scope: scope.nullish() });
/** A grant inside the update of a plan: with `id` one that exists. */
export const planGrantInput = z
  .object({ ...grantFields, scope: scope.nullish() })
  .partial()
  .extend({ id: id.nullish() });

export const createGrantBody = z
  .object({ ...grantFields, scope, plan_id: id.nullish(), subscription_id: id.nullish(), addon_id: id.nullish() })
  .meta({
    examples: [
      {
        name: 'Monthly credits',
        scope: 'PLAN',
        plan_id: 'plan_01JD…',
        cadence: 'RECURRING',
        credits: '100',
        period: 'MONTHLY',
        period_count: 1,
      },
    ],
  });

export const updateGrantBody = z.object({
  name: grantFields.name.nullish(),
  metadata: grantFields.metadata,
  end_date: grantFields.end_date,
});

export const deleteGrantBody = z.object({ effective_date: timestampInput().nullish() }).nullish();

export const grantListQuery = listQuery({
  credit_grant_ids: idListQuery().optional(),
  plan_ids: idListQuery().optional(),
  subscription_ids: idListQuery().optional(),
  addon_ids: idListQuery().optional(),
  scope: scope.optional(),
});

type SentGrant = z.output<typeof subscriptionGrantInput>;

/** The grant as stores take it. Throws `validation_error` for members that do not go together. spec: wallets-and-payments §1.2 */
export function newGrant(sent: SentGrant, path = ''): NewCreditGrant {
  const recurring = sent.cadence === 'RECURRING';
  if (recurring && !sent.period) throw badField(`${path}period`, 'is required for RECURRING');
  if (recurring && (sent.period_count == null || sent.period_count < 1))
    throw badField(`${path}period_count`, 'is required for RECURRING and must be 1 or more');
  const type = sent.expiration_type ?? 'NEVER';
  if (type === 'DURATION' && sent.expiration_duration == null)
    throw badField(`${path}expiration_duration`, 'is required for DURATION');
  if (type === 'DURATION' && !sent.expiration_duration_unit)
    throw badField(`${path}expiration_duration_unit`, 'is required for DURATION');
  return {
    name: sent.name,
    cadence: sent.cadence,
    credits: sent.credits,
    conversionRate: sent.conversion_rate ?? null,
    topupConversionRate: sent.topup_conversion_rate ?? null,
    period: recurring ? sent.period || null : null,
    periodCount: recurring ? (sent.period_count ?? null) : null,
    expirationType: type,
    expirationDuration: sent.expiration_duration ?? null,
    expirationDurationUnit: sent.expiration_duration_unit || null,
    priority: sent.priority ?? null,
    pays: sent.pays ?? 'any_open_invoice',
    startDate: sent.start_date ?? null,
    endDate: sent.end_date ?? null,
    metadata: sent.metadata ?? {},
  };
}

/** Whom a grant is for, by its scope. Throws `validation_error` for a missing or a foreign id, and for dates of a template. */
export function grantOwner(body: z.output<typeof createGrantBody>): GrantOwner {
  const fields = { PLAN: 'plan_id', ADDON: 'addon_id', SUBSCRIPTION: 'subscription_id' } as const;
  const own = fields[body.scope];
  if (!body[own]) throw badField(own, `is required for scope ${body.scope}`);
  for (const field of Object.values(fields))
    if (field !== own && body[field]) throw badField(field, `does not belong to scope ${body.scope}; leave it out`);
  if (body.scope !== 'SUBSCRIPTION') {
    for (const field of ['start_date', 'end_date'] as const)
      if (body[field]) throw badField(field, `belongs to scope SUBSCRIPTION; a ${body.scope} grant is a template`);
  } else if (!body.start_date) throw badField('start_date', 'is required for scope SUBSCRIPTION');
  const { plan_id: planId, addon_id: addonId, subscription_id: subscriptionId } = body;
  return { planId: planId ?? null, addonId: addonId ?? null, subscriptionId: subscriptionId ?? null };
}

export const creditGrant = z
  .object({
    ...recordOutput,
    name: z.string(),
    scope: z.string(),
    plan_id: z.string().nullable(),
    subscription_id: z.string().nullable(),
    addon_id: z.string().nullable(),
    cadence: z.string(),
    credits: decimalOutput(),
    conversion_rate: decimalOutput().nullable(),
    topup_conversion_rate: decimalOutput().nullable(),
    period: z.string().nullable(),
    period_count: z.int().nullable(),
    credit_grant_anchor: timestampOutput().nullable(),
    start_date: timestampOutput().nullable(),
    end_date: timestampOutput().nullable(),
    expiration_type: z.string(),
    expiration_duration: z.int().nullable(),
    expiration_duration_unit: z.string().nullable(),
    priority: z.int().nullable(),
    pays: z.string(),
    metadata: metadataOutput(),
  })
  .meta({ id: 'CreditGrant' });

export const creditGrantList = listOf(creditGrant, 'ListCreditGrantsResponse');

/** The wire form of a grant, every key present. */
export function viewGrant(row: CreditGrant): z.output<typeof creditGrant> {
  return {
    ...viewRecord(row),
    name: row.name,
    scope: row.scope,
    plan_id: row.planId ?? null,
    subscription_id: row.subscriptionId ?? null,
    addon_id: row.addonId ?? null,
    cadence: row.cadence,
    credits: row.credits,
    conversion_rate: row.conversionRate ?? null,
    topup_conversion_rate: row.topupConversionRate ?? null,
    period: row.period ?? null,
    period_count: row.periodCount ?? null,
    credit_grant_anchor: row.creditGrantAnchor ?? null,
    start_date: row.startDate ?? null,
    end_date: row.endDate ?? null,
    expiration_type: row.expirationType,
    expiration_duration: row.expirationDuration ?? null,
    expiration_duration_unit: row.expirationDurationUnit ?? null,
    priority: row.priority ?? null,
    pays: row.pays,
    metadata: row.metadata,
  };
}

export const grantApplication = z
  .object({
    ...recordOutput,
    credit_grant_id: z.string(),
    subscription_id: z.string(),
    scheduled_for: timestampOutput(),
    applied_at: timestampOutput().nullable(),
    period_start: timestampOutput(),
    period_end: timestampOutput().nullable(),
    application_status: z.string(),
    application_reason: z.string(),
    subscription_status_at_application: z.string().nullable(),
    credits: formattedOutput(),
    retry_count: z.int(),
    failure_reason: z.string().nullable(),
    idempotency_key: z.string(),
    metadata: metadataOutput(),
  })
  .meta({ id: 'CreditGrantApplication' });

export const grantApplicationList = listOf(grantApplication, 'ListCreditGrantApplicationsResponse');

/** The wire form of an application, every key present. */
export function viewApplication(row: CreditGrantApplication, format: DecimalFormat): z.output<typeof grantApplication> {
  const status = row.subscriptionStatusAtApplication ?? null;
  return {
    ...viewRecord(row),
    credit_grant_id: row.creditGrantId,
    subscription_id: row.subscriptionId,
    scheduled_for: row.scheduledFor,
    applied_at: row.appliedAt ?? null,
    period_start: row.periodStart,
    period_end: row.periodEnd ?? null,
    application_status: row.applicationStatus,
    application_reason: row.applicationReason,
    subscription_status_at_application: status && subscriptionStatusOnWire(status),
    credits: format(row.credits),
    retry_count: row.retryCount,
    failure_reason: row.failureReason ?? null,
    idempotency_key: row.idempotencyKey,
    metadata: row.metadata,
  };
}
