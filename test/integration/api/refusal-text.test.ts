import { describe, expect, it } from 'vitest';
import { testApi } from '../../support/api.ts';

/** Refusals in the words of what was sent. */

const { call } = await testApi();
const refusal = async (path: string, body: unknown, status = 400) => {
  const answer = await call('POST', `/v1${path}`, { body });
  expect(answer.status, JSON.stringify(answer.body)).toBe(status);
  return answer.body.message as string;
};

describe('a refusal names what was sent', () => {
  it('of a feature whose name gives a lookup key that is taken', async () => {
    const feature = { name: 'Own calls', type: 'boolean' };
    expect((await call('POST', '/v1/features', { body: feature })).status).toBe(201);
    expect(await refusal('/features', feature, 409)).toBe(
      'another published feature has the lookup_key own_calls, which the name "Own calls" gives when none is sent; send a lookup_key, or choose another name',
    );
    expect(await refusal('/features', { ...feature, lookup_key: 'own_calls' }, 409)).toBe(
      'lookup_key own_calls is taken by another published feature; choose another',
    );
  });

  it('of a price that is charged once', async () => {
    const plan = await call('POST', '/v1/plans', { body: { name: 'Setup' } });
    const price = {
      plan_id: plan.body.id,
      type: 'FIXED',
      billing_model: 'FLAT_FEE',
      amount: '1',
      currency: 'usd',
      invoice_cadence: 'ARREAR',
    };
    expect(await refusal('/prices', { ...price, billing_cadence: 'ONETIME', billing_period: 'MONTHLY' })).toBe(
      'invoice_cadence must be ADVANCE for billing_cadence ONETIME',
    );
    expect(await refusal('/prices', { ...price, billing_period: 'ONETIME' })).toBe(
      'invoice_cadence must be ADVANCE for billing_period ONETIME',
    );
    expect(await refusal('/prices', { ...price, billing_period: 'MONTHLY', entity_type: 'PRICE' })).toBe(
      'entity_type must be PLAN, ADDON, SUBSCRIPTION or COSTSHEET',
    );
  });

  it('of a custom currency whose code has another length', async () => {
    const unit = { name: 'Tokens', symbol: 'T', base_currency: 'usd', conversion_rate: '0.02' };
    expect(await refusal('/prices/units', { ...unit, code: 'token' })).toBe(
      'code must be the three characters of a custom currency, such as tok',
    );
  });
});
