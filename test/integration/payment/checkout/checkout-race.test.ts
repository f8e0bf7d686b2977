import { expect, test } from 'vitest';
import { inSqlTransaction } from '../../../../db/transaction.ts';
import { sandboxCardNumber } from '../../../../integrations/sandbox-gateway/card.ts';
import { advanceTo, testPlatform } from '../../../support/billing.ts';
import { type Body, customerOf, invoiceOf, payAtSandbox, readSession } from './checkout.fixture.ts';

/*
 * Two ends of one session within a second. `npm run test:races` runs a thousand pairs of each; the invariants after this file
 * compare the books of both sides for every one of them.
 */

const pairs = Number(process.env.RACE_PAIRS ?? 25);
const opensAt = '2026-01-01T00:00:00Z';
const expiresAt = '2026-01-01T00:30:00Z';
/** Sessions that are opened, raced or read at one time. */
const width = 10;
const timeoutMs = 60_000 + pairs * 1_000;

const { api, base, gateway } = await testPlatform();

/** Sessions of an invoice of 25, each of a customer of its own. */
async function opened(clockId?: string): Promise<Body[]> {
  return each(Array.from({ length: pairs }), async () => {
    const customer = await customerOf(api, clockId ? { test_clock_id: clockId } : {});
    const { status, body } = await api<Body>('POST', '/invoices', invoiceOf(customer.id));
    expect(status, JSON.stringify(body)).toBe(201);
    return body.checkout_session;
  });
}

async function openedOnClock(): Promise<{ clockId: string; sessions: Body[] }> {
  const { body: clock } = await api<Body>('POST', '/test-clocks', { frozen_time: opensAt });
  return { clockId: clock.id, sessions: await opened(clock.id) };
}

/** Does something with everything, some at a time, in order. */
async function each<Item, Result>(
  items: readonly Item[],
  work: (item: Item, index: number) => Promise<Result>,
): Promise<Result[]> {
  const results: Result[] = [];
  const waiting = items.entries();
  const take = async () => {
    for (const [index, item] of waiting) results[index] = await work(item, index);
  };
  await Promise.all(Array.from({ length: width }, take));
  return results;
}

/** Begins two things at one time, the second first every other time. */
async function both(index: number, one: () => Promise<unknown>, other: () => Promise<unknown>): Promise<void> {
  const works = index % 2 === 0 ? [one, other] : [other, one];
  await Promise.all(works.map((work) => work()));
}

const pay = (session: Body) => payAtSandbox(gateway, session, sandboxCardNumber('succeeds'));

async function cancel(session: Body): Promise<void> {
  const { status, body } = await api<Body>('POST', `/checkout/sessions/${session.id}/cancel`);
  // Ended by the cancellation, or refused because it was paid; nothing else.
  const told = status === 200 ? body.checkout_status : body.code;
  expect(told, JSON.stringify(body)).toBe(status === 200 ? 'expired' : 'invalid_operation');
}

const keptText = `
select (select coalesce(sum(c.amount), 0) from sandbox_gateway.charge c where c.link_token = $1 and c.state = 'captured')
  - (select coalesce(sum(r.amount), 0) from refund r join payment p on p.id = r.payment_id
     where p.checkout_session_id = $2 and r.refund_status in ('PENDING', 'PROCESSING', 'SUCCEEDED')) as kept`;

/** Money of a session's payer that was taken and is not on its way back. */
async function keptOf(session: Body): Promise<number> {
  return inSqlTransaction(base.database, base.scope, async (tx) => {
    const [row] = await tx.rows<{ kept: string }>(keptText, [`${session.checkout_payment_id}:1`, session.id]);
    return Number(row!.kept);
  });
}

/** The end of each session, which kept the money if it is completed and else nothing, nor an invoice. */
async function endsOf(sessions: readonly Body[]): Promise<string[]> {
  return each(sessions, async (session) => {
    const { checkout_status: end } = await readSession(api, session.id);
    await expect.poll(() => keptOf(session), { timeout: 30_000 }).toBe(end === 'completed' ? 25 : 0);
    const { status } = await api('GET', `/invoices/${session.checkout_invoice_id}`);
    expect(status).toBe(end === 'completed' ? 200 : 404);
    return end;
  });
}

test(
  'paid and cancelled within one second: completed and refused, or ended and given back; never both',
  async () => {
    const sessions = await opened();
    await each(sessions, (session, index) =>
      both(
        index,
        () => pay(session),
        () => cancel(session),
      ),
    );
    for (const end of await endsOf(sessions)) expect(['completed', 'expired']).toContain(end);
  },
  timeoutMs,
);

test(
  'paid at its timer: whoever claims first decides, and the loser gives back or does nothing',
  async () => {
    const { clockId, sessions } = await openedOnClock();
    await Promise.all([advanceTo(api, clockId, expiresAt), each(sessions, pay)]);
    for (const end of await endsOf(sessions)) expect(['completed', 'expired']).toContain(end);
  },
  timeoutMs,
);

test(
  'cancelled at its timer: one end is told, and both callers see it',
  async () => {
    const { clockId, sessions } = await openedOnClock();
    await Promise.all([advanceTo(api, clockId, expiresAt), each(sessions, cancel)]);
    expect(new Set(await endsOf(sessions))).toEqual(new Set(['expired']));
    const told = await inSqlTransaction(base.database, base.scope, (tx) =>
      tx.rows<{ ends: string }>(
        `select count(*) as ends from outbox_event where event_name like 'checkout.session.%' and event_name <> 'checkout.session.initiated'
         and entity_id = any($1)`,
        [sessions.map(({ id }) => id)],
      ),
    );
    expect(Number(told[0]!.ends)).toBe(pairs);
  },
  timeoutMs,
);
