import type { FastifyRequest } from 'fastify';
import { listRefunds } from '../db/stores/payment/refund-list.ts';
import { tellOrStart } from './lifecycle.ts';
import { toListQuery } from './list.ts';

/** Has the refunds of an invoice that a change planned sent, after its commit: those that wait for their gateway. */
export async function sendRefundsOf(
  request: FastifyRequest,
  invoice: { id: string; testClockId: string | null; at: string },
): Promise<void> {
  const { rows } = await request.transaction((tx) =>
    listRefunds(tx, toListQuery({ limit: 100 }), { invoiceIds: [invoice.id], statuses: ['PENDING'] }),
  );
  await Promise.all(
    rows.map(({ id, customerId }) => tellOrStart(request, { ...invoice, kind: 'refund', id, customerId })),
  );
}
