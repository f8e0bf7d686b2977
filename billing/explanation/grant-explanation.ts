import type { DerivedGrants } from '../price/derivation.ts';
import { type ExplanationWords, spanText } from './explanation-text.ts';

/** Up to this many windows are told one by one: those with something over them first of all. */
const toldWindows = 50;

/** The budgets of a line in words: what each window held, what was over it, and what is billed of it. spec: §9.3 */
export function explainGrants(
  { mode, measure, windowCount, windows, billable }: DerivedGrants,
  currency: string,
  words: ExplanationWords,
): { kind: 'allowance'; sentence: string }[] {
  const amount = (text: string): string => (measure === 'amount' ? words.money(text, currency) : words.quantity(text));
  const exhausted = (windows ?? []).filter(({ crossedAt }) => crossedAt !== null);
  const budgets = windowCount === 1 ? '1 budget' : `${windowCount} budgets`;
  const opened = windows === null ? `${budgets} were opened` : `${budgets}, ${exhausted.length} of them used up`;
  const told = exhausted
    .slice(0, toldWindows)
    .map(({ entitlementId, start, end, quota, usage, overage, crossedAt }) => ({
      kind: 'allowance' as const,
      sentence: `Budget of ${entitlementId} ${spanText(start, end, words)}: ${amount(usage)} used of ${amount(quota)}, reached at ${words.instant(crossedAt!)}; ${amount(overage)} is over it.`,
    }));
  const once = mode === 'parallel' ? ' What is over several budgets at once is billed once.' : '';
  return [
    { kind: 'allowance', sentence: `The entitlement gives budgets that usage opens: ${opened}.` },
    ...told,
    { kind: 'allowance', sentence: `${amount(billable)} over the budgets is billed.${once}` },
  ];
}
