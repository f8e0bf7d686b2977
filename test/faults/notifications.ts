import { setTimeout as delay } from 'node:timers/promises';
import pg from 'pg';
import type { DemoClient } from '../../dev/demo/client.ts';
import { signedNotification } from '../../dev/provider-fakes/stripe/notification.ts';
import type { Installation } from './installation.ts';

const webhookSecret = 'whsec_fault_test';
const pauseMs = 250;
const requestLimitMs = 20_000;
/** One notification in so many is sent again although it was answered. */
const repeatedEvery = 5;

/** Connects the account of a provider whose notifications are sent. */
export async function connectNotifying(api: DemoClient): Promise<void> {
  await api.send('POST', '/connections', {
    name: 'Stripe',
    provider_type: 'stripe',
    encrypted_secret_data: {
      publishable_key: 'pk_test_faults',
      secret_key: 'sk_test_faults',
      webhook_secret: webhookSecret,
    },
  });
}

/**
 * Sends a notification after the other while that is wanted, each again until it is answered with 200, as a provider does; answers the ids of
 * all that were. They are about charges of somebody else who shares the account.
 */
export async function notifyInTurn(
  { notificationsUrl }: Pick<Installation, 'notificationsUrl'>,
  isWanted: () => boolean,
): Promise<string[]> {
  const taken: string[] = [];
  for (let number = 1; isWanted(); number += 1) {
    const object = { id: `pi_of_the_shop_${number}`, object: 'payment_intent', metadata: {} };
    const event = { id: `evt_fault_${number}`, type: 'payment_intent.succeeded', data: { object } };
    for (let times = number % repeatedEvery === 0 ? 2 : 1; times > 0 && isWanted(); ) {
      if (await isTaken(notificationsUrl, event)) {
        times -= 1;
        if (taken.at(-1) !== event.id) taken.push(event.id);
      }
      await delay(pauseMs);
    }
  }
  return taken;
}

async function isTaken(url: string, event: object): Promise<boolean> {
  const signal = AbortSignal.timeout(requestLimitMs);
  try {
    const { status } = await fetch(url, { method: 'POST', ...signedNotification(event, webhookSecret), signal });
    if (status === 200 || status === 503) return status === 200;
    throw new RangeError(`a notification was answered ${status}`);
  } catch (error) {
    if (error instanceof RangeError) throw error;
    return false;
  }
}

/** Acknowledged notifications that are not there once and through. */
export async function lostNotifications(ownerUrl: string, taken: readonly string[]): Promise<string[]> {
  const client = new pg.Client({ connectionString: ownerUrl });
  await client.connect();
  try {
    const { rows } = await client.query<{ problem: string }>(
      `select format('%s is there %s times, done as %s', t.id, count(e.id), string_agg(e.outcome, ', ')) as problem
       from unnest($1::text[]) as t(id) left join inbound_event e on e.provider_event_id = t.id
       group by t.id having count(e.id) <> 1 or bool_or(e.outcome is distinct from 'not_ours')`,
      [taken],
    );
    return rows.map(({ problem }) => problem);
  } finally {
    await client.end();
  }
}
