import { Session } from 'node:inspector';

/**
 * Ends the call that the worker thread is in, as if it had thrown where nothing can catch it; the thread goes on with what it is
 * asked next. Resolves when the thread has confirmed it. Node offers this through the protocol of its inspector alone, which is
 * spoken within the process: no port is opened.
 */
export async function interruptThread(threadId: number): Promise<void> {
  const inspector = new Session();
  inspector.connect();
  try {
    const attached = Promise.withResolvers<string>();
    // The protocol numbers threads by itself, leaving out those that have ended; the title has the id by which Node knows one.
    const title = `[worker ${threadId}]`;
    inspector.on('NodeWorker.attachedToWorker', ({ params }) => {
      if (params.workerInfo.title.startsWith(title)) attached.resolve(params.sessionId);
    });
    const confirmed = Promise.withResolvers<void>();
    inspector.on('NodeWorker.receivedMessageFromWorker', () => confirmed.resolve());
    inspector.post('NodeWorker.enable', { waitForDebuggerOnStart: false });
    const message = JSON.stringify({ id: 1, method: 'Runtime.terminateExecution' });
    inspector.post('NodeWorker.sendMessageToWorker', { sessionId: await attached.promise, message });
    await confirmed.promise;
  } finally {
    inspector.disconnect();
  }
}
