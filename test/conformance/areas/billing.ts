import { expect } from 'vitest';
import { sandboxCardNumber } from '../../../integrations/sandbox-gateway/card.ts';
import { advanceClock } from '../../support/clock.ts';
import { type AreaCalls, type Conversation, present } from '../conversation.ts';

/** Subscriptions, invoices and payments of the customer on the test clock, over two months of its time. */
export function billingCalls(talk: Conversation): Record<string, AreaCalls> {
  return { subscriptions: subscriptionCalls(talk), invoices: invoiceCalls(talk), payments: paymentCalls(talk) };
}

function subscriptionCalls({ client, made }: Conversation): AreaCalls {
  let cancelledId = '';
  let associationId = '';
  const terms = () =>
    ({
      customerId: made.customerId,
      planId: made.planId,
      currency: 'usd',
      billingCadence: 'RECURRING',
      billingPeriod: 'MONTHLY',
      billingCycle: 'anniversary',
      startDate: '2026-01-01T00:00:00Z',
    }) as const;
  return {
    async createSubscription() {
      const subscription = await client.subscriptions.createSubscription({
        ...terms(),
        collectionMethod: 'send_invoice',
        metadata: { seat: '1' },
      });
      expect(subscription).toMatchObject({
        customerId: made.customerId,
        planId: made.planId,
        currency: 'usd',
        subscriptionStatus: 'active',
        currentPeriodStart: '2026-01-01T00:00:00.000Z',
        currentPeriodEnd: '2026-02-01T00:00:00.000Z',
        metadata: { seat: '1' },
      });
      made.subscriptionId = present(subscription.id);
      const other = await client.subscriptions.createSubscription({ ...terms(), collectionMethod: 'send_invoice' });
      cancelledId = present(other.id);
    },
    async getSubscription() {
      const read = await client.subscriptions.getSubscription(made.subscriptionId);
      expect(read).toMatchObject({ id: made.subscriptionId, plan: { id: made.planId } });
      expect(read.lineItems).toHaveLength(2);
    },
    async getSubscriptionV2() {
      const read = await client.subscriptions.getSubscriptionV2(made.subscriptionId);
      expect(read).toMatchObject({ id: made.subscriptionId, currency: 'usd' });
    },
    async querySubscription() {
      const found = await client.subscriptions.querySubscription({
        customerId: made.customerId,
        subscriptionStatus: ['active'],
        billingCadence: ['RECURRING'],
      });
      expect(present(found.items).map(({ id }) => id)).toContain(made.subscriptionId);
      expect(found.pagination).toMatchObject({ total: 2 });
    },
    async updateSubscription() {
      const updated = await client.subscriptions.updateSubscription(made.subscriptionId, {});
      expect(updated).toMatchObject({ id: made.subscriptionId, metadata: { seat: '1' } });
    },
    async addSubscriptionAddon() {
      const attached = await client.subscriptions.addSubscriptionAddon({
        subscriptionId: cancelledId,
        addonId: made.addonId,
        metadata: { by: 'sales', seats: 5 },
      });
      expect(attached).toMatchObject({ addonId: made.addonId, addonStatus: 'active', metadata: { seats: 5 } });
      associationId = present(attached.id);
    },
    async getSubscriptionAddonAssociations() {
      const associations = await client.subscriptions.getSubscriptionAddonAssociations(cancelledId);
      expect(associations).toMatchObject([{ id: associationId, addon: { id: made.addonId } }]);
    },
    async removeSubscriptionAddon() {
      await client.subscriptions.removeSubscriptionAddon({ addonAssociationId: associationId, reason: 'moves away' });
      const [left] = await client.subscriptions.getSubscriptionAddonAssociations(cancelledId);
      expect(left).toMatchObject({ id: associationId, endDate: expect.any(String) });
    },
    async cancelSubscription() {
      const cancelled = await client.subscriptions.cancelSubscription(cancelledId, {
        cancellationType: 'end_of_period',
        reason: 'moved away',
      });
      expect(cancelled).toMatchObject({
        subscriptionId: cancelledId,
        cancellationType: 'end_of_period',
        effectiveDate: '2026-02-01T00:00:00.000Z',
        reason: 'moved away',
      });
    },
  };
}

