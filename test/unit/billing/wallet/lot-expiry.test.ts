import fc from 'fast-check';
import { describe, expect, it, test } from 'vitest';
import { decimal, decimalString } from '../../../../billing/money/money.ts';
import { type HoldingInvoice, type HoldingSubscription, lotFate } from '../../../../billing/wallet/credit-expiry.ts';
import { type CreditLot, usableCredits } from '../../../../billing/wallet/credit-lot.ts';
import { planCredit, planDebit, planExpiry, type WalletState } from '../../../../billing/wallet/wallet-ledger.ts';

const expiryDate = '2026-07-01T00:00:00.000Z';
const lot = { creditsAvailable: decimal('10'), expiryDate, grantedAt: '2026-06-01T00:00:00.000Z' };
const due = '2026-07-01T06:00:00.000Z';

const subscription = (fields: Partial<HoldingSubscription> = {}): HoldingSubscription => ({
  id: 'sub_1',
  subscriptionStatus: 'active',
  subscriptionType: 'standalone',
  currentPeriodEnd: '2026-07-01T00:00:00.000Z',
  ...fields,
});
const invoice = (fields: Partial<HoldingInvoice> = {}): HoldingInvoice => ({
  id: 'inv_1',
  invoiceType: 'SUBSCRIPTION',
  currency: 'usd',
  invoiceStatus: 'DRAFT',
  amountRemaining: decimal('5'),
  periodStart: '2026-06-01T00:00:00.000Z',
  periodEnd: '2026-07-01T00:00:00.000Z',
  finalizedAt: null,
  ...fields,
});
const fateOf = (
  given: { now?: string; subscriptions?: HoldingSubscription[]; invoices?: HoldingInvoice[] },
  of: Partial<typeof lot> | { expiryDate: null } = {},
) => lotFate({ ...lot, ...of }, { now: due, currency: 'usd', subscriptions: [], invoices: [], ...given });

describe('credits that expired (wallets-and-payments §2.8)', () => {
  it('leave six hours later, to the millisecond', () => {
    expect(fateOf({ now: '2026-07-01T05:59:59.999Z' })).toEqual({ outcome: 'not_due' });
    expect(fateOf({})).toEqual({ outcome: 'expired' });
    expect(fateOf({}, { expiryDate: null })).toEqual({ outcome: 'not_expiring' });
    expect(fateOf({}, { creditsAvailable: decimal('0') })).toEqual({ outcome: 'nothing_left' });
  });

  it.each([
    ['an active one whose period is over', {}, true],
    ['a parent', { subscriptionType: 'parent' }, true],
    ['one whose period goes on', { currentPeriodEnd: '2026-07-01T06:00:00.001Z' }, false],
    ['one that ends this instant', { currentPeriodEnd: due }, true],
    ['an inherited one', { subscriptionType: 'inherited' }, false],
    ['one in trial', { subscriptionStatus: 'trialing' }, false],
    ['a cancelled one', { subscriptionStatus: 'cancelled' }, false],
  ] as const)('stay for a subscription: %s', (_what, fields, holds) => {
    const fate = fateOf({ subscriptions: [subscription(fields)] });
    const held = { outcome: 'skipped:active_subscription', heldBy: 'sub_1', lookAgainAt: '2026-07-02T06:00:00.000Z' };
    expect(fate).toEqual(holds ? held : { outcome: 'expired' });
  });

  it.each([
    ['a draft of their period', {}, true],
    ['one that is settled', { amountRemaining: decimal('0') }, false],
    ['one of another currency', { currency: 'eur' }, false],
    ['one of no subscription', { invoiceType: 'ONE_OFF' }, false],
    ['a voided one', { invoiceStatus: 'VOIDED' }, false],
    ['one whose period began after they came', { periodStart: '2026-06-01T00:00:00.001Z' }, false],
    ['one whose period began as they came', { periodStart: '2026-06-01T00:00:00.000Z' }, true],
    ['one whose period ends after they expire', { periodEnd: '2026-07-01T00:00:00.001Z' }, false],
    ['one without a period', { periodStart: null }, false],
  ] as const)('stay for an invoice: %s', (_what, fields, holds) => {
    expect(fateOf({ invoices: [invoice(fields)] }).outcome).toBe(holds ? 'skipped:active_invoice' : 'expired');
  });

  it('stay for a finalized invoice thirty days and no longer', () => {
    const finalized = invoice({ invoiceStatus: 'FINALIZED', finalizedAt: '2026-07-01T02:00:00.000Z' });
    const at = (now: string) => fateOf({ now, invoices: [finalized] });
    const until = '2026-07-31T02:00:00.000Z';
    expect(at('2026-07-31T01:59:59.999Z')).toEqual({
      outcome: 'skipped:active_invoice',
      heldBy: 'inv_1',
      lookAgainAt: until,
    });
    expect(at(until)).toEqual({ outcome: 'expired' });
  });

  it('are looked at again when the last of several invoices may let them go', () => {
    const finalizedAt = (id: string, instant: string) =>
      invoice({ id, invoiceStatus: 'FINALIZED', finalizedAt: instant });
    const invoices = [
      finalizedAt('inv_2', '2026-07-01T03:00:00.000Z'),
      finalizedAt('inv_1', '2026-07-01T02:00:00.000Z'),
    ];
    expect(fateOf({ invoices })).toMatchObject({ heldBy: 'inv_2', lookAgainAt: '2026-07-31T03:00:00.000Z' });
  });
});

/** A ledger told once more, in billionths as whole numbers, by lists and loops alone. */
class NaiveWallet {
  balance = 0n;
  readonly lots: { name: number; left: bigint; size: bigint; expires: number; priority: number }[] = [];

