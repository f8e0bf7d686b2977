import type { FastifyRequest } from 'fastify';
import { customerNow } from '../../db/clock.ts';
import type { Transaction } from '../../db/transaction.ts';
import { draftTopupCheckout } from '../../services/payment/checkout/checkout-draft.ts';
import type { CheckoutOwner } from '../../services/payment/checkout/checkout-owner.ts';
import { findCheckout } from '../../services/payment/checkout/checkout-read.ts';
import { refuseBesideAutomatic } from '../../services/topup/auto-topup-switch.ts';
import type { UsageReader } from '../../services/usage-reader.ts';
import type { buyCredits } from '../../services/wallet/invoiced-topup.ts';
import { findWallet } from '../../services/wallet/wallet.ts';
import type { TopupRequest } from '../../services/wallet/wallet-topup.ts';
import { findWalletTransaction } from '../../services/wallet/wallet-transaction.ts';
import { tellOrStart } from '../lifecycle.ts';
import type { CheckoutInput } from '../payment/checkout.schema.ts';
import { checkoutRequestOf, openAtProvider, viewOpened } from '../payment/checkout-workflow.ts';
import { viewWallet } from './wallet.schema.ts';
import { viewWalletTransaction } from './wallet-transaction.schema.ts';

/** Credits that were bought with an invoice. */
export type BoughtCredits = Awaited<ReturnType<typeof buyCredits>>;

/** A purchase that its checkout session pays: the credits come with the money. spec: wallets-and-payments §2.6, §2.17 */
export async function topUpByCheckout(
  request: FastifyRequest,
  topup: TopupRequest,
  body: { checkout?: CheckoutInput | null | undefined },
  readUsage: UsageReader,
) {
  const { checkout, ...configuration } = body;
  const session = await checkoutRequestOf(request, checkout!);
  const owner = await request.transaction(async (tx) => {
    await refuseBesideAutomatic(tx, tx.scope, topup.walletId);
    const owner = await walletOwner(tx, topup.walletId);
    const input = { topup, configuration: { wallet_id: topup.walletId, ...configuration }, owner };
    await draftTopupCheckout(tx, session, input, readUsage);
    return owner;
  });
  await openAtProvider(request, session.sessionId, owner);
  return viewOpenTopup(request, topup.walletId, session.sessionId);
}

/** A top-up whose page is open already, as the request that opened it was answered. */
export async function viewOpenTopup(request: FastifyRequest, walletId: string, sessionId: string) {
  return request.transaction(async (tx) => {
    const { purchaseId, checkoutInvoiceId } = await findCheckout(tx, sessionId);
    const made = { transactionId: purchaseId ?? '', invoiceId: checkoutInvoiceId ?? null };
    return { ...(await viewTopup(tx, walletId, made)), checkout_session: await viewOpened(request, tx, sessionId) };
  });
}

/** A top-up as it is answered where no page pays it. */
export async function viewTopup(
  tx: Transaction,
  walletId: string,
  made: { transactionId: string; invoiceId: string | null },
) {
  return {
    wallet_transaction: viewWalletTransaction(await findWalletTransaction(tx, made.transactionId)),
    invoice_id: made.invoiceId,
    wallet: viewWallet(await findWallet(tx, walletId)),
    checkout_session: null,
  };
}

/** After the commit: the invoice of a purchase is collected. */
export async function followPurchase(
  request: Parameters<typeof tellOrStart>[0],
  bought: BoughtCredits | null,
): Promise<void> {
  if (bought?.invoiceWaits) await tellOrStart(request, { kind: 'invoice', id: bought.invoiceId, ...bought });
}

/** Whose a wallet is, and what time it is for them. Throws `not_found`. */
async function walletOwner(tx: Transaction, walletId: string): Promise<CheckoutOwner> {
  const { customerId } = await findWallet(tx, walletId);
  const [customer] = await tx.rows<{ test_clock_id: string | null }>(
    'select test_clock_id from customer where id = $1',
    [customerId],
  );
  return { customerId, testClockId: customer?.test_clock_id ?? null, at: await customerNow(tx, customerId) };
}
