import type { FastifyRequest } from 'fastify';
import { listRefunds } from '../../services/refund/refund-list.ts';
import { tellOrStart } from '../lifecycle.ts';
import { toListQuery } from '../list.ts';

/** Has the refunds of an invoice, or of a payment without one, that a change planned sent after its commit: those that wait for their gateway. */
export async function sendRefundsOf(
  request: FastifyRequest,
  source: { id: string; testClockId: string | null; at: string },
  kind: 'invoice' | 'payment' = 'invoice',
): Promise<void> {
  const of = kind === 'invoice' ? { invoiceIds: [source.id] } : { paymentIds: [source.id] };
  const { rows } = await request.transaction((tx) =>
    listRefunds(tx, toListQuery({ limit: 100 }), { ...of, statuses: ['PENDING'] }),
  );
  await Promise.all(
    rows.map(({ id, customerId }) => tellOrStart(request, { ...source, kind: 'refund', id, customerId })),
  );
}
