import type { Preview } from '../../../billing/line/binding-preview.ts';
import { decimalString } from '../../../billing/money/money.ts';
import { realNow } from '../../../db/clock.ts';
import type { Transaction } from '../../../db/transaction.ts';
import { heldTo, promisedPreview, requestDigest } from '../../lifecycle/preview-digest.ts';
import type { UsageMeasurer } from '../../usage-measurer.ts';
import { type EstimateRequest, estimatePrice, type PriceEstimate } from './price-estimate.ts';

/** An estimate with the digest of the price and the meter it read and of what it came to. */
export interface BoundEstimate extends PriceEstimate {
  previewDigest: string;
}

/**
 * Estimates as `estimatePrice` does. Nothing executes an estimate: with the digest of an earlier one the same cost and amount are
 * answered, or `version_conflict` is thrown with what came out differently. Own operation; docs: previews.md
 */
export async function estimateAsPreviewed(
  tx: Transaction,
  request: EstimateRequest,
  repeated: string | null,
  measure: UsageMeasurer,
): Promise<BoundEstimate> {
  const now = realNow();
  const promised = promisedPreview(repeated, now);
  const at = promised?.at ?? now;
  const estimate = await estimatePrice(tx, request, measure, at);
  const { price, priceId, sequence, meter } = estimate;
  const line = {
    name: `${price.displayName} ${priceId ?? ''}`,
    quantity: estimate.quantity,
    start: request.period?.start ?? '',
    end: request.period?.end ?? '',
  };
  const present: Preview = {
    at,
    read: {
      ...(priceId === null ? {} : { price: `${priceId} ${sequence}` }),
      ...(meter ? { meter: `${meter.id} ${meter.version}` } : {}),
    },
    usage: null,
    request: requestDigest(request),
    lines: [
      { on: 'amount', ...line, amount: decimalString(estimate.amount) },
      { on: 'cost', ...line, amount: decimalString(estimate.cost) },
    ],
  };
  return { ...estimate, previewDigest: heldTo(promised, present) };
}
