/** Workflows of `workflow-worker.test.ts`. */

export async function comesBack(): Promise<string> {
  return 'came back';
}

/** Goes round for good, as a fault in a loop of ours would. */
export async function neverComesBack(): Promise<void> {
  for (;;);
}
