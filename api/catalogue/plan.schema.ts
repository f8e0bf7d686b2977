import { z } from 'zod';
import type { NewPlan, PlanCopy } from '../../services/catalogue/plan/plan.ts';
import type { PlanContent } from '../../services/catalogue/plan/plan-content.ts';
import type { DecimalFormat } from '../decimal-format.ts';
import { metadataInput, thresholdInput } from '../scalars.schema.ts';
import { creditGrant, planGrantInput, viewGrant } from '../wallet/credit-grant.schema.ts';
import { entitlement, planEntitlementElement, viewEntitlement } from './entitlement.schema.ts';
import { planFields, viewPlanFields } from './plan-record.schema.ts';
import { price, priceWithNumbers, viewPrice, withNumbers } from './price.schema.ts';
import { planPriceElement } from './price-input.schema.ts';

const name = z.string().max(255);
const ownFields = {
  lookup_key: z.string().max(255).nullish(),
  description: z.string().max(10_000).nullish(),
  display_order: z.int().min(-2_147_483_648).max(2_147_483_647).nullish(),
  auto_invoice_threshold: thresholdInput(),
  metadata: metadataInput().nullish(),
};

export const createPlanBody = z
  .object({ name, ...ownFields })
  .meta({ examples: [{ name: 'Pro', lookup_key: 'pro', description: 'For growing teams' }] });

export const clonePlanBody = z.object({ ...ownFields, name, lookup_key: z.string().min(1).max(255) });

/** The plan's own members, and elements to update or add; nothing is deleted by omission. spec: catalogue-and-metering §3 */
export const updatePlanBody = z.object({
  ...ownFields,
  name: name.nullish(),
  prices: z.array(planPriceElement).max(100).nullish(),
  entitlements: z.array(planEntitlementElement).max(100).nullish(),
  credit_grants: z.array(planGrantInput).max(100).nullish(),
});

export function newPlan(body: z.output<typeof createPlanBody>): NewPlan {
  return { ...ownMembers(body), name: body.name };
}

export function planCopy(body: z.output<typeof clonePlanBody>): PlanCopy {
  return { ...ownMembers(body), name: body.name, lookupKey: body.lookup_key };
}

export function planChange(body: z.output<typeof updatePlanBody>) {
  return { ...ownMembers(body), name: body.name ?? undefined };
}

function ownMembers(body: Omit<z.output<typeof createPlanBody>, 'name'>) {
  return {
    lookupKey: body.lookup_key ?? undefined,
    description: body.description ?? undefined,
    displayOrder: body.display_order ?? undefined,
    autoInvoiceThreshold: body.auto_invoice_threshold === '' ? null : (body.auto_invoice_threshold ?? undefined),
    metadata: body.metadata ?? undefined,
  };
}

const planShape = <T extends z.ZodType>(priceSchema: T) => ({
  ...planFields,
  prices: z.array(priceSchema).nullable(),
  entitlements: z.array(entitlement).nullable(),
  credit_grants: z.array(creditGrant).nullable(),
});

/** A plan; what hangs on it is null where it was not asked for. spec: catalogue-and-metering §3 */
export const plan = z.object(planShape(price)).meta({ id: 'Plan' });

/** A plan with its amounts in the environment's format, as the plan update answers it. spec: catalogue-and-metering §1.1 N2 */
export const planWithNumbers = z.object(planShape(priceWithNumbers)).meta({ id: 'PlanWithNumbers' });

/** The wire form of a plan; what was not asked for is null. */
export function viewPlan(content: PlanContent): z.output<typeof plan> {
  const { prices, entitlements } = content;
  return {
    ...viewPlanFields(content.plan),
    prices: prices?.map((row) => viewPrice(row.price, row)) ?? null,
    entitlements: entitlements?.map(viewEntitlement) ?? null,
    credit_grants: content.creditGrants?.map(viewGrant) ?? null,
  };
}

export function viewPlanWithNumbers(content: PlanContent, format: DecimalFormat): z.output<typeof planWithNumbers> {
  const view = viewPlan(content);
  return { ...view, prices: view.prices?.map((each) => withNumbers(each, format)) ?? null };
}
