import { Client, Connection } from '@temporalio/client';
import type { Installation } from './installation.ts';

const shown = 40;

/**
 * Places that a person would look at first when a run does not go on: each open workflow with its last event, its activities
 * under way and its waiting task, a line each, those first that wait for something. Says so instead when the server does not answer.
 */
export async function standingWorkflows({ temporalAddress }: Pick<Installation, 'temporalAddress'>): Promise<string[]> {
  try {
    const connection = await Connection.connect({ address: temporalAddress });
    try {
      return await describeOpen(new Client({ connection }));
    } finally {
      await connection.close();
    }
  } catch (error) {
    return [`Temporal does not tell what is open: ${(error as Error).message}`];
  }
}

async function describeOpen(temporal: Client): Promise<string[]> {
  const busy: string[] = [];
  const idle: string[] = [];
  for await (const { workflowId } of temporal.workflow.list({ query: 'ExecutionStatus = "Running"' })) {
    const handle = temporal.workflow.getHandle(workflowId);
    const { raw } = await handle.describe();
    const { events } = await handle.fetchHistory();
    const under = (raw.pendingActivities ?? []).map(
      ({ activityType, attempt, lastFailure }) =>
        `${activityType?.name} attempt ${attempt}${lastFailure?.message ? ` after ${lastFailure.message}` : ''}`,
    );
    const task = raw.pendingWorkflowTask ? [`a workflow task, attempt ${raw.pendingWorkflowTask.attempt}`] : [];
    const last = events?.at(-1);
    const waitsFor = [...task, ...under].join(', ');
    const line = `${workflowId}: event ${last?.eventId} ${last?.eventType}`;
    if (waitsFor === '') idle.push(line);
    else busy.push(`${line}; waits for ${waitsFor}`);
  }
  const lines = [...busy, ...idle].slice(0, shown);
  return lines.length === 0 ? ['no workflow is open'] : lines;
}
