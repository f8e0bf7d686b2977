import type { EntityName, FilterQuery, QueryOrderMap } from '@mikro-orm/core';
import { decimal } from '../billing/money/money.ts';
import { refuse } from '../billing/refusal.ts';
import type { Transaction } from './transaction.ts';

export type ColumnType = 'string' | 'integer' | 'decimal' | 'date' | 'boolean';

/**
 * What may be listed of an entity. `columns` maps the wire names that `filters[]` and `sort[]` may use to their types;
 * the property is the camelCase of the name. Nothing else a caller sends ever names a column.
 *
 * ```ts
 * const plans: ListDefinition<Plan> = { entity: Plan, columns: { name: 'string', lookup_key: 'string', display_order: 'integer' } };
 * const page = await listPage(tx, plans, query, anyOf('id', planIds));
 * ```
 */
export interface ListDefinition<Row extends object> {
  entity: EntityName<Row>;
  columns: Readonly<Record<string, ColumnType>>;
  /** Tables of a tenant have no environment. */
  level?: 'environment' | 'tenant';
  /** The record statuses shown when none is asked for: `published`. */
  statuses?: readonly string[];
}

/** A list question whose shape is checked already (api/list.ts). Instants are UTC texts. */
export interface ListQuery {
  limit: number;
  offset: number;
  sort: readonly { field: string; direction: 'asc' | 'desc' }[];
  status: string | null;
  startTime: string | null;
  endTime: string | null;
  filters: readonly Condition[];
  metadata: Readonly<Record<string, string>> | null;
}

/** One condition of `filters[]`. Decimals and instants of `value` are canonical texts. spec: catalogue-and-metering §2.2 */
export interface Condition {
  field: string;
  operator: 'eq' | 'contains' | 'not_contains' | 'gt' | 'gte' | 'lt' | 'in' | 'not_in' | 'before' | 'after';
  dataType: 'string' | 'number' | 'date' | 'array';
  value: {
    string?: string | undefined;
    number?: string | undefined;
    boolean?: boolean | undefined;
    date?: string | undefined;
    array?: readonly string[] | undefined;
  };
}

export interface ListPage<Row> {
  rows: Row[];
  total: number;
  limit: number;
  offset: number;
}

/** Columns that every record can be filtered and sorted by. */
const recordColumnTypes: Readonly<Record<string, ColumnType>> = {
  id: 'string',
  status: 'string',
  created_at: 'date',
  created_by: 'string',
  updated_at: 'date',
  updated_by: 'string',
};

/**
 * One page of an entity of the scope, with the count of all matches; ties are broken by id. `own` is what the resource
 * adds (ids, a lookup key); `total` is the count where the resource knows it without counting. Throws `validation_error` for
 * an unknown column or a condition that does not fit it. spec: platform §1.5, catalogue-and-metering §2.1–2.2
 */
export async function listPage<Row extends object>(
  tx: Transaction,
  definition: ListDefinition<Row>,
  query: ListQuery,
  own: Readonly<Record<string, unknown>> = {},
  total: number | null = null,
): Promise<ListPage<Row>> {
  const columns = { ...recordColumnTypes, ...definition.columns };
  const { properties } = tx.em.getMetadata(definition.entity);
  const isOfMetadata = Object.keys(query.metadata ?? {}).length > 0;
  if (isOfMetadata && !('metadata' in properties))
    throw badValue('metadata', 'is not kept for these objects: leave it out');
  const isBlankAbsent = (name: string) =>
    Object.entries<{ default?: unknown }>(properties).some(([key, of]) => key === name && of.default === '');
  const where = {
    $and: [
      ...standardConditions(tx, definition, query),
      ...(isOfMetadata ? [{ metadata: { $contains: query.metadata } }] : []),
      ...query.filters.map((asked, index) => condition(columns, isBlankAbsent, asked, index)),
      own,
    ],
  };
  const matching = where as FilterQuery<NoInfer<Row>>;
  const orderBy = ordering(columns, query) as QueryOrderMap<Row>[];
  const options = { limit: query.limit, offset: query.offset, orderBy };
  const page = { limit: query.limit, offset: query.offset };
  if (total !== null) {
    const isBeyond = query.offset >= total;
    return { rows: isBeyond ? [] : await tx.em.find(definition.entity, matching, options), total, ...page };
  }
  const [rows, counted] = await tx.em.findAndCount(definition.entity, matching, options);
  return { rows, total: counted, ...page };
}

/** A filter by ids; none given and an empty list restrict nothing. spec: platform §1.5 Id filters */
export function anyOf(property: string, ids: readonly string[] | null | undefined): Record<string, unknown> {
  return ids && ids.length > 0 ? { [property]: { $in: ids } } : {};
}

function standardConditions(
  { scope }: Transaction,
  { level, statuses }: Pick<ListDefinition<object>, 'level' | 'statuses'>,
  query: ListQuery,
): object[] {
  const conditions: object[] = [
    level === 'tenant' ? { tenantId: scope.tenantId } : { environmentId: scope.environmentId },
    { status: query.status ?? { $in: statuses ?? ['published'] } },
  ];
  if (query.startTime !== null) conditions.push({ createdAt: { $gte: query.startTime } });
  if (query.endTime !== null) conditions.push({ createdAt: { $lt: query.endTime } });
  return conditions;
}

