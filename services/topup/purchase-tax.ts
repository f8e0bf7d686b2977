import type { InvoiceTaxRate } from '../../billing/invoice/invoice-input.ts';
import type { NewInvoiceTax } from '../../billing/invoice/invoice-request.ts';
import { computeTaxes, taxesInForce } from '../../billing/invoice/tax.ts';
import type { TopupTax } from '../../billing/invoice/taxed-credit.ts';
import { type Decimal, roundToCurrency } from '../../billing/money/money.ts';
import type { Scope } from '../../db/scope.ts';
import type { Sql } from '../../db/transaction.ts';
import { type TaxLinkRow, taxLinkOf, taxLinksText } from '../customer/linked-tax.ts';
import { settingDefaults } from '../platform/setting-defaults.ts';

/** Taxes of what a wallet buys by invoice; none while bought credits are taxed at their use. */
export interface PurchaseTaxes {
  exempt: boolean;
  /** In order of application. */
  rates: InvoiceTaxRate[];
}

const noTaxes: PurchaseTaxes = { exempt: false, rates: [] };

const taxesText = `
select c.tax_treatment = 'exempt' as exempt, ${taxLinksText('customer', 'c.id')} as links, (select s.value ->> 'tax' from setting s
    where s.environment_id = $1 and s.key = 'wallet_topup_config' and s.status = 'published') as tax
from customer c where c.environment_id = $1 and c.id = $2`;

/**
 * The taxes of a purchase of credits by invoice, as rates linked to the wallet's customer apply at `now`: those in force, applied by
 * themselves and of the wallet's currency or of none. None with the setting `wallet_topup_config.tax` at `at_use`, and none for a
 * postpaid wallet, which pays invoices with their tax. design: money-in-wallets finding 6
 */
export async function purchaseTaxes(
  sql: Sql,
  { environmentId }: Pick<Scope, 'environmentId'>,
  wallet: { customerId: string; currency: string; walletType: string; now: string },
): Promise<PurchaseTaxes> {
  if (wallet.walletType !== 'PRE_PAID') return noTaxes;
  const [row] = await sql.rows<{ exempt: boolean; links: TaxLinkRow[]; tax: TopupTax | null }>(taxesText, [
    environmentId,
    wallet.customerId,
  ]);
  const tax = row?.tax ?? settingDefaults.wallet_topup_config.tax;
  if (!row || tax === 'at_use') return noTaxes;
  const { currency, now: periodEnd } = wallet;
  const rates = taxesInForce(row.links.map(taxLinkOf), { currency, periodEnd }).map(
    ({ rateId: id, percentage, taxBehavior }) => ({ id, percentage, taxBehavior }),
  );
  return { exempt: row.exempt, rates };
}

/** The taxes as the invoice of a purchase is given them, in order of application. */
export function givenTaxes({ rates }: PurchaseTaxes): NewInvoiceTax[] {
  return rates.map(({ id, percentage, taxBehavior }, priority) => ({
    rateId: id,
    code: null,
    percentage,
    taxBehavior,
    priority,
    currency: null,
    field: 'wallet_topup_config.tax',
  }));
}

/** Amount to pay for credits of a price: with the tax that is added to it. */
export function withTax(price: Decimal, { exempt, rates }: PurchaseTaxes, currency: string): Decimal {
  const amount = roundToCurrency(price, currency);
  return amount.plus(computeTaxes(amount, rates, exempt, currency).exclusive);
}

/**
 * Marks a purchase whose invoice bears tax: what it pays is not taxed again. One that bears none is taxed at its use, so that nothing is
 * taxed twice, and nothing never. A bonus costs nothing, bears no tax and stays as it is. design: money-in-wallets finding 6
 */
export async function markTaxed(
  sql: Sql,
  { environmentId }: Pick<Scope, 'environmentId'>,
  purchase: { id: string; invoiceId: string },
): Promise<void> {
  await sql.rows(
    `update wallet_transaction t set is_taxed = true from invoice i
     where t.environment_id = $1 and t.id = $2 and i.environment_id = $1 and i.id = $3 and i.no_tax_reason is null`,
    [environmentId, purchase.id, purchase.invoiceId],
  );
}
