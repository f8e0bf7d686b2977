import { refuse } from '../../billing/refusal.ts';
import { customerNow } from '../../db/clock.ts';
import { PaymentMethod } from '../../db/entities/payment/payment-method.ts';
import { badField, missing, newRecord, touch } from '../../db/rows/record.ts';
import type { Transaction } from '../../db/transaction.ts';
import { publishedConnectionId } from '../integration/connection.ts';
import { writeAudit } from '../platform/audit.ts';

/** A saved way to pay as its gateway handed it over. */
export interface NewPaymentMethod {
  customerId: string;
  gateway: string;
  gatewayToken: string;
  /** The gateway's own customer that the method belongs to; absent where it needs none. */
  customerToken?: string | null;
  brand: string;
  lastFour: string;
  /** Most that its mandate lets be charged at once without the payer, as a decimal; absent for no limit. */
  maxAmount?: string | null;
  setDefault: boolean;
  metadata: Record<string, string>;
}

/** Throws `not_found` unless the customer exists and is not archived, and keeps its methods from changing meanwhile. */
export async function lockCustomer(tx: Transaction, customerId: string): Promise<void> {
  const [customer] = await tx.rows(
    `select id from customer where id = $1 and environment_id = $2 and status = 'published' for update`,
    [customerId, tx.scope.environmentId],
  );
  if (!customer) throw missing('customer', customerId);
}

/** Keeps a saved card. The first method of a customer becomes its default. spec: wallets-and-payments §1.5 */
export async function savePaymentMethod(tx: Transaction, input: NewPaymentMethod): Promise<PaymentMethod> {
  await lockCustomer(tx, input.customerId);
  const others = await listPaymentMethods(tx, input.customerId);
  const isDefault = input.setDefault || !others.some((other) => other.isDefault);
  if (isDefault) for (const other of others.filter((one) => one.isDefault)) setDefault(tx, other, false);
  const method = tx.em.create(PaymentMethod, {
    ...newRecord(tx, 'pm'),
    customerId: input.customerId,
    gateway: input.gateway,
    gatewayToken: input.gatewayToken,
    customerToken: input.customerToken ?? null,
    connectionId: await publishedConnectionId(tx, input.gateway),
    type: 'CARD',
    brand: input.brand,
    lastFour: input.lastFour,
    maxAmount: input.maxAmount ?? null,
    isDefault,
    metadata: input.metadata,
  });
  await tx.em.flush();
  await audit(tx, method, 'created');
  return method;
}

/** The saved methods of a customer, the default first, then the newest. */
export async function listPaymentMethods(tx: Transaction, customerId: string): Promise<PaymentMethod[]> {
  return tx.em.find(
    PaymentMethod,
    { environmentId: tx.scope.environmentId, customerId, status: 'published' },
    { orderBy: { isDefault: 'desc', createdAt: 'desc', id: 'desc' } },
  );
}

/** Narrowing of a list of methods; with a cursor it goes on after that method, or ends before it. */
export interface MethodPage {
  provider?: string | undefined;
  limit: number;
  startingAfter?: string | undefined;
  endingBefore?: string | undefined;
}

/**
 * The methods of a customer by gateway, the newest first, detached ones included. Throws `validation_error` for a cursor that names none of
 * them. spec: wallets-and-payments §1.5; design: money-in-checkout §B22
 */
export async function pageOfMethods(
  tx: Transaction,
  customerId: string,
  { provider, limit, startingAfter, endingBefore }: MethodPage,
): Promise<Map<string, { methods: PaymentMethod[]; hasMore: boolean; total: number }>> {
  const where = { environmentId: tx.scope.environmentId, customerId, ...(provider ? { gateway: provider } : {}) };
  const all = await tx.em.find(PaymentMethod, where, { orderBy: { createdAt: 'desc', id: 'desc' } });
  const placeOf = (field: string, id: string) => {
    const place = all.findIndex((method) => method.id === id);
    if (place < 0) throw badField(field, `names no payment method of customer ${customerId}`);
    return place;
  };
  const from = startingAfter === undefined ? 0 : placeOf('starting_after', startingAfter) + 1;
  const to = endingBefore === undefined ? all.length : placeOf('ending_before', endingBefore);
  const totals = Map.groupBy(all, ({ gateway }) => gateway);
  const inside = Map.groupBy(all.slice(from, to), ({ gateway }) => gateway);
  return new Map(
    [...totals].map(([gateway, { length: total }]) => {
      const found = inside.get(gateway) ?? [];
      const backwards = endingBefore !== undefined && startingAfter === undefined;
      const methods = backwards ? found.slice(-limit) : found.slice(0, limit);
      return [gateway, { methods, hasMore: found.length > methods.length, total }];
    }),
  );
}

/** Makes a method the one that is charged when none is named. Throws `not_found`. */
export async function makeDefaultPaymentMethod(
  tx: Transaction,
  customerId: string,
  id: string,
): Promise<PaymentMethod> {
  await lockCustomer(tx, customerId);
  const methods = await listPaymentMethods(tx, customerId);
  const chosen = methods.find((method) => method.id === id);
  if (!chosen) throw missing('payment method', id, 'payment_method_id');
  for (const method of methods) setDefault(tx, method, method === chosen);
  await tx.em.flush();
  await audit(tx, chosen, 'made default');
  return chosen;
}

/**
 * Archives a method; payments made with it stay. The newest of the others becomes the default if it was. Throws `not_found`, and
 * `invalid_operation` for the default one while a subscription is charged automatically. spec: platform §11; design: money-in-checkout §B6
 */
export async function archivePaymentMethod(tx: Transaction, customerId: string, id: string): Promise<void> {
  await lockCustomer(tx, customerId);
  const methods = await listPaymentMethods(tx, customerId);
  const method = methods.find((one) => one.id === id);
  if (!method) throw missing('payment method', id, 'payment_method_id');
  if (method.isDefault) await refuseInUse(tx, method);
  const next = method.isDefault ? methods.find((one) => one !== method) : undefined;
  method.status = 'archived';
  setDefault(tx, method, false);
  if (next) setDefault(tx, next, true);
  await tx.em.flush();
  await audit(tx, method, 'archived');
}

async function refuseInUse(tx: Transaction, { id, customerId, environmentId }: PaymentMethod): Promise<void> {
  const [subscription] = await tx.rows<{ id: string }>(
    `select id from subscription where environment_id = $1 and invoicing_customer_id = $2 and status = 'published'
       and collection_method = 'charge_automatically' and subscription_status not in ('draft', 'cancelled') order by id limit 1`,
    [environmentId, customerId],
  );
  if (!subscription) return;
  throw refuse(
    'invalid_operation',
    `payment method ${id} is the default, to which subscription ${subscription.id} is charged automatically; make another one the default first`,
    { context: { payment_method_id: id, subscription_id: subscription.id } },
  );
}

function setDefault(tx: Transaction, method: PaymentMethod, isDefault: boolean): void {
  if (method.isDefault === isDefault && method.status === 'published') return;
  method.isDefault = isDefault;
  touch(tx, method);
}

async function audit(tx: Transaction, method: PaymentMethod, action: string): Promise<void> {
  await writeAudit(tx, tx.scope, [
    {
      objectType: 'payment_method',
      objectId: method.id,
      action,
      occurredAt: await customerNow(tx, method.customerId),
      detail: { customer_id: method.customerId, gateway: method.gateway, is_default: method.isDefault },
    },
  ]);
}
