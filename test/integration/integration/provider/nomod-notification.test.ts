import { describe, expect, test } from 'vitest';
import { signedNotification } from '../../../../dev/provider-fakes/nomod/notification.ts';
import { apiKey, nomodWorld, secretOf, webhookSecret } from './nomod.fixture.ts';

const { api, connect, pay, opened, kept, lastEvent, post, notify } = await nomodWorld();
const { body: connection } = await connect();
pay(await opened());

describe('notifications of Nomod', () => {
  const change = (webhook_secret: string | null) =>
    api('PUT', `/connections/${connection.id}`, { encrypted_secret_data: { webhook_secret } });
  const named = (messageId: string) => ({ ...lastEvent('charge.completed'), messageId });

  test('without a signature or with another are 401 and not kept; an exchanged secret stays valid', async () => {
    const before = (await kept()).length;
    const problem = (message: string) => ({ status: 401, body: { message: expect.stringContaining(message) } });
    const { body } = signedNotification(named('unsigned'), webhookSecret);
    expect(await post({ headers: {}, body })).toMatchObject(problem('is not signed'));
    expect(await post({ headers: { 'x-api-key': apiKey }, body })).toMatchObject(problem('is not signed'));
    expect(await notify(named('forged'), secretOf('other'))).toMatchObject(problem('does not fit'));
    expect(await kept()).toHaveLength(before);
    expect((await change(secretOf('next'))).status).toBe(200);
    expect((await notify(named('new'), secretOf('next'))).status).toBe(200);
    expect((await notify(named('old'))).status).toBe(200);
    expect(await kept()).toHaveLength(before + 2);
  });

  test('of a clock that is wrong say so', async () => {
    const { headers, body } = signedNotification(named('late'), secretOf('next'), Date.now() - 600_000);
    expect(await post({ headers, body })).toMatchObject({
      status: 400,
      body: { message: expect.stringContaining('5 minutes away') },
    });
  });

  test('without a webhook secret the key of the connection verifies, and is not kept', async () => {
    expect((await change(null)).status).toBe(200);
    const { body } = signedNotification(named('keyed'), webhookSecret);
    expect((await post({ headers: { 'x-api-key': 'sk_test_other', 'svix-id': 'keyed' }, body })).status).toBe(401);
    expect((await notify(named('signed'))).status).toBe(401);
    expect((await post({ headers: { 'x-api-key': apiKey, 'svix-id': 'keyed' }, body })).status).toBe(200);
    const rows = await kept();
    expect(rows.filter(({ provider_event_id }) => provider_event_id === 'keyed')).toHaveLength(1);
    for (const { headers } of rows) expect(JSON.stringify(headers)).not.toMatch(/x-api-key|sk_test_/);
  });
});
