import type { InvariantId } from '../../../db/check/invariant.ts';
import { Invoice } from '../../../db/entities/invoice/invoice.ts';
import { InvoiceLineItem } from '../../../db/entities/invoice/invoice-line-item.ts';
import { newId } from '../../../db/id.ts';
import { newRecord } from '../../../db/rows/record.ts';
import { inTransaction } from '../../../db/transaction.ts';
import { type SandboxBehaviour, sandboxCardNumber } from '../../../integrations/sandbox-gateway/card.ts';
import type { SandboxGateway } from '../../../integrations/sandbox-gateway/gateway.ts';
import { invoiceEvents } from '../../../services/collection/invoice-event.ts';
import { createCustomer } from '../../../services/customer/customer.ts';
import { savePaymentMethod } from '../../../services/payment/payment-method.ts';
import { writeAudit } from '../../../services/platform/audit.ts';
import { writeEvents } from '../../../services/platform/outbox.ts';
import { type TestApp, testApp } from '../../support/app.ts';
import { type TestDatabase, testDatabase } from '../../support/database.ts';
import { type TestTemporal, testTemporal } from '../../support/temporal.ts';
import { startWorkers } from '../../support/worker.ts';

/** A customer with a finalized invoice of `amountDue` usd, and a saved card when a behaviour is given. */
export async function invoiceToPay(
  base: TestDatabase,
  options: {
    amountDue: string;
    gateway?: SandboxGateway;
    card?: SandboxBehaviour;
    count?: number;
    testClockId?: string;
    invoiceStatus?: 'DRAFT' | 'FINALIZED' | 'VOIDED';
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
    const invoiceStatus = options.invoiceStatus ?? 'FINALIZED';
    const issuedAt = '2026-01-01T00:00:00.000Z';
    tx.em.create(Invoice, {
      ...record,
      customerId: customer.id,
      idempotencyKey: record.id,
      invoiceType: 'ONE_OFF',
      invoiceStatus,
      paymentStatus: 'PENDING',
      billingReason: 'MANUAL',
      invoiceNumber: invoiceStatus === 'DRAFT' ? null : `N-${record.id}`,
      finalizedAt: invoiceStatus === 'DRAFT' ? null : issuedAt,
      voidedAt: invoiceStatus === 'VOIDED' ? issuedAt : null,
      collectionMethod: 'charge_automatically',
      currency: 'usd',
      subtotal: options.amountDue,
      total: options.amountDue,
      amountDue: options.amountDue,
      amountRemaining: options.amountDue,
      noTaxReason: 'no_tax_rates',
      metadata: {},
      testClockId,
    });
    tx.em.create(InvoiceLineItem, {
      ...newRecord(tx, 'inv_line'),
      invoiceId: record.id,
      metadata: {},
      position: 0,
      customerId: customer.id,
      displayName: 'Work',
      amount: options.amountDue,
      quantity: '1',
      currency: 'usd',
    });
    await tx.em.flush();
    const names = (
      {
        DRAFT: ['invoice.update'],
        FINALIZED: ['invoice.update', 'invoice.update.finalized'],
        VOIDED: ['invoice.update', 'invoice.update.finalized', 'invoice.update.voided'],
      } as const
    )[invoiceStatus];
    await writeEvents(tx, tx.scope, invoiceEvents(names, record.id, issuedAt));
    await writeAudit(tx, tx.scope, [
      { objectType: 'invoice', objectId: record.id, action: 'created', version: 1, occurredAt: issuedAt },
    ]);
    return { customerId: customer.id, invoiceId: record.id, paymentMethodId: method?.id ?? null };
  });
}

/** A whole platform whose invoices are made by hand, so that they lack the digest a finalization leaves in the audit. */
export async function paymentPlatform(
  breaks: readonly InvariantId[] = [],
): Promise<TestApp & { base: TestDatabase; temporal: TestTemporal }> {
  const base = await testDatabase({ breaks: ['I19', ...breaks] });
  const temporal = await testTemporal();
  const app = await testApp(base, temporal);
  await startWorkers(base, temporal, app);
  return { ...app, base, temporal };
}
