import { type Decimal, decimal, sum } from '../../billing/money/money.ts';
import { captured, proveMoney, usedCents } from './prepaid-proof.ts';
import type { PrepaidCustomer, PrepaidResult } from './prepaid-result.ts';
import { money, table } from './report.ts';

const headings = ['Customer', 'Card', 'Standing', 'Until', 'Used', 'Charges', 'Paid', 'Left', 'Alerts'];
const leftColumns = 4;

/** The result for a person: every wallet and why it is as it is, what they sum up to, and whether the money is right. */
export function prepaidReport({ wallets, events, seconds }: PrepaidResult): { text: string; holds: boolean } {
  const claims = proveMoney(wallets);
  const standings = Map.groupBy(wallets, standingOf);
  const text = [
    `An AI product sold tokens to ${wallets.length} customers in January: ${freeText}`,
    '',
    ...table(headings, leftColumns, wallets.map(rowOf), totalRow(wallets)),
    '',
    'How the wallets stand:',
    ...[...standings].map(([standing, own]) => `  ${String(own.length).padStart(4)}  ${standing}`).sort(),
    '',
    'The money:',
    ...claims.map(({ statement, broken }) =>
      broken.length === 0 ? `  holds   ${statement}` : `  BROKEN  ${statement}: ${broken.join(', ')}`,
    ),
    '',
    `${events.toLocaleString('en-US')} usage events, ${chargesOf(wallets)} charges, in ${seconds.toFixed(1)} s.`,
  ].join('\n');
  return { text, holds: claims.every(({ broken }) => broken.length === 0) };
}

const freeText = '20 credits free, then 25 whenever 10 are left, as long as the card pays.';

function standingOf({ wallet }: PrepaidCustomer): string {
  const { state, reason } = wallet.auto_topup_standing;
  return reason === null ? state : `${state}: ${reason}`;
}

function rowOf(customer: PrepaidCustomer): string[] {
  const { name, card, wallet, attempts, alerts } = customer;
  return [
    name,
    card,
    standingOf(customer),
    wallet.auto_topup_standing.until?.slice(0, 16) ?? '',
    money(used(customer)),
    String(attempts.length),
    money(captured(customer)),
    money(decimal(wallet.credit_balance)),
    String(alerts.length),
  ];
}

function totalRow(wallets: readonly PrepaidCustomer[]): string[] {
  const total = (of: (customer: PrepaidCustomer) => Decimal) => money(sum(wallets.map(of)));
  return [
    'Total',
    '',
    '',
    '',
    total(used),
    String(chargesOf(wallets)),
    total(captured),
    total(({ wallet }) => decimal(wallet.credit_balance)),
    String(wallets.reduce((count, { alerts }) => count + alerts.length, 0)),
  ];
}

const used = (customer: PrepaidCustomer) => decimal(String(usedCents(customer))).dividedBy(100);
const chargesOf = (wallets: readonly PrepaidCustomer[]) =>
  wallets.reduce((count, { attempts }) => count + attempts.length, 0);
