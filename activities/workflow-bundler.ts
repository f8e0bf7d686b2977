import { type BundleOptions, bundleWorkflowCode, DefaultLogger } from '@temporalio/worker';

type BundlerConfig = Parameters<NonNullable<BundleOptions['webpackConfigHook']>>[0];

/**
 * Leaves the syntax of the workflows as Node runs it. The SDK writes for engines of 2017, of which each file that spreads an object
 * gets a page of helpers, in memory with every context.
 */
function keepSyntax(config: BundlerConfig): BundlerConfig {
  const loads = (config.module?.rules ?? []) as { use?: { options?: { jsc?: { target?: string } } } }[];
  const compilers = loads.flatMap((rule) => rule.use?.options?.jsc ?? []);
  if (compilers.length !== 1) throw new Error('the bundler of the SDK compiles TypeScript in another way than it did');
  for (const compiler of compilers) compiler.target = 'es2022';
  return config;
}

/** Prints the workflows that the file named exports as one script; `workflow-bundle.ts` runs it. */
const [, , index] = process.argv;
if (index === undefined) throw new Error('usage: workflow-bundler.ts <file that exports the workflows>');
const { code } = await bundleWorkflowCode({
  workflowsPath: index,
  // Only its types and failures are used; the ORM and the engine never get into a workflow.
  ignoreModules: ['node:crypto'],
  webpackConfigHook: keepSyntax,
  // The output is the script and nothing else.
  logger: new DefaultLogger('WARN', ({ level, message }) => process.stderr.write(`${level} ${message}\n`)),
});
process.stdout.write(code);
