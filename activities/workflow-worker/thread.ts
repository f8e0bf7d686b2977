import { followNoPromises } from './promise-hooks.ts';

/** Entry file of the thread that runs workflows: the SDK's own. */
followNoPromises();
await import('@temporalio/worker/lib/workflow/workflow-worker-thread.js');
