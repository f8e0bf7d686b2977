import { describe, expect, test } from 'vitest';
import { type CheckoutStanding, checkoutAgenda } from '../../../billing/payment/checkout-agenda.ts';

const minuteMs = 60_000;
const openedAt = '2026-11-27T12:00:00.000Z';
const at = (minutes: number) => new Date(Date.parse(openedAt) + minutes * minuteMs).toISOString();

/** A session of half an hour that was cancelled after five minutes, at a provider whose page lives three hours and cannot be closed. */
const cancelled: CheckoutStanding = {
  checkoutStatus: 'expired',
  linkState: 'open',
  openedAt,
  expiresAt: at(30),
  linkExpiresAt: at(180),
  askedAt: at(5),
  completionFailedAt: null,
  endedAt: at(5),
};

/** Agenda of a session until its last look, each entry performed when it is due and answered "can still be paid". */
function lifeOf(standing: CheckoutStanding): { kind: string; at: string }[] {
  const life: { kind: string; at: string }[] = [];
  for (let now = standing.askedAt ?? standing.openedAt; life.length < 1_000; ) {
    const [next] = checkoutAgenda({ ...standing, askedAt: now }, now);
    if (!next) break;
    life.push(next);
    if (next.kind === 'lastLook') break;
    now = next.at;
  }
  return life;
}

describe('finding A4: a page that can still be paid after its session has ended', () => {
  test('is asked about with growing pauses, of a quarter of an hour at most, until it can take no money any more', () => {
    const life = lifeOf(cancelled);
    expect(life.at(-1)).toMatchObject({ kind: 'lastLook', at: at(195) });
    const questions = [at(5), ...life.map((entry) => entry.at)].map((instant) => Date.parse(instant));
    const pauses = questions.slice(1).map((instant, index) => instant - questions[index]!);
    expect(Math.max(...pauses)).toBeLessThanOrEqual(15 * minuteMs);
    expect(pauses[0]).toBeLessThan(minuteMs / 10);
    expect(questions.length).toBeLessThan(40);
  });

  test('whose provider names no end is asked about for a day', () => {
    expect(lifeOf({ ...cancelled, linkExpiresAt: null }).at(-1)).toMatchObject({
      kind: 'lastLook',
      at: at(5 + 1440 + 15),
    });
  });

  test('that had ended before its session did is asked about for a quarter of an hour more', () => {
    expect(lifeOf({ ...cancelled, linkExpiresAt: at(1) }).at(-1)).toMatchObject({ kind: 'lastLook', at: at(20) });
  });

  test('that is known to take no money any more is asked about no longer', () => {
    expect(checkoutAgenda({ ...cancelled, linkState: 'dead' }, at(6))).toEqual([]);
  });
});
