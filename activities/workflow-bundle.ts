import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

const bundler = fileURLToPath(new URL('./workflow-bundler.ts', import.meta.url));
const longestBundleBytes = 64 * 2 ** 20;

const productionWorkflows = fileURLToPath(new URL('../workflows/index.ts', import.meta.url));

/**
 * Bundles the workflows that `index` exports from their sources, in a process of its own: a compiler and what it read would stay
 * in the memory of whoever calls it. Fails with what the bundler said.
 */
export async function bundleWorkflows(index = productionWorkflows): Promise<{ code: string }> {
  const { stdout } = await promisify(execFile)(process.execPath, [bundler, index], { maxBuffer: longestBundleBytes });
  return { code: stdout };
}
