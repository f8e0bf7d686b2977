import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { workflowEntry } from './workflow-entry.ts';

const bundler = fileURLToPath(new URL('./workflow-bundler.ts', import.meta.url));
const longestBundleBytes = 64 * 2 ** 20;

/**
 * Bundles workflows from their sources, in a process of its own: a compiler and what it read would stay in the memory of whoever calls
 * it. `entry` is the source of the module that exports them, by default those of the product. Fails with what the bundler said.
 */
export async function bundleWorkflows(entry = workflowEntry()): Promise<{ code: string }> {
  const { stdout } = await promisify(execFile)(process.execPath, [bundler, entry], { maxBuffer: longestBundleBytes });
  return { code: stdout };
}
