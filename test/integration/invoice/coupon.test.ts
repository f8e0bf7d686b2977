import { describe, expect, it } from 'vitest';
import { inTransaction } from '../../../db/transaction.ts';
import { testApi } from '../../support/api.ts';

const { call, database, scope, otherTenant } = await testApi();

let count = 0;
async function coupon(fields: Record<string, unknown> = {}) {
  count += 1;
  const body = { name: `Coupon ${count}`, type: 'percentage', percentage_off: '10', cadence: 'once', ...fields };
  const answer = await call('POST', '/v1/coupons', { body });
  expect(answer.status, JSON.stringify(answer.body)).toBe(201);
  return answer.body;
}

const fixed = { type: 'fixed', percentage_off: undefined, amount_off: '5', currency: 'USD' };

describe('coupons', () => {
  it('are created with every documented key, and a code where none is sent', async () => {
    const body = await coupon({
      ...fixed,
      cadence: 'repeated',
      duration_in_periods: 3,
      max_redemptions: 2,
      redeem_after: '2026-01-01T00:00:00Z',
      redeem_before: '2026-02-01T00:00:00Z',
      rules: { min_subtotal: 10, other: { kept: 1.5 } },
      metadata: { campaign: 'spring' },
    });
    expect(body).toMatchObject({
      id: expect.stringMatching(/^coupon_/),
      environment_id: scope.environmentId,
      status: 'published',
      coupon_code: expect.stringMatching(/^[0-9A-Z]{10}$/),
      type: 'fixed',
      cadence: 'repeated',
      amount_off: '5',
      percentage_off: null,
      currency: 'usd',
      duration_in_periods: 3,
      max_redemptions: 2,
      total_redemptions: 0,
      redeem_after: '2026-01-01T00:00:00.000Z',
      redeem_before: '2026-02-01T00:00:00.000Z',
      rules: { min_subtotal: '10', other: { kept: 1.5 } },
      metadata: { campaign: 'spring' },
    });
    expect((await call('GET', `/v1/coupons/${body.id}`)).body).toEqual(body);
    expect((await call('GET', `/v1/coupons/code/${body.coupon_code.toLowerCase()}`)).body).toEqual(body);
  });

  it.each([
    [{ percentage_off: undefined }, 'percentage_off'],
    [{ percentage_off: '0' }, 'percentage_off'],
    [{ percentage_off: '100.5' }, 'percentage_off'],
    [{ amount_off: '5' }, 'amount_off'],
    [{ ...fixed, amount_off: undefined }, 'amount_off'],
    [{ ...fixed, amount_off: '0' }, 'amount_off'],
    [{ ...fixed, currency: undefined }, 'currency'],
    [{ ...fixed, percentage_off: '5' }, 'percentage_off'],
    [{ cadence: 'repeated' }, 'duration_in_periods'],
    [{ duration_in_periods: 2 }, 'duration_in_periods'],
    [{ cadence: 'repeated', duration_in_periods: 0 }, 'duration_in_periods'],
    [{ max_redemptions: 0 }, 'max_redemptions'],
    [{ max_redemptions: 1_000_001 }, 'max_redemptions'],
    [{ redeem_after: '2026-02-01T00:00:00Z', redeem_before: '2026-01-01T00:00:00Z' }, 'redeem_before'],
    [{ type: 'free' }, 'type'],
    [{ cadence: 'always' }, 'cadence'],
    [{ name: '' }, 'name'],
    [{ rules: { min_subtotal: 'much' } }, 'rules.min_subtotal'],
    [{ rules: { plan_ids: 'plan_1' } }, 'rules.plan_ids'],
  ])('refuse %j and name the field', async (fields, field) => {
    const body = { name: 'N', type: 'percentage', percentage_off: '10', cadence: 'once', ...fields };
    const answer = await call('POST', '/v1/coupons', { body });
    expect([answer.status, answer.body.code]).toEqual([400, 'validation_error']);
    expect(answer.body.message.startsWith(field)).toBe(true);
  });

  it('have a code of their own in any case of letters, until they are archived', async () => {
    const first = await coupon({ coupon_code: 'Spring' });
    const again = { name: 'N', type: 'percentage', percentage_off: '1', cadence: 'once', coupon_code: 'SPRING' };
    const taken = await call('POST', '/v1/coupons', { body: again });
    expect([taken.status, taken.body.code]).toEqual([409, 'already_exists']);
    const deleted = await call('DELETE', `/v1/coupons/${first.id}`);
    expect([deleted.status, deleted.body]).toEqual([200, { message: expect.stringContaining(first.id) }]);
    expect((await call('DELETE', `/v1/coupons/${first.id}`)).status).toBe(200);
    expect((await call('GET', `/v1/coupons/${first.id}`)).body.status).toBe('archived');
    expect((await call('GET', '/v1/coupons/code/spring')).status).toBe(404);
    expect((await call('POST', '/v1/coupons', { body: again })).status).toBe(201);
    expect((await call('PUT', `/v1/coupons/${first.id}`, { body: { name: 'X' } })).status).toBe(400);
    const audit = await inTransaction(database, scope, (tx) =>
      tx.rows('select action from audit_entry where object_id = $1 order by id', [first.id]),
    );
    expect(audit).toEqual([{ action: 'created' }, { action: 'deleted' }]);
  });

  it('change their name and metadata, and nothing of what they give', async () => {
    const { id } = await coupon();
    const body = { name: 'Renamed', metadata: { a: 'b' } };
    const refused = await call('PUT', `/v1/coupons/${id}`, {
      body: { ...body, percentage_off: '99', max_redemptions: 5 },
    });
    expect(Object.keys(refused.body.details.fields)).toEqual(['percentage_off', 'max_redemptions']);
    const { body: changed } = await call('PUT', `/v1/coupons/${id}`, { body });
    expect(changed).toMatchObject({
      name: 'Renamed',
      metadata: { a: 'b' },
      percentage_off: '10',
      max_redemptions: null,
    });
  });

  it('are listed and searched', async () => {
    const some = [await coupon({ coupon_code: 'LIST1' }), await coupon({ coupon_code: 'LIST2' })];
    const ids = some.map((one) => one.id);
    const listed = await call('GET', `/v1/coupons?coupon_ids=${ids}&limit=1&offset=1`);
    expect(listed.body).toMatchObject({ items: [{ id: ids[0] }], pagination: { total: 2, limit: 1, offset: 1 } });
    const filter = { field: 'coupon_code', operator: 'contains', data_type: 'string', value: { string: 'list2' } };
    const found = await call('POST', '/v1/coupons/search', { body: { coupon_ids: ids, filters: [filter] } });
    expect(found.body.items).toEqual([some[1]]);
    const byCode = await call('POST', '/v1/coupons/search', { body: { coupon_codes: ['list1', 'none'] } });
    expect(byCode.body.items).toEqual([some[0]]);
  });

  it('are not seen or changed by another tenant', async () => {
    const { id, coupon_code } = await coupon();
    const { apiKey } = await otherTenant();
    const asked = await Promise.all([
      call('GET', `/v1/coupons/${id}`, { apiKey }),
      call('GET', `/v1/coupons/code/${coupon_code}`, { apiKey }),
      call('PUT', `/v1/coupons/${id}`, { apiKey, body: { name: 'X' } }),
      call('DELETE', `/v1/coupons/${id}`, { apiKey }),
      call('GET', '/v1/coupons/associations/coupon_assoc_1', { apiKey }),
    ]);
    expect(asked.map(({ status }) => status)).toEqual([404, 404, 404, 404, 404]);
    expect((await call('GET', '/v1/coupons', { apiKey })).body.items).toEqual([]);
  });
});
