import { currencyPrecision, decimal, decimalString } from '../../billing/money/money.ts';
import { refuse } from '../../billing/refusal.ts';
import { newId } from '../../db/id.ts';
import { badField } from '../../db/rows/record.ts';
import type { Transaction } from '../../db/transaction.ts';
import { chargeableMethod } from '../collection/payment.ts';
import { insertOpened } from '../collection/payment-insert.ts';
import { type TopupRequest, topUpWallet } from './wallet-topup.ts';

/** A purchase of credits and the payment that is to be charged for it; decimals as strings. */
export interface ChargedPurchase {
  transactionId: string;
  /** PROCESSING: ask its gateway, and record what it says. */
  paymentId: string;
  amount: string;
  currency: string;
  customerId: string;
  testClockId: string | null;
  /** The customer's present. */
  at: string;
}

/**
 * Opens a purchase of credits that a saved method pays without an invoice, and its payment: both in the caller's transaction, nothing is
 * sent. The credits and their bonus wait until the charge is captured, and fail with it. The key of the request is the key of the
 * purchase and of the payment, and the token that the gateway knows the charge by: the same key is charged once. `paymentMethodId` is
 * the method to charge, null the customer's default. The credits are taxed when they are used, for a charge has no document.
 * Throws what `topUpWallet` throws, `invalid_operation` without a method, and `validation_error` for an amount below the smallest unit
 * of its currency. spec: wallets-and-payments §2.5, README decision 24; design: money-in-wallets findings 6, 21, 22
 */
export async function chargeForCredits(
  tx: Transaction,
  request: TopupRequest & { idempotencyKey: string },
  paymentMethodId: string | null,
): Promise<ChargedPurchase> {
  const { entry, wallet } = await topUpWallet(tx, request, { isPending: true });
  const { customerId, currency, now: at } = wallet;
  const amount = decimal(entry.amount as string).toDecimalPlaces(currencyPrecision(currency));
  if (amount.isZero()) throw badField('credits_to_add', `costs less than the smallest amount of ${currency}`);
  const method = await chargeableMethod(tx, customerId, paymentMethodId);
  if (!method) throw refuse('invalid_operation', `customer ${customerId} has no payment method that can be charged`);
  const [customer] = await tx.rows<{ test_clock_id: string | null }>(
    'select test_clock_id from customer where environment_id = $1 and id = $2',
    [tx.scope.environmentId, customerId],
  );
  const testClockId = customer?.test_clock_id ?? null;
  const paymentId = newId('pay');
  const payment = {
    id: paymentId,
    idempotencyKey: request.idempotencyKey,
    intentToken: request.idempotencyKey,
    destination: { type: 'CUSTOMER', id: customerId, customerId, currency, testClockId, purchaseId: entry.id } as const,
    paymentMethodType: 'CARD',
    paymentMethodId: method.id,
    paymentGateway: method.gateway,
    amount: decimalString(amount),
    paymentStatus: 'PROCESSING' as const,
    attended: false,
    isChargedAlready: false,
    metadata: { ...request.metadata, wallet_id: wallet.id, wallet_transaction_id: entry.id },
  };
  await insertOpened(tx, [{ payment, at, invoiceNumber: null }]);
  return { transactionId: entry.id, paymentId, amount: payment.amount, currency, customerId, testClockId, at };
}
