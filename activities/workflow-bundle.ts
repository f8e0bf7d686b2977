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
  return { code: withShallowStacks(stdout) };
}

const sourceMapComment = '//# sourceMappingURL=';

/**
 * Lets stacks in workflows hold one frame. The SDK makes a stack, mapped to the sources frame by frame, for every promise of
 * a workflow: at the usual ten frames that is a third of what workflows cost. One frame still says where an error was thrown.
 * It is set while the bundle loads, because the globals of workflows are frozen afterwards.
 */
function withShallowStacks(code: string): string {
  const end = code.lastIndexOf(sourceMapComment);
  return `${code.slice(0, end)}\nError.stackTraceLimit = 1;\n${code.slice(end)}`;
}
