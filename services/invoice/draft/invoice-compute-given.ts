import type { GivenToCompute } from '../../../billing/invoice/invoice-command.ts';
import {
  checkLineAmounts,
  checkLinePeriods,
  checkSubtotal,
  type NewInvoiceLine,
} from '../../../billing/invoice/invoice-line-request.ts';
import { movedTerms, type OwnTerms } from '../../../billing/invoice/own-terms.ts';
import { decimal, decimalString, roundToCurrency } from '../../../billing/money/money.ts';
import { newId } from '../../../db/id.ts';
import { decimalText, instantText } from '../../../db/rows/columns.ts';
import { badField } from '../../../db/rows/record.ts';
import type { Scope } from '../../../db/scope.ts';
import type { Sql } from '../../../db/transaction.ts';
import { insertLines } from '../read/invoice-line.ts';
import { couponLine, findOwnTaxes, importedCredits, type TermedLine } from '../terms/invoice-own-terms.ts';
import { redeemForInvoice, releaseRedemptions } from '../terms/invoice-redemption.ts';
import { checkNamedByLines, ownLineRows } from './invoice-own-line.ts';

/** A draft that is being computed, under its lock. */
export interface GivenDraft {
  invoiceId: string;
  at: string;
  given: GivenToCompute;
}

interface DraftRow {
  customer_id: string;
  subscription_id: string | null;
  currency: string;
  invoice_type: string;
  issue_date: string | null;
  own_terms: OwnTerms | null;
  lines: TermedLine[];
  [column: string]: unknown;
}

const draftText = `
select i.customer_id, i.subscription_id, i.currency, i.invoice_type, i.issue_date, i.own_terms,
  coalesce((select jsonb_agg(jsonb_build_object('id', l.id, 'priceId', l.price_id, 'subscriptionLineItemId', l.subscription_line_item_id,
    'metadata', l.metadata) order by l.position, l.id) from invoice_line_item l
    where l.environment_id = i.environment_id and l.invoice_id = i.id and l.status = 'published'), '[]') as lines
from invoice i where i.environment_id = $1 and i.id = $2`;

/**
 * Gives a locked draft the lines, coupons, taxes and texts it is to be computed with; its amounts are still to be computed.
 * Coupons of either kind take the place of those of that kind, whose redemptions are given back; one that the draft has already
 * is not redeemed again. Coupons of lines that are replaced go on to the lines with the same name, and are given back where there
 * is none. Throws `validation_error` and `not_found`; the caller's transaction is rolled back then.
 * spec: subscriptions-and-invoicing §1.11.1, §2.15.2
 */
export async function giveToDraft(sql: Sql, scope: Scope, { invoiceId, at, given }: GivenDraft): Promise<void> {
  const [row] = await sql.rows<DraftRow>(draftText, [scope.environmentId, invoiceId]);
  const draft = row!;
  const issueDate = draft.issue_date === null ? at : instantText(draft.issue_date);
  if (given.dueDate !== null && given.dueDate < issueDate)
    throw badField('due_date', `must not be before issue_date, ${issueDate}`);
  const { lines, taxes } = given;
  const replaced = lines ? await replaceLines(sql, scope, { invoiceId, draft, given, lines }) : null;
  const before = replaced ? withLines(draft, replaced, lines ?? []) : draft.own_terms;
  const now = replaced ?? draft.lines;
  const coupons = await couponsFor(sql, scope, { invoiceId, at, given, draft, before, lines: now });
  const ownTaxes = taxes ? await findOwnTaxes(sql, scope, { taxes, currency: draft.currency }) : null;
  const isTermed = before !== null || coupons !== null || ownTaxes !== null;
  const terms: OwnTerms = {
    ...(before ?? { importedCredits: null, invoiceNumber: null }),
    coupons: coupons ?? before?.coupons ?? null,
    taxes: ownTaxes ?? before?.taxes ?? null,
  };
  await sql.rows(
    `update invoice set own_terms = $3::jsonb, description = coalesce($4, description), due_date = coalesce($5, due_date)
     where environment_id = $1 and id = $2`,
    [scope.environmentId, invoiceId, isTermed ? JSON.stringify(terms) : null, given.description, given.dueDate],
  );
}

interface Replacing {
  invoiceId: string;
  draft: DraftRow;
  given: GivenToCompute;
  lines: NewInvoiceLine[];
}

type OwnLine = NewInvoiceLine & { id: string };

const nothing = { lineItemDiscount: '0', invoiceLevelDiscount: '0', prepaidCreditsApplied: '0' };

async function replaceLines(sql: Sql, scope: Scope, { invoiceId, draft, given, lines }: Replacing): Promise<OwnLine[]> {
  if (draft.invoice_type === 'SUBSCRIPTION') {
    const problem = 'follow from what the subscription charges and cannot be given; edit the draft to change them';
    throw badField('line_items', problem);
  }
  const { customer_id: customerId, subscription_id: subscriptionId, currency } = draft;
  checkLinePeriods(lines);
  if (given.subtotal !== null) checkSubtotal(given.subtotal, lines, currency);
  await checkNamedByLines(sql, scope, { customerId, currency }, lines);
  const made = lines.map((line) => ({ ...line, id: newId('inv_line') }));
  const ids = draft.lines.map(({ id }) => id);
  await sql.rows('delete from coupon_application where environment_id = $1 and invoice_line_item_id = any($2)', [
    scope.environmentId,
    ids,
  ]);
  await sql.rows('delete from invoice_line_item where environment_id = $1 and invoice_id = $2 and id = any($3)', [
    scope.environmentId,
    invoiceId,
    ids,
  ]);
  const amounts = made.map(({ id, amount }) => ({ id, amount, ...nothing }));
  await insertLines(sql, ownLineRows(scope, { invoiceId, customerId, subscriptionId, currency }, made, amounts));
  return made;
}

