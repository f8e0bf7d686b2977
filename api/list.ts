import { z } from 'zod';
import type { Condition, ListPage, ListQuery } from '../db/list.ts';
import { badField } from '../db/rows/record.ts';
import { canonicalDecimal } from './decimal.ts';
import { metadataInput, timestampInput } from './scalars.schema.ts';

/*
 * Lists. A resource has a GET with a query string, a POST /search with a body, or both:
 *
 *   const ownFilters = { plan_ids: idListInput().optional() };          // body; idListQuery() in a query string
 *   const planListQuery = listQuery({ plan_ids: idListQuery().optional() }, ['prices']);
 *   const planSearchBody = searchBody({ plan_ids: idListInput().optional() }, ['prices']);
 *   const planList = listOf(plan, 'ListPlansResponse');                 // response: { 200: planList }
 *
 *   handler: (request) => request.transaction(async (tx) => viewList(await listPage(tx, plans, toListQuery(request.query),
 *     { id: { $in: … } }), viewPlan, 'next'))
 */

const defaultLimit = 50;
const maxLimit = 1_000;
const statuses = z.enum(['published', 'archived', 'deleted']);
const direction = z.enum(['asc', 'desc']);

const limitRule = 'must be an integer from 1 to 1000, or 0 for 50';
const maxOffset = 1_000_000_000;
const offsetRule = `must be an integer from 0 to ${maxOffset}`;
const limitInput = z.int(limitRule).min(0, limitRule).max(maxLimit, limitRule);
/** Number of rows a body skips. */
export const offsetInput = z.int(offsetRule).min(0, offsetRule).max(maxOffset, offsetRule);
const wholeNumber = (rule: string) =>
  z
    .string()
    .regex(/^\d{1,15}$/, rule)
    .transform(Number);
/** The same in a query string. */
export const offsetQuery = wholeNumber(offsetRule).pipe(offsetInput);

const operators = [
  'eq',
  'contains',
  'not_contains',
  'gt',
  'gte',
  'lt',
  'in',
  'not_in',
  'before',
  'after',
] as const satisfies readonly Condition['operator'][];

const filterInput = z.object({
  field: z.string().max(255),
  operator: z.enum(operators),
  data_type: z.enum(['string', 'number', 'date', 'array']),
  value: z.object({
    string: z.string().optional(),
    number: z
      .custom<number | RawJson>((value) => typeof value === 'number' || JSON.isRawJSON(value), 'must be a number')
      .meta({ type: 'number' })
      .transform((value) => canonicalDecimal(typeof value === 'number' ? String(value) : value.rawJSON) ?? '')
      .refine((text) => text !== '', 'is out of range')
      .optional(),
    boolean: z.boolean().optional(),
    date: timestampInput().optional(),
    array: z.array(z.string()).max(maxLimit).optional(),
  }),
});

const sortInput = z.union([
  z.string().max(255),
  z.array(z.object({ field: z.string().max(255), direction: direction.default('desc') })).max(10),
]);

/** Names after `expand`: comma separated, each on the resource's list. spec: platform §1.5 */
export function expandInput(allowed: readonly string[]) {
  return z
    .string()
    .transform((text) => text.split(',').map((name) => name.trim()))
    .transform((names) => names.filter((name) => name !== ''))
    .refine((names) => names.every((name) => allowed.includes(name)), {
      message: allowed.length === 0 ? 'is not supported here' : `must name only ${allowed.join(', ')}`,
    })
    .meta({ type: 'string', examples: allowed.slice(0, 1) });
}

/** The schema of a list's query string: the common keys and the resource's own. spec: platform §1.5 */
export function listQuery<Own extends z.ZodRawShape>(own: Own, expand: readonly string[] = []) {
  return z.object({
    limit: wholeNumber(limitRule).pipe(limitInput).optional(),
    offset: offsetQuery.optional(),
    status: statuses.optional(),
    sort: z.string().max(255).optional(),
    order: direction.optional(),
    start_time: timestampInput().optional(),
    end_time: timestampInput().optional(),
    expand: expandInput(expand).optional(),
    ...own,
  });
}

/** The schema of a search body; no body and `{}` mean no filter. spec: platform §1.5 */
export function searchBody<Own extends z.ZodRawShape>(own: Own, expand: readonly string[] = []) {
  return z
    .object({
      limit: limitInput.nullish(),
      offset: offsetInput.nullish(),
      status: statuses.nullish(),
      sort: sortInput.nullish(),
      order: direction.nullish(),
      start_time: timestampInput().nullish(),
      end_time: timestampInput().nullish(),
      expand: expandInput(expand).nullish(),
      filters: z.array(filterInput).max(100).nullish(),
      metadata: metadataInput().nullish(),
      ...own,
    })
    .nullish();
}

interface ListInput {
  limit?: number | null | undefined;
  offset?: number | null | undefined;
  status?: string | null | undefined;
  sort?: string | { field: string; direction: 'asc' | 'desc' }[] | null | undefined;
  order?: 'asc' | 'desc' | null | undefined;
  start_time?: string | null | undefined;
  end_time?: string | null | undefined;
  filters?: z.output<typeof filterInput>[] | null | undefined;
  metadata?: Record<string, string> | null | undefined;
}

/** What `listPage` asks, from a query string or a search body. Throws `validation_error` when end_time is before start_time. */
export function toListQuery(input: ListInput | null | undefined): ListQuery {
  const startTime = input?.start_time ?? null;
  const endTime = input?.end_time ?? null;
  if (startTime !== null && endTime !== null && endTime < startTime) {
    throw badField('end_time', 'must not be before start_time');
  }
  const order = input?.order ?? 'desc';
  const sort = input?.sort || 'created_at';
  return {
    limit: input?.limit || defaultLimit,
    offset: input?.offset ?? 0,
    status: input?.status ?? null,
    sort: typeof sort === 'string' ? [{ field: sort, direction: order }] : defaultSort(sort, order),
    startTime,
    endTime,
    filters: (input?.filters ?? []).map(({ field, operator, data_type, value }) => ({
      field,
      operator,
      dataType: data_type,
      value,
    })),
    metadata: input?.metadata ?? null,
  };
}

function defaultSort(sort: { field: string; direction: 'asc' | 'desc' }[], order: 'asc' | 'desc') {
  return sort.length > 0 ? sort : [{ field: 'created_at', direction: order }];
}

export const pagination = z.object({ limit: z.int(), offset: z.int(), total: z.int() });

/** The schema of a list answer. */
export function listOf<Item extends z.ZodType>(item: Item, id: string) {
  return z.object({ items: z.array(item), pagination }).meta({ id });
}

/**
 * The list envelope. `pagination.offset` is that of the next page on most lists and the request's own on some; which list
 * does which is written in platform §1.5.
 */
export function viewList<Row, View>(page: ListPage<Row>, view: (row: Row) => View, offset: 'next' | 'echo') {
  return {
    items: page.rows.map(view),
    pagination: {
      limit: page.limit,
      offset: offset === 'next' ? page.offset + page.limit : page.offset,
      total: page.total,
    },
  };
}
