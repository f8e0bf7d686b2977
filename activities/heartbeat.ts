import { Context } from '@temporalio/activity';

/** Five of them fit into the time after which a silent worker is taken for dead (workflows/activity-options.ts). */
const everyMs = 1_000;

/**
 * Runs the work of an activity with a heartbeat every second until it is settled, also while it waits for a gateway or for a row that
 * somebody else holds. The server hears within seconds that a worker died, and has another one go on. `details` are read at each
 * beat and shown in the Temporal UI.
 */
export async function withHeartbeat<T>(work: () => Promise<T>, details?: () => unknown): Promise<T> {
  const context = Context.current();
  const beating = setInterval(() => context.heartbeat(details?.()), everyMs);
  try {
    return await work();
  } finally {
    clearInterval(beating);
  }
}
