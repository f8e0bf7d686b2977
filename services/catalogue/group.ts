import { LockMode } from '@mikro-orm/core';
import { Group } from '../../db/entities/catalogue/group.ts';
import { type ListDefinition, type ListPage, type ListQuery, listPage } from '../../db/list.ts';
import { badField, missing, newRecord, takenKey, touch } from '../../db/rows/record.ts';
import type { Transaction } from '../../db/transaction.ts';
import { flushUnique } from '../../db/unique.ts';
import { writeAudit } from '../platform/audit.ts';

export interface NewGroup {
  name: string;
  entityType: GroupedType;
  lookupKey: string;
  metadata?: Record<string, string> | undefined;
}

/** What a group may hold: prices or features, never both. */
export type GroupedType = 'price' | 'feature';

/** A group with the ids of its members in their order. */
export interface GroupWithMembers {
  group: Group;
  entityIds: string[];
}

/** Creates a group without members. Throws `validation_error`, `already_exists` for a taken lookup key. spec: catalogue-and-metering §4.6 */
export async function createGroup(tx: Transaction, input: NewGroup): Promise<GroupWithMembers> {
  for (const [field, value] of [
    ['name', input.name],
    ['lookup_key', input.lookupKey],
  ] as const) {
    if (value.trim() === '') throw badField(field, 'must not be blank');
  }
  const group = tx.em.create(Group, {
    ...newRecord(tx, 'group'),
    name: input.name,
    entityType: input.entityType,
    lookupKey: input.lookupKey,
    metadata: input.metadata ?? {},
  });
  await flushUnique(tx, { group_lookup_key_unique: () => takenKey('group', input.lookupKey) });
  await auditGroup(tx, group, 'created');
  return { group, entityIds: [] };
}

/** A group of this environment with its members, archived or not; throws `not_found`. spec: catalogue-and-metering §4.6 */
export async function findGroup(tx: Transaction, id: string): Promise<GroupWithMembers> {
  const group = await tx.em.findOne(Group, { id, environmentId: tx.scope.environmentId });
  if (!group) throw missing('group', id);
  const [found] = await withMembers(tx, [group]);
  return found!;
}

/** The groups of the given ids, by id, without their members. */
export async function groupsById(
  tx: Transaction,
  ids: readonly (string | null | undefined)[],
): Promise<Map<string, Group>> {
  const wanted = [...new Set(ids.filter((id): id is string => !!id))];
  if (wanted.length === 0) return new Map();
  const groups = await tx.em.find(Group, { id: { $in: wanted }, environmentId: tx.scope.environmentId });
  return new Map(groups.map((group) => [group.id, group]));
}

const groupList: ListDefinition<Group> = {
  entity: Group,
  columns: { name: 'string', entity_type: 'string', lookup_key: 'string' },
};

export interface GroupFilters {
  groupIds?: readonly string[] | null | undefined;
  name?: string | null | undefined;
  lookupKey?: string | null | undefined;
  entityType?: string | null | undefined;
}

/** One page of groups with their members. spec: catalogue-and-metering §2.3 */
export async function listGroups(
  tx: Transaction,
  query: ListQuery,
  filters: GroupFilters,
): Promise<ListPage<GroupWithMembers>> {
  const { groupIds, name, lookupKey, entityType } = filters;
  const page = await listPage(tx, groupList, query, {
    ...(groupIds?.length ? { id: { $in: groupIds } } : {}),
    ...(name ? { name } : {}),
    ...(lookupKey ? { lookupKey } : {}),
    ...(entityType ? { entityType } : {}),
  });
  return { ...page, rows: await withMembers(tx, page.rows) };
}

/**
 * Archives a group and lets its members go, in one transaction; repeating it changes nothing. Whoever puts a member in holds
 * the group's lock too, so none is missed. Throws `not_found`. spec: catalogue-and-metering §4.6, §11
 */
export async function archiveGroup(tx: Transaction, id: string): Promise<void> {
  const where = { id, environmentId: tx.scope.environmentId };
  const group = await tx.em.findOne(Group, where, { lockMode: LockMode.PESSIMISTIC_WRITE, refresh: true });
  if (!group) throw missing('group', id);
  if (group.status !== 'published') return;
  group.status = 'archived';
  touch(tx, group);
  await tx.em.flush();
  await auditGroup(tx, group, 'archived');
  await releaseMembers(tx, group);
}