  credit(name: number, credits: bigint, expires: number, priority: number): void {
    let owed = -this.balance;
    for (const one of this.lots) owed += one.left;
    const left = credits > owed ? credits - owed : 0n;
    this.lots.push({ name, left, size: credits, expires, priority });
    this.balance += credits;
  }

  usable(day: number): bigint {
    let held = 0n;
    for (const one of this.lots) if (one.expires >= day) held += one.left;
    const least = held < this.balance ? held : this.balance;
    return least > 0n ? least : 0n;
  }

  debit(credits: bigint, day: number): void {
    let needed = credits;
    while (needed > 0n) {
      let best: (typeof this.lots)[number] | null = null;
      for (const one of this.lots) {
        if (one.left === 0n || one.expires < day) continue;
        if (best === null || isSooner(one, best)) best = one;
      }
      if (best === null) break;
      const taken = best.left < needed ? best.left : needed;
      best.left -= taken;
      needed -= taken;
    }
    this.balance -= credits;
  }

  expire(day: number): void {
    for (const one of this.lots) {
      if (one.expires >= day) continue;
      this.balance -= one.left;
      one.left = 0n;
    }
  }
}

type NaiveLot = NaiveWallet['lots'][number];

function isSooner(one: NaiveLot, other: NaiveLot): boolean {
  if (one.priority !== other.priority) return one.priority < other.priority;
  if (one.expires !== other.expires) return one.expires < other.expires;
  if (one.size !== other.size) return one.size > other.size;
  return one.name < other.name;
}

const never = Number.MAX_SAFE_INTEGER;
const dayText = (day: number) => new Date(Date.UTC(2026, 0, 1 + day)).toISOString();
const creditsOf = (units: bigint) => decimal(units.toString()).dividedBy('1000000000');

const step = fc.record({
  kind: fc.constantFrom('credit', 'debit', 'overdraw'),
  units: fc.bigInt(1n, 40_000_000_000n),
  days: fc.integer({ min: 0, max: 20 }),
  expiresIn: fc.option(fc.integer({ min: 1, max: 60 }), { nil: null }),
  priority: fc.option(fc.integer({ min: 0, max: 2 }), { nil: null }),
});

test('random lives of wallets agree with a naive model to the ninth decimal: lots, balance and what can be used', () => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
      const naive = new NaiveWallet();
      let wallet: WalletState & { lots: CreditLot[] } = {
        creditBalance: decimal('0'),
        conversionRate: '1',
        topupConversionRate: '1',
        lots: [],
      };
      let day = 0;
      for (const [name, { kind, units, days, expiresIn, priority }] of steps.entries()) {
        day += days;
        const now = dayText(day);
        wallet = expired(wallet, now);
        naive.expire(day);
        if (kind === 'credit') {
          const plan = planCredit(wallet, { credits: creditsOf(units) });
          const expiry = expiresIn === null ? null : dayText(day + expiresIn);
          const made = newLot(name, { size: plan.credits, left: plan.available, expiry, priority });
          wallet = { ...wallet, creditBalance: plan.creditBalanceAfter, lots: [...wallet.lots, made] };
          naive.credit(name, units, expiresIn === null ? never : day + expiresIn, priority ?? never);
        } else {
          const wanted = kind === 'overdraw' ? units : least(units, naive.usable(day));
          const reason = kind === 'overdraw' ? 'MANUAL_BALANCE_DEBIT' : 'INVOICE_PAYMENT';
          wallet = taken(wallet, planDebit(wallet, { credits: creditsOf(wanted), reason, referenceTime: now }));
          naive.debit(wanted, day);
        }
        expect(decimalString(wallet.creditBalance)).toBe(decimalString(creditsOf(naive.balance)));
        expect(wallet.lots.map((one) => decimalString(one.creditsAvailable))).toEqual(
          naive.lots.map((one) => decimalString(creditsOf(one.left))),
        );
        const usable = usableCredits(wallet.lots, wallet.creditBalance, now);
        expect(decimalString(usable)).toBe(decimalString(creditsOf(naive.usable(day))));
      }
    }),
    { numRuns: 300 },
  );
});

type Held = WalletState & { lots: CreditLot[] };

/** Days are whole, so that what expired on an earlier one is past its six hours. */
function expired(wallet: Held, now: string): Held {
  return wallet.lots.reduce((left, one) => {
    const nothing = { now, currency: 'usd', subscriptions: [], invoices: [] };
    const { outcome } = lotFate({ ...one, grantedAt: one.createdAt }, nothing);
    return outcome === 'expired' ? taken(left, planExpiry(left, one)) : left;
  }, wallet);
}

function taken(wallet: Held, plan: ReturnType<typeof planExpiry>): Held {
  const left = new Map(plan.uses.map((use) => [use.id, use.left]));
  const lots = wallet.lots.map((one) => ({ ...one, creditsAvailable: left.get(one.id) ?? one.creditsAvailable }));
  return { ...wallet, creditBalance: plan.creditBalanceAfter, lots };
}

function newLot(
  name: number,
  {
    size,
    left,
    expiry,
    priority,
  }: {
    size: CreditLot['creditAmount'];
    left: CreditLot['creditAmount'];
    expiry: string | null;
    priority: number | null;
  },
): CreditLot {
  const id = `wtxn_${String(name).padStart(3, '0')}`;
  return {
    id,
    creditAmount: size,
    creditsAvailable: left,
    expiryDate: expiry,
    priority,
    createdAt: dayText(name),
    transactionReason: 'FREE_CREDIT_GRANT',
    transactionStatus: 'completed',
    status: 'published',
  };
}

const least = (one: bigint, other: bigint) => (one < other ? one : other);
