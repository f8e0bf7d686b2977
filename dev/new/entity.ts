import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { beforeLast, build, intoList, nounOf, type Request } from './house.ts';
import { classOf, tableOf } from './names.ts';

/** Number of the next migration of a day, `20261128_31`; the first of a day is 10. */
function nextNumber(root: string, today: string): string {
  const day = today.replaceAll('-', '');
  const numbers = readdirSync(join(root, 'db/migrations')).flatMap((file) => {
    const [, date, number] = /^(\d{8})_(\d\d)_/.exec(file) ?? [];
    return date === day ? [Number(number)] : [];
  });
  return `${day}_${Math.max(9, ...numbers) + 1}`;
}

/**
 * Writes a table: its entity, its migration, and both in their lists. With `ofCustomer` each row has a customer. `today` is the day of
 * the migration, `2026-11-28`. Returns the paths of what was written.
 */
export function newEntity(request: Request & { today: string; ofCustomer?: boolean | undefined }): string[] {
  const noun = nounOf(request);
  const { root, area, today, ofCustomer = false } = request;
  const [name, table] = [classOf(noun), tableOf(noun)];
  const migration = `${nextNumber(root, today)}_${table}`;
  const entityImport = `import { ${name} } from './${area}/${noun.kebab}.ts';\n`;
  const migrationImport = `import { Migration${migration} } from './${migration}.ts';\n`;
  const listed = `  { name: '${migration}', class: Migration${migration} },`;
  const references = {
    file: 'db/check/reference-rules.ts',
    add: (source: string) => intoList(source, 'const ofCustomer = [', `  '${table}',`),
  };
  return build(request, noun, {
    files: [
      { file: `db/entities/${area}/${noun.kebab}.ts`, template: 'entity' },
      { file: `db/migrations/${migration}.ts`, template: 'migration' },
    ],
    entries: [
      {
        file: 'db/entities/all.ts',
        add: (source) => intoList(entityImport + source, 'export const entities = [', `  ${name},`),
      },
      { file: 'db/migrations/all.ts', add: (source) => beforeLast(migrationImport + source, '];', listed) },
      ...(ofCustomer ? [references] : []),
    ],
    traits: ofCustomer ? ['customer'] : [],
    words: { 'sample-migration': migration },
  });
}