function invoiceCalls(talk: Conversation): AreaCalls {
  const { client, api, made } = talk;
  let draftId = '';
  return {
    async getInvoicePreview() {
      await advanceClock(api, made.clockId, '2026-01-20T00:00:00Z');
      const preview = await client.invoices.getInvoicePreview({ subscriptionId: made.subscriptionId });
      // 220.5 used, 50 included: 100 at 0.02, 70.5 at 0.01 and 1 for the tier; the fee of the next month comes with it.
      expect(preview).toMatchObject({ subscriptionId: made.subscriptionId, currency: 'usd', total: '33.61' });
    },
    async queryInvoice() {
      const found = await client.invoices.queryInvoice({ subscriptionId: made.subscriptionId });
      expect(found).toMatchObject({
        items: [{ billingReason: 'SUBSCRIPTION_CREATE', invoiceStatus: 'FINALIZED', total: '29.9' }],
        pagination: { total: 1 },
      });
      made.invoiceId = present(found.items?.[0]?.id);
    },
    async getInvoice() {
      const invoice = await client.invoices.getInvoice(made.invoiceId);
      expect(invoice).toMatchObject({ id: made.invoiceId, amountDue: '29.9', paymentStatus: 'PENDING' });
      expect(present(invoice.lineItems)).toMatchObject([{ amount: '29.9', quantity: '1' }]);
    },
    async updateInvoice() {
      const updated = await client.invoices.updateInvoice(made.invoiceId, { metadata: { order: '7' } });
      expect(updated).toMatchObject({ id: made.invoiceId, metadata: { order: '7' } });
    },
    async getCustomerInvoiceSummary() {
      const summary = await client.invoices.getCustomerInvoiceSummary(made.customerId);
      expect(summary).toMatchObject({ customerId: made.customerId, summaries: [{ currency: 'usd' }] });
    },
    async finalizeInvoice() {
      await advanceClock(api, made.clockId, '2026-02-01T01:00:00Z');
      const drafts = await client.invoices.queryInvoice({
        subscriptionId: made.subscriptionId,
        invoiceStatus: ['DRAFT'],
      });
      draftId = present(drafts.items?.[0]?.id);
      await client.invoices.finalizeInvoice(draftId);
      const invoice = await client.invoices.getInvoice(draftId);
      expect(invoice).toMatchObject({ invoiceStatus: 'FINALIZED', total: '33.61', invoiceNumber: expect.any(String) });
    },
    async attemptInvoicePayment() {
      await api('POST', `/customers/${made.customerId}/payment-methods`, {
        gateway: 'sandbox',
        card_number: sandboxCardNumber('succeeds'),
        set_default: true,
      });
      await client.invoices.attemptInvoicePayment(draftId);
      expect(await client.invoices.getInvoice(draftId)).toMatchObject({
        paymentStatus: 'SUCCEEDED',
        amountPaid: '33.61',
        amountRemaining: '0',
      });
    },
    async getInvoicePdf() {
      const document = await client.invoices.getInvoicePdf(made.invoiceId);
      expect(await new Response(document as ReadableStream).text()).toMatch(/^%PDF-/);
    },
    async voidInvoice() {
      const others = await client.invoices.queryInvoice({
        customerId: made.customerId,
        paymentStatus: ['PENDING'],
        invoiceStatus: ['FINALIZED'],
      });
      const other = present(others.items).find((invoice) => invoice.subscriptionId !== made.subscriptionId);
      await client.invoices.voidInvoice(present(other?.id));
      expect(await client.invoices.getInvoice(present(other?.id))).toMatchObject({ invoiceStatus: 'VOIDED' });
    },
    ...oneOffCalls(talk),
  };
}

