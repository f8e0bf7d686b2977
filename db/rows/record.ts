import { type RefusalCode, refusalIn, refuse } from '../../billing/refusal.ts';
import { newId } from '../id.ts';
import type { Transaction } from '../transaction.ts';

/** The columns every tenant-scoped record is born with. `id` may be given when the caller derived it. spec: catalogue-and-metering §1.3 */
export function newRecord(tx: Transaction, prefix: string, id: string = newId(prefix)) {
  const now = new Date().toISOString();
  const { tenantId, environmentId, actor } = tx.scope;
  return {
    id,
    tenantId,
    environmentId,
    status: 'published',
    createdAt: now,
    createdBy: actor,
    updatedAt: now,
    updatedBy: actor,
  };
}

/** Stamps a changed record with the real time and the caller. */
export function touch(tx: Transaction, record: { updatedAt: string; updatedBy: string }): void {
  record.updatedAt = new Date().toISOString();
  record.updatedBy = tx.scope.actor;
}

/** Refuses a change of an archived record. `noun` is its plain name: `plan`. spec: catalogue-and-metering §11 */
export function refuseArchived(noun: string, record: { id: string; status: string }): void {
  if (record.status === 'published') return;
  throw refuse(
    'invalid_operation',
    `${noun} ${record.id} is ${record.status} and can no longer be changed; create a new ${noun}`,
  );
}

/** The refusal of an id that does not exist in this environment. */
export function missing(noun: string, id: string, field = 'id') {
  return refuse('not_found', `${noun} ${id} was not found in this environment`, { fields: { [field]: 'not found' } });
}

/** The refusal of a field's value; the message starts with the field's wire name. spec: platform §2.3 */
export function badField(field: string, problem: string) {
  return refuse('validation_error', `${field} ${problem}`, { fields: { [field]: problem } });
}

/** The refusal of a request that is well formed but that the state of things forbids. spec: platform §2.2 */
export function refuseInvalid(field: string, message: string) {
  return refuse('invalid_operation', message, { fields: { [field]: message } });
}

/** The refusal of a lookup key that another live record holds, which is named where it is known. spec: catalogue-and-metering §1.3 */
export function takenKey(noun: string, lookupKey: string, holderId?: string) {
  const holder = holderId === undefined ? `another published ${noun}` : `${noun} ${holderId}`;
  return refuse('already_exists', `lookup_key ${lookupKey} is taken by ${holder}; choose another`, {
    fields: { lookup_key: 'taken' },
  });
}

/**
 * Runs work over every element of a bulk request, to the end even when some are refused, and then refuses once, naming each bad
 * element: `items[1]: …; items[4]: …`. The code is that of the first. The work must write nothing.
 * spec: catalogue-and-metering §4.2, §13 row 23
 */
export async function inEveryElement<In, Out>(
  list: string,
  inputs: readonly In[],
  work: (input: In, element: string, index: number) => Promise<Out>,
): Promise<Out[]> {
  const done: Out[] = [];
  const refusals: { element: string; refusal: Refusal }[] = [];
  for (const [index, input] of inputs.entries()) {
    const element = `${list}[${index}]`;
    try {
      done.push(await inElement(element, () => work(input, element, index)));
    } catch (error) {
      const refusal = refusalIn(error);
      if (!refusal) throw error;
      refusals.push({ element, refusal });
    }
  }
  const [first] = refusals;
  if (!first) return done;
  const fields = refusals.flatMap(({ element, refusal }) => elementFields(element, refusal));
  const details = { ...first.refusal.details, fields: Object.fromEntries(fields) };
  throw refuse(first.refusal.code, refusals.map(({ refusal }) => refusal.message).join('; '), details);
}

type Refusal = NonNullable<ReturnType<typeof refusalIn>>;

function elementFields(element: string, { details, message }: Refusal): [string, unknown][] {
  const fields = Object.entries((details?.fields as Record<string, unknown> | undefined) ?? {});
  if (fields.length === 0) return [[element, message]];
  return fields.map(([field, problem]) => [field.startsWith(element) ? field : `${element}.${field}`, problem]);
}

/**
 * Runs the work of one element of a bulk request and makes a refusal name the element: `items[3]: lookup_key … is taken`.
 * `unknownIs` changes the code of an unknown id. spec: catalogue-and-metering §4.2, §13 rows 23, 43
 */
export async function inElement<T>(
  element: string,
  work: () => Promise<T>,
  unknownIs: RefusalCode = 'not_found',
): Promise<T> {
  try {
    return await work();
  } catch (error) {
    const refusal = refusalIn(error);
    if (!refusal) throw error;
    const code = refusal.code === 'not_found' ? unknownIs : refusal.code;
    const message = refusal.message.startsWith(element) ? refusal.message : `${element}: ${refusal.message}`;
    throw refuse(code, message, refusal.details);
  }
}

/**
 * Error to throw in place of one that a part of a request met: a refusal that names the members of the part names them in the
 * whole, `children[0].line_items[1].price_id …`. What is no refusal, or names the part already, stays.
 */
export function inPart(part: string, error: unknown): unknown {
  const refusal = refusalIn(error);
  if (!refusal || refusal.message.startsWith(part)) return error;
  const own = (refusal.details?.fields ?? {}) as Record<string, unknown>;
  const fields = Object.fromEntries(Object.entries(own).map(([field, problem]) => [`${part}.${field}`, problem]));
  const isOfMember = Object.keys(own).some((field) => refusal.message.startsWith(field));
  const message = `${part}${isOfMember ? '.' : ': '}${refusal.message}`;
  return refuse(refusal.code, message, { ...refusal.details, fields });
}

/**
 * One refusal of several, in their order: the messages and fields of all, and their code when they agree, else
 * `validation_error`. What is no refusal is thrown as it is.
 */
export function together(errors: readonly unknown[]): Error {
  const refusals = errors.map((error) => {
    const refusal = refusalIn(error);
    if (!refusal) throw error;
    return refusal;
  });
  const [first] = refusals;
  const code = refusals.every((refusal) => refusal.code === first?.code) ? first!.code : 'validation_error';
  const fields = Object.assign({}, ...refusals.map((refusal) => refusal.details?.fields ?? {})) as object;
  return refuse(code, refusals.map((refusal) => refusal.message).join('; '), { fields });
}
