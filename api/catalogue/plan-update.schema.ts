import type { z } from 'zod';
import { badField } from '../../db/rows/record.ts';
import type {
  EntitlementElement,
  GrantElement,
  PlanUpdate,
  PriceElement,
} from '../../services/catalogue/plan/plan-update.ts';
import { newGrant, type planGrantInput } from '../wallet/credit-grant.schema.ts';
import { entitlementChange, newEntitlement, type planEntitlementElement } from './entitlement.schema.ts';
import { planChange, type updatePlanBody } from './plan.schema.ts';
import { newPrice, type planPriceElement, sentPrice } from './price-input.schema.ts';

/** A plan update in the words of the store. spec: catalogue-and-metering §3 Update */
export function planUpdate(body: z.output<typeof updatePlanBody>): PlanUpdate {
  return {
    plan: planChange(body),
    prices: (body.prices ?? []).map(priceElement),
    entitlements: (body.entitlements ?? []).map(entitlementElement),
    creditGrants: body.credit_grants ? body.credit_grants.map(grantElement) : null,
  };
}

function grantElement(element: z.output<typeof planGrantInput>, index: number): GrantElement {
  const path = `credit_grants[${index}].`;
  if (element.start_date || element.end_date)
    throw badField(`${path}start_date`, 'belongs to grants of subscriptions; a grant of a plan is a template');
  if (element.id) return { id: element.id, name: element.name, metadata: element.metadata ?? undefined };
  for (const field of ['name', 'cadence', 'credits'] as const)
    if (element[field] === undefined) throw badField(path + field, 'is required for a new grant');
  return { id: null, grant: newGrant(element as Parameters<typeof newGrant>[0], path) };
}

function priceElement(element: z.output<typeof planPriceElement>): PriceElement {
  return element.id ? { id: element.id, sent: sentPrice(element) } : { id: null, price: newPrice(element) };
}

function entitlementElement(element: z.output<typeof planEntitlementElement>): EntitlementElement {
  if (!element.id) return { id: null, entitlement: newEntitlement(element) };
  const { featureId, featureType, ...owner } = newEntitlement(element);
  const sent = { ...owner, featureId: element.feature_id, featureType: element.feature_type };
  return { id: element.id, change: entitlementChange(element), sent };
}
