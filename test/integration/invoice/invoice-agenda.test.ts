import { expect, it } from 'vitest';
import { inSqlTransaction, type SqlTransaction } from '../../../db/transaction.ts';
import { notePayment } from '../../../services/invoice/issue/invoice-payment-by-hand.ts';
import { attendInvoice } from '../../../services/invoice/read/invoice-snapshot.ts';
import { invoiceWorkflowId } from '../../../workflows/invoice/invoice.messages.ts';
import { rowChanged } from '../../../workflows/lifecycle.messages.ts';
import { testPlatform } from '../../support/billing.ts';
import { locksAreAwaited } from '../../support/locks/awaited-locks.ts';
import { invoiceEdits } from './invoice-edit.fixture.ts';

const { api, base, temporal } = await testPlatform();
const { scope } = base;
const inScope = <T>(work: (tx: SqlTransaction) => Promise<T>) => inSqlTransaction(base.database, scope, work);
const agendaOf = (id: string) =>
  inScope((tx) => tx.rows('select kind from agenda_entry where object_id = $1 order by kind', [id]));

it('a payment that is noted while another transaction writes the agenda leaves nothing due', async () => {
  const { id } = await invoiceEdits(api).oneOff({ due_date: '2026-03-01T00:00:00Z' });
  expect(await agendaOf(id)).toContainEqual({ kind: 'noteOverdue' });
  let handedOver: Promise<'done'> | undefined;
  await inScope(async (tx) => {
    await notePayment(tx, scope, {
      invoiceId: id,
      at: '2026-02-01T00:00:00Z',
      paymentStatus: 'SUCCEEDED',
      amount: null,
    });
    // The subscription that hands its invoice over does so while this is not committed.
    handedOver = inScope((other) => attendInvoice(other, scope, id)).then(() => 'done');
    await Promise.race([handedOver, locksAreAwaited(base)]);
  });
  await handedOver;
  expect(await agendaOf(id)).toEqual([]);
  await temporal.client.workflow.getHandle(invoiceWorkflowId(id)).signal(rowChanged);
});
