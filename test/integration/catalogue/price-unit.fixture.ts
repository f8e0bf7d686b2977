import { expect } from 'vitest';
import type { TestApi } from '../../support/api.ts';

export const token = { name: 'Token', symbol: 'T', base_currency: 'usd', conversion_rate: '0.02' };
const letters = 'abcdefghijklmnopqrstuvwxyz';
let count = 0;
/** A code no other test has; a digit in it keeps it from being a fiat currency. */
export const nextCode = () => `${letters[Math.floor(count / 10)]}${count++ % 10}x`;

/** Makes price units, and what a price in one of them is made with. */
export function priceUnits({ call }: TestApi) {
  async function createUnit(fields: object = {}) {
    const { status, body } = await call('POST', '/v1/prices/units', {
      body: { ...token, code: nextCode(), ...fields },
    });
    expect(status, JSON.stringify(body)).toBe(201);
    return body;
  }
  const customOf = (code: string, fields: object = { amount: '10' }) => ({
    amount: undefined,
    price_unit_type: 'CUSTOM',
    price_unit_config: { price_unit: code, ...fields },
  });
  const priceOf = async (id: string) => (await call('GET', `/v1/prices/${id}`)).body;
  return { createUnit, customOf, priceOf };
}
