import { expect } from 'vitest';
import type { FileServer } from '../../../bench/ingest/file-server.ts';
import { type AreaCalls, type Conversation, present } from '../conversation.ts';

const lookEveryMs = 50;

/** Imports of files, and what is set going by hand. */
export function taskCalls({ client, made }: Conversation, files: FileServer): Record<string, AreaCalls> {
  let taskId = '';
  let workflowId = '';
  const tasks: AreaCalls = {
    async createTask() {
      const row = `imported,${made.externalId},2026-01-10T12:00:00Z`;
      const task = await client.tasks.createTask({
        taskType: 'IMPORT',
        entityType: 'EVENTS',
        fileType: 'CSV',
        fileUrl: files.put('events.csv', `event_name,external_customer_id,timestamp\n${row}\n`),
        fileName: 'events.csv',
        metadata: { origin: 'conformance' },
      });
      expect(task).toMatchObject({ taskType: 'IMPORT', entityType: 'EVENTS', fileName: 'events.csv' });
      taskId = present(task.id);
      workflowId = present(task.workflowId);
    },
    async getTask() {
      for (;;) {
        const task = await client.tasks.getTask(taskId);
        if (task.taskStatus === 'COMPLETED') {
          return expect(task).toMatchObject({ successfulRecords: 1, failedRecords: 0, totalRecords: 1 });
        }
        expect(['PENDING', 'PROCESSING']).toContain(task.taskStatus);
        await new Promise((resolve) => setTimeout(resolve, lookEveryMs));
      }
    },
    async listTasks() {
      const page = await client.tasks.listTasks({ taskStatus: 'COMPLETED' });
      expect(page).toMatchObject({ items: [{ id: taskId }], pagination: { total: 1 } });
    },
    async getTaskResult() {
      expect(await client.tasks.getTaskResult(workflowId)).toMatchObject({ workflowId });
    },
    async updateTaskStatus() {
      await expect(client.tasks.updateTaskStatus(taskId, { taskStatus: 'PROCESSING' })).rejects.toThrow(/COMPLETED/);
    },
    async downloadTaskExport() {
      await expect(client.tasks.downloadTaskExport(taskId)).rejects.toThrow(/import/);
    },
  };
  const scheduledTasks: AreaCalls = {
    async scheduleUpdateBillingPeriod() {
      expect(await client.scheduledTasks.scheduleUpdateBillingPeriod({})).toBeDefined();
    },
  };
  return { tasks, 'scheduled tasks': scheduledTasks };
}
