import { refuse } from '../../../billing/refusal.ts';
import type { Feature } from '../../../db/entities/catalogue/feature.ts';
import type { Meter } from '../../../db/entities/catalogue/meter.ts';
import type { Plan } from '../../../db/entities/catalogue/plan.ts';
import type { Price } from '../../../db/entities/catalogue/price.ts';
import { newId } from '../../../db/id.ts';
import { inElement } from '../../../db/rows/record.ts';
import type { Transaction } from '../../../db/transaction.ts';
import { insertEntitlement } from '../entitlement/entitlement.ts';
import { checkGrant } from '../entitlement/entitlement-grant-rules.ts';
import { grantOf } from '../entitlement/entitlement-grant-terms.ts';
import { type FeatureColumns, insertFeature } from '../feature.ts';
import { metersById } from '../meter.ts';
import { bucketedTypes } from '../meter-rules.ts';
import { createPlan } from '../plan/plan.ts';
import { copiedEntitlement, copyGrants } from '../plan/plan-copy.ts';
import { columnsOf } from '../price/price-change.ts';
import { insertPriceCopies, type PriceCopy } from '../price/price-copy.ts';
import { unitTerms } from '../price/price-rules.ts';
import { priceUnitOfPrice } from '../price/price-unit.ts';
import { convertedTerms, noUnit } from '../price/price-unit-prices.ts';
import {
  type CloneOrigin,
  copiedMetadata,
  featureLike,
  grantedFeature,
  groupLike,
  meterLike,
  planLike,
  seeToPriceUnit,
} from './environment-clone-reference.ts';
import type { SourceFeature, SourceItem, SourcePlan } from './environment-clone-source.ts';

/**
 * Copies a feature or a plan of another environment into the one of the scope, with everything that belongs to it, or skips it
 * because it is there. `origin.newMeters` gets the meters that were made, which the caller begins to meter with. Throws the refusals
 * of what cannot be copied as it is; nothing of the transaction may be kept then. spec: platform §9
 */
export async function copyItem(tx: Transaction, item: SourceItem, origin: CloneOrigin): Promise<'cloned' | 'skipped'> {
  if (item.kind === 'feature') {
    if (await featureLike(tx, item.feature, origin)) return 'skipped';
    await copyFeature(tx, item, origin);
  } else {
    if (await planLike(tx, item.plan, origin)) return 'skipped';
    await copyPlan(tx, item, origin);
  }
  return 'cloned';
}

async function copyFeature(tx: Transaction, item: SourceFeature, origin: CloneOrigin): Promise<void> {
  const { feature } = item;
  const groupId = item.group ? await groupLike(tx, item.group, 'feature', origin) : null;
  const meter = item.meter ? await meterLike(tx, item.meter, origin, 'feature') : null;
  await insertFeature(tx, {
    name: feature.name,
    type: feature.type,
    lookupKey: feature.lookupKey,
    description: feature.description,
    unitSingular: feature.unitSingular,
    unitPlural: feature.unitPlural,
    reportingUnit: feature.reportingUnit,
    alertSettings: feature.alertSettings as FeatureColumns['alertSettings'],
    meterId: meter?.id ?? null,
    groupId,
    metadata: copiedMetadata('feature', feature, origin),
  });
}

/** What the parts of a plan refer to here, by the ids of what they refer to in the source. */
interface References {
  groups: ReadonlyMap<string, string>;
  meters: ReadonlyMap<string, Meter>;
  features: ReadonlyMap<string, Feature>;
}

async function copyPlan(tx: Transaction, item: SourcePlan, origin: CloneOrigin): Promise<void> {
  const references = await referencesOf(tx, item, origin);
  const { name, lookupKey, description, displayOrder, autoInvoiceThreshold } = item.plan;
  const metadata = copiedMetadata('plan', item.plan, origin);
  const plan = await createPlan(tx, { name, lookupKey, description, displayOrder, autoInvoiceThreshold, metadata });
  await copyPrices(tx, item, plan, references, origin);
  await copyEntitlements(tx, item, plan, references);
  const grants = item.grants.map((grant) => ({
    ...grant,
    metadata: copiedMetadata('credit_grant', { id: grant.id, metadata: grant.metadata ?? {} }, origin),
  }));
  await copyGrants(tx, grants, plan.id);
}

