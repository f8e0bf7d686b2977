import type { GatewayReference } from '../gateway-reference.ts';
import { whopAmount } from './amount.ts';
import { objectOf, type WhopClient } from './client.ts';
import type { WhopPlan } from './shapes.ts';

const longestTitle = 30;
/** Cards alone, so that money is decided soon. design: money-in-checkout §A5 */
export const cardAlone = { enabled: ['card'], disabled: [], include_platform_defaults: false };

/** A link or charge as far as its plan and its marks tell of it. */
export interface Sold extends Pick<GatewayReference, 'token' | 'intentToken'> {
  amount: string;
  currency: string;
  description: string;
  metadata: Record<string, string>;
}

/** Our names of an object, kept at it; Whop copies those of a configuration to its payments. The currency tells what was asked for. */
export function marksOf({ metadata, token, intentToken, currency }: Omit<Sold, 'amount' | 'description'>) {
  return {
    ...metadata,
    perennial_token: token,
    perennial_intent: intentToken.slice(0, 500),
    perennial_currency: currency.toLowerCase(),
  };
}

/** One unit for sale, by card alone, in the currency that was asked for. design: money-in-checkout §A5, §A7, §A8 */
export function planOf({ companyId, productId }: WhopClient, sold: Sold, marks: Record<string, string>) {
  const { amount, currency, description } = sold;
  return {
    account_id: companyId,
    ...(productId === null ? {} : { product_id: productId }),
    plan_type: 'one_time',
    release_method: 'buy_now',
    visibility: 'hidden',
    title: (description || 'Payment').slice(0, longestTitle),
    currency: currency.toLowerCase(),
    initial_price: whopAmount(amount, currency),
    stock: 1,
    unlimited_stock: false,
    adaptive_pricing_enabled: false,
    payment_method_configuration: cardAlone,
    metadata: marks,
  };
}

/** The plan of an id. Throws `GatewayOutcomeUnknown` for one that the account does not have. */
export async function readPlan(client: WhopClient, id: string): Promise<WhopPlan> {
  return objectOf(await client.get<WhopPlan>(`/plans/${encodeURIComponent(id)}`), 'show the plan of a payment');
}
