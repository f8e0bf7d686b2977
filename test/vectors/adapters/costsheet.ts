import { costMargin } from '../../../billing/price/cost-margin.ts';
import type { Adapters, Given } from '../adapter.ts';

function margin(given: Given): unknown {
  const figures = costMargin({ revenue: given.total_revenue, cost: given.total_cost });
  return {
    margin: figures.margin,
    margin_percent: figures.marginPercent,
    roi: figures.roi,
    roi_percent: figures.roiPercent,
  };
}

/** Kinds of cost sheets. */
export const costsheetAdapters: Adapters = { cost_margin: margin };
