import { advanceClock } from '../../bench/account.ts';
import { retry } from '../../workflows/lifecycle.messages.ts';
import { testClockWorkflowId } from '../../workflows/platform/test-clock.messages.ts';
import { asOwner, invoiceWorkflowOf, onClock, type Stage, until, workflowOf } from './stage.ts';

/** The second attempt on an invoice fails for a reason that is no outage. */
export async function invoiceParked(stage: Stage): Promise<void> {
  const { api, temporal } = stage.platform;
  const { clockId, subscriptionId } = await onClock(stage, { card: 'declines_times', count: 1 });
  await advanceClock(api, clockId, '2026-01-15T12:00:00Z');
  const { workflowId } = await until(() => invoiceWorkflowOf(stage, subscriptionId));
  await asOwner(stage, 'alter table payment add constraint none_now check (false) not valid');
  try {
    await advanceClock(api, clockId, '2026-01-16T12:00:00Z');
  } finally {
    await asOwner(stage, 'alter table payment drop constraint none_now');
  }
  await temporal.workflow.getHandle(workflowId).executeUpdate(retry);
  await advanceClock(api, clockId, '2026-01-20T00:00:00Z');
}

/** A price that nobody can compute stops one subscription until it is mended. */
export async function periodParked(stage: Stage): Promise<void> {
  const { api } = stage.platform;
  const { clockId, subscriptionId } = await onClock(stage, { card: 'succeeds' });
  const setModel = (model: string) =>
    asOwner(stage, `update price set billing_model = '${model}' where id = '${stage.usagePriceId}'`);
  await setModel('UNKNOWN');
  try {
    await advanceClock(api, clockId, '2026-02-16T00:00:00Z');
  } finally {
    await setModel('FLAT_FEE');
  }
  await workflowOf(stage, subscriptionId).executeUpdate(retry);
  await advanceClock(api, clockId, '2026-02-17T00:00:00Z');
}

/** The clock's own step fails for a reason that is no outage. */
export async function clockParked(stage: Stage): Promise<void> {
  const { api, temporal } = stage.platform;
  const { clockId } = await onClock(stage, { card: 'succeeds' });
  const workflow = temporal.workflow.getHandle(testClockWorkflowId(clockId));
  await asOwner(stage, 'alter table agenda_entry rename to agenda_entry_away');
  try {
    await api('POST', `/test-clocks/${clockId}/advance`, { to: '2026-01-16T00:00:00Z' });
    await until(async () => (await workflow.query<{ blockedOn: string | null }>('progress')).blockedOn ?? undefined);
  } finally {
    await asOwner(stage, 'alter table agenda_entry_away rename to agenda_entry');
  }
  await workflow.executeUpdate(retry);
  await advanceClock(api, clockId, '2026-01-16T00:00:00Z');
}
