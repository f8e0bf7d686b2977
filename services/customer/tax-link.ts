import { copiedLinks, defaultTaxBehavior } from '../../billing/invoice/tax.ts';
import { refuse } from '../../billing/refusal.ts';
import type { NewTaxLink } from '../../billing/subscription/new-subscription.ts';
import { realNow } from '../../db/clock.ts';
import { newId } from '../../db/id.ts';
import { type Columns, insertText, recordColumnTypes, writeRows } from '../../db/rows/bulk.ts';
import { instantText } from '../../db/rows/columns.ts';
import { badField } from '../../db/rows/record.ts';
import type { Scope } from '../../db/scope.ts';
import type { Sql } from '../../db/transaction.ts';
import { writeAudit } from '../platform/audit.ts';

/** A rate that a customer or a subscription names when it is made. spec: subscriptions-and-invoicing §1.2, platform §10.1 */
export type TaxOverride = NewTaxLink;

export type TaxedEntity = 'tenant' | 'customer' | 'subscription' | 'invoice';

/** What an association says, without its record. */
interface Link {
  taxRateId: string;
  taxBehavior: 'inclusive' | 'exclusive';
  priority: number;
  currency: string;
  autoApply: boolean;
  start: string;
  end: string | null;
  metadata: Record<string, string>;
}

export const defaultTaxPriority = 100;

const linkColumns: Columns = {
  ...recordColumnTypes,
  taxRateId: 'text',
  entityType: 'text',
  entityId: 'text',
  taxBehavior: 'text',
  priority: 'int',
  currency: 'text',
  autoApply: 'boolean',
  startDate: 'timestamptz',
  endDate: 'timestamptz',
  metadata: 'jsonb',
};
const insertLinks = insertText('tax_association', linkColumns);

/**
 * Links a new customer: to the rates it names (none for an empty list), else to copies of what the environment applies by
 * itself. `now` is the customer's present. Throws like `overrideLinks`. spec: platform §10.1 tax_rate_overrides
 */
export async function linkCustomerTaxes(
  sql: Sql,
  scope: Scope,
  customer: { id: string; now: string },
  overrides: readonly TaxOverride[] | undefined,
): Promise<void> {
  const links = overrides
    ? await overrideLinks(sql, scope, overrides, customer.now, 'association')
    : copiedLinks(await readLinks(sql, scope, 'tenant', ''), { now: realNow(), start: customer.now });
  await writeLinks(sql, scope, 'customer', customer.id, links, customer.now);
}

/** Gives a customer exactly the links it names now; what subscriptions copied from it before stays. Throws like `overrideLinks`. */
export async function replaceCustomerTaxes(
  sql: Sql,
  scope: Scope,
  customer: { id: string; now: string },
  overrides: readonly TaxOverride[],
): Promise<void> {
  const ended = await sql.rows<{ id: string }>(
    `update tax_association set status = 'archived', updated_at = $3, updated_by = $4
     where environment_id = $1 and entity_type = 'customer' and entity_id = $2 and status = 'published' returning id`,
    [scope.environmentId, customer.id, realNow(), scope.actor],
  );
  await auditLinks(sql, scope, ended, 'deleted', customer.now);
  await linkCustomerTaxes(sql, scope, customer, overrides);
}

/**
 * Links a new subscription: to the rates it names when it names any, else to copies of the invoiced customer's links. `now` is
 * the customer's present. Throws like `overrideLinks`. spec: subscriptions-and-invoicing §1.2, §2.3.6, §2.18.1
 */
export async function linkSubscriptionTaxes(
  sql: Sql,
  scope: Scope,
  subscription: { id: string; invoicingCustomerId: string; startDate: string; currency: string },
  overrides: readonly TaxOverride[],
  now: string,
): Promise<void> {
  const { id, invoicingCustomerId, startDate, currency } = subscription;
  for (const [index, override] of overrides.entries()) {
    if (override.currency !== currency)
      throw badField(`tax_rate_overrides[${index}].currency`, `must be ${currency}, the subscription's`);
  }
  const links =
    overrides.length > 0
      ? await overrideLinks(sql, scope, overrides, startDate, 'subscription_override')
      : copiedLinks(await readLinks(sql, scope, 'customer', invoicingCustomerId), { now, start: startDate });
  await writeLinks(sql, scope, 'subscription', id, links, now);
}

/**
 * The links that overrides ask for, from `start` on. Throws `validation_error` when one is named twice for a currency and
 * `not_found` for an unknown code. spec: platform §10.1; subscriptions-and-invoicing §2.18.2
 */
