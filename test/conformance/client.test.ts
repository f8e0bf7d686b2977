import { existsSync, readFileSync } from 'node:fs';
import { afterAll, describe, expect, test } from 'vitest';
import { startChargebeeFake } from '../../dev/provider-fakes/chargebee/server.ts';
import { startMoyasarFake } from '../../dev/provider-fakes/moyasar/server.ts';
import { startNomodFake } from '../../dev/provider-fakes/nomod/server.ts';
import { startRazorpayFake } from '../../dev/provider-fakes/razorpay/server.ts';
import { startStripeFake } from '../../dev/provider-fakes/stripe/server.ts';
import { providerAdapters } from '../../integrations/connect.ts';
import { testPlatform } from '../support/billing.ts';
import { testFileServer } from '../support/file-server.ts';
import { accountCalls } from './areas/account.ts';
import { addonCalls } from './areas/addon.ts';
import { analyticsCalls } from './areas/analytics.ts';
import { billingCalls } from './areas/billing.ts';
import { catalogueCalls } from './areas/catalogue.ts';
import { connectionCalls } from './areas/connection.ts';
import { costsheetCalls } from './areas/costsheet.ts';
import { couponCalls } from './areas/coupon.ts';
import { creditGrantCalls } from './areas/credit-grant.ts';
import { creditNoteCalls } from './areas/credit-note.ts';
import { customerCalls } from './areas/customer.ts';
import { eventCalls } from './areas/event.ts';
import { groupCalls } from './areas/group.ts';
import { hierarchyCalls } from './areas/hierarchy.ts';
import { integrationCalls } from './areas/integration.ts';
import { invoiceUsageCalls } from './areas/invoice-usage.ts';
import { priceUnitCalls } from './areas/price-unit.ts';
import { subscriptionChangeCalls } from './areas/subscription-change.ts';
import { subscriptionLifeCalls } from './areas/subscription-life.ts';
import { subscriptionPhaseCalls } from './areas/subscription-phase.ts';
import { taskCalls } from './areas/task.ts';
import { taxCalls } from './areas/tax.ts';
import { usageCalls } from './areas/usage.ts';
import { walletCalls } from './areas/wallet.ts';
import { conversation, legible } from './conversation.ts';
import { implementedOperations, operations } from './operations.ts';
import { pythonFetcher } from './python/client.ts';

const [chargebee, moyasar, nomod, razorpay, stripe] = await Promise.all([
  startChargebeeFake(),
  startMoyasarFake(),
  startNomodFake(),
  startRazorpayFake(),
  startStripeFake(),
]);
afterAll(async () => {
  await chargebee.close();
  await moyasar.close();
  await nomod.close();
  await razorpay.close();
  await stripe.close();
});
const { api, app, base } = await testPlatform({
  providers: providerAdapters({
    chargebee: chargebee.url,
    moyasar: moyasar.url,
    nomod: nomod.url,
    razorpay: razorpay.url,
    stripe: stripe.url,
  }),
});
const address = await app.listen({ port: 0, host: '127.0.0.1' });
// The published Python client takes the place of `fetch` in `npm run conformance:python`.
const python = process.env.CONFORMANCE_PYTHON;
const speaker = python ? await pythonFetcher(python, `${address}/v1`, base.apiKey) : null;
if (speaker) {
  await api('PUT', '/settings/decimal_format', { value: { format: 'string' } });
  afterAll(() => speaker.close());
}
const talk = conversation(address, base.apiKey, api, speaker?.fetcher);

// In this order, because what one area makes the next one uses.
const areas = {
  ...accountCalls(talk),
  ...customerCalls(talk),
  ...integrationCalls(talk),
  ...connectionCalls(talk, base.scope),
  ...taxCalls(talk),
  ...couponCalls(talk),
  ...catalogueCalls(talk),
  ...creditGrantCalls(talk),
  ...addonCalls(talk),
  ...groupCalls(talk),
  ...priceUnitCalls(talk),
  ...eventCalls(talk),
  ...taskCalls(talk, await testFileServer()),
  ...billingCalls(talk),
  ...invoiceUsageCalls(talk),
  ...creditNoteCalls(talk),
  ...usageCalls(talk),
  ...costsheetCalls(talk),
  ...analyticsCalls(talk),
  ...walletCalls(talk),
  ...subscriptionLifeCalls(talk),
  ...subscriptionChangeCalls(talk),
  ...subscriptionPhaseCalls(talk),
  ...hierarchyCalls(talk),
};

describe.each(Object.entries(areas))('%s', (_area, calls) => {
  test.for(Object.entries(calls))('%s', async ([name, call], { skip }) => {
    speaker?.forget();
    await legible(call);
    const operation = operations.find((each) => each.operation === name.split(' ')[0]);
    const unsaid = operation && speaker?.unsaid(operation);
    if (unsaid) skip(unsaid);
  });
});

test('every operation of the published client that is implemented is called', () => {
  const called = Object.values(areas).flatMap((calls) => Object.keys(calls));
  const uncalled = implementedOperations().filter(({ operation }) => !called.includes(operation));
  expect(uncalled).toEqual([]);
});

// The specification lies beside the repository where it is developed and is no part of it.
const specification = new URL('../../../shared/spec/operations.json', import.meta.url);
test.runIf(existsSync(specification))('operations.json names what the specification says the client has', () => {
  const specified = JSON.parse(readFileSync(specification, 'utf8')) as {
    in: string[];
    area: string;
    operation: string;
    method: string;
    path: string;
  }[];
  const ofClient = specified.filter((operation) => operation.in.includes('client'));
  expect(operations).toEqual(ofClient.map(({ area, operation, method, path }) => ({ area, operation, method, path })));
});
