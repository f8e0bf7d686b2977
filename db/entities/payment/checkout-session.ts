import { defineEntity, p } from '@mikro-orm/core';
import type { PlannedChange } from '../../../billing/subscription/planned-change.ts';
import { instant, metadata, numeric, recordColumns } from '../../rows/columns.ts';

const isActive = (c: Record<string, unknown>) =>
  `${c.checkoutStatus} in ('initiated', 'pending') and ${c.status} = 'published'`;

/** At most one active session for each value of a column. */
const oneActive = (name: string, property: string, isOptional = true) => ({
  name: `checkout_session_${name}_unique`,
  expression: (c: Record<string, unknown>, t: { toString(): string }, n: string) =>
    `create unique index "${n}" on ${t} (${c.environmentId}, ${c[property]}) where ${isActive(c)}${isOptional ? ` and ${c[property]} is not null` : ''}`,
});

/** Money that a payer is asked for on a page, and what becomes of it when it comes or does not. spec: wallets-and-payments §1.4, §2.17 */
const schema = defineEntity({
  name: 'CheckoutSession',
  tableName: 'checkout_session',
  properties: {
    ...recordColumns,
    idempotencyKey: p.text(),
    /** SHA-256 of the token of its page. */
    tokenHash: p.text(),
    /** The token itself, until its provider was told the address of the page. */
    pageToken: p.text().nullable(),
    /** Origin under which the caller reached this installation. */
    baseUrl: p.text(),
    customerId: p.text(),
    action: p.text(),
    checkoutStatus: p.text().default('initiated'),
    configuration: p.json<Record<string, unknown>>().defaultRaw(`'{}'`),
    paymentProvider: p.text(),
    providerConfig: p.json<Record<string, string>>().defaultRaw(`'{}'`),
    amount: numeric(),
    currency: p.text(),
    checkoutInvoiceId: p.text().nullable(),
    checkoutPaymentId: p.text().nullable(),
    /** The connection of one that saves a method; that of others is their payment's. */
    connectionId: p.text().nullable(),
    walletId: p.text().nullable(),
    subscriptionId: p.text().nullable(),
    /** The purchase of credits that it pays. */
    purchaseId: p.text().nullable(),
    /** The change of its subscription that it pays, written down already. */
    planned: p.json<PlannedChange>().nullable(),
    providerSessionId: p.text().nullable(),
    /** Provider's tokens of cards that a payer's browser had it keep on our page, the first first. */
    methodTokens: p.array().defaultRaw(`'{}'`),
    /** A card that was to be saved was declined; declines of payments are attempts of those. */
    methodDeclined: p.boolean().default(false),
    /** Address of the provider's page; null where the link is our own. */
    providerUrl: p.text().nullable(),
    providerExpiresAt: instant().nullable(),
    /** `none` before it is opened, `open` while it may be payable, `dead` when it is known not to be. */
    linkState: p.text().default('none'),
    result: p.json<Record<string, unknown>>().nullable(),
    successUrl: p.text().nullable(),
    failureUrl: p.text().nullable(),
    cancelUrl: p.text().nullable(),
    /** Code of why it ended unpaid, or why a paid one is not carried out yet; the message is for people. */
    failureReason: p.text().nullable(),
    failureMessage: p.text().nullable(),
    /** Instant of its creation on the customer's clock. */
    openedAt: instant(),
    expiresAt: instant(),
    /** When the provider was last asked, and when it last answered. */
    askedAt: instant().nullable(),
    answeredAt: instant().nullable(),
    /** Instant at which a paid session could not be carried out for the first time. */
    completionFailedAt: instant().nullable(),
    endedAt: instant().nullable(),
    completedAt: instant().nullable(),
    cancelledAt: instant().nullable(),
    metadata: metadata(),
    testClockId: p.text().nullable(),
    version: p.integer().default(1),
  },
  uniques: [
    oneActive('key', 'idempotencyKey', false),
    oneActive('wallet', 'walletId'),
    oneActive('subscription', 'subscriptionId'),
    oneActive('invoice', 'checkoutInvoiceId'),
    { name: 'checkout_session_token_hash_unique', properties: ['tokenHash'] },
  ],
  indexes: [
    { properties: ['environmentId', 'createdAt', 'id'] },
    { properties: ['environmentId', 'customerId'] },
    { properties: ['environmentId', 'checkoutInvoiceId'] },
    {
      name: 'checkout_session_provider_session_index',
      expression: (columns, table, name) =>
        `create index "${name}" on ${table} (${columns.environmentId}, ${columns.paymentProvider}, ${columns.providerSessionId}) where ${columns.providerSessionId} is not null`,
    },
  ],
});
export class CheckoutSession extends schema.class {}
schema.setClass(CheckoutSession);
