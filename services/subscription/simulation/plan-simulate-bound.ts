import type { Preview, PromisedLine } from '../../../billing/line/binding-preview.ts';
import { decimal, decimalString, zero } from '../../../billing/money/money.ts';
import { realNow } from '../../../db/clock.ts';
import type { Transaction } from '../../../db/transaction.ts';
import { watermarkOf } from '../../invoice/draft/promised-draft.ts';
import { heldTo, pricesDigest, promisedPreview, requestDigest } from '../../lifecycle/preview-digest.ts';
import type { UsageReader } from '../../usage-reader.ts';
import {
  type PlanSimulation,
  type SimulatedPeriod,
  type SimulatedSubscription,
  type SimulationRequest,
  simulatePlan,
} from './plan-simulate.ts';

/** A simulation with the digest of what it read and of what each subscription came to on both sides. */
export interface BoundSimulation extends PlanSimulation {
  previewDigest: string;
}

/**
 * Simulates as `simulatePlan` does. Nothing executes a simulation: with the digest of an earlier one the same sums are
 * answered, or `version_conflict` is thrown with what came out differently. Own operation; docs: previews.md
 */
export async function simulateAsPreviewed(
  tx: Transaction,
  request: SimulationRequest,
  repeated: string | null,
  readUsage: UsageReader,
): Promise<BoundSimulation> {
  const now = realNow();
  const promised = promisedPreview(repeated, now);
  const simulation = await simulatePlan(tx, request, readUsage);
  const { subscriptions } = simulation;
  const ids = subscriptions.map(({ row }) => row.id);
  const present: Preview = {
    at: promised?.at ?? now,
    read: {
      subscriptions: requestDigest(subscriptions.map(({ row }) => `${row.id} ${row.version}`).sort()),
      prices: await pricesDigest(tx, tx.scope.environmentId, ids, [request.planId]),
    },
    usage: watermarkOf(subscriptions.flatMap(({ periods }) => periods.flatMap((period) => period.simulated))),
    request: requestDigest(request),
    lines: subscriptions.flatMap(sumsOf),
  };
  return { ...simulation, previewDigest: heldTo(promised, present) };
}

/** What a subscription came to on each side: sums, because a simulation has too many lines to carry. */
function sumsOf({ row, periods }: SimulatedSubscription): PromisedLine[] {
  return (['current', 'simulated'] as const).map((side) => ({
    on: side,
    name: row.id,
    quantity: String(periods.length),
    amount: decimalString(total(periods, side)),
    start: periods[0]?.start ?? '',
    end: periods.at(-1)?.end ?? '',
  }));
}

const total = (periods: readonly SimulatedPeriod[], side: 'current' | 'simulated') =>
  periods.flatMap((period) => period[side]).reduce((sum, { amount }) => sum.plus(decimal(amount)), zero);
