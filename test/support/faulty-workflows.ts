/** Workflows with faults of ours, for `workflow-worker.test.ts`. */

export async function comesBack(): Promise<string> {
  return 'came back';
}

/** Goes round for good, as a fault in a loop of ours would. */
export async function neverComesBack(): Promise<void> {
  for (;;);
}

/** Throws what is no failure of the domain, which fails the task and not the workflow. */
export async function breaks(): Promise<void> {
  throw new Error('broken');
}
