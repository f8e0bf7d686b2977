import type { ExplanationStep } from './charge-explanation.ts';
import type { DerivedCommitment } from './derivation.ts';
import { moneyText } from './explanation-text.ts';

/** What a commitment made of a part's cost, in words; nothing without one. spec: subscriptions-and-invoicing §2.7 */
export function explainCommitment(
  commitment: DerivedCommitment | undefined,
  amount: string,
  currency: string,
): ExplanationStep[] {
  if (!commitment) return [];
  const money = (value: string): string => moneyText(value, currency);
  const { overageFactor: factor, base } = commitment;
  const committed = committedText(commitment, currency);
  const sentence = {
    within: `${money(base)} is within the subscription's commitment of ${committed}.`,
    overage: `${money(base)} is above the subscription's commitment of ${committed}: × ${factor} = ${money(amount)}.`,
    true_up: `The usage of the commitment period stays ${money(commitment.trueUp)} below the commitment of ${committed}.`,
    line: lineSentence(commitment, amount, currency),
  }[commitment.kind];
  return [{ kind: 'commitment', sentence }];
}

function committedText({ committed, prior }: DerivedCommitment, currency: string): string {
  const value = committed.type === 'amount' ? moneyText(committed.value, currency) : `the cost of ${committed.value}`;
  return prior === '0' ? value : `${value}, of which earlier invoices used ${moneyText(prior, currency)}`;
}

function lineSentence(commitment: DerivedCommitment, amount: string, currency: string): string {
  const money = (value: string): string => moneyText(value, currency);
  const { windows, timeBuckets } = commitment;
  const judged =
    timeBuckets > 0
      ? `Committed by ${timeBuckets} times of the day`
      : `Committed to ${committedText(commitment, currency)}`;
  const each = windows === null ? '' : `, judged in each of ${windows} windows on its own`;
  return `${judged}${each}: ${money(commitment.utilized)} utilized, ${money(commitment.overage)} for what is above at × ${commitment.overageFactor}, ${money(commitment.trueUp)} for what is missing: ${money(amount)}.`;
}
