/** Terms and limits of a wallet that fills itself, in whole billionths of a credit; a credit costs one. */
export interface NaiveTerms {
  threshold: bigint;
  amount: bigint;
  cooldownHours: number | null;
  coversShortfall: boolean;
  mostTimes: number;
  monthly: bigint;
  declinedPerDay: number;
  declinedPer30Days: number;
  succeededPerDay: number;
}

interface NaiveAttempt {
  openedMs: number;
  endedMs: number;
  paid: bigint;
  succeeded: boolean;
}

const hourMs = 3_600_000;
const dayMs = 24 * hourMs;

/**
 * A wallet that fills itself, told anew from the rules: whole numbers, one loop an answer, and no code of the product.
 * spec: wallets-and-payments §2.11; design: money-in-wallets findings 8, 9, 10, 27
 */
export class NaiveTopUps {
  balance: bigint;
  isPaused = false;
  #declines = 0;
  readonly #attempts: NaiveAttempt[] = [];

  constructor(balance: bigint) {
    this.balance = balance;
  }

  /** A person ends a pause. */
  resume(): void {
    this.isPaused = false;
    this.#declines = 0;
  }

  /** Multiples of the amount that one charge buys now; 0 where nothing is charged. */
  timesAt(nowMs: number, terms: NaiveTerms): number {
    if (this.isPaused || this.balance > terms.threshold) return 0;
    if (this.#waits(nowMs, terms) || this.#isLimited(nowMs, terms)) return 0;
    let rest = terms.monthly - this.#paidInMonthOf(nowMs);
    let times = 0;
    let after = this.balance;
    do {
      if (rest < terms.amount) break;
      rest -= terms.amount;
      after += terms.amount;
      times += 1;
    } while (terms.coversShortfall && times < terms.mostTimes && after <= terms.threshold);
    return times;
  }

  /** Enters an attempt that has ended. */
  enter(attempt: NaiveAttempt): void {
    this.#attempts.push(attempt);
    this.#declines = attempt.succeeded ? 0 : this.#declines + 1;
    if (attempt.succeeded) this.balance += attempt.paid;
    if (this.#declines >= 4) this.isPaused = true;
  }

  #waits(nowMs: number, { cooldownHours }: NaiveTerms): boolean {
    const last = this.#attempts[this.#attempts.length - 1];
    if (!last) return false;
    const pauseMs = (cooldownHours ?? 1) * hourMs;
    if (nowMs - last.openedMs < pauseMs) return true;
    const backOff = [0, 1, 2, 4, 4][this.#declines]! * hourMs;
    return !last.succeeded && nowMs - last.endedMs < Math.max(pauseMs, backOff, hourMs);
  }

  #isLimited(nowMs: number, terms: NaiveTerms): boolean {
    const counts = { declinedDay: 0, declined30: 0, succeededDay: 0 };
    for (const { openedMs, succeeded } of this.#attempts) {
      if (nowMs - openedMs >= 30 * dayMs) continue;
      if (!succeeded) counts.declined30 += 1;
      if (nowMs - openedMs >= dayMs) continue;
      if (succeeded) counts.succeededDay += 1;
      else counts.declinedDay += 1;
    }
    return (
      counts.declinedDay >= terms.declinedPerDay ||
      counts.declined30 >= terms.declinedPer30Days ||
      counts.succeededDay >= terms.succeededPerDay
    );
  }

  #paidInMonthOf(nowMs: number): bigint {
    const now = new Date(nowMs);
    const begins = Date.UTC(now.getUTCFullYear(), now.getUTCMonth(), 1);
    let paid = 0n;
    for (const { openedMs, succeeded, paid: own } of this.#attempts) {
      if (succeeded && openedMs >= begins) paid += own;
    }
    return paid;
  }
}
