import { Invoice } from '../../db/entities/invoice.ts';
import { newId } from '../../db/id.ts';
import { newRecord } from '../../db/record.ts';
import { createCustomer } from '../../db/stores/customer.ts';
import { savePaymentMethod } from '../../db/stores/payment-method.ts';
import { inTransaction } from '../../db/transaction.ts';
import { type SandboxBehaviour, sandboxCardNumber } from '../../integrations/sandbox-gateway/card.ts';
import type { SandboxGateway } from '../../integrations/sandbox-gateway/gateway.ts';
import type { TestDatabase } from '../support/database.ts';

/** A customer with a finalized invoice of `amountDue` usd, and a saved card when a behaviour is given. */
export async function invoiceToPay(
  base: TestDatabase,
  options: {
    amountDue: string;
    gateway?: SandboxGateway;
    card?: SandboxBehaviour;
    count?: number;
    testClockId?: string;
    invoiceStatus?: string;
  },
): Promise<{ customerId: string; invoiceId: string; paymentMethodId: string | null }> {
  const card =
    options.gateway && options.card
      ? await options.gateway.savePaymentMethod({ cardNumber: sandboxCardNumber(options.card, options.count) })
      : null;
  return inTransaction(base.database, base.scope, async (tx) => {
    const testClockId = options.testClockId ?? null;
    const customer = await createCustomer(tx, { externalId: newId('ext'), name: 'Payer', testClockId });
    const method = card
      ? await savePaymentMethod(tx, {
          customerId: customer.id,
          gateway: 'sandbox',
          gatewayToken: card.token,
          brand: card.brand,
          lastFour: card.lastFour,
          setDefault: false,
          metadata: {},
        })
      : null;
    const record = newRecord(tx, 'inv');
    tx.em.create(Invoice, {
      ...record,
      customerId: customer.id,
      idempotencyKey: record.id,
      invoiceType: 'ONE_OFF',
      invoiceStatus: options.invoiceStatus ?? 'FINALIZED',
      paymentStatus: 'PENDING',
      billingReason: 'MANUAL',
      invoiceNumber: `N-${record.id}`,
      collectionMethod: 'charge_automatically',
      currency: 'usd',
      subtotal: options.amountDue,
      total: options.amountDue,
      amountDue: options.amountDue,
      amountRemaining: options.amountDue,
      testClockId,
    });
    await tx.em.flush();
    return { customerId: customer.id, invoiceId: record.id, paymentMethodId: method?.id ?? null };
  });
}
