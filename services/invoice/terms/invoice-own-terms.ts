import { creditsOfLines } from '../../../billing/invoice/invoice-line-request.ts';
import type { NewInvoice, NewInvoiceCoupon, NewInvoiceTax } from '../../../billing/invoice/invoice-request.ts';
import type { OwnTax, OwnTerms } from '../../../billing/invoice/own-terms.ts';
import { defaultTaxBehavior } from '../../../billing/invoice/tax.ts';
import { decimalString } from '../../../billing/money/money.ts';
import { decimalText } from '../../../db/rows/columns.ts';
import { badField, missing } from '../../../db/rows/record.ts';
import type { Scope } from '../../../db/scope.ts';
import type { Sql } from '../../../db/transaction.ts';
import { taxRateSnapshot } from '../../customer/linked-tax.ts';
import { unknownCode } from '../../customer/tax-link.ts';
import { redeemForInvoice } from './invoice-redemption.ts';
import type { InvoiceTerms } from './invoice-terms.ts';

/** A line as far as coupons and credits name it. */
export interface TermedLine {
  id: string;
  priceId: string | null;
  subscriptionLineItemId: string | null;
  metadata: Record<string, string>;
}

/** An invoice that is being made, with its lines. */
export interface TermedInvoice {
  id: string;
  at: string;
  invoiceType: string;
  /** What a coupon names lines by: their price, or their metadata key `line_item_id`. */
  lines: readonly TermedLine[];
}

/**
 * Resolves what a new invoice was given: coupons are redeemed, tax rates found. Null for a subscription's invoice that was
 * given nothing and follows its subscription. Throws `not_found` for unknown coupons and rates, and `validation_error` for
 * coupons that may not be redeemed and rates that do not fit. spec: subscriptions-and-invoicing §1.11.1, §2.17.2, §2.18.1
 */
export async function resolveOwnTerms(
  sql: Sql,
  scope: Scope,
  invoice: TermedInvoice,
  request: NewInvoice,
): Promise<OwnTerms | null> {
  const follows = invoice.invoiceType === 'SUBSCRIPTION';
  const coupons =
    follows && request.coupons.length === 0
      ? null
      : await redeemForInvoice(sql, scope, {
          invoiceId: invoice.id,
          currency: request.currency,
          at: invoice.at,
          coupons: request.coupons.map((coupon) => ({ ...coupon, lineId: couponLine(coupon, invoice.lines) })),
        });
  const taxes = follows && request.taxes.length === 0 ? null : await findOwnTaxes(sql, scope, request);
  const credits = importedCredits(request, invoice.lines);
  const { invoiceNumber } = request;
  if (coupons === null && taxes === null && credits.importedCredits === null && invoiceNumber === null) return null;
  return { coupons, taxes, ...credits, invoiceNumber };
}

/** Credits of an imported invoice, as a whole or as its lines say it; lines and their ids are in the same order. */
export function importedCredits(
  { totalPrepaidApplied, lines }: Pick<NewInvoice, 'totalPrepaidApplied' | 'lines'>,
  ids: readonly { id: string }[],
): Pick<OwnTerms, 'importedCredits' | 'creditsOfLines'> {
  const ofLines = creditsOfLines(lines);
  if (ofLines === null) return { importedCredits: totalPrepaidApplied === '0' ? null : totalPrepaidApplied };
  const byLine = lines.flatMap(({ prepaidCreditsApplied: amount }, index) =>
    amount ? [{ lineId: ids[index]!.id, amount }] : [],
  );
  return { importedCredits: decimalString(ofLines), creditsOfLines: byLine };
}

/**
 * The line that a coupon names, null for one on the whole invoice. Throws `validation_error` where there is none.
 * spec: subscriptions-and-invoicing §1.11.1
 */
export function couponLine(
  { line, subscriptionLineItemId: item, field }: NewInvoiceCoupon,
  lines: readonly TermedLine[],
): string | null {
  if (line === null) return null;
  const named = lines.filter((one) => one.metadata.line_item_id === line || one.priceId === line);
  if (named.length === 0) {
    throw badField(`${field}.line_item_id`, `must be the price_id or the metadata.line_item_id of a line, not ${line}`);
  }
  // Kept requests of before this member have none.
  const charged = item ? named.filter((one) => one.subscriptionLineItemId === item) : named;
  if (charged.length === 0) {
    const problem = `must be the subscription_line_item_id of a line that line_item_id ${line} names, not ${item}`;
    throw badField(`${field}.subscription_line_item_id`, problem);
  }
  return (charged.find((one) => one.metadata.line_item_id === line) ?? charged[0]!).id;
}

