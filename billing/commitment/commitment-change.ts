import { decimal } from '../money/money.ts';
import { refuse } from '../refusal.ts';
import type { ClockTime, NewItemCommitment, NewTimeBucket } from './commitment-rules.ts';

/** What is to be different in the commitment of a line item; absent members stay. spec: subscriptions-and-invoicing §1.9 PUT */
export interface CommitmentChange extends Partial<Omit<NewItemCommitment, 'timeBuckets' | 'type' | 'value'>> {
  type?: 'amount' | 'quantity';
  /** `0` commits to nothing. */
  value?: string;
  /** All there shall be. */
  timeBuckets?: ChangedTimeBucket[];
}

/** A time of the day as it shall be: one that is there, by its id, or a new one with a price. */
export interface ChangedTimeBucket extends Omit<NewTimeBucket, 'terms'> {
  id: string | null;
  /** Null keeps the price it has. */
  terms: object | null;
}

/** A time of the day that is there. */
export interface StandingTimeBucket extends Omit<NewTimeBucket, 'terms'> {
  id: string;
  priceId: string;
  start: ClockTime;
  end: ClockTime;
}

/** What a line item is committed to. */
export type StandingCommitment = Omit<NewItemCommitment, 'timeBuckets'> & { timeBuckets: StandingTimeBucket[] };

const nothing: StandingCommitment = {
  type: null,
  value: null,
  overageFactor: '1',
  trueUp: false,
  windowed: false,
  duration: null,
  timeBuckets: [],
};

/**
 * The commitment of the next version of a line item: what was sent over what is there. Time buckets are replaced as a whole; one
 * that is named keeps its id and, unless another is sent, its price. An amount or quantity of 0 and no bucket commit to nothing:
 * null. Throws `validation_error` for a bucket that is not there, a type without its value, and terms of no commitment.
 * spec: subscriptions-and-invoicing §1.9, §2.7.5
 */
export function changedCommitment(
  standing: StandingCommitment | null,
  change: CommitmentChange,
  field: string,
): NewItemCommitment | null {
  const before = standing ?? nothing;
  const buckets = change.timeBuckets?.map((bucket, index) =>
    changedBucket(before, bucket, `${field}.commitment_time_buckets[${index}]`),
  );
  const timeBuckets = buckets ?? before.timeBuckets.map((bucket) => keptBucket(bucket, bucket));
  if (change.type && change.value === undefined && change.type !== before.type) {
    throw bad(`${field}.commitment_type`, `needs commitment_${change.type} beside it`);
  }
  const { type, value } = committedValue(before, change);
  if (type === null && timeBuckets.length === 0) {
    refuseTermsOfNothing(change, field);
    return null;
  }
  return {
    type,
    value,
    overageFactor: change.overageFactor ?? before.overageFactor,
    trueUp: change.trueUp ?? before.trueUp,
    windowed: change.windowed ?? before.windowed,
    duration: change.duration ?? before.duration,
    timeBuckets,
  };
}

/** Whether a change says anything about an item: to one that is committed to nothing, members that are empty say nothing. */
export function changesCommitment(change: CommitmentChange, isCommitted: boolean): boolean {
  const { value, timeBuckets = [], ...terms } = change;
  if (isCommitted || timeBuckets.length > 0 || (value !== undefined && !decimal(value).isZero())) return true;
  return Object.values(terms).some((sent) => !!sent);
}

function committedValue(
  before: StandingCommitment,
  { type, value }: CommitmentChange,
): Pick<NewItemCommitment, 'type' | 'value'> {
  if (value === undefined) return { type: before.type, value: before.value };
  return decimal(value).isZero() ? { type: null, value: null } : { type: type ?? before.type, value };
}

function changedBucket(before: StandingCommitment, bucket: ChangedTimeBucket, field: string): NewTimeBucket {
  const { id, terms, ...own } = bucket;
  if (id === null) {
    if (terms === null) throw bad(`${field}.price`, 'is required, or the id of a time bucket whose price stays');
    return { ...own, terms };
  }
  const known = before.timeBuckets.find((other) => other.id === id);
  if (!known) throw bad(`${field}.id`, `names time bucket ${id}, which the line item does not have`);
  return terms === null ? keptBucket(known, own) : { ...own, terms, kept: { id, priceId: null } };
}

function keptBucket(
  { id, priceId, from = null, to = null }: StandingTimeBucket,
  own: Omit<NewTimeBucket, 'terms'>,
): NewTimeBucket {
  const { type, value, overageFactor, trueUp, start, end } = own;
  return { type, value, overageFactor, trueUp, start, end, from, to, terms: {}, kept: { id, priceId } };
}

/** With a value of 0, terms that were sent beside it go with it. */
function refuseTermsOfNothing(change: CommitmentChange, field: string): void {
  if (change.value !== undefined || change.timeBuckets) return;
  const { overageFactor, trueUp, windowed, duration } = change;
  const sent = { overage_factor: overageFactor, true_up_enabled: trueUp, windowed, duration };
  const [member] = Object.entries(sent).find(([, value]) => value) ?? [];
  if (member) throw bad(`${field}.commitment_${member}`, 'needs commitment_amount or commitment_quantity beside it');
}

function bad(field: string, problem: string): Error {
  return refuse('validation_error', `${field} ${problem}`, { fields: { [field]: problem } });
}