function ordering(columns: Readonly<Record<string, ColumnType>>, query: ListQuery): object[] {
  const sort = query.sort.map(({ field, direction }, index) => {
    if (!Object.hasOwn(columns, field)) {
      throw badValue(`sort[${index}].field`, `must be one of ${Object.keys(columns).join(', ')}`);
    }
    return { [propertyOf(field)]: direction };
  });
  return [...sort, { id: query.sort.at(-1)?.direction ?? 'desc' }];
}

function fittingKinds(type: ColumnType): string {
  const kinds = Object.entries(fitting).filter(([, { columns }]) => columns.includes(type));
  return kinds.map(([kind]) => (kind === 'boolean' ? 'string with a boolean value' : kind)).join(' or ');
}

type Columns = Readonly<Record<string, ColumnType>>;

function condition(
  columns: Columns,
  isBlankAbsent: (property: string) => boolean,
  { field, operator, dataType, value }: Condition,
  index: number,
): object {
  const type = Object.hasOwn(columns, field) ? columns[field] : undefined;
  if (!type) throw badValue(`filters[${index}].field`, `must be one of ${Object.keys(columns).join(', ')}`);
  const members = Object.entries(value).filter(([, member]) => member !== undefined);
  const [member] = members;
  if (!member || members.length > 1) throw badValue(`filters[${index}].value`, 'must have exactly one member');
  const kind = member[0] === 'boolean' && dataType === 'string' ? 'boolean' : dataType;
  if (member[0] !== kind)
    throw badValue(`filters[${index}].value`, `must be given as ${kind} for data_type ${dataType}`);
  if (!fitting[kind].columns.includes(type)) {
    throw badValue(
      `filters[${index}].data_type`,
      `${dataType} does not fit ${field}, which is of type ${type}; use ${fittingKinds(type)}`,
    );
  }
  if (!fitting[kind].operators.includes(operator)) {
    throw badValue(`filters[${index}].operator`, `must be one of ${fitting[kind].operators.join(', ')} for ${kind}`);
  }
  const property = propertyOf(field);
  if (type === 'integer') return integerComparison(property, operator, String(member[1]));
  if (type === 'string' && isBlankAbsent(property)) return filledComparison(property, operator, member[1]);
  return comparison(property, operator, member[1]);
}

/** Which columns and operators a kind of value goes with. spec: catalogue-and-metering §2.2 */
const fitting: Record<string, { columns: readonly ColumnType[]; operators: readonly Condition['operator'][] }> & {
  [kind in Condition['dataType'] | 'boolean']: {
    columns: readonly ColumnType[];
    operators: readonly Condition['operator'][];
  };
} = {
  string: { columns: ['string'], operators: ['eq', 'contains', 'not_contains'] },
  boolean: { columns: ['boolean'], operators: ['eq'] },
  number: { columns: ['integer', 'decimal'], operators: ['eq', 'gt', 'gte', 'lt'] },
  date: { columns: ['date'], operators: ['before', 'after', 'eq'] },
  array: { columns: ['string'], operators: ['in', 'not_in'] },
};

/** Beyond it no integer is compared: no column of them holds more. */
const largestInteger = 2_147_483_647;

/** Integers against any decimal: `lt 4.5` is `lt 5`, and beyond all of them lies every value or none. */
function integerComparison(property: string, operator: Condition['operator'], text: string): object {
  const number = decimal(text);
  const whole = operator === 'gt' ? number.floor() : number.ceil();
  const isBeyond = whole.abs().greaterThan(largestInteger);
  if (!isBeyond && (operator !== 'eq' || number.isInteger())) return comparison(property, operator, whole.toFixed());
  const matchesAll = isBeyond && (whole.isNegative() ? operator === 'gt' || operator === 'gte' : operator === 'lt');
  return { [property]: matchesAll ? { $ne: null } : { $in: [] } };
}

/** Where an empty text stands for no value, as in `description`. */
function filledComparison(property: string, operator: Condition['operator'], value: unknown): object {
  const isNegative = operator === 'not_contains' || operator === 'not_in';
  const blank = { [property]: '' };
  const asked = comparison(property, operator, value);
  return isNegative ? { $or: [blank, asked] } : { $and: [{ $not: blank }, asked] };
}

/** A record without a value matches `not_contains` and `not_in`, and nothing else. */
function comparison(property: string, operator: Condition['operator'], value: unknown): object {
  switch (operator) {
    case 'eq':
      return { [property]: value };
    case 'contains':
      return { [property]: { $ilike: pattern(value) } };
    case 'not_contains':
      return { $or: [{ [property]: null }, { $not: { [property]: { $ilike: pattern(value) } } }] };
    case 'gt':
    case 'after':
      return { [property]: { $gt: value } };
    case 'gte':
      return { [property]: { $gte: value } };
    case 'lt':
    case 'before':
      return { [property]: { $lt: value } };
    case 'in':
      return { [property]: { $in: value } };
    case 'not_in':
      return { $or: [{ [property]: null }, { [property]: { $nin: value } }] };
  }
}

function pattern(value: unknown): string {
  return `%${String(value).replace(/[\\%_]/g, (character) => `\\${character}`)}%`;
}

function propertyOf(wireName: string): string {
  return wireName.replace(/_([a-z0-9])/g, (_match, letter: string) => letter.toUpperCase());
}

function badValue(field: string, problem: string) {
  return refuse('validation_error', `${field} ${problem}`, { fields: { [field]: problem } });
}
