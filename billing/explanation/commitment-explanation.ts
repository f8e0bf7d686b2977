import type { DerivedCommitment } from '../price/derivation.ts';
import type { ExplanationStep } from './explanation-step.ts';
import type { ExplanationWords } from './explanation-text.ts';

/** What a commitment made of a part's cost, in words; nothing without one. spec: subscriptions-and-invoicing §2.7 */
export function explainCommitment(
  commitment: DerivedCommitment | undefined,
  amount: string,
  currency: string,
  words: ExplanationWords,
): ExplanationStep[] {
  if (!commitment) return [];
  const money = (value: string): string => words.money(value, currency);
  const { overageFactor: factor, base } = commitment;
  const committed = committedText(commitment, money, words);
  const sentence = {
    within: `${money(base)} is within the subscription's commitment of ${committed}.`,
    overage: `${money(base)} is above the subscription's commitment of ${committed}: × ${factor} = ${money(amount)}.`,
    true_up: `The usage of the commitment period stays ${money(commitment.trueUp)} below the commitment of ${committed}.`,
    line: lineSentence(commitment, committed, money(amount), money),
  }[commitment.kind];
  return [{ kind: 'commitment', sentence, amount }];
}

function committedText(
  { committed, prior }: DerivedCommitment,
  money: (value: string) => string,
  words: ExplanationWords,
): string {
  const value = committed.type === 'amount' ? money(committed.value) : `the cost of ${words.quantity(committed.value)}`;
  return prior === '0' ? value : `${value}, of which earlier invoices used ${money(prior)}`;
}

function lineSentence(
  { windows, timeBuckets, utilized, overage, overageFactor, trueUp }: DerivedCommitment,
  committed: string,
  amount: string,
  money: (value: string) => string,
): string {
  const judged = timeBuckets > 0 ? `Committed by ${timeBuckets} times of the day` : `Committed to ${committed}`;
  const each = windows === null ? '' : `, judged in each of ${windows} windows on its own`;
  return `${judged}${each}: ${money(utilized)} utilized, ${money(overage)} for what is above at × ${overageFactor}, ${money(trueUp)} for what is missing: ${amount}.`;
}
