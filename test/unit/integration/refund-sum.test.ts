import { randomUUID } from 'node:crypto';
import { afterAll, describe, expect, test } from 'vitest';
import * as atMoyasar from '../../../dev/provider-fakes/moyasar/payment.ts';
import { startMoyasarFake } from '../../../dev/provider-fakes/moyasar/server.ts';
import * as atNomod from '../../../dev/provider-fakes/nomod/payment.ts';
import { startNomodFake } from '../../../dev/provider-fakes/nomod/server.ts';
import { moyasarAdapter } from '../../../integrations/moyasar/adapter.ts';
import { moyasarNotifications } from '../../../integrations/moyasar/notification.ts';
import { nomodAdapter } from '../../../integrations/nomod/adapter.ts';
import { nomodNotifications } from '../../../integrations/nomod/notification.ts';
import { GatewayOutcomeUnknown, type RefundRequest } from '../../../integrations/payment-gateway.ts';
import { wireToken } from '../../../services/collection/wire-token.ts';
import { opened } from '../../support/gateways/gateway-under-test.ts';
import { moyasarUnderTest } from '../../support/gateways/moyasar-under-test.ts';
import { nomodUnderTest } from '../../support/gateways/nomod-under-test.ts';

const [moyasar, nomod] = await Promise.all([startMoyasarFake(), startNomodFake()]);
afterAll(async () => {
  await Promise.all([moyasar.close(), nomod.close()]);
});

const anHourAgo = () => new Date(Date.now() - 3_600_000).toISOString();

/** A request for a refund of a charge of 12.5 usd. */
const refundOf = (charge: Omit<RefundRequest, 'refundToken' | 'amount' | 'currency' | 'metadata'>, amount: string) => {
  const refundToken = `re_${randomUUID()}`;
  const names = { refundToken, token: wireToken(refundToken), providerId: null };
  return { ...charge, ...names, amount, currency: 'usd', metadata: {} };
};

describe('what went back of a payment at Moyasar', () => {
  async function paid() {
    const under = moyasarUnderTest(moyasar);
    const { reference } = await opened(under);
    await under.pay(reference, 'succeeds');
    const [payment] = under.books.paymentsOf(reference.providerId);
    const charge = { ...reference, chargeProviderId: payment!.id };
    const sum = () => under.gateway.refunds.givenBack!(charge);
    return { ...under, payment: payment!, charge, sum };
  }

  test('is the sum of refunds, ours and those of the dashboard', async () => {
    const { books, charge, gateway, payment, sum } = await paid();
    expect(await sum()).toBe('0');
    await gateway.refunds.refund(refundOf(charge, '5'));
    atMoyasar.refundInDashboard(books, payment, 300);
    expect(await sum()).toBe('8');
    atMoyasar.refundInDashboard(books, payment, 450);
    expect(await sum()).toBe('12.5');
  });

  test('is all of one that was voided', async () => {
    const { books, payment, sum } = await paid();
    atMoyasar.voidInDashboard(books, payment);
    expect(await sum()).toBe('12.5');
  });

  test('is unknown without an answer, and without the id of the payment', async () => {
    const { charge, gateway, sum } = await paid();
    moyasar.failNext('read', '500');
    await expect(sum()).rejects.toBeInstanceOf(GatewayOutcomeUnknown);
    const unnamed = { ...charge, chargeProviderId: null };
    await expect(gateway.refunds.givenBack!(unnamed)).rejects.toBeInstanceOf(GatewayOutcomeUnknown);
  });

  test('a first sending that is refused beside a refund of the dashboard is not taken for that', async () => {
    const { books, charge, gateway, payment } = await paid();
    moyasar.beforeNext('refund', () => atMoyasar.refundInDashboard(books, payment, 1250));
    expect(await gateway.refunds.refund(refundOf(charge, '5'))).toMatchObject({ status: 'failed' });
    expect(payment.metadata).toEqual({});
  });

  test('is told by the list of payments that changed, page by page, each state under a name of its own', async () => {
    const { books, payment, secretKey } = await paid();
    const old = { ...structuredClone(payment), id: randomUUID(), updated_at: new Date(0).toISOString() };
    books.payments.set(old.id, old);
    for (let n = 0; n < 45; n += 1) books.payments.set(`pay_${n}`, { ...structuredClone(payment), id: `pay_${n}` });
    const list = () => moyasarAdapter(moyasar.url).events!({ secret_key: secretKey }, anHourAgo());
    const before = await list();
    expect(before).toHaveLength(46);
    expect(new Set(before.map(({ eventType }) => eventType))).toEqual(new Set(['payment_paid']));
    atMoyasar.refundInDashboard(books, payment, 300);
    payment.updated_at = new Date(Date.now() + 1).toISOString();
    const told = (await list()).find(({ objectIds }) => objectIds[0] === payment.id)!;
    expect(told).toMatchObject({ eventType: 'payment_refunded', isDerived: true, at: payment.updated_at });
    expect(before.map(({ eventId }) => eventId)).not.toContain(told.eventId);
    moyasar.failNext('payments', '401');
    await expect(list()).rejects.toThrow('refuses the key of the connection (401)');
  });
});

