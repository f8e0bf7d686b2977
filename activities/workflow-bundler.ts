import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { extname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type BundleOptions, bundleWorkflowCode, DefaultLogger } from '@temporalio/worker';
import type { Bundled } from './workflow-bundle.ts';

type BundlerConfig = Parameters<NonNullable<BundleOptions['webpackConfigHook']>>[0];
/** As much of webpack’s compiler as is used here. */
interface Compiler {
  hooks: { afterCompile: { tap(name: string, told: (made: { fileDependencies: Iterable<string> }) => void): void } };
}

/**
 * Leaves the syntax of the workflows as Node runs it. The SDK writes for engines of 2017, of which each file that spreads an object
 * gets a page of helpers, in memory with every context.
 */
function keepSyntax(config: BundlerConfig): void {
  const loads = (config.module?.rules ?? []) as { use?: { options?: { jsc?: { target?: string } } } }[];
  const compilers = loads.flatMap((rule) => rule.use?.options?.jsc ?? []);
  if (compilers.length !== 1) throw new Error('the bundler of the SDK compiles TypeScript in another way than it did');
  for (const compiler of compilers) compiler.target = 'es2022';
}

const packages = fileURLToPath(new URL('../node_modules', import.meta.url));

/** Has packages found from an entry file that lies outside of the repository. */
function findPackages(config: BundlerConfig): void {
  config.resolve = { ...config.resolve, modules: ['node_modules', packages] };
}

/** Notes the files that the bundle is made of, without those of packages. The compiler also names the folders it looked into. */
function noteSources(config: BundlerConfig, sources: Set<string>): void {
  const isSource = (file: string) => extname(file) !== '' && !file.startsWith(packages);
  const noting = (compiler: Compiler) =>
    compiler.hooks.afterCompile.tap('sources', ({ fileDependencies }) => {
      for (const file of fileDependencies) if (isSource(file)) sources.add(file);
    });
  config.plugins = [...(config.plugins ?? []), { apply: noting }];
}

/** Prints the workflows that the module of this source exports as one script, with its sources; `workflow-bundle.ts` runs it. */
const [, , entry] = process.argv;
if (entry === undefined)
  throw new Error('usage: workflow-bundler.ts <source of the module that exports the workflows>');
const sources = new Set<string>();
const folder = mkdtempSync(join(tmpdir(), 'workflows-'));
try {
  const workflowsPath = join(folder, 'workflows.js');
  writeFileSync(workflowsPath, entry);
  const { code } = await bundleWorkflowCode({
    workflowsPath,
    // Only its types and failures are used; the ORM and the engine never get into a workflow.
    ignoreModules: ['node:crypto'],
    webpackConfigHook(config) {
      keepSyntax(config);
      findPackages(config);
      noteSources(config, sources);
      return config;
    },
    // The output is the bundle and nothing else.
    logger: new DefaultLogger('WARN', ({ level, message }) => process.stderr.write(`${level} ${message}\n`)),
  });
  // The entry is a file of this run alone; whoever keeps the bundle knows it by the entry's text.
  const made = [...sources].filter((file) => !file.startsWith(folder));
  process.stdout.write(JSON.stringify({ code, sources: made } satisfies Bundled));
} finally {
  rmSync(folder, { recursive: true });
}