/** The terms of a draft on other lines: those that have the name of an old one take its coupons over. */
function withLines({ own_terms: terms, lines }: DraftRow, made: OwnLine[], given: NewInvoiceLine[]): OwnTerms {
  const nameOf = ({ metadata, priceId }: TermedLine) => metadata.line_item_id ?? priceId;
  const idOf = new Map(made.toReversed().map((line) => [nameOf(line), line.id]));
  const moved = lines.flatMap((line) => {
    const name = nameOf(line);
    const id = name === null ? undefined : idOf.get(name);
    return id === undefined ? [] : [[line.id, id] as const];
  });
  const before = terms ?? { coupons: null, taxes: null, importedCredits: null, invoiceNumber: null };
  const { creditsOfLines: _, ...rest } = movedTerms(before, new Map(moved));
  const totalPrepaidApplied = before.importedCredits ?? '0';
  return { ...rest, ...importedCredits({ totalPrepaidApplied, lines: given }, made) };
}

interface CouponsFor {
  invoiceId: string;
  at: string;
  given: GivenToCompute;
  draft: DraftRow;
  before: OwnTerms | null;
  lines: readonly TermedLine[];
}

/** The coupons of a draft after what was given; null where it has none of its own. */
async function couponsFor(
  sql: Sql,
  scope: Scope,
  { invoiceId, at, given, draft, before, lines }: CouponsFor,
): Promise<OwnTerms['coupons']> {
  const { invoiceCoupons, lineCoupons } = given;
  const own = before?.coupons ?? null;
  if (!invoiceCoupons && !lineCoupons && !own) return null;
  const ids = new Set(lines.map(({ id }) => id));
  const isKept = ({ lineId }: { lineId: string | null }) =>
    lineId === null ? !invoiceCoupons : !lineCoupons && ids.has(lineId);
  const kept = (own ?? []).filter(isKept);
  const former = (own ?? []).filter((coupon) => !isKept(coupon));
  const wanted = [...(invoiceCoupons ?? []), ...(lineCoupons ?? [])].map((coupon) => ({
    ...coupon,
    lineId: couponLine(coupon, lines),
  }));
  const redemption = { invoiceId, currency: draft.currency, at, coupons: wanted };
  const redeemed = await redeemForInvoice(sql, scope, redemption, former);
  const taken = new Set(redeemed.map(({ associationId }) => associationId));
  const left = former.filter(({ associationId }) => !taken.has(associationId));
  await releaseRedemptions(sql, scope, left, at);
  return [...kept, ...redeemed];
}

interface ComputedRow {
  currency: string;
  subtotal: string;
  total: string;
  amount_due: string;
  total_prepaid_credits_applied: string;
  imported: string | null;
  lines: { lineItemDiscount: string; invoiceLevelDiscount: string; prepaidCreditsApplied: string; amount: string }[];
  [column: string]: unknown;
}

const computedText = `
select i.currency, i.subtotal, i.total, i.amount_due, i.total_prepaid_credits_applied, i.own_terms ->> 'importedCredits' as imported,
  coalesce((select jsonb_agg(jsonb_build_object('amount', l.amount::text, 'lineItemDiscount', l.line_item_discount::text,
    'invoiceLevelDiscount', l.invoice_level_discount::text, 'prepaidCreditsApplied', l.prepaid_credits_applied::text) order by l.position, l.id)
    from invoice_line_item l where l.environment_id = i.environment_id and l.invoice_id = i.id and l.status = 'published'), '[]') as lines
from invoice i where i.environment_id = $1 and i.id = $2`;

/**
 * Refuses (validation_error) a computation that came to something else than what was expected of it: totals, discounts and
 * credits of lines, and credits of an imported invoice that the lines cannot hold. spec: subscriptions-and-invoicing §2.16
 */
export async function checkComputed(sql: Sql, scope: Scope, { invoiceId, given }: GivenDraft): Promise<void> {
  const [row] = await sql.rows<ComputedRow>(computedText, [scope.environmentId, invoiceId]);
  const computed = row!;
  if (given.lines) checkLineAmounts(given.lines, computed.lines);
  const { imported, currency } = computed;
  const applied = decimalText(computed.total_prepaid_credits_applied);
  const changing = given.lines ? 'line_items' : given.invoiceCoupons ? 'invoice_coupons' : 'line_item_coupons';
  const changes = given.lines !== null || given.invoiceCoupons !== null || given.lineCoupons !== null;
  if (changes && imported !== null && !decimal(imported).equals(decimal(applied))) {
    const left = `${applied} of the ${decimalString(imported)} prepaid credits that were applied elsewhere`;
    throw badField(changing, `must leave enough to pay with credits: there is room for ${left}`);
  }
  const expected = [
    // With lines it was compared with them, exact or rounded.
    ['subtotal', given.lines ? null : given.subtotal, computed.subtotal],
    ['total', given.total, computed.total],
    ['amount_due', given.amountDue, computed.amount_due],
  ] as const;
  for (const [field, amount, result] of expected) {
    if (amount === null || roundToCurrency(amount, currency).equals(decimal(result))) continue;
    throw badField(field, `must be ${decimalText(result)}, what the draft comes to; leave it out to take that`);
  }
}
