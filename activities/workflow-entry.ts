import { fileURLToPath } from 'node:url';
import { lifecycleKinds } from '../lifecycles/kinds.ts';

const repository = fileURLToPath(new URL('..', import.meta.url));

/**
 * Source of the module whose exports are the workflows of the product: the workflow of each lifecycle, and what `workflows/index.ts`
 * exports beside them. `beside` are files that export more; `root` is the folder that holds `workflows/`.
 */
export function workflowEntry({ root = repository, beside = [] as readonly string[] } = {}): string {
  const from = (file: string) => JSON.stringify(file);
  return [
    `export * from ${from(`${root}/workflows/index.ts`)};`,
    ...Object.values(lifecycleKinds).map(
      ({ workflow, workflowType }) => `export { ${workflowType} } from ${from(`${root}/${workflow}`)};`,
    ),
    ...beside.map((file) => `export * from ${from(file)};`),
    '',
  ].join('\n');
}

/** Source of a module that exports what a file does, such as stand-ins of a test. */
export function entryOf(file: string): string {
  return `export * from ${JSON.stringify(file)};`;
}
