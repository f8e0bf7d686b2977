import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { keepBundle, keptBundle } from './kept-bundle.ts';
import { workflowEntry } from './workflow-entry.ts';

/** Output of `workflow-bundler.ts`. */
export interface Bundled {
  code: string;
  /** Paths of the files that the code was made of, without those of packages. */
  sources: string[];
}

const bundler = fileURLToPath(new URL('./workflow-bundler.ts', import.meta.url));
const longestBundleBytes = 64 * 2 ** 20;

/**
 * Bundles workflows from their sources, in a process of its own: a compiler and what it read would stay in the memory of whoever calls
 * it. As long as the sources stay what they are, the bundle that was made before is taken. `entry` is the source of the module that
 * exports them, by default those of the product. Fails with what the bundler said.
 */
export async function bundleWorkflows(entry = workflowEntry()): Promise<{ code: string }> {
  const kept = keptBundle(entry);
  if (kept !== null) return { code: kept };
  const beganMs = Date.now();
  const { stdout } = await promisify(execFile)(process.execPath, [bundler, entry], { maxBuffer: longestBundleBytes });
  const { code, sources } = JSON.parse(stdout) as Bundled;
  keepBundle(entry, { sources, code, beganMs });
  return { code };
}
