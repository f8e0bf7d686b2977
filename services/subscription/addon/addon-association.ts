import { customerNow } from '../../../db/clock.ts';
import type { Addon } from '../../../db/entities/catalogue/addon.ts';
import { AddonAssociation } from '../../../db/entities/subscription/addon-association.ts';
import { missing } from '../../../db/rows/record.ts';
import type { Transaction } from '../../../db/transaction.ts';
import { addonsById } from '../../catalogue/addon.ts';
import { findInvoice, type InvoiceContent } from '../../invoice/read/invoice-read.ts';
import { findSubscription, type SubscriptionContent } from '../read/subscription-read.ts';

/** An attachment with what its view shows. */
export interface AssociationContent {
  row: AddonAssociation;
  /** Its status at its customer's present. */
  status: string;
  addon: Addon | null;
  subscription: SubscriptionContent | null;
  /** What attaching it charged at once. */
  invoice: InvoiceContent | null;
}

/** The subscription an attachment belongs to. Throws `not_found`. */
export async function subscriptionOfAssociation(tx: Transaction, id: string): Promise<string> {
  return (await findRow(tx, id)).entityId;
}

/** One attachment with the invoice that attaching it made. Throws `not_found`. */
export async function findAssociation(tx: Transaction, id: string): Promise<AssociationContent> {
  const row = await findRow(tx, id);
  const subscription = await findSubscription(tx, row.entityId);
  const invoice = row.invoiceId ? await findInvoice(tx, row.invoiceId, { lines: true, customer: false }) : null;
  const addons = await addonsById(tx, [row.addonId]);
  const at = await customerNow(tx, subscription.row.customerId);
  return { row, status: statusAt(row, at), addon: addons.get(row.addonId) ?? null, subscription, invoice };
}

/**
 * The attachments of a subscription that have not ended at its customer's present, those to come included, oldest first.
 * Throws `not_found`. spec: subscriptions-and-invoicing §1.1
 */
export async function associationsOf(tx: Transaction, subscriptionId: string): Promise<AssociationContent[]> {
  const subscription = await findSubscription(tx, subscriptionId);
  const at = await customerNow(tx, subscription.row.customerId);
  const rows = await tx.em.find(
    AddonAssociation,
    {
      environmentId: tx.scope.environmentId,
      entityId: subscriptionId,
      status: 'published',
      addonStatus: { $ne: 'cancelled' },
      $or: [{ endDate: null }, { endDate: { $gt: at } }],
    },
    { orderBy: { startDate: 'asc', id: 'asc' } },
  );
  const addons = await addonsById(
    tx,
    rows.map((row) => row.addonId),
  );
  return rows.map((row) => ({
    row,
    status: statusAt(row, at),
    addon: addons.get(row.addonId) ?? null,
    subscription,
    invoice: null,
  }));
}

async function findRow(tx: Transaction, id: string): Promise<AddonAssociation> {
  const row = await tx.em.findOne(AddonAssociation, { id, environmentId: tx.scope.environmentId });
  if (!row) throw missing('add-on association', id, 'addon_association_id');
  return row;
}

/** A detached attachment runs on to its end, and is cancelled from then on. */
function statusAt(row: AddonAssociation, at: string): string {
  return row.endDate != null && row.endDate <= at ? 'cancelled' : row.addonStatus;
}
