import type { CouponApplication } from '../../../db/entities/invoice/coupon-application.ts';
import type { Invoice } from '../../../db/entities/invoice/invoice.ts';
import type { TaxApplied } from '../../../db/entities/invoice/tax-applied.ts';
import { columnName } from '../../../db/rows/bulk.ts';
import { plainRows } from '../../../db/rows/plain-rows.ts';
import type { SqlTransaction } from '../../../db/transaction.ts';
import { lineColumns } from './invoice-line.ts';
import type { InvoiceContent } from './invoice-read.ts';

const latest = `(select i.id from invoice i where i.environment_id = $1 and i.subscription_id = $2 and i.invoice_status <> 'VOIDED'
  order by i.billing_sequence desc, i.id desc limit 1)`;

const shownLineColumns = ['status', ...Object.keys(lineColumns)]
  .filter((member) => member !== 'derivation')
  .map((member) => `l.${columnName(member)}`)
  .join(', ');

/**
 * The highest invoice of a subscription that is not void with its lines, as `latestInvoice` of `subscription-read.ts` gives it through
 * the mapper; null before there is one. Everything is asked at once. spec: subscriptions-and-invoicing §1.3 latest_invoice
 */
export async function latestPlainInvoice(tx: SqlTransaction, subscriptionId: string): Promise<InvoiceContent | null> {
  const asked = [tx.scope.environmentId, subscriptionId];
  const [[row], lines, taxes, coupons] = await Promise.all([
    plainRows<Invoice>(
      tx,
      'latest-invoice',
      `select i.* from invoice i where i.environment_id = $1 and i.id = ${latest}`,
      asked,
    ),
    plainRows<InvoiceContent['lines'][number]>(
      tx,
      'latest-invoice-lines',
      `select ${shownLineColumns} from invoice_line_item l where l.environment_id = $1 and l.invoice_id = ${latest} and l.status = 'published'
       order by l.position, l.id`,
      asked,
    ),
    plainRows<TaxApplied>(
      tx,
      'latest-invoice-taxes',
      `select t.* from tax_applied t where t.environment_id = $1 and t.entity_id = ${latest} order by t.position`,
      asked,
    ),
    plainRows<CouponApplication>(
      tx,
      'latest-invoice-coupons',
      `select a.* from coupon_application a where a.environment_id = $1 and a.invoice_id = ${latest} order by a.position`,
      asked,
    ),
  ]);
  if (!row) return null;
  const isTaxed = (row.noTaxReason ?? null) === null;
  const isDiscounted = row.totalDiscount !== '0';
  return { row, lines, taxes: isTaxed ? taxes : [], coupons: isDiscounted ? coupons : [], customer: null };
}
