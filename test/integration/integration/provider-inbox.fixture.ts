import type { FastifyInstance } from 'fastify';
import { inSqlTransaction, inTransaction } from '../../../db/transaction.ts';
import type { StripeBooks } from '../../../dev/provider-fakes/stripe/books.ts';
import { type SentNotification, signedNotification } from '../../../dev/provider-fakes/stripe/notification.ts';
import { newCustomer, newMethod } from '../../../dev/provider-fakes/stripe/payment.ts';
import { type SandboxBehaviour, sandboxCardNumber } from '../../../integrations/sandbox-gateway/card.ts';
import { savePaymentMethod } from '../../../services/payment/payment-method.ts';
import type { Api } from '../../support/app.ts';
import { created } from '../../support/billing.ts';
import type { TestDatabase } from '../../support/database.ts';
import { checkDocumented } from '../../support/documented.ts';
import { invoiceToPay } from '../payment/payment.fixture.ts';

/** A row of the inbox as far as tests look at it. */
export interface InboxRow {
  provider_event_id: string;
  event_type: string;
  outcome: string | null;
  object_type: string | null;
  object_id: string | null;
  attempt: number;
  due_at: string | null;
  done_at: string | null;
  [column: string]: unknown;
}

export interface StripeWorld {
  app: FastifyInstance;
  api: Api;
  base: TestDatabase;
  books: StripeBooks;
  secretKey: string;
}

type Wire = Record<string, never> & { id: string };

/** Connects Stripe with a webhook secret. */
export function connectStripe({ api, secretKey }: StripeWorld, webhook_secret: string | null = 'whsec_1') {
  return created<Wire>(api, '/connections', {
    name: 'Stripe',
    provider_type: 'stripe',
    encrypted_secret_data: { publishable_key: 'pk_test_1', secret_key: secretKey, webhook_secret },
  });
}

/** Sends a notification as it is to the address of an environment, this one unless another is named. */
export async function post(
  { app, base }: Pick<StripeWorld, 'app' | 'base'>,
  { headers, body }: { headers: Record<string, string | string[]>; body: string | Buffer },
  { tenantId, environmentId }: { tenantId: string; environmentId: string } = base.scope,
) {
  const url = `/v1/webhooks/stripe/${tenantId}/${environmentId}`;
  const { statusCode: status, ...answer } = await app.inject({ method: 'POST', url, headers, payload: body });
  checkDocumented('POST', url, status, null, null);
  return { status, body: answer.json() as Record<string, unknown> };
}

/** Sends an event of Stripe, signed. */
export const notify = (world: Pick<StripeWorld, 'app' | 'base'>, event: object | string, secret = 'whsec_1') =>
  post(world, sent(event, secret));

function sent(event: object | string, secret: string): SentNotification & { headers: Record<string, string> } {
  const { headers, body } = signedNotification(event, secret);
  return { headers: { ...headers }, body };
}

/** The inbox of the environment, in the order of arrival. */
export function inbox({ base }: Pick<StripeWorld, 'base'>): Promise<InboxRow[]> {
  return inSqlTransaction(base.database, base.scope, (tx) =>
    tx.rows<InboxRow>('select * from inbound_event order by received_at, id'),
  );
}

export async function inboxOf(world: Pick<StripeWorld, 'base'>, eventId: string): Promise<InboxRow | undefined> {
  return (await inbox(world)).find(({ provider_event_id }) => provider_event_id === eventId);
}

/** The last event that the account told of a type. */
export function lastEvent(books: StripeBooks, type: string) {
  const event = [...books.events.values()].findLast((each) => each.type === type);
  if (!event) throw new Error(`the account told of no ${type}`);
  return event;
}

/** A customer with an invoice of 12.5 usd and a card that Stripe keeps, as its page leaves it behind. */
export async function stripePayer(
  { base, books }: StripeWorld,
  behaviour: SandboxBehaviour,
  { testClockId, times = 0 }: { testClockId?: string; times?: number } = {},
) {
  const { customerId, invoiceId } = await invoiceToPay(base, {
    amountDue: '12.5',
    ...(testClockId === undefined ? {} : { testClockId }),
  });
  const customerToken = newCustomer(books);
  const { id: gatewayToken, card } = newMethod(books, sandboxCardNumber(behaviour, times), customerToken);
  const method = await inTransaction(base.database, base.scope, (tx) =>
    savePaymentMethod(tx, {
      customerId,
      gateway: 'stripe',
      gatewayToken,
      customerToken,
      brand: card.brand,
      lastFour: card.last4,
      setDefault: true,
      metadata: {},
    }),
  );
  return { customerId, invoiceId, methodId: method.id };
}

/** Pays the invoice of a payer, and answers the payment with the id of its intent. */
export async function payInvoice(world: StripeWorld, { invoiceId }: { invoiceId: string }) {
  const { id } = await created<Wire>(world.api, '/payments', {
    destination_type: 'INVOICE',
    destination_id: invoiceId,
    payment_method_type: 'CARD',
    amount: '12.5',
    currency: 'usd',
  });
  const [row] = await inSqlTransaction(world.base.database, world.base.scope, (tx) =>
    tx.rows<{ provider_object_id: string }>('select provider_object_id from payment where id = $1', [id]),
  );
  return { id, intentId: String(row?.provider_object_id) };
}
