import { z } from 'zod';
import type { TaxRateSnapshot } from '../../billing/invoice/own-terms.ts';
import type { TaxApplied } from '../../db/entities/invoice/tax-applied.ts';
import type { TaxOverride } from '../../services/customer/tax-link.ts';
import type {
  NewTaxAssociation,
  TaxAssociationChange,
  TaxAssociationContent,
  TaxAssociationFilters,
} from '../../services/invoice/terms/tax-association.ts';
import type { NewTaxRate, TaxRateChange, TaxRateFilters } from '../../services/invoice/terms/tax-rate.ts';
import { listOf, listQuery } from '../list.ts';
import {
  booleanQuery,
  currencyInput,
  decimalInput,
  decimalOutput,
  idListQuery,
  metadataInput,
  metadataOutput,
  recordOutput,
  timestampInput,
  timestampOutput,
  viewRecord,
} from '../scalars.schema.ts';

const scope = z.enum(['INTERNAL', 'EXTERNAL', 'ONETIME']);
const rateStatus = z.enum(['ACTIVE', 'INACTIVE']);
const entityType = z.enum(['tenant', 'customer', 'subscription', 'invoice']);
const taxBehavior = z.enum(['inclusive', 'exclusive']);
const id = z.string().min(1).max(255);
const code = z.string().trim().min(1).max(255);
const name = z.string().trim().min(1).max(255);
const description = z.string().max(10_000);
const priority = z.int('must be an integer').min(0, 'must be 0 or more').max(1_000_000_000);
const currency = z.union([z.literal('').transform(() => undefined), currencyInput()]);

const percentage = decimalInput({ min: '0' }).refine((text) => /^(100|\d{1,2}(\.\d+)?)$/.test(text), {
  message: 'must be from 0 to 100',
});

export const createTaxRateBody = z
  .object({
    name,
    code,
    percentage_value: percentage,
    fixed_value: z.unknown().optional().describe('Older clients have one; it is ignored.'),
    description: description.nullish(),
    scope: scope.nullish(),
    tax_rate_type: z.literal('percentage', { error: 'must be percentage; there are no fixed taxes' }).nullish(),
    metadata: metadataInput().nullish(),
  })
  .meta({ examples: [{ name: 'VAT Germany', code: 'de_vat', percentage_value: '19' }] });

export const updateTaxRateBody = z
  .object({
    name: name.nullish(),
    code: code.nullish(),
    description: description.nullish(),
    metadata: metadataInput().nullish(),
    tax_rate_status: rateStatus.nullish(),
  })
  .meta({ examples: [{ tax_rate_status: 'INACTIVE' }] });

export const taxRateListQuery = listQuery({
  taxrate_ids: idListQuery().optional(),
  taxrate_codes: idListQuery().optional(),
  scope: scope.optional(),
});

export const createTaxAssociationBody = z
  .object({
    tax_rate_code: code,
    entity_type: entityType.nullish().describe('May be left out beside external_customer_id.'),
    entity_id: id.nullish().describe('Not for tenant, which is the whole environment.'),
    external_customer_id: id.nullish(),
    tax_behavior: taxBehavior.nullish(),
    priority: priority.nullish(),
    currency: currency.nullish(),
    auto_apply: z.boolean().nullish(),
    start_date: timestampInput().nullish(),
    end_date: timestampInput().nullish(),
    metadata: metadataInput().nullish(),
  })
  .meta({ examples: [{ tax_rate_code: 'de_vat', entity_type: 'tenant', tax_behavior: 'exclusive', priority: 10 }] });

export const updateTaxAssociationBody = z
  .object({
    priority: priority.nullish(),
    auto_apply: z.boolean().nullish(),
    tax_behavior: taxBehavior.nullish(),
    metadata: metadataInput().nullish(),
  })
  .meta({ examples: [{ priority: 20 }] });

export const taxAssociationListQuery = listQuery({
  entity_type: entityType.optional(),
  entity_id: id.optional(),
  external_customer_id: id.optional(),
  tax_rate_id: id.optional(),
  auto_apply: booleanQuery().optional(),
});

/** Rates that a customer or a subscription names when it is made. spec: platform §10.1, subscriptions-and-invoicing §1.2 */
export const taxRateOverrides = z
  .array(
    z.object({
      tax_rate_code: code,
      currency: currencyInput(),
      auto_apply: z.boolean().nullish(),
      priority: priority.nullish(),
      tax_behavior: taxBehavior.nullish(),
      metadata: metadataInput().nullish(),
    }),
  )
  .max(100);

const taxRateOutput = z.object({
  ...recordOutput,
  code: z.string(),
  name: z.string(),
  description: z.string(),
  percentage_value: decimalOutput(),
  fixed_value: z.null(),
  scope,
  tax_rate_status: rateStatus,
  tax_rate_type: z.string(),
  metadata: metadataOutput(),
});
export const taxRate = taxRateOutput.meta({ id: 'TaxRate' });

/** A bare array: the published client throws at an envelope. spec: README decision 9 */
export const taxRateList = z.array(taxRate).meta({ id: 'ListTaxRatesResponse' });

export const taxAssociation = z
  .object({
    ...recordOutput,
    tax_rate_id: z.string(),
    tax_rate: taxRate,
    entity_type: entityType,
    entity_id: z.string(),
    tax_behavior: taxBehavior,
    priority: z.int(),
    currency: z.string(),
    auto_apply: z.boolean(),
    start_date: timestampOutput(),
    end_date: timestampOutput().nullable(),
    metadata: metadataOutput(),
  })
  .meta({ id: 'TaxAssociation' });

