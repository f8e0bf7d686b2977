import { describe, expect, it } from 'vitest';
import { toldModes } from '../../../api/integration/provider-account.ts';
import { inTransaction } from '../../../db/transaction.ts';
import { refuseOtherMode, refusePlayedMoney } from '../../../services/integration/connection-mode.ts';
import { testApi } from '../../support/api.ts';

const { call, database, scope } = await testApi();
const connections = '/v1/connections';

const keysOfModes = {
  chargebee: {
    member: 'api_key',
    test: 'test_1',
    live: 'live_1',
    rest: { site: 'acme-test', webhook_username: 'u', webhook_password: 'p' },
  },
  stripe: { member: 'secret_key', test: 'rk_test_1', live: 'sk_live_1', rest: { publishable_key: 'pk_1' } },
  razorpay: { member: 'key_id', test: 'rzp_test_1', live: 'rzp_live_1', rest: { secret_key: 's' } },
  paddle: { member: 'api_key', test: 'pdl_sdbx_apikey_1', live: 'pdl_live_apikey_1', rest: {} },
  moyasar: { member: 'secret_key', test: 'sk_test_1', live: 'sk_live_1', rest: {} },
};

describe('finding A12: live keys where time is played with', () => {
  it.each(Object.entries(keysOfModes))(
    '%s: a development environment takes test keys alone',
    async (provider, keys) => {
      const secretsOf = (mode: 'test' | 'live') => ({ ...keys.rest, [keys.member]: keys[mode] });
      const body = (mode: 'test' | 'live') => ({
        name: provider,
        provider_type: provider,
        encrypted_secret_data: secretsOf(mode),
      });
      const refused = {
        status: 400,
        body: { code: 'validation_error', message: expect.stringContaining(`${keys.member} is a live key`) },
      };
      expect(await call('POST', connections, { body: body('live') })).toMatchObject(refused);
      const { id } = (await call('POST', connections, { body: body('test') })).body;
      const change = { body: { encrypted_secret_data: secretsOf('live') } };
      expect(await call('PUT', `${connections}/${id}`, change)).toMatchObject(refused);
      expect(
        (await call('PUT', `${connections}/${id}`, { body: { encrypted_secret_data: secretsOf('test') } })).status,
      ).toBe(200);
    },
  );

  it('a production environment takes live keys alone', async () => {
    const production = `update environment set type = 'production' where id = $1`;
    const refuses = (key: string) =>
      inTransaction(database, scope, async (tx) => {
        await tx.rows(production, [scope.environmentId]);
        await refuseOtherMode(tx, scope, 'stripe', toldModes('stripe', { secret_key: key }));
        // The environment of the file stays what it is.
        await tx.rows(production.replace("'production'", "'development'"), [scope.environmentId]);
      });
    await expect(refuses('sk_test_1')).rejects.toMatchObject({
      message: expect.stringContaining('secret_key is a test key'),
    });
    await refuses('sk_live_1');
    // A key that does not tell its mode is taken as it is.
    await refuses('sk_1');
  });

  it('a test site of Chargebee is refused in production, whatever its key says', async () => {
    const takes = (site: string) =>
      inTransaction(database, scope, async (tx) => {
        await tx.rows(`update environment set type = 'production' where id = $1`, [scope.environmentId]);
        await refuseOtherMode(tx, scope, 'chargebee', toldModes('chargebee', { site, api_key: 'secret' }));
        await tx.rows(`update environment set type = 'development' where id = $1`, [scope.environmentId]);
      });
    await expect(takes('acme-test')).rejects.toMatchObject({
      message: expect.stringContaining('site is a test site'),
    });
    await takes('acme');
  });

  it('a production environment takes no money that the sandbox plays', async () => {
    const takes = (type: string, gateway: string) =>
      inTransaction(database, scope, async (tx) => {
        await tx.rows('update environment set type = $2 where id = $1', [scope.environmentId, type]);
        await refusePlayedMoney(tx, scope, gateway);
        await tx.rows(`update environment set type = 'development' where id = $1`, [scope.environmentId]);
      });
    await expect(takes('production', 'sandbox')).rejects.toMatchObject({
      type: 'invalid_operation',
      message: expect.stringContaining('sandbox moves no money'),
    });
    await takes('production', 'stripe');
    await takes('development', 'sandbox');
  });
});