async function overrideLinks(
  sql: Sql,
  scope: Scope,
  overrides: readonly TaxOverride[],
  start: string,
  level: 'association' | 'subscription_override',
): Promise<Link[]> {
  const seen = new Set<string>();
  for (const [index, { taxRateCode, currency }] of overrides.entries()) {
    const name = `${currency} ${taxRateCode}`;
    if (seen.has(name)) {
      throw badField(`tax_rate_overrides[${index}]`, `repeats ${taxRateCode} for ${currency}; name it once`);
    }
    seen.add(name);
  }
  const codes = overrides.map((override) => override.taxRateCode);
  const rates = await publishedRates(sql, scope, codes);
  return overrides.map((override, index) => {
    const taxRateId = rates.get(override.taxRateCode);
    if (!taxRateId) throw unknownCode(override.taxRateCode, `tax_rate_overrides[${index}].tax_rate_code`);
    return {
      taxRateId,
      taxBehavior: defaultTaxBehavior(level, override.currency, override.taxBehavior),
      priority: override.priority ?? defaultTaxPriority,
      currency: override.currency,
      autoApply: override.autoApply,
      start,
      end: null,
      metadata: override.metadata,
    };
  });
}

/** The refusal of a code that no published tax rate of the environment has. */
export function unknownCode(code: string, field: string) {
  return refuse('not_found', `${field}: no tax rate with the code ${code} was found in this environment`, {
    fields: { [field]: 'not found' },
  });
}

/** The ids of published rates by code; they stay published until the transaction ends. */
export async function publishedRates(sql: Sql, scope: Scope, codes: readonly string[]): Promise<Map<string, string>> {
  if (codes.length === 0) return new Map();
  const rows = await sql.rows<{ id: string; code: string }>(
    `select id, code from tax_rate where environment_id = $1 and code = any($2) and status = 'published' order by id for share`,
    [scope.environmentId, codes],
  );
  return new Map(rows.map((row) => [row.code, row.id]));
}

interface LinkRow {
  tax_rate_id: string;
  tax_behavior: 'inclusive' | 'exclusive';
  priority: number;
  currency: string;
  auto_apply: boolean;
  start_date: string;
  end_date: string | null;
  metadata: Record<string, string>;
  [column: string]: unknown;
}

/** The published links of an entity in the order of their making, which their copies keep. */
async function readLinks(sql: Sql, scope: Scope, entityType: TaxedEntity, entityId: string): Promise<Link[]> {
  const rows = await sql.rows<LinkRow>(
    `select tax_rate_id, tax_behavior, priority, currency, auto_apply, start_date, end_date, metadata from tax_association
     where environment_id = $1 and entity_type = $2 and entity_id = $3 and status = 'published' order by created_at, id for share`,
    [scope.environmentId, entityType, entityId],
    'tax-links',
  );
  return rows.map((row) => ({
    taxRateId: row.tax_rate_id,
    taxBehavior: row.tax_behavior,
    priority: row.priority,
    currency: row.currency,
    autoApply: row.auto_apply,
    start: instantText(row.start_date),
    end: row.end_date ? instantText(row.end_date) : null,
    metadata: row.metadata,
  }));
}

async function writeLinks(
  sql: Sql,
  scope: Scope,
  entityType: TaxedEntity,
  entityId: string,
  links: readonly Link[],
  occurredAt: string,
): Promise<void> {
  const now = realNow();
  const rows = links.map(({ start, end, ...link }) => ({
    ...link,
    id: newId('ta'),
    tenantId: scope.tenantId,
    environmentId: scope.environmentId,
    createdAt: now,
    createdBy: scope.actor,
    updatedAt: now,
    updatedBy: scope.actor,
    entityType,
    entityId,
    startDate: start,
    endDate: end,
  }));
  await writeRows(sql, insertLinks, rows);
  await auditLinks(sql, scope, rows, 'created', occurredAt);
}

async function auditLinks(
  sql: Sql,
  scope: Scope,
  links: readonly { id: string; taxRateId?: string; entityType?: string; entityId?: string }[],
  action: 'created' | 'deleted',
  occurredAt: string,
): Promise<void> {
  await writeAudit(
    sql,
    scope,
    links.map(({ id, taxRateId, entityType, entityId }) => ({
      objectType: 'tax_association',
      objectId: id,
      action,
      occurredAt,
      detail: taxRateId ? { tax_rate_id: taxRateId, entity_type: entityType, entity_id: entityId } : {},
    })),
  );
}
