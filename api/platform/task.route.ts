import { refuse } from '../../billing/refusal.ts';
import { changeTaskStatus, createTask, findTask, findTaskOfWorkflow, listTasks } from '../../services/platform/task.ts';
import type { Api } from '../api.ts';
import { errorResponses, notBuiltResponse } from '../errors.ts';
import { toListQuery, viewList } from '../list.ts';
import { idParams } from '../scalars.schema.ts';
import {
  createTaskBody,
  newTask,
  task,
  taskDownload,
  taskFiltersOf,
  taskList,
  taskListQuery,
  taskMessage,
  taskResult,
  taskResultQuery,
  taskStatusBody,
  viewTask,
} from './task.schema.ts';
import { beginImport, stopImport } from './task-workflow.ts';

const tags = ['Tasks'];

/** Imports of files. spec: platform §18 */
export async function taskRoutes(app: Api): Promise<void> {
  commandRoutes(app);
  readingRoutes(app);
}

function commandRoutes(app: Api): void {
  app.post('/tasks', {
    schema: {
      operationId: 'createTask',
      tags,
      summary: 'Import a file of usage events',
      body: createTaskBody,
      response: { 202: task, ...errorResponses, ...notBuiltResponse },
    },
    config: { permission: 'task:write', idempotency: 'lifecycle' },
    handler: async (request) => {
      const { outgoing = { allowedHosts: [] } } = app.dependencies;
      const input = newTask(request.body, request.newId('task'), outgoing);
      const made = await request.transaction(async (tx) => viewTask(await createTask(tx, input)));
      await beginImport(request.temporal, request.scope, made.id);
      return made;
    },
  });

  app.put('/tasks/:id/status', {
    schema: {
      operationId: 'updateTaskStatus',
      tags,
      summary: 'Begin a task again, or stop it',
      params: idParams,
      body: taskStatusBody,
      response: { 200: taskMessage, ...errorResponses },
    },
    config: { permission: 'task:write', idempotency: 'lifecycle' },
    handler: async (request) => {
      const { id } = request.params;
      const { task_status: to } = request.body;
      await request.transaction((tx) => changeTaskStatus(tx, id, to));
      if (to === 'PROCESSING') await beginImport(request.temporal, request.scope, id);
      else await stopImport(request, id);
      return { message: `Task ${id} is ${to}.` };
    },
  });
}

function readingRoutes(app: Api): void {
  app.get('/tasks', {
    schema: {
      operationId: 'listTasks',
      tags,
      summary: 'List tasks',
      querystring: taskListQuery,
      response: { 200: taskList, ...errorResponses },
    },
    config: { permission: 'task:read' },
    handler: async (request) =>
      request.transaction(async (tx) =>
        viewList(await listTasks(tx, toListQuery(request.query), taskFiltersOf(request.query)), viewTask, 'echo'),
      ),
  });

  app.get('/tasks/result', {
    schema: {
      operationId: 'getTaskResult',
      tags,
      summary: 'What became of the workflow of a task',
      querystring: taskResultQuery,
      response: { 200: taskResult, ...errorResponses },
    },
    config: { permission: 'task:read' },
    handler: async (request) =>
      request.transaction(async (tx) => {
        const row = await findTaskOfWorkflow(tx, request.query.workflow_id);
        const message = `Task ${row.id} is ${row.taskStatus}.`;
        return { message, workflow_id: row.workflowId, run_id: row.runId ?? '', task: viewTask(row) };
      }),
  });

  app.get('/tasks/:id', {
    schema: {
      operationId: 'getTask',
      tags,
      summary: 'Get a task',
      params: idParams,
      response: { 200: task, ...errorResponses },
    },
    config: { permission: 'task:read' },
    handler: async (request) => request.transaction(async (tx) => viewTask(await findTask(tx, request.params.id))),
  });

  app.get('/tasks/:id/download', {
    schema: {
      operationId: 'downloadTaskExport',
      tags,
      summary: 'Where to download the file of an export',
      params: idParams,
      response: { 200: taskDownload, ...errorResponses },
    },
    config: { permission: 'task:read' },
    handler: async (request) => {
      await request.transaction((tx) => findTask(tx, request.params.id));
      throw refuse('invalid_operation', `task ${request.params.id} is an import, which has no file to download`);
    },
  });
}
