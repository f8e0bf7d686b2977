import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { currencyPrecision, type Decimal, decimal, decimalString, sum } from '../../../../billing/money/money.ts';
import {
  type CreditLot,
  debtOf,
  usableCredits,
  useLots,
  walletAllowance,
} from '../../../../billing/wallet/credit-lot.ts';
import { creditsOf, guardWallet } from '../../../../billing/wallet/wallet.ts';
import { planCredit, planDebit, type WalletState } from '../../../../billing/wallet/wallet-ledger.ts';
import { currencies, decimals } from '../arbitraries.ts';
import { refusalOf } from '../refused.ts';

const now = '2026-01-15T00:00:00.000Z';

function lot(id: string, credits: Decimal, expiryDate: string | null = null): CreditLot {
  return {
    id,
    creditAmount: credits,
    creditsAvailable: credits,
    expiryDate,
    priority: null,
    createdAt: '2026-01-01T00:00:00.000Z',
    transactionReason: 'FREE_CREDIT_GRANT',
    transactionStatus: 'completed',
    status: 'published',
  };
}

const positive = decimals(6, 9).filter((text) => !decimal(text).isZero());
const rates = decimals(3, 5).filter((text) => !decimal(text).isZero());

describe('what a wallet can pay of an invoice (wallets-and-payments §2.12)', () => {
  it('is the largest amount of the currency whose rounded credits are there', () => {
    fc.assert(
      fc.property(positive, rates, currencies, (credits, rate, currency) => {
        const usable = decimal(credits);
        const amount = walletAllowance(usable, rate, currency);
        const unit = decimal(1).dividedBy(decimal(10).toPower(currencyPrecision(currency)));
        expect(creditsOf(amount, rate).lessThanOrEqualTo(usable)).toBe(true);
        expect(creditsOf(amount.plus(unit), rate).greaterThan(usable)).toBe(true);
      }),
    );
  });

  it.each([
    ['3.333333333', '3', 'usd', '10'],
    ['0.004', '1', 'usd', '0'],
    ['100.9', '1', 'jpy', '100'],
    ['0', '1000', 'usd', '0'],
  ])('%s credits at %s pay %s %s', (credits, rate, currency, amount) => {
    expect(decimalString(walletAllowance(decimal(credits), rate, currency))).toBe(amount);
  });
});

describe('the ledger of a wallet (wallets-and-payments §2.2)', () => {
  const steps = fc.array(
    fc.record({
      kind: fc.constantFrom('credit', 'debit', 'by hand'),
      credits: positive,
      expired: fc.boolean(),
    }),
    { maxLength: 12 },
  );

  it('keeps lots between zero and their size, and a debt only after an overdraft', () => {
    fc.assert(
      fc.property(steps, (list) => {
        let wallet: WalletState = {
          creditBalance: decimal(0),
          conversionRate: '1',
          topupConversionRate: '1',
          lots: [],
        };
        let overdrawn = false;
        for (const [index, step] of list.entries()) {
          const credits = decimal(step.credits);
          if (step.kind === 'credit') {
            const plan = planCredit(wallet, { credits });
            const fresh = lot(`lot_${index}`, credits, step.expired ? '2026-01-14T00:00:00.000Z' : null);
            const lots = [...wallet.lots, { ...fresh, creditsAvailable: plan.available }];
            wallet = { ...wallet, creditBalance: plan.creditBalanceAfter, lots };
          } else {
            const reason = step.kind === 'debit' ? 'INVOICE_PAYMENT' : 'MANUAL_BALANCE_DEBIT';
            wallet = debited(wallet, credits, reason);
            overdrawn ||= step.kind === 'by hand';
          }
          for (const one of wallet.lots) {
            expect(one.creditsAvailable.isNegative()).toBe(false);
            expect(one.creditsAvailable.lessThanOrEqualTo(one.creditAmount)).toBe(true);
          }
          const debt = debtOf(wallet.lots, wallet.creditBalance);
          expect(debt.isNegative()).toBe(false);
          if (!overdrawn) expect(debt.isZero()).toBe(true);
          if (!overdrawn) expect(wallet.creditBalance.isNegative()).toBe(false);
        }
      }),
    );
  });

  function debited(wallet: WalletState, credits: Decimal, reason: string): WalletState {
    const usable = usableCredits(wallet.lots, wallet.creditBalance, now);
    if (reason === 'INVOICE_PAYMENT' && usable.lessThan(credits)) return wallet;
    const plan = planDebit(wallet, { credits, reason, referenceTime: now });
    const left = new Map(plan.uses.map((use) => [use.id, use.left]));
    const lots = wallet.lots.map((one) => ({ ...one, creditsAvailable: left.get(one.id) ?? one.creditsAvailable }));
    return { ...wallet, creditBalance: plan.creditBalanceAfter, lots };
  }

  it('uses a lot on its last instant and not after it', () => {
    const lots = [lot('a', decimal(5), now)];
    const wallet = { lots, creditBalance: decimal(5) };
    const debit = { credits: decimal(5), mayOverdraw: false };
    expect(useLots(wallet, { ...debit, referenceTime: now })).toHaveLength(1);
    expect(refusalOf(() => useLots(wallet, { ...debit, referenceTime: '2026-01-15T00:00:00.001Z' }))).toMatchObject({
      code: 'invalid_operation',
      message: expect.stringContaining('insufficient balance'),
    });
  });

  it('takes many small lots in order', () => {
    const lots = Array.from({ length: 250 }, (_, index) => lot(`lot_${String(index).padStart(3, '0')}`, decimal(1)));
    const uses = useLots(
      { lots, creditBalance: decimal(250) },
      { credits: decimal(200), referenceTime: now, mayOverdraw: false },
    );
    expect(uses.map((use) => use.id)).toEqual(lots.slice(0, 200).map(({ id }) => id));
    expect(decimalString(sum(uses.map((use) => use.taken)))).toBe('200');
  });
});

describe('the status of a wallet (wallets-and-payments §2.1)', () => {
  const wallet = (walletStatus: string, walletType = 'PRE_PAID') => ({ id: 'wallet_1', walletStatus, walletType });
  const operations = ['top_up', 'debit', 'terminate', 'modify', 'update', 'settle_paid_purchase'] as const;
  const admitted = (walletStatus: string) =>
    operations.filter((operation) => {
      try {
        guardWallet(wallet(walletStatus), operation);
        return true;
      } catch {
        return false;
      }
    });

  it('admits everything while active, little while frozen and nothing once closed', () => {
    expect(admitted('active')).toEqual(operations);
    expect(admitted('frozen')).toEqual(['terminate', 'update', 'settle_paid_purchase']);
    expect(admitted('closed')).toEqual([]);
  });

  it('lets only a prepaid wallet become postpaid', () => {
    expect(refusalOf(() => guardWallet(wallet('active', 'POST_PAID'), 'modify'))?.code).toBe('invalid_operation');
  });
});
