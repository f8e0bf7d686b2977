import { expect, it } from 'vitest';
import { lotsPaying } from '../../../../billing/wallet/credit-lot.ts';
import { at } from '../line/charge-fixture.ts';

/** spec: wallets-and-payments §2.4, README decision 49 */
it('lots that pay from their grant on pay no period that had ended by then', () => {
  const granted = { paysFrom: at('2026-02-01') };
  expect(lotsPaying([granted], at('2026-01-31T23:59Z'))).toEqual([]);
  expect(lotsPaying([granted], at('2026-02-01'))).toEqual([]);
  expect(lotsPaying([granted], at('2026-02-01T00:01Z'))).toEqual([granted]);
  for (const lot of [{}, { paysFrom: null }]) expect(lotsPaying([lot], at('2020-01-01'))).toEqual([lot]);
});
