import { EntitySchema } from '@mikro-orm/core';
import { describe, expect, test } from 'vitest';
import { lifecycleActivities } from '../../../activities/lifecycle-activities.ts';
import { entryOf, workflowEntry } from '../../../activities/workflow-entry.ts';
import { entities } from '../../../db/entities/all.ts';
import { isLifecycleKind, type LifecycleKind, lifecycleKindNames, lifecycleKinds } from '../../../lifecycles/kinds.ts';
import { watchedTypes } from '../../../workflows/check/lifecycle-watch.messages.ts';
import { lifecycleStartOptions } from '../../../workflows/start.messages.ts';
import { sources } from '../../support/source-imports.ts';

/** Source of a file, and of the parts that a workflow is split into. */
const sourceOf = (file: string) => sources.get(file) ?? '';
const kinds = Object.entries(lifecycleKinds);
// Activities are made and none is called, so nothing of what they need is there.
const { all, asking } = await lifecycleActivities({} as Parameters<typeof lifecycleActivities>[0]);

/** Files of workflows that run the loop over an agenda. */
const looping = [...sources.keys()].filter(
  (file) => /^workflows\/\w+\//.test(file) && /\bcreateLifecycle\b.*\(/.test(sourceOf(file)),
);

test('every workflow with an agenda is the workflow of one kind', () => {
  expect(looping.toSorted()).toEqual(kinds.map(([, { workflow }]) => workflow).toSorted());
  expect(looping.length).toBeGreaterThan(5);
});

describe.each(kinds)('%s', (kind, descriptor) => {
  const workflow = sourceOf(descriptor.workflow);

  test('has its workflow in the room of its area, which the bundle exports', () => {
    expect(descriptor.workflow).toMatch(new RegExp(`^workflows/${descriptor.area}/`));
    expect(workflow).toContain(`export async function ${descriptor.workflowType}(start: LifecycleStart)`);
    const exported = workflowEntry({ root: '/product' }).split('\n');
    expect(exported).toContain(`export { ${descriptor.workflowType} } from "/product/${descriptor.workflow}";`);
  });

  test('has its activities in the room of its area, with the one that reads it', () => {
    expect(descriptor.activities).toMatch(new RegExp(`^activities/${descriptor.area}/`));
    expect(sourceOf(descriptor.activities)).toContain(`export function ${descriptor.createActivities}(`);
    expect(Object.keys(all)).toContain(descriptor.load);
    expect(workflow).toContain(`.${descriptor.load}(`);
    expect(Object.keys(asking).includes(descriptor.load)).toBe(descriptor.asksGateways);
  });

  test('has services in the room of its area', () => {
    expect([...sources.keys()].some((file) => file.startsWith(`services/${descriptor.area}/`))).toBe(true);
  });

  test('has a workflow that performs each entry of its agenda', () => {
    expect(descriptor.agenda.filter((entry) => !new RegExp(`\\b${entry}\\b`).test(workflow))).toEqual([]);
    expect(new Set(descriptor.agenda).size).toBe(descriptor.agenda.length);
  });

  test('has a table with the columns that checks read', () => {
    const table = entities
      .map((entity) => EntitySchema.REGISTRY.get(entity)?.meta)
      .find((meta) => meta?.tableName === descriptor.entity);
    const columns = ['id', descriptor.changedColumn, descriptor.statusColumn].filter((column) => column !== null);
    const property = (column: string) => column.replace(/_(\w)/g, (_, letter: string) => letter.toUpperCase());
    expect(Object.keys(table?.properties ?? {})).toEqual(expect.arrayContaining(columns.map(property)));
  });

  test('begins under an id of its own and is watched', () => {
    const start = { tenantId: 't', environmentId: 'e', customerId: 'c', testClockId: null, clockTime: null };
    const object = { ...start, objectId: 'x_1', creating: false };
    const options = lifecycleStartOptions(kind as LifecycleKind, object, 'lifecycle');
    expect(options.workflowId).toMatch(/^[a-z-]+\/x_1$/);
    expect(options.staticSummary).toBe(`${descriptor.noun} x_1, customer c`);
    expect(watchedTypes[descriptor.workflowType]).toBe(kind);
  });
});

test('no two kinds share a workflow type or the ids of workflows', () => {
  for (const of of [kinds.map(([, each]) => each.workflowType), kinds.map(([, each]) => each.workflowId('1'))])
    expect(new Set(of).size).toBe(lifecycleKindNames.length);
});

test('a type without a lifecycle is no kind', () => {
  expect(isLifecycleKind('refund')).toBe(true);
  expect(isLifecycleKind('task')).toBe(false);
  expect(isLifecycleKind('toString')).toBe(false);
});

test('a bundle may hold workflows beside those of the product, or others in their place', () => {
  expect(workflowEntry({ beside: ['/more.ts'] })).toContain('export * from "/more.ts";');
  expect(entryOf('/other.ts')).toBe('export * from "/other.ts";');
});