/**
 * The group a price or feature is put into, held against archiving meanwhile; null when none is named. Throws
 * `validation_error` for a group that is missing, archived or of the other type. Call it before locking the member: archiving
 * locks in that order. spec: catalogue-and-metering §4.6, §13 row 21
 */
export async function groupToJoin(
  tx: Transaction,
  id: string | null | undefined,
  member: GroupedType,
  path = '',
): Promise<Group | null> {
  if (!id) return null;
  const where = { id, environmentId: tx.scope.environmentId };
  const group = await tx.em.findOne(Group, where, { lockMode: LockMode.PESSIMISTIC_READ, refresh: true });
  const field = `${path}group_id`;
  if (!group) throw badField(field, `names group ${id}, which does not exist; create it with POST /groups`);
  if (group.status !== 'published') throw badField(field, `names group ${id}, which is ${group.status}; use another`);
  if (group.entityType !== member) {
    throw badField(field, `names group ${id} of type ${group.entityType}; a ${member} needs one of type ${member}`);
  }
  return group;
}

/**
 * Those of the groups that are published, held against archiving until the transaction ends: whoever copies a member asks
 * before, so that the copy does not stay in a group that is archived meanwhile. spec: catalogue-and-metering §4.6
 */
export async function holdGroups(
  tx: Transaction,
  ids: readonly (string | null | undefined)[],
): Promise<ReadonlySet<string>> {
  const wanted = [...new Set(ids.filter((id): id is string => !!id))];
  if (wanted.length === 0) return new Set();
  const held = await tx.rows<{ id: string }>(
    `select id from catalogue_group where environment_id = $1 and id = any($2) and status = 'published' order by id for share`,
    [tx.scope.environmentId, wanted],
  );
  return new Set(held.map(({ id }) => id));
}

async function withMembers(tx: Transaction, groups: readonly Group[]): Promise<GroupWithMembers[]> {
  const ids = groups.map((group) => group.id);
  const members = ids.length === 0 ? [] : await tx.rows<Member>(membersText, [tx.scope.environmentId, ids]);
  const byGroup = Map.groupBy(members, (member) => member.group_id);
  return groups.map((group) => ({ group, entityIds: (byGroup.get(group.id) ?? []).map((member) => member.id) }));
}

interface Member {
  id: string;
  group_id: string;
  [column: string]: unknown;
}

const membersText = `
select id, group_id from (
  select id, group_id from price where environment_id = $1 and group_id = any($2)
  union all
  select id, group_id from feature where environment_id = $1 and group_id = any($2)
) member order by id collate "C"`;

async function releaseMembers(tx: Transaction, group: Group): Promise<void> {
  const table = group.entityType === 'price' ? 'price' : 'feature';
  const { environmentId, actor } = tx.scope;
  // Locked in one order, so that nothing else that changes many prices can wait in a circle with this.
  const released = await tx.rows<{ id: string }>(
    `with locked as (select id from ${table} where environment_id = $1 and group_id = $2 order by id for update)
     update ${table} m set group_id = null, updated_at = $3, updated_by = $4 from locked where m.id = locked.id returning m.id`,
    [environmentId, group.id, group.updatedAt, actor],
  );
  await writeAudit(
    tx,
    tx.scope,
    released.map(({ id }) => ({
      objectType: table,
      objectId: id,
      action: 'updated',
      occurredAt: group.updatedAt,
      detail: { group_id: null, left_archived_group: group.id },
    })),
  );
}

/** The audit row of a group's change. Groups emit no events. spec: platform §17.3 */
function auditGroup(tx: Transaction, group: Group, action: string): Promise<void> {
  const detail = { name: group.name, entity_type: group.entityType, lookup_key: group.lookupKey };
  return writeAudit(tx, tx.scope, [
    { objectType: 'group', objectId: group.id, action, occurredAt: group.updatedAt, detail },
  ]);
}
