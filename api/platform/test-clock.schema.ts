import { z } from 'zod';
import type { TestClockRow } from '../../services/platform/test-clock.ts';
import { listOf } from '../list.ts';
import { timestampInput, timestampOutput } from '../scalars.schema.ts';

export const createTestClockBody = z
  .object({ name: z.string().max(255).nullish(), frozen_time: timestampInput() })
  .meta({ examples: [{ name: 'a year ahead', frozen_time: '2026-01-01T00:00:00Z' }] });

export const advanceTestClockBody = z
  .object({ to: timestampInput() })
  .meta({ examples: [{ to: '2026-02-01T00:00:00Z' }] });

export const testClockQuery = z.object({
  /** Seconds to wait for a running advance to end, at most 30. */
  wait: z
    .string()
    .regex(/^\d{1,2}$/, 'must be a number of seconds from 0 to 30')
    .transform(Number)
    .refine((seconds) => seconds <= 30, 'must be a number of seconds from 0 to 30')
    .optional(),
});

export const testClock = z
  .object({
    id: z.string(),
    tenant_id: z.string(),
    environment_id: z.string(),
    name: z.string(),
    /** What customers on this clock call now. */
    frozen_time: timestampOutput(),
    /** Where a running advance goes; null when the clock stands. */
    target_time: timestampOutput().nullable(),
    clock_status: z.enum(['ready', 'advancing']),
    status: z.string(),
    created_at: timestampOutput(),
    updated_at: timestampOutput(),
  })
  .meta({ id: 'TestClock' });

export const testClockList = listOf(testClock, 'ListTestClocksResponse');

export function viewTestClock(row: TestClockRow): z.output<typeof testClock> {
  return {
    id: row.id,
    tenant_id: row.tenantId,
    environment_id: row.environmentId,
    name: row.name,
    frozen_time: row.frozenTime,
    target_time: row.targetTime,
    clock_status: row.targetTime === null ? 'ready' : 'advancing',
    status: row.status,
    created_at: row.createdAt,
    updated_at: row.updatedAt,
  };
}
