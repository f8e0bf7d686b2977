import pg from 'pg';
import { expect } from 'vitest';
import { poll } from '../../../dev/processes.ts';
import type { Api } from '../../support/app.ts';
import { created } from '../../support/billing.ts';

export interface PriceSyncView {
  sync_status: string;
  subscriptions_found: number;
  subscriptions_synced: number;
  subscriptions_failed: number;
  line_items_found_for_creation: number;
  line_items_created: number;
  line_items_terminated: number;
  failures: { subscription_id: string; reason: string }[];
}

export interface LineItem {
  id: string;
  price_id: string;
  start_date: string;
  end_date: string | null;
}

/** What a test of price sync does with a plan, through the API and, for what the API does not offer, as the owner. */
export function priceSyncs(api: Api, ownerUrl: string) {
  const asOwner = async <Row extends pg.QueryResultRow>(text: string, values: unknown[] = []): Promise<Row[]> => {
    const client = new pg.Client({ connectionString: ownerUrl });
    await client.connect();
    try {
      return (await client.query<Row>(text, values)).rows;
    } finally {
      await client.end();
    }
  };
  const latest = async (planId: string) =>
    (await api<PriceSyncView>('GET', `/plans/${planId}/sync/subscriptions`)).body;
  const begin = (planId: string) => created<{ run_id: string }>(api, `/plans/${planId}/sync/subscriptions`, undefined);
  /** The run of a plan as soon as it has ended. */
  const ended = async (planId: string, limitMs = 40_000) => {
    const run = await poll(async () => {
      const view = await latest(planId);
      return view.sync_status !== undefined && view.sync_status !== 'running' ? view : undefined;
    }, limitMs);
    expect(run, 'the price sync has ended').toBeTruthy();
    return run as PriceSyncView;
  };
  return {
    asOwner,
    latest,
    begin,
    ended,
    /** Syncs a plan and answers what the run did. */
    async sync(planId: string): Promise<PriceSyncView> {
      await api('GET', `/plans/${planId}/sync/subscriptions`);
      const before = await asOwner<{ count: string }>('select count(*) from price_sync where plan_id = $1', [planId]);
      await begin(planId);
      const begun = () => asOwner<{ count: string }>('select count(*) from price_sync where plan_id = $1', [planId]);
      await poll(async () => ((await begun())[0]?.count !== before[0]?.count ? true : undefined), 20_000);
      return ended(planId);
    },
    /** A usage price of 0.20 a call, or another. */
    async usagePrice(plan: { planId: string; meterId: string }, price: Record<string, unknown> = {}): Promise<string> {
      const { id } = await created(api, '/prices', {
        entity_type: 'PLAN',
        entity_id: plan.planId,
        type: 'USAGE',
        billing_model: 'FLAT_FEE',
        billing_period: 'MONTHLY',
        invoice_cadence: 'ARREAR',
        currency: 'usd',
        amount: '0.20',
        meter_id: plan.meterId,
        start_date: '2020-01-01T00:00:00Z',
        ...price,
      });
      return id;
    },
    lineItems: (subscriptionId: string, priceId: string): Promise<LineItem[]> =>
      asOwner<LineItem & pg.QueryResultRow>(
        'select id, price_id, start_date, end_date from subscription_line_item where subscription_id = $1 and price_id = $2',
        [subscriptionId, priceId],
      ),
    /** Holds a row, so that whoever wants to change it, or to be sure that nobody does, waits until it is let go. */
    async hold(table: 'plan' | 'subscription', id: string): Promise<() => Promise<void>> {
      const client = new pg.Client({ connectionString: ownerUrl });
      await client.connect();
      await client.query('begin');
      await client.query(`select 1 from ${table} where id = $1 for update`, [id]);
      return () => client.end();
    },
  };
}