/** Finds or makes what the plan refers to: groups and custom currencies first, which are held while prices are written. */
async function referencesOf(tx: Transaction, item: SourcePlan, origin: CloneOrigin): Promise<References> {
  const groups = new Map<string, string>();
  for (const [id, group] of item.groups) groups.set(id, await groupLike(tx, group, 'price', origin));
  for (const unit of item.priceUnits.values()) await seeToPriceUnit(tx, unit, origin);
  const features = new Map<string, Feature>();
  for (const [id, feature] of item.features) features.set(id, await grantedFeature(tx, feature, origin));
  const meters = new Map<string, Meter>();
  for (const [id, meter] of item.meters) meters.set(id, await meterLike(tx, meter, origin, 'price'));
  return { groups, meters, features };
}

/**
 * The prices keep their dates and lookup keys. A chain of supersessions keeps together: its first price that is copied takes the
 * place of the one it began with, when that has ended.
 */
async function copyPrices(
  tx: Transaction,
  item: SourcePlan,
  plan: Plan,
  { groups, meters }: References,
  origin: CloneOrigin,
): Promise<void> {
  const chains = new Map<string, string>();
  const copies: PriceCopy[] = [];
  for (const price of item.prices) {
    const id = newId('price');
    const chain = price.parentPriceId ?? price.id;
    const meter = price.meterId ? meters.get(price.meterId)! : null;
    const terms = await inElement(`price ${price.id}`, async () => {
      if (meter) refuseBuckets(price, meter);
      return termsHere(tx, price);
    });
    const columns = {
      ...columnsOf(price),
      ...terms,
      entityId: plan.id,
      parentPriceId: chains.get(chain) ?? null,
      meterId: meter?.id ?? null,
      groupId: price.groupId ? groups.get(price.groupId)! : null,
      metadata: copiedMetadata('price', price, origin),
    };
    copies.push({ id, sourceId: price.id, columns });
    if (!chains.has(chain)) chains.set(chain, id);
  }
  await insertPriceCopies(tx, copies);
}

/** What a price costs here: in a custom currency the same amounts at the rate that the currency has here. spec: catalogue-and-metering §4.5 */
async function termsHere(tx: Transaction, price: Price) {
  if (price.priceUnitType !== 'CUSTOM' || !price.priceUnit) return noUnit;
  const unit = await priceUnitOfPrice(tx, { code: price.priceUnit, currency: price.currency });
  return convertedTerms(unitTerms(price), unit);
}

function refuseBuckets(price: Price, meter: Meter): void {
  const { type } = meter.aggregation;
  if (!price.bucketSize || bucketedTypes.includes(type)) return;
  throw refuse(
    'invalid_operation',
    `bucket_size ${price.bucketSize} needs a meter of type ${bucketedTypes.join(' or ')}; ${meter.id} of the target is ${type}`,
  );
}

async function copyEntitlements(
  tx: Transaction,
  item: SourcePlan,
  plan: Plan,
  { features }: References,
): Promise<void> {
  const meters = await metersById(
    tx,
    [...features.values()].map(({ meterId }) => meterId ?? null),
  );
  for (const entitlement of item.entitlements) {
    const feature = features.get(entitlement.featureId)!;
    const columns = copiedEntitlement(entitlement, { planId: plan.id, featureId: feature.id });
    const grant = grantOf(columns);
    await checkGrant(
      tx,
      { ...columns, grant },
      meters.get(feature.meterId ?? '') ?? null,
      `entitlement ${entitlement.id}: `,
    );
    await insertEntitlement(tx, columns);
  }
}
