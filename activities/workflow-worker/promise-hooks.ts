import { globalHandlers } from '@temporalio/worker/lib/workflow/vm-shared.js';

/**
 * Keeps the SDK from following every promise of every workflow, which was near half of what workflows cost: for each it compiles two
 * functions and writes a stack, to show call stacks in Temporal's UI. What ours wait for is in their current details.
 * Call it before the first bundle is loaded in this thread; a second time it does nothing.
 */
export function followNoPromises(): void {
  const handlers = globalHandlers as unknown as { setPromiseHook(): void };
  handlers.setPromiseHook = () => undefined;
}
