import { decimal } from '../../billing/money/money.ts';
import { amountOfWhop } from './amount.ts';
import type { WhopPlan, WhopRefund } from './shapes.ts';

/** Note at the plan of a payment before money goes back. */
export interface RefundMark {
  token: string;
  /** Number of refunds that the payment had when it was first sent: ours is behind them. */
  before: number;
  amount: string;
  sentAt: number;
  /** Tells two sendings of one try apart. */
  sending: number;
}

const prefix = 'refund_';

/** Metadata of a plan with notes changed, or taken away (null). Empty ones, by which a note was taken away before, are left out. */
export function withMarks(
  plan: WhopPlan,
  changes: Readonly<Record<string, RefundMark | null>>,
): Record<string, unknown> {
  const kept = Object.entries(plan.metadata ?? {}).filter(([name, text]) => !name.startsWith(prefix) || text !== '');
  const changed = Object.entries(changes).map(([token, mark]) => [prefix + token, textOf(mark)]);
  return Object.fromEntries([...kept, ...changed]);
}

function textOf(mark: RefundMark | null): string {
  return mark === null ? '' : `${mark.before}:${mark.amount}:${mark.sentAt}:${mark.sending}`;
}

/** The notes of a plan, the first sent first. */
export function marksOf({ metadata }: WhopPlan): RefundMark[] {
  const marks = Object.entries(metadata ?? {}).flatMap(([name, text]): RefundMark[] => {
    const match = /^(\d+):(\d+(?:\.\d+)?):(\d+):(\d+)$/.exec(String(text));
    if (!name.startsWith(prefix) || !match) return [];
    const [, before, amount = '', sentAt, sending] = match;
    const token = name.slice(prefix.length);
    return [{ token, before: Number(before), amount, sentAt: Number(sentAt), sending: Number(sending) }];
  });
  return marks.toSorted((a, b) => a.sentAt - b.sentAt);
}

/**
 * The refund of each note by its token: the first of its amount behind those that were there before, which no earlier note has. Refunds are
 * given the first made first.
 */
export function claimsOf(marks: readonly RefundMark[], refunds: readonly WhopRefund[]): Map<string, WhopRefund> {
  const claims = new Map<string, WhopRefund>();
  const claimed = new Set<string>();
  for (const { token, before, amount } of marks) {
    const own = refunds
      .slice(before)
      .find((refund) => !claimed.has(refund.id) && decimal(amountOfWhop(refund.amount)).equals(amount));
    if (!own) continue;
    claims.set(token, own);
    claimed.add(own.id);
  }
  return claims;
}
