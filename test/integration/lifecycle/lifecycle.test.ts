import { Client, Connection } from '@temporalio/client';
import { expect, it } from 'vitest';
import { tellRunning, updateObject, updateRunning } from '../../../api/lifecycle.ts';
import { refusalIn } from '../../../billing/refusal.ts';
import { finalizeInvoice } from '../../../workflows/invoice/invoice.messages.ts';
import { refreshPayment } from '../../../workflows/payment/payment.messages.ts';
import { testApp } from '../../support/app.ts';
import { testDatabase } from '../../support/database.ts';
import { testTemporal } from '../../support/temporal.ts';

// No worker runs in this file: what is sent waits.
const base = await testDatabase();
const temporal = await testTemporal();
const { api } = await testApp(base);
const sender = { temporal: temporal.client, scope: base.scope };
const invoice = {
  kind: 'invoice',
  id: 'inv_1',
  customerId: 'cust_1',
  testClockId: null,
  at: '2026-01-01T00:00:00.000Z',
} as const;

it('gives up waiting for an answer with a sentence that says what to do', async () => {
  const error = await updateObject(sender, invoice, finalizeInvoice, {}, 500).catch((thrown: unknown) => thrown);
  expect(refusalIn(error)).toMatchObject({
    code: 'service_unavailable',
    message:
      'The workflow of invoice inv_1 did not answer within 0.5 seconds. The request may still be carried out: read the invoice before sending it again.',
    details: { invoice_id: 'inv_1' },
  });
});

it('starts the workflow under the id of its object, visible to operators', async () => {
  const description = await temporal.client.workflow.getHandle('invoice/inv_1').describe();
  expect(description.type).toBe('invoice');
  expect(description.taskQueue).toBe('lifecycle');
});

it('finds that no workflow runs for an object', async () => {
  const payment = { kind: 'payment', id: 'pay_1' } as const;
  const asked = await updateRunning(temporal.client, payment, (workflow) => workflow.executeUpdate(refreshPayment));
  expect(asked).toBeNull();
  const warnings: string[] = [];
  const log = { warn: (_fields: object, message: string) => void warnings.push(message) };
  await tellRunning({ temporal: temporal.client, log }, payment);
  expect(warnings).toEqual([]);
});

it('answers 404 without asking any workflow about an invoice that does not exist', async () => {
  expect(await api('POST', '/invoices/inv_1/finalize')).toMatchObject({ status: 404 });
});

it('answers service_unavailable while Temporal is away', async () => {
  const connection = Connection.lazy({ address: '127.0.0.1:1', connectTimeout: '200ms' });
  const away = { temporal: new Client({ connection }), scope: base.scope };
  const error = await updateObject(away, invoice, finalizeInvoice, {}, 1_000).catch((thrown: unknown) => thrown);
  expect(refusalIn(error)).toMatchObject({ code: 'service_unavailable', details: { invoice_id: 'inv_1' } });
  await connection.close();
});
