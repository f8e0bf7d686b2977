import { beforeAll, expect, test } from 'vitest';
import { runPrepaid } from '../../../dev/demo/prepaid.ts';
import { proveMoney } from '../../../dev/demo/prepaid-proof.ts';
import { prepaidReport } from '../../../dev/demo/prepaid-report.ts';
import type { PrepaidResult } from '../../../dev/demo/prepaid-result.ts';
import { testPlatform } from '../../support/billing.ts';

const { app, base } = await testPlatform();
const address = await app.listen({ host: '127.0.0.1', port: 0 });
let demo: PrepaidResult;
beforeAll(async () => {
  demo = await runPrepaid({ address, apiKey: base.apiKey, customers: 20 });
}, 600_000);

const of = (card: string) => demo.wallets.filter((customer) => customer.card === card);

test('every cent that was taken, given, used and left is accounted for', () => {
  expect(proveMoney(demo.wallets).filter(({ broken }) => broken.length > 0)).toEqual([]);
  const { text, holds } = prepaidReport(demo);
  expect(holds).toBe(true);
  expect(text.split('\n').filter((line) => line.startsWith('team-'))).toHaveLength(20);
});

test('money that is wrong is found', () => {
  const [first, ...others] = demo.wallets;
  const more = { ...first!, wallet: { ...first!.wallet, credit_balance: '1000000' } };
  expect(proveMoney([more, ...others]).flatMap(({ broken }) => broken)).toEqual([more.name]);
  expect(prepaidReport({ ...demo, wallets: [more, ...others] })).toMatchObject({ holds: false });
});

test('each card has the standing that it must have', () => {
  for (const { attempts, payments } of of('good')) {
    expect(attempts.length).toBeGreaterThan(0);
    expect(new Set(payments.map(({ payment_status }) => payment_status))).toEqual(new Set(['SUCCEEDED']));
  }
  for (const { attempts, wallet } of of('declines')) {
    expect(attempts.map(({ outcome }) => outcome)).toEqual(Array(4).fill('declined'));
    expect(wallet.auto_topup_standing).toMatchObject({ state: 'paused', reason: 'declines' });
  }
  for (const { attempts, wallet } of of('stolen')) {
    expect(attempts.map(({ outcome }) => outcome)).toEqual(['declined']);
    expect(wallet.auto_topup_standing).toMatchObject({ state: 'paused', reason: 'hard_decline' });
  }
  for (const { attempts } of of('declines twice')) {
    expect(attempts.slice(0, 3).map(({ outcome }) => outcome)).toEqual(['declined', 'declined', 'succeeded']);
  }
  for (const { wallet } of of('wants its payer')) {
    expect(['needs_action', 'limited']).toContain(wallet.auto_topup_standing.state);
  }
  for (const { wallet, alerts } of of('none')) {
    expect(wallet.auto_topup_standing).toMatchObject({ state: 'awaiting_payment', reason: 'no_method' });
    expect(alerts.map(({ alert_status }) => alert_status)).toContain('in_alarm');
  }
});