/** An invoice made by hand, and what is done to it and to the one that was finalized. */
function oneOffCalls({ client, made }: Conversation): AreaCalls {
  let oneOffId = '';
  return {
    async createInvoice() {
      const invoice = await client.invoices.createInvoice({
        customerId: made.customerId,
        currency: 'usd',
        subtotal: '40',
        total: '40',
        amountDue: '40',
        idempotencyKey: 'conformance-one-off',
        lineItems: [{ displayName: 'Onboarding', amount: '40', quantity: '1' }],
      });
      expect(invoice).toMatchObject({ invoiceType: 'ONE_OFF', invoiceStatus: 'FINALIZED', amountDue: '40' });
      expect(present(invoice.lineItems)).toMatchObject([{ displayName: 'Onboarding', amount: '40' }]);
      oneOffId = present(invoice.id);
    },
    async triggerInvoiceCommsWebhook() {
      await client.invoices.triggerInvoiceCommsWebhook(oneOffId);
    },
    async updateInvoicePaymentStatus() {
      // Nobody who has a card: that would be charged at once.
      const payer = await client.customers.createCustomer({ externalId: 'pays-by-hand', name: 'Pays by hand' });
      const other = await client.invoices.createInvoice({
        customerId: present(payer.id),
        currency: 'usd',
        subtotal: '7',
        total: '7',
        amountDue: '7',
      });
      const paid = await client.invoices.updateInvoicePaymentStatus(present(other.id), { paymentStatus: 'SUCCEEDED' });
      expect(paid).toMatchObject({ paymentStatus: 'SUCCEEDED', amountPaid: '7', amountRemaining: '0' });
    },
    async recalculateInvoice() {
      const voided = await client.invoices.queryInvoice({ customerId: made.customerId, invoiceStatus: ['VOIDED'] });
      const draft = await client.invoices.recalculateInvoice(present(voided.items?.[0]?.id));
      expect(draft).toMatchObject({ invoiceStatus: 'DRAFT', total: '29.9' });
    },
  };
}

function paymentCalls({ client, made }: Conversation): AreaCalls {
  let paymentId = '';
  const offline = (amount: string, processPayment: boolean) =>
    client.payments.createPayment({
      destinationType: 'INVOICE',
      destinationId: made.invoiceId,
      paymentMethodType: 'OFFLINE',
      amount,
      currency: 'usd',
      processPayment,
      metadata: { bank: 'transfer' },
    });
  return {
    async createPayment() {
      const payment = await offline('10.00', false);
      expect(payment).toMatchObject({
        destinationId: made.invoiceId,
        amount: '10',
        currency: 'usd',
        paymentMethodType: 'OFFLINE',
        metadata: { bank: 'transfer' },
      });
      paymentId = present(payment.id);
    },
    async getPayment() {
      expect(await client.payments.getPayment(paymentId)).toMatchObject({ id: paymentId, paymentStatus: 'PENDING' });
    },
    async listPayments() {
      const page = await client.payments.listPayments({ destinationId: made.invoiceId });
      expect(page).toMatchObject({ items: [{ id: paymentId }], pagination: { total: 1 } });
    },
    async updatePayment() {
      const updated = await client.payments.updatePayment(paymentId, { metadata: { bank: 'cheque' } });
      expect(updated).toMatchObject({ id: paymentId, metadata: { bank: 'cheque' } });
    },
    async processPayment() {
      const processed = await client.payments.processPayment(paymentId);
      expect(processed).toMatchObject({ id: paymentId, paymentStatus: 'SUCCEEDED', amount: '10' });
      expect(await client.invoices.getInvoice(made.invoiceId)).toMatchObject({ amountRemaining: '19.9' });
    },
    async deletePayment() {
      const initiated = await client.payments.createPayment({
        destinationType: 'INVOICE',
        destinationId: made.invoiceId,
        paymentMethodType: 'CARD',
        amount: '5',
        currency: 'usd',
        processPayment: false,
      });
      await client.payments.deletePayment(present(initiated.id));
      const page = await client.payments.listPayments({ destinationId: made.invoiceId });
      expect(page.pagination).toMatchObject({ total: 1 });
    },
  };
}
