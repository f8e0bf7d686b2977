import { expect, test } from 'vitest';
import { inSqlTransaction } from '../../../../db/transaction.ts';
import { advanceTo, created, testPlatform } from '../../../support/billing.ts';
import { asSuperuser } from '../../../support/database.ts';
import { type Body, customerOf, invoiceOf, payAtSandbox, readSession } from './checkout.fixture.ts';

const { api, app, base, gateway } = await testPlatform();

const cancel = (id: string) => api<Body>('POST', `/checkout/sessions/${id}/cancel`);
async function opened(more: object = {}): Promise<Body> {
  const { id } = await customerOf(api, more);
  return (await created<Body>(api, '/invoices', invoiceOf(id))).checkout_session;
}
const eventsAbout = (id: string) =>
  inSqlTransaction(base.database, base.scope, async (tx) =>
    (
      await tx.rows<{ name: string }>('select event_name as name from outbox_event where entity_id = $1 order by id', [
        id,
      ])
    ).map(({ name }) => name),
  );

test('finding B1: an unpaid end leaves its invoice void without a number, archived, and nothing is told of it', async () => {
  const session = await opened();
  expect((await cancel(session.id)).status).toBe(200);
  const [invoice] = await inSqlTransaction(base.database, base.scope, (tx) =>
    tx.rows<Body>('select invoice_status, invoice_number, status from invoice where id = $1', [
      session.checkout_invoice_id,
    ]),
  );
  expect(invoice).toEqual({ invoice_status: 'VOIDED', invoice_number: null, status: 'archived' });
  expect(await eventsAbout(session.checkout_invoice_id)).toEqual([]);
  expect(await eventsAbout(session.id)).toEqual(['checkout.session.initiated', 'checkout.session.expired']);
  expect(await eventsAbout(session.checkout_payment_id)).toEqual([
    'payment.created',
    'payment.pending',
    'payment.failed',
  ]);
});

test('finding B20: an end is told by a code, a sentence and its instant, and the link with its state', async () => {
  const session = await opened();
  expect(session.provider_result).toMatchObject({ link_state: 'open', next_action: session.payment_action });
  const { body } = await cancel(session.id);
  expect(body).toMatchObject({
    failure_reason: 'cancelled',
    failure_message: expect.stringContaining('cancelled'),
    cancelled_at: expect.stringMatching(/^\d{4}-/),
    completed_at: null,
    payment_action: null,
    provider_result: { link_state: 'dead', next_action: null },
    payment: { id: session.checkout_payment_id, status: 'FAILED', gateway: 'sandbox' },
  });
});

test('cleanup-step-fails: the session stays as it was and can be paid, and the next cancellation ends it', async () => {
  const session = await opened();
  const name = `refuse_${session.id.toLowerCase()}`;
  await asSuperuser(
    base.ownerUrl,
    `create function ${name}() returns trigger language plpgsql as $$ begin raise exception 'a step of the clean-up fails'; end $$;
     create trigger ${name} before update on payment for each row
       when (old.id = '${session.checkout_payment_id}' and new.payment_status = 'FAILED') execute function ${name}()`,
  );
  try {
    expect((await cancel(session.id)).status).toBeGreaterThanOrEqual(500);
    expect(await readSession(api, session.id)).toMatchObject({ checkout_status: 'pending', failure_reason: null });
    const { body: invoice } = await api<Body>('GET', `/invoices/${session.checkout_invoice_id}`);
    expect(invoice).toMatchObject({ invoice_status: 'DRAFT', payment_status: 'INITIATED' });
  } finally {
    await asSuperuser(base.ownerUrl, `drop trigger ${name} on payment; drop function ${name}()`);
  }
  expect(await cancel(session.id)).toMatchObject({ status: 200, body: { checkout_status: 'expired' } });
});

test('finding B14: a page is read for a day after its end, without anything of its payer, and then is gone', async () => {
  const { id: clockId } = await created<Body>(api, '/test-clocks', { frozen_time: '2026-01-01T00:00:00Z' });
  const session = await opened({ test_clock_id: clockId, name: 'Somebody of Note' });
  const { pathname } = new URL(session.payment_action.url);
  const page = () => app.inject({ url: `${pathname}?lang=en` });
  expect((await page()).body).toContain('Somebody of Note');
  await payAtSandbox(gateway, session);
  expect(await readSession(api, session.id)).toMatchObject({ checkout_status: 'completed' });
  await advanceTo(api, clockId, '2026-01-01T23:59:59Z');
  const ended = await page();
  expect(ended.statusCode).toBe(200);
  expect(ended.body).not.toContain('Somebody of Note');
  await advanceTo(api, clockId, '2026-01-02T00:00:01Z');
  expect((await page()).statusCode).toBe(404);
});

test('finding B15: an archived session is gone for whoever reads or cancels it', async () => {
  const session = await opened();
  const path = `/checkout/sessions/${session.id}`;
  await cancel(session.id);
  expect((await api('DELETE', path)).status).toBe(204);
  for (const [method, address] of [
    ['GET', path],
    ['POST', `${path}/cancel`],
    ['DELETE', path],
  ] as const) {
    expect(await api<Body>(method, address), address).toMatchObject({ status: 404, body: { code: 'not_found' } });
  }
});

test('the pay form sent twenty times at once reaches the gateway as one charge', async () => {
  const session = await opened();
  const attempts = await Promise.all(Array.from({ length: 20 }, () => payAtSandbox(gateway, session)));
  expect(attempts.filter(({ status }) => status === 'paid')).toHaveLength(1);
  const captures = await inSqlTransaction(base.database, base.scope, (tx) =>
    tx.rows(`select id from sandbox_gateway.charge where link_token = $1 and state = 'captured'`, [
      `${session.checkout_payment_id}:1`,
    ]),
  );
  expect(captures).toHaveLength(1);
  expect(await readSession(api, session.id)).toMatchObject({ checkout_status: 'completed' });
});