export const taxAssociationList = listOf(taxAssociation, 'ListTaxAssociationsResponse');

/** What a tax came to on an invoice, with the rate as it was then. spec: interface, Invoice taxes */
export const appliedTax = z
  .object({
    ...recordOutput,
    entity_type: z.string(),
    entity_id: z.string(),
    tax_rate_id: z.string(),
    tax_rate: taxRate,
    tax_association_id: z.string().nullable(),
    tax_behavior: taxBehavior,
    currency: z.string(),
    taxable_amount: decimalOutput(),
    tax_amount: decimalOutput(),
    applied_at: timestampOutput(),
    idempotency_key: z.string(),
    metadata: metadataOutput(),
  })
  .meta({ id: 'TaxApplied' });

export function newTaxRate(body: z.output<typeof createTaxRateBody>): NewTaxRate {
  return {
    name: body.name,
    code: body.code,
    percentageValue: body.percentage_value,
    description: body.description ?? undefined,
    scope: body.scope ?? undefined,
    metadata: body.metadata ?? undefined,
  };
}

export function taxRateChange(body: z.output<typeof updateTaxRateBody>): TaxRateChange {
  return {
    name: body.name ?? undefined,
    code: body.code ?? undefined,
    description: body.description ?? undefined,
    metadata: body.metadata ?? undefined,
    taxRateStatus: body.tax_rate_status ?? undefined,
  };
}

export function taxRateFilters(query: z.output<typeof taxRateListQuery>): TaxRateFilters {
  return { rateIds: query.taxrate_ids, codes: query.taxrate_codes, scope: query.scope };
}

export function newTaxAssociation(body: z.output<typeof createTaxAssociationBody>): NewTaxAssociation {
  return {
    taxRateCode: body.tax_rate_code,
    entityType: body.entity_type ?? undefined,
    entityId: body.entity_id ?? undefined,
    externalCustomerId: body.external_customer_id ?? undefined,
    taxBehavior: body.tax_behavior ?? undefined,
    priority: body.priority ?? undefined,
    currency: body.currency ?? undefined,
    autoApply: body.auto_apply ?? undefined,
    startDate: body.start_date ?? undefined,
    endDate: body.end_date ?? undefined,
    metadata: body.metadata ?? undefined,
  };
}

export function taxAssociationChange(body: z.output<typeof updateTaxAssociationBody>): TaxAssociationChange {
  return {
    priority: body.priority ?? undefined,
    autoApply: body.auto_apply ?? undefined,
    taxBehavior: body.tax_behavior ?? undefined,
    metadata: body.metadata ?? undefined,
  };
}

export function taxAssociationFilters(query: z.output<typeof taxAssociationListQuery>): TaxAssociationFilters {
  return {
    entityType: query.entity_type,
    entityId: query.entity_id,
    externalCustomerId: query.external_customer_id,
    taxRateId: query.tax_rate_id,
    autoApply: query.auto_apply,
  };
}

export function taxOverridesOf(overrides: z.output<typeof taxRateOverrides>): TaxOverride[] {
  return overrides.map((override) => ({
    taxRateCode: override.tax_rate_code,
    currency: override.currency,
    autoApply: override.auto_apply ?? true,
    priority: override.priority ?? null,
    taxBehavior: override.tax_behavior ?? null,
    metadata: override.metadata ?? {},
  }));
}

/** The wire form of a rate, or of what was kept of it beside an invoice. */
export function viewTaxRate(row: TaxRateSnapshot): z.output<typeof taxRate> {
  return {
    ...viewRecord(row),
    code: row.code,
    name: row.name,
    description: row.description,
    percentage_value: row.percentageValue,
    fixed_value: null,
    scope: row.scope as z.output<typeof scope>,
    tax_rate_status: row.taxRateStatus as z.output<typeof rateStatus>,
    tax_rate_type: row.taxRateType,
    metadata: row.metadata,
  };
}

/** The wire form of an association. That of a tenant names its environment. */
export function viewTaxAssociation({ row, rate }: TaxAssociationContent): z.output<typeof taxAssociation> {
  return {
    ...viewRecord(row),
    tax_rate_id: row.taxRateId,
    tax_rate: viewTaxRate(rate),
    entity_type: row.entityType as z.output<typeof entityType>,
    entity_id: row.entityType === 'tenant' ? row.tenantId : row.entityId,
    tax_behavior: row.taxBehavior as z.output<typeof taxBehavior>,
    priority: row.priority,
    currency: row.currency,
    auto_apply: row.autoApply,
    start_date: row.startDate,
    end_date: row.endDate ?? null,
    metadata: row.metadata,
  };
}

export function viewAppliedTax(row: TaxApplied): z.output<typeof appliedTax> {
  return {
    ...viewRecord(row),
    entity_type: row.entityType,
    entity_id: row.entityId,
    tax_rate_id: row.taxRateId,
    tax_rate: viewTaxRate(row.taxRate as unknown as TaxRateSnapshot),
    tax_association_id: row.taxAssociationId ?? null,
    tax_behavior: row.taxBehavior as z.output<typeof taxBehavior>,
    currency: row.currency,
    taxable_amount: row.taxableAmount,
    tax_amount: row.taxAmount,
    applied_at: row.appliedAt,
    idempotency_key: row.idempotencyKey,
    metadata: row.metadata,
  };
}
