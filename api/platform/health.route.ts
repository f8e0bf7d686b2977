import type { FastifyInstance } from 'fastify';
import { z } from 'zod';

const health = z.object({ status: z.literal('ok') });

/** Whether the process is alive and whether it can work. No credential, no limit. spec: platform §22 */
export async function healthRoutes(app: FastifyInstance): Promise<void> {
  const alive = { schema: { hide: true, response: { 200: health } } };
  app.get('/health', alive, async () => ({ status: 'ok' as const }));
  app.post('/health', alive, async () => ({ status: 'ok' as const }));
  app.get('/ready', { schema: { hide: true } }, async (_request, reply) => {
    const [database, workflow] = await Promise.all([
      stateOf(app.dependencies.database.orm.checkConnection().then((result) => result.ok)),
      stateOf(temporalAnswers(app)),
    ]);
    const ready = database === 'ok' && workflow === 'ok';
    return reply
      .code(ready ? 200 : 503)
      .send({ status: ready ? 'ok' : 'unavailable', database, workflow_engine: workflow });
  });
}

const patienceMs = 2_000;

/** Asks Temporal something: a connection that was made once says nothing about a server that hangs since. */
async function temporalAnswers(app: FastifyInstance): Promise<boolean> {
  const { connection } = app.dependencies.temporal;
  await connection.withDeadline(Date.now() + patienceMs, () => connection.workflowService.getSystemInfo({}));
  return true;
}

async function stateOf(check: Promise<boolean>): Promise<'ok' | 'unavailable'> {
  const { promise: late, resolve } = Promise.withResolvers<boolean>();
  const timer = setTimeout(resolve, patienceMs, false);
  try {
    return (await Promise.race([check, late])) ? 'ok' : 'unavailable';
  } catch {
    return 'unavailable';
  } finally {
    clearTimeout(timer);
  }
}