describe('what went back of a charge at Nomod', () => {
  async function paid() {
    const under = nomodUnderTest(nomod);
    const { reference } = await opened(under);
    await under.pay(reference, 'succeeds');
    const checkout = under.books.checkoutOf(reference.providerId);
    const charge = { ...reference, chargeProviderId: `${checkout.id}/${checkout.charges[0]!.id}` };
    const sum = () => under.gateway.refunds.givenBack!(charge);
    const list = () => nomodAdapter(nomod.url).events!({ api_key: under.apiKey }, anHourAgo());
    return { ...under, checkout, charge, sum, list };
  }

  test('is the sum of refunds that are done, ours and those of the dashboard', async () => {
    const { books, charge, checkout, gateway, sum } = await paid();
    expect(await sum()).toBe('0');
    await gateway.refunds.refund(refundOf(charge, '5'));
    atNomod.refundInDashboard(books, checkout, 3.25);
    expect(await sum()).toBe('8.25');
    atNomod.refundInDashboard(books, checkout, 4.25);
    expect(await sum()).toBe('12.5');
  });

  test('is not known of a part where the key may not read charges, and of all of it is', async () => {
    const { books, checkout, list, sum } = await paid();
    books.hidesCharges = true;
    atNomod.refundInDashboard(books, checkout, 3);
    expect(await sum()).toBeNull();
    expect(await list()).toEqual([]);
    atNomod.refundInDashboard(books, checkout, 9.5);
    expect(await sum()).toBe('12.5');
  });

  test('is unknown without an answer, or with one that names no sum', async () => {
    const { checkout, charge, gateway, sum } = await paid();
    nomod.failNext('charge', '500');
    await expect(sum()).rejects.toBeInstanceOf(GatewayOutcomeUnknown);
    const unnamed = { ...charge, chargeProviderId: checkout.id };
    await expect(gateway.refunds.givenBack!(unnamed)).rejects.toBeInstanceOf(GatewayOutcomeUnknown);
  });

  test('is told by the list of refunded charges, each sum under a name of its own', async () => {
    const { apiKey, books, charge, checkout, list } = await paid();
    expect(await list()).toEqual([]);
    atNomod.refundInDashboard(books, checkout, 3);
    const [part] = await list();
    const chargeId = charge.chargeProviderId.split('/')[1];
    expect(part).toMatchObject({ eventType: 'charge.partially_refunded', objectIds: [chargeId], isDerived: true });
    atNomod.refundInDashboard(books, checkout, 9.5);
    const [all, ...others] = await list();
    expect(all).toMatchObject({ eventType: 'charge.refunded', objectIds: [chargeId] });
    expect(others).toEqual([]);
    expect(all!.eventId).not.toBe(part!.eventId);
    const { events } = nomodAdapter(nomod.url);
    expect(await events!({ api_key: apiKey }, new Date(Date.now() + 17 * 86_400_000).toISOString())).toEqual([]);
  });

  test('a key that is refused is told, and no answer too', async () => {
    const { events } = nomodAdapter(nomod.url);
    await expect(events!({ api_key: 'no_key' }, anHourAgo())).rejects.toThrow('refuses the key of the connection');
    const { list } = await paid();
    nomod.failNext('read', '500');
    await expect(list()).rejects.toBeInstanceOf(GatewayOutcomeUnknown);
    nomod.failNext('charges', '500');
    await expect(list()).rejects.toBeInstanceOf(GatewayOutcomeUnknown);
  });
});

describe('a notification of money that goes back is about its payment', () => {
  const session = { environment: 'env_1', kind: 'checkout_session', id: 'cs_1' };
  const payment = { environment: 'env_1', kind: 'payment', id: 'pay_1' };

  test.each([
    ['payment_refunded', session, null],
    ['payment_voided', session, null],
    ['payment_refunded', payment, payment],
    ['payment_paid', session, session],
  ])('%s of Moyasar with the name of %o', (type, metadata, marker) => {
    const body = Buffer.from(JSON.stringify({ id: 'evt_1', type, data: { id: 'p_1', invoice_id: 'i_1', metadata } }));
    expect(moyasarNotifications.read({ headers: {}, body })).toMatchObject({ marker, objectIds: ['p_1', 'i_1'] });
  });

  test.each([
    ['charge.refunded', null],
    ['charge.partially_refunded', null],
    ['charge.completed', session],
  ])('%s of Nomod, although that has our name of a session', (type, marker) => {
    const data = { id: 'ch_1', checkout: { id: 'co_1' }, metadata: session };
    const body = Buffer.from(JSON.stringify({ type, data }));
    expect(nomodNotifications.read({ headers: {}, body })).toMatchObject({ marker, objectIds: ['co_1/ch_1', 'co_1'] });
  });
});
