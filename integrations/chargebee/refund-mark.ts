import { type ChargebeeClient, listAll, objectOf } from './client.ts';
import type { ChargebeeComment, ChargebeeLinkedRefund, ChargebeeTransaction } from './shapes.ts';

const minuteMs = 60_000;
/** Time after its mark within which a refund arrives: until nothing is sent again, and what was under way then. */
const arrivalMs = 35 * minuteMs;
/** Largest difference of clocks. */
const skewMs = 30 * minuteMs;

/**
 * Note at a payment, written before money of it goes back: Chargebee's refunds carry no name of ours, and its idempotency keys are forgotten
 * after 30 minutes. A refund is that of a mark when its amount and time fit, it was not there before, and no earlier mark has it.
 * design: money-in-checkout §A2, §C chargebee
 */
export interface RefundMark {
  commentId: string;
  token: string;
  /** Chargebee's units. */
  minor: number;
  writtenMs: number;
  /** Instant by our clock, by which marks are told apart that were written within one second of Chargebee's. */
  orderedAt: string;
  /** Refunds of that amount that were there before. */
  before: readonly string[];
}

/** The marks of a payment, the first first. */
export async function marksOf(client: ChargebeeClient, paymentId: string): Promise<RefundMark[]> {
  const filter = { entity_type: 'transaction', entity_id: paymentId };
  const entries = await listAll<{ comment: ChargebeeComment }>(client, '/comments', { filter });
  return entries
    .flatMap(({ comment }) => markOf(comment) ?? [])
    .toSorted((a, b) => a.orderedAt.localeCompare(b.orderedAt) || a.commentId.localeCompare(b.commentId));
}

/** Writes down that money of a payment is about to go back. Throws `GatewayOutcomeUnknown` where it cannot be written. */
export async function writeMark(
  client: ChargebeeClient,
  payment: ChargebeeTransaction,
  { token, minor }: { token: string; minor: number },
): Promise<void> {
  const before = (payment.linked_refunds ?? [])
    .filter(({ txn_amount, txn_date }) => txn_amount === minor && txn_date * 1000 > Date.now() - 2 * skewMs)
    .map(({ txn_id }) => txn_id);
  const at = new Date().toISOString();
  const notes = `Perennial gives back ${minor} by refund ${token} at ${at}; not by ${before.join(' ') || 'any before'}`;
  const comment = { entity_type: 'transaction', entity_id: payment.id, notes };
  objectOf(await client.post('/comments', comment), 'write down a refund');
}

/** Takes a mark away whose refund was refused. */
export async function takeMarkAway(client: ChargebeeClient, { commentId }: RefundMark): Promise<void> {
  objectOf(await client.post(`/comments/${encodeURIComponent(commentId)}/delete`), 'take the mark of a refund away');
}

/** The refunds of a payment by the marks they belong to; two marks of one token are one. */
export function claimedRefunds(
  payment: ChargebeeTransaction,
  marks: readonly RefundMark[],
): Map<string, ChargebeeLinkedRefund> {
  const refunds = (payment.linked_refunds ?? []).toSorted((a, b) => a.txn_date - b.txn_date);
  const claimed = new Map<string, ChargebeeLinkedRefund>();
  const taken = new Set<string>();
  for (const [index, mark] of marks.entries()) {
    if (claimed.has(mark.token)) continue;
    const fitting = refunds.filter((each) => !taken.has(each.txn_id) && fits(mark, each));
    // Of two in one second the one that was there before a later mark was written is the earlier.
    const wasThere = new Set(marks.slice(index + 1).flatMap(({ before }) => before));
    const refund = fitting.find(({ txn_id }) => wasThere.has(txn_id)) ?? fitting[0];
    if (!refund) continue;
    taken.add(refund.txn_id);
    claimed.set(mark.token, refund);
  }
  return claimed;
}

/**
 * Whether a refund of the same amount may still arrive that would be taken for ours: one of an earlier mark than ours, or of any where ours is
 * not written yet.
 */
export function isAnotherUndecided(
  { token, minor }: { token: string; minor: number },
  marks: readonly RefundMark[],
  claimed: ReadonlyMap<string, unknown>,
): boolean {
  const ours = marks.findIndex((mark) => mark.token === token);
  const earlier = ours < 0 ? marks : marks.slice(0, ours);
  const isUndecided = (mark: RefundMark) => !claimed.has(mark.token) && Date.now() - mark.writtenMs < arrivalMs;
  return earlier.some((mark) => mark.minor === minor && isUndecided(mark));
}

function fits({ minor, writtenMs, before }: RefundMark, refund: ChargebeeLinkedRefund): boolean {
  const atMs = refund.txn_date * 1000;
  const isInTime = atMs >= writtenMs - skewMs && atMs <= writtenMs + arrivalMs;
  return refund.txn_amount === minor && isInTime && !before.includes(refund.txn_id);
}

function markOf({ id, notes, created_at }: ChargebeeComment): RefundMark | null {
  const match = /^Perennial gives back (\d+) by refund (\w+) at ([\d:.TZ-]+); not by (.*)$/.exec(notes);
  if (!match) return null;
  const [minor = '', token = '', orderedAt = '', before = ''] = match.slice(1);
  const ids = before === 'any before' ? [] : before.split(' ');
  return { commentId: id, token, minor: Number(minor), writtenMs: created_at * 1000, orderedAt, before: ids };
}