interface RateRow {
  id: string;
  code: string;
  percentage: string;
  rate: Record<string, unknown> & { scope: string; tax_rate_status: string; status: string };
  [column: string]: unknown;
}

/**
 * The tax rates that an invoice is given; those that only inform are left out, the others must be in use. Throws `not_found` and
 * `validation_error`. spec: subscriptions-and-invoicing §2.18.1
 */
export async function findOwnTaxes(
  sql: Sql,
  scope: Scope,
  { taxes, currency }: Pick<NewInvoice, 'taxes' | 'currency'>,
): Promise<OwnTax[]> {
  if (taxes.length === 0) return [];
  const rows = await sql.rows<RateRow>(
    `select id, code, percentage_value as percentage, to_jsonb(r) as rate from tax_rate r
     where environment_id = $1 and status = 'published' and (id = any($2) or code = any($3)) for share`,
    [scope.environmentId, taxes.flatMap(({ rateId }) => rateId ?? []), taxes.flatMap(({ code }) => code ?? [])],
  );
  const taken = new Set<string>();
  const found = taxes.map((tax) => {
    const row = rows.find((candidate) =>
      tax.rateId === null ? candidate.code === tax.code : candidate.id === tax.rateId,
    );
    if (!row)
      throw tax.rateId === null ? unknownCode(tax.code ?? '', tax.field) : missing('tax rate', tax.rateId, tax.field);
    if (tax.currency !== null && tax.currency !== currency)
      throw badField(`${tax.field}.currency`, `must be ${currency}, the invoice's`);
    if (row.rate.tax_rate_status !== 'ACTIVE')
      throw badField(tax.field, `names tax rate ${row.code}, which is INACTIVE; activate it or choose another`);
    if (taken.has(row.id)) throw badField(tax.field, `names tax rate ${row.code} twice`);
    taken.add(row.id);
    return { tax, row };
  });
  return found
    .filter(({ row }) => row.rate.scope !== 'EXTERNAL')
    .sort((a, b) => a.tax.priority - b.tax.priority)
    .map(({ tax, row }) => ownTax(tax, row, currency));
}

function ownTax(tax: NewInvoiceTax, row: RateRow, currency: string): OwnTax {
  const percentage = tax.percentage ?? decimalText(row.percentage);
  return {
    associationId: null,
    rateId: row.id,
    percentage,
    taxBehavior: defaultTaxBehavior('one_off', currency, tax.taxBehavior),
    rate: taxRateSnapshot(row.rate, percentage),
  };
}

/** What of a draft's row decides about terms of its own. */
export interface OwnTermedDraft {
  id: string;
  customer_id: string;
  subscription_id: string | null;
  own_terms: OwnTerms | null;
}

/**
 * The terms of drafts that were given their own, by invoice id: rates that are no longer in use are left out, and an exempt
 * customer pays none. `bySubscription` completes those that follow their subscription in part. spec: §2.18.4, §4
 */
export async function readOwnTerms(
  sql: Sql,
  environmentId: string,
  drafts: readonly OwnTermedDraft[],
  bySubscription: ReadonlyMap<string, InvoiceTerms>,
): Promise<Map<string, InvoiceTerms>> {
  const own = drafts.filter((draft) => draft.own_terms !== null);
  if (own.length === 0) return new Map();
  const rateIds = own.flatMap(({ own_terms }) => own_terms?.taxes?.map(({ rateId }) => rateId) ?? []);
  const facts = await sql.rows<{ id: string }>(
    `select id from customer where environment_id = $1 and id = any($2) and tax_treatment = 'exempt'
     union all select id from tax_rate where environment_id = $1 and id = any($3) and tax_rate_status = 'ACTIVE'`,
    [environmentId, own.map(({ customer_id }) => customer_id), rateIds],
  );
  const holds = new Set(facts.map(({ id }) => id));
  return new Map(
    own.map((draft) => {
      const terms = bySubscription.get(draft.subscription_id ?? '');
      const taxes = draft.own_terms?.taxes?.filter(({ rateId }) => holds.has(rateId)) ?? null;
      return [
        draft.id,
        {
          taxes: { exempt: holds.has(draft.customer_id), links: terms?.taxes.links ?? [] },
          coupons: terms?.coupons ?? [],
          own: { ...draft.own_terms!, taxes },
          ...(terms?.credit ? { credit: terms.credit } : {}),
        },
      ];
    }),
  );
}
