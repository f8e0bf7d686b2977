import type { Preview } from '../../billing/line/binding-preview.ts';
import { customerNow } from '../../db/clock.ts';
import { missing } from '../../db/rows/record.ts';
import type { Transaction } from '../../db/transaction.ts';
import { readSubscriptions } from '../charging/subscription-row.ts';
import { groupedChildren } from '../invoice/draft/subscription-group.ts';
import {
  childrenRead,
  heldTo,
  pricesDigest,
  promisedLines,
  promisedPreview,
  requestDigest,
  usageWatermark,
} from '../lifecycle/preview-digest.ts';
import type { UsageReader } from '../usage-reader.ts';
import { type Rehearsal, type RehearsalRequest, rehearseSubscription } from './subscription-rehearse.ts';

/** A rehearsal with the digest of what it read, of the invoices it brought and the steps that brought them. */
export interface BoundRehearsal extends Rehearsal {
  previewDigest: string;
}

/**
 * Rehearses as `rehearseSubscription` does. Nobody executes a rehearsal, time does: with the digest of an earlier one the same
 * invoices and steps are answered, or `version_conflict` is thrown with what came out differently. `assumed` is what the request
 * assumes besides. Writes what the steps write; the caller takes the transaction back. Own operation; docs: previews.md
 */
export async function rehearseAsPreviewed(
  tx: Transaction,
  request: RehearsalRequest & { assumed: unknown },
  repeated: string | null,
  readUsage: UsageReader,
): Promise<BoundRehearsal> {
  const { environmentId } = tx.scope;
  const { subscriptionId, until, assumed } = request;
  const row = (await readSubscriptions(tx, environmentId, [subscriptionId])).get(subscriptionId);
  if (!row) throw missing('subscription', subscriptionId);
  const now = await customerNow(tx, row.customerId);
  const promised = promisedPreview(repeated, now);
  const children = await groupedChildren(tx, environmentId, [row]);
  const prices = await pricesDigest(tx, environmentId, [row.id, ...children.map(({ id }) => id)]);
  const rehearsal = await rehearseSubscription(tx, { subscriptionId, until }, readUsage);
  const invoiceIds = rehearsal.invoices.map((invoice) => invoice.row.id);
  const alone = { subscriptionIds: [], lineItems: [], returned: '0', currency: row.currency };
  const present: Preview = {
    at: promised?.at ?? now,
    read: { subscription: row.version, prices, ...childrenRead(children) },
    usage: await usageWatermark(tx, environmentId, invoiceIds),
    request: requestDigest({ until, assumed }),
    lines: [
      ...(await promisedLines(tx, environmentId, { ...alone, invoiceIds })),
      ...rehearsal.steps.map(({ at, kind }) => ({
        on: 'step',
        name: kind,
        quantity: '1',
        amount: '0',
        start: at,
        end: '',
      })),
    ],
  };
  return { ...rehearsal, from: present.at, previewDigest: heldTo(promised, present) };
}
