import { measureGiven } from '../../metering/given-usage.ts';
import { estimateAsPreviewed } from '../../services/catalogue/price/price-estimate-bound.ts';
import type { Api } from '../api.ts';
import { errorResponses } from '../errors.ts';
import { estimatePriceBody, estimateRequestOf, priceEstimate, viewPriceEstimate } from './price-estimate.schema.ts';

/** What a price would bill, stored or not. Own operation; spec: catalogue-and-metering §4.3 */
export async function priceEstimateRoutes(app: Api): Promise<void> {
  app.post('/prices/estimate', {
    schema: {
      operationId: 'estimatePrice',
      tags: ['Prices'],
      summary: 'Tell what a price bills for a quantity or usage, and why; nothing is stored',
      body: estimatePriceBody,
      response: { 200: priceEstimate, ...errorResponses },
    },
    config: { permission: 'price:read' },
    handler: async ({ body, transaction }) =>
      transaction(async (tx) =>
        viewPriceEstimate(
          await estimateAsPreviewed(tx, estimateRequestOf(body), body.preview_digest ?? null, measureGiven),
        ),
      ),
  });
}
