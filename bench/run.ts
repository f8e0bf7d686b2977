import '../heap.ts';

/** Every bench by name; each module measures when it is called. design: quality.md Benches */
const benches: Record<string, () => Promise<{ run(): Promise<void> }>> = {
  checkout: () => import('./checkout.ts'),
  'checkout-expiry': () => import('./checkout-expiry.ts'),
  'clock-year': () => import('./clock-year.ts'),
  'close-many': () => import('./close-many.ts'),
  'close-paid': () => import('./close-paid.ts'),
  'close-sql': () => import('./close-sql.ts'),
  'close-temporal': () => import('./close-temporal.ts'),
  'cold-start': () => import('./cold-start.ts'),
  commands: () => import('./commands.ts'),
  'entitlement-read': () => import('./entitlement-read.ts'),
  'event-bytes': () => import('./event-bytes.ts'),
  'finalize-drafts': () => import('./finalize-drafts.ts'),
  freshness: () => import('./freshness.ts'),
  growth: () => import('./growth.ts'),
  import: () => import('./import.ts'),
  inbound: () => import('./inbound.ts'),
  'ingest-bulk': () => import('./ingest-bulk.ts'),
  'ingest-duplicates': () => import('./ingest-duplicates.ts'),
  'ingest-single': () => import('./ingest-single.ts'),
  'invoice-compute': () => import('./invoice-compute.ts'),
  'invoice-list': () => import('./invoice-list.ts'),
  'invoice-pdf': () => import('./invoice-pdf.ts'),
  'plan-simulate': () => import('./plan-simulate.ts'),
  preview: () => import('./invoice-preview.ts'),
  'price-sync': () => import('./price-sync.ts'),
  'provider-charge': () => import('./provider-charge.ts'),
  replay: () => import('./replay.ts'),
  soak: () => import('./soak.ts'),
  'top-up-watch': () => import('./top-up-watch.ts'),
  'usage-read': () => import('./usage-read.ts'),
  'wallet-balance': () => import('./wallet-balance.ts'),
  'wallet-debit': () => import('./wallet-debit.ts'),
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
