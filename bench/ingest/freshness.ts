import { randomUUID } from 'node:crypto';
import { withBenchDatabase } from '../platform.ts';

const rounds = 500;

/** Asks for usage right after each 202: how often the answer did not have the event yet, which must be never. */
export async function run(): Promise<void> {
  await withBenchDatabase(async ({ api, checkInvariants }) => {
    const event_name = `fresh-${randomUUID()}`;
    const aggregation = { type: 'COUNT' };
    const meter = await api('POST', '/meters', {
      name: 'Fresh',
      event_name,
      aggregation,
      reset_usage: 'BILLING_PERIOD',
    });
    let stale = 0;
    for (let round = 1; round <= rounds; round += 1) {
      await api('POST', '/events', { event_name, external_customer_id: 'acme' });
      const usage = await api<{ value: number }>('POST', '/events/usage/meter', {
        meter_id: meter.id,
        external_customer_id: 'acme',
        end_time: new Date(Date.now() + 60_000).toISOString(),
      });
      if (usage.value !== round) stale += 1;
    }
    await checkInvariants();
    const ratio = stale / rounds;
    console.log(
      JSON.stringify({ bench: 'freshness', ratio, min: ratio, max: ratio, reference: rounds, product: stale }),
    );
    if (stale > 0) throw new Error(`${stale} of ${rounds} answers did not have the event before them`);
  });
}
