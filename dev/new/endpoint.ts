import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { groups } from '../../api/plugins/reference-groups.ts';
import { entities as permitted } from '../../services/platform/roles.ts';
import { build, nounOf, Problem, type Request } from './house.ts';
import { classOf } from './names.ts';

/**
 * Writes operations that create and read what `newEntity` made a table for: their shapes, routes, services and test, and has the API
 * register them. `permission` and `tag` are ones there are. Returns the paths of what was written.
 */
export function newEndpoint(request: Request & { permission: string; tag: string }): string[] {
  const noun = nounOf(request);
  const { root, area, permission, tag } = request;
  const entity = `db/entities/${area}/${noun.kebab}.ts`;
  if (!existsSync(join(root, entity)))
    throw new Problem(`${entity} is not there; make it first: npm run new:entity -- ${area} ${noun.kebab}`);
  mustBeOf('permission', permission, permitted);
  mustBeOf(
    'tag',
    tag,
    groups.map(({ name }) => name),
  );
  const ofCustomer = readFileSync(join(root, entity), 'utf8').includes('customerId:');
  const routes = `${classOf(noun).charAt(0).toLowerCase()}${classOf(noun).slice(1)}Routes`;
  const routesImport = `import { ${routes} } from './${area}/${noun.kebab}.route.ts';\n`;
  return build(request, noun, {
    files: [
      { file: `api/${area}/${noun.kebab}.route.ts`, template: 'route' },
      { file: `api/${area}/${noun.kebab}.schema.ts`, template: 'schema' },
      { file: `services/${area}/${noun.kebab}.ts`, template: 'service' },
      { file: `test/integration/${area}/${noun.kebab}.test.ts`, template: 'endpoint-test' },
    ],
    entries: [{ file: 'api/app.ts', add: (source) => intoResources(routesImport + source, `  ${routes},`) }],
    traits: ofCustomer ? ['customer'] : ['general'],
    words: { 'sample-permission': permission, 'Sample tag': tag },
  });
}

const begin = 'const resources = [\n';

function intoResources(source: string, line: string): string {
  const [before, list] = source.split(begin);
  if (list === undefined) throw new Problem(`api/app.ts has no list of resources; add ${line.trim()} by hand`);
  const end = list.indexOf('];');
  return `${before}${begin}${list.slice(0, end)}${line}\n${list.slice(end)}`;
}

function mustBeOf(what: string, value: string, all: readonly string[]): void {
  if (!all.includes(value)) throw new Problem(`there is no ${what} ${value}; there are ${all.join(', ')}`);
}
