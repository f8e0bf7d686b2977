import { z } from 'zod';
import type { Costsheet } from '../../db/entities/catalogue/costsheet.ts';
import type { CostsheetChange, NewCostsheet } from '../../services/catalogue/costsheet.ts';
import type { CostsheetContent } from '../../services/catalogue/costsheet-content.ts';
import { listOf, searchBody, toListQuery } from '../list.ts';
import {
  idListInput,
  metadataInput,
  metadataOutput,
  recordOutput,
  timestampInput,
  viewRecord,
} from '../scalars.schema.ts';
import { price, viewPrice } from './price.schema.ts';

const name = z.string().min(1, 'must have 1 to 255 characters').max(255, 'must have 1 to 255 characters');
const ownFields = {
  lookup_key: z.string().max(255).nullish(),
  description: z.string().max(10_000).nullish(),
  metadata: metadataInput().nullish(),
};

export const createCostsheetBody = z
  .object({ name, ...ownFields })
  .meta({ id: 'CreateCostsheetRequest', examples: [{ name: 'Cloud costs 2026', lookup_key: 'cloud-2026' }] });

export const updateCostsheetBody = z
  .object({ name: name.nullish(), ...ownFields })
  .meta({ id: 'UpdateCostsheetRequest' });

export function newCostsheet(body: z.output<typeof createCostsheetBody>): NewCostsheet {
  return { ...costsheetChange(body), name: body.name };
}

export function costsheetChange(body: z.output<typeof updateCostsheetBody>): CostsheetChange {
  return {
    name: body.name ?? undefined,
    lookupKey: body.lookup_key ?? undefined,
    description: body.description ?? undefined,
    metadata: body.metadata ?? undefined,
  };
}

const costsheetFields = {
  ...recordOutput,
  name: z.string(),
  description: z.string().nullable(),
  lookup_key: z.string().nullable(),
  metadata: metadataOutput(),
  prices: z.array(price).nullable(),
};

/** A cost sheet; its prices are null where they were not asked for. spec: catalogue-and-metering §10.2 */
const costsheet = z.object(costsheetFields).meta({ id: 'Costsheet' });

/**
 * One cost sheet as an operation answers it: in the wrapper that the published client reads, and the same members beside
 * it, as its newest server answers them. spec: catalogue-and-metering §10.2, §16 row 7
 */
export const costsheetAnswer = z.object({ ...costsheetFields, costsheet }).meta({ id: 'CostsheetAnswer' });

export const costsheets = listOf(costsheet, 'ListCostsheetResponse');

export const deletedCostsheet = z
  .object({ message: z.string(), id: z.string() })
  .meta({ id: 'DeleteCostsheetResponse' });

export function viewCostsheet({ costsheet: row, prices }: CostsheetContent): z.output<typeof costsheet> {
  return {
    ...viewRecord(row),
    name: row.name,
    description: row.description || null,
    lookup_key: row.lookupKey || null,
    metadata: row.metadata,
    prices: prices?.map((each) => viewPrice(each.price, each)) ?? null,
  };
}

export function viewCostsheetAnswer(content: CostsheetContent): z.output<typeof costsheetAnswer> {
  const view = viewCostsheet(content);
  return { ...view, costsheet: view };
}

/** A cost sheet of a list: without its prices. */
export const viewListedCostsheet = (row: Costsheet) => viewCostsheet({ costsheet: row, prices: null });

const common = searchBody({}).unwrap().unwrap().shape;

/**
 * The search body in the usual keys and in those of the published client, which sends the common keys as `queryFilter` and
 * `timeRangeFilter`; a usual key wins. Tenant and environment are those of the caller, whatever is named.
 * spec: catalogue-and-metering §2.3
 */
export const costsheetSearch = searchBody({
  costsheet_ids: idListInput().nullish(),
  costsheetIDs: idListInput().nullish(),
  name: z.string().max(255).nullish(),
  lookup_key: z.string().max(255).nullish(),
  lookupKey: z.string().max(255).nullish(),
  tenantID: z.string().nullish().describe('Ignored.'),
  environmentID: z.string().nullish().describe('Ignored.'),
  queryFilter: z
    .object({
      limit: common.limit,
      offset: common.offset,
      status: common.status,
      sort: z.string().max(255).nullish(),
      order: common.order,
      expand: common.expand,
    })
    .nullish(),
  timeRangeFilter: z.object({ start_time: timestampInput().nullish(), end_time: timestampInput().nullish() }).nullish(),
}).meta({ id: 'CostsheetFilter' });

type CostsheetSearch = z.output<typeof costsheetSearch>;

export function costsheetFilters(search: CostsheetSearch) {
  return {
    costsheetIds: search?.costsheet_ids ?? search?.costsheetIDs,
    name: search?.name,
    lookupKey: search?.lookup_key ?? search?.lookupKey,
  };
}

export function costsheetListQuery(search: CostsheetSearch) {
  const nested = { ...present(search?.queryFilter), ...present(search?.timeRangeFilter) };
  return toListQuery({ ...nested, ...present(search) });
}

function present<T extends object>(members: T | null | undefined): Partial<T> {
  return Object.fromEntries(Object.entries(members ?? {}).filter(([, value]) => value != null)) as Partial<T>;
}
