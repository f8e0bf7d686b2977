import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { type Adapters, outcome } from '../../vectors/adapter.ts';
import { autoInvoiceThresholdAdapters } from '../../vectors/adapters/auto-invoice-threshold.ts';
import { autoTopupAdapters } from '../../vectors/adapters/auto-topup.ts';
import { calendarAdapters } from '../../vectors/adapters/calendar.ts';
import { catalogueAdapters } from '../../vectors/adapters/catalogue.ts';
import { chargeAdapters } from '../../vectors/adapters/charge.ts';
import { commitmentAdapters } from '../../vectors/adapters/commitment.ts';
import { creditNoteAdapters } from '../../vectors/adapters/credit-note.ts';
import { invoiceAdapters } from '../../vectors/adapters/invoice.ts';
import { pauseAdapters } from '../../vectors/adapters/pause.ts';
import { planChangeAdapters } from '../../vectors/adapters/plan-change.ts';
import { priceSyncAdapters } from '../../vectors/adapters/price-sync.ts';
import { priceUnitAdapters } from '../../vectors/adapters/price-unit.ts';
import { prorationAdapters } from '../../vectors/adapters/proration.ts';
import { subscriptionAdapters } from '../../vectors/adapters/subscription.ts';
import { walletAdapters } from '../../vectors/adapters/wallet.ts';
import { matches } from '../../vectors/compare.ts';
import { readVectors } from '../../vectors/read.ts';

const adapters: Adapters = {
  ...autoInvoiceThresholdAdapters,
  ...autoTopupAdapters,
  ...calendarAdapters,
  ...catalogueAdapters,
  ...chargeAdapters,
  ...commitmentAdapters,
  ...creditNoteAdapters,
  ...pauseAdapters,
  ...planChangeAdapters,
  ...prorationAdapters,
  ...invoiceAdapters,
  ...priceSyncAdapters,
  ...priceUnitAdapters,
  ...subscriptionAdapters,
  ...walletAdapters,
};

const cases = join(import.meta.dirname, '../../vectors/cases');

/** The specification's cases of pure kinds; `npm run vectors -- test/vectors/cases` runs all and names the kinds not built. */
const files = readdirSync(cases).map((name) => ({
  name,
  vectors: readVectors(join(cases, name)).filter((vector) => vector.kind in adapters),
}));

describe.each(files.filter(({ vectors }) => vectors.length > 0))('$name', ({ vectors }) => {
  it.each(vectors.map((vector) => [vector.id, vector.kind, vector] as const))('%s (%s)', (_id, _kind, vector) => {
    const actual = outcome(() => adapters[vector.kind]!(vector.given));
    if (!matches(vector.expect, actual)) expect(actual).toEqual(vector.expect);
  });
});

describe('comparison of a result with what a vector expects', () => {
  it.each([
    ['1.50', '1.5', true],
    [30, '30', true],
    ['-0.00', '0', true],
    ['2026-01-01T00:00:00Z', '2026-01-01T00:00:00.000Z', true],
    ['007', '7', false],
    ['100', '1', false],
    [true, 'true', false],
    [null, undefined, true],
    [null, '0', false],
    [['a'], ['a', 'b'], false],
    [{ a: '1' }, { a: '1.0', b: 2 }, true],
    [{ a: '1' }, { b: '1' }, false],
  ])('%j against %j', (expected, actual, same) => {
    expect(matches(expected, actual)).toBe(same);
  });
});
