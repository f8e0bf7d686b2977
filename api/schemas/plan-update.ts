import type { z } from 'zod';
import { refuse } from '../../billing/refusal.ts';
import type { EntitlementElement, PlanUpdate, PriceElement } from '../../db/stores/plan-update.ts';
import { entitlementChange, newEntitlement, type planEntitlementElement } from './entitlement.ts';
import { planChange, type updatePlanBody } from './plan.ts';
import { newPrice, type planPriceElement, sentPrice } from './price-input.ts';

/** A plan update in the words of the store. Throws `not_implemented` for credit grants. spec: catalogue-and-metering §3 Update */
export function planUpdate(body: z.output<typeof updatePlanBody>): PlanUpdate {
  if (body.credit_grants?.length) {
    throw refuse('not_implemented', 'credit_grants are not available; leave them out of the plan update');
  }
  return {
    plan: planChange(body),
    prices: (body.prices ?? []).map(priceElement),
    entitlements: (body.entitlements ?? []).map(entitlementElement),
  };
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
