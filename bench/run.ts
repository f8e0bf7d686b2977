import '../heap.ts';

/** Every bench by name; each module measures when it is called. design: quality.md Benches */
const benches: Record<string, () => Promise<{ run(): Promise<void> }>> = {
  checkout: () => import('./checkout/checkout.ts'),
  'checkout-expiry': () => import('./checkout/checkout-expiry.ts'),
  'clock-year': () => import('./close/clock-year.ts'),
  'close-many': () => import('./close/close-many.ts'),
  'close-paid': () => import('./close/close-paid.ts'),
  'close-sql': () => import('./close/close-sql.ts'),
  'close-temporal': () => import('./close/close-temporal.ts'),
  'cold-start': () => import('./cold-start.ts'),
  commands: () => import('./commands.ts'),
  'entitlement-read': () => import('./entitlement-read.ts'),
  'event-bytes': () => import('./ingest/event-bytes.ts'),
  'finalize-drafts': () => import('./close/finalize-drafts.ts'),
  freshness: () => import('./ingest/freshness.ts'),
  growth: () => import('./growth.ts'),
  import: () => import('./ingest/import.ts'),
  inbound: () => import('./ingest/inbound.ts'),
  'ingest-bulk': () => import('./ingest/ingest-bulk.ts'),
  'ingest-duplicates': () => import('./ingest/ingest-duplicates.ts'),
  'ingest-single': () => import('./ingest/ingest-single.ts'),
  'invoice-compute': () => import('./invoice/invoice-compute.ts'),
  'invoice-list': () => import('./invoice/invoice-list.ts'),
  'invoice-pdf': () => import('./invoice/invoice-pdf.ts'),
  'plan-simulate': () => import('./price/plan-simulate.ts'),
  preview: () => import('./invoice/invoice-preview.ts'),
  'price-sync': () => import('./price/price-sync.ts'),
  'provider-charge': () => import('./provider-charge.ts'),
  replay: () => import('./replay.ts'),
  soak: () => import('./soak.ts'),
  sse: () => import('./event/sse.ts'),
  'top-up-watch': () => import('./wallet/top-up-watch.ts'),
  'usage-read': () => import('./usage-read.ts'),
  'wallet-balance': () => import('./wallet/wallet-balance.ts'),
  'wallet-debit': () => import('./wallet/wallet-debit.ts'),
  'webhook-hang': () => import('./event/webhook-hang.ts'),
  'webhook-idle': () => import('./event/webhook-idle.ts'),
  'webhook-lag': () => import('./event/webhook-lag.ts'),
  webhooks: () => import('./event/webhooks.ts'),
  'workflow-memory': () => import('./workflow-memory.ts'),
};

const name = process.argv[2] ?? '';
const load = benches[name];
if (!load) {
  console.error(`usage: npm run bench -- <name>\nbenches: ${Object.keys(benches).sort().join(', ')}`);
  process.exit(1);
}
const bench = await load();
await bench.run();
