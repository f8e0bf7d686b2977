import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeLast, build, filled, nounOf, Problem, type Request } from './house.ts';
import { tableOf } from './names.ts';

/**
 * Writes a lifecycle for what `newEntity` made a table of customers for: its descriptor, workflow, activities, services and test.
 * Returns the paths of what was written.
 */
export function newWorkflow(request: Request): string[] {
  const noun = nounOf(request);
  const { root, area } = request;
  if (area === 'platform') throw new Problem('what the platform keeps has no lifecycle; choose another area');
  const entity = `db/entities/${area}/${noun.kebab}.ts`;
  const isOfCustomer =
    existsSync(join(root, entity)) && readFileSync(join(root, entity), 'utf8').includes('customerId:');
  if (!isOfCustomer)
    throw new Problem(
      `${entity} is not there, or has no customer, by whose clock it lives: npm run new:entity -- ${area} ${noun.kebab} --of-customer`,
    );
  const kinds = 'lifecycles/kinds.ts';
  if (readFileSync(join(root, kinds), 'utf8').includes(`\n  ${tableOf(noun)}: {\n`))
    throw new Problem(`${kinds} describes ${tableOf(noun)} already`);
  const descriptor = filled('descriptor', noun, area).trimEnd();
  return build(request, noun, {
    files: [
      { file: `workflows/${area}/${noun.kebab}.ts`, template: 'workflow' },
      { file: `activities/${area}/${noun.kebab}.ts`, template: 'activities' },
      { file: `services/${area}/${noun.kebab}-life.ts`, template: 'life' },
      { file: `test/integration/${area}/${noun.kebab}-life.test.ts`, template: 'life-test' },
    ],
    entries: [{ file: kinds, add: (source) => beforeLast(source, '} as const satisfies', descriptor) }],
  });
}
