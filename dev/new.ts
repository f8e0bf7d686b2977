import { join } from 'node:path';
import { Command } from 'commander';
import { newEndpoint } from './new/endpoint.ts';
import { newEntity } from './new/entity.ts';
import { Problem } from './new/house.ts';
import { newWorkflow } from './new/workflow.ts';

const root = join(import.meta.dirname, '..');

interface Flags {
  plural?: string;
}

/** `npm run new:entity`, `new:endpoint` and `new:workflow`: write what CONTRIBUTING.md asks for from templates. */
function program(): Command {
  const all = new Command('new');
  generator(all, 'entity', 'a table: entity, migration, and both in their lists')
    .option('--of-customer', 'each row has a customer')
    .action((area: string, noun: string, flags: Flags & { ofCustomer?: boolean }) => {
      const today = new Date().toISOString().slice(0, 10);
      tell(newEntity({ root, area, noun, today, ...flags }), [
        'fit the columns in the entity and the migration; both have to say the same',
        'npm run test:integration -- test/integration/platform/schema.test.ts',
      ]);
    });
  generator(
    all,
    'endpoint',
    'operations that create and read a row of a table: shapes, routes, services and their test',
  )
    .requiredOption('--permission <name>', 'permission that the operations ask for, as plan')
    .requiredOption('--tag <name>', 'group of operations in the reference, as Plans')
    .action((area: string, noun: string, flags: Flags & { permission: string; tag: string }) => {
      tell(newEndpoint({ root, area, noun, ...flags }), [
        'say what it is for: description of the operations, texts of the members',
        `examples: RECORD_EXAMPLES=/tmp/examples npm run test:integration -- test/integration/${area}/${noun}.test.ts`,
        'npm run examples -- /tmp/examples && npm run openapi',
      ]);
    });
  generator(all, 'workflow', 'a lifecycle: descriptor, workflow, activities, services and their test').action(
    (area: string, noun: string, flags: Flags) => {
      tell(newWorkflow({ root, area, noun, ...flags }), [
        'put what really happens in the place of being archived',
        'npm run openapi',
        `npm run test:unit -- test/unit/lifecycle/kinds.test.ts`,
        `npm run test:integration -- test/integration/${area}/${noun}-life.test.ts`,
        'write a scenario in test/replay/scenarios.ts and record it: node test/replay/record.ts <scenario>',
        'have a wave of test/faults take its step, so that it is killed at its crash point',
      ]);
    },
  );
  return all;
}

function generator(all: Command, name: string, description: string): Command {
  return all
    .command(name)
    .description(description)
    .argument('<area>', 'room of the house, as catalogue')
    .argument('<noun>', 'words in lower case with hyphens, as usage-report')
    .option('--plural <nouns>', 'where it is not the usual one');
}

function tell(paths: readonly string[], next: readonly string[]): void {
  console.log([...paths, '', 'Next:', ...next.map((step) => `- ${step}`)].join('\n'));
}

try {
  program().parse();
} catch (error) {
  if (!(error instanceof Problem)) throw error;
  console.error(error.message);
  process.exitCode = 1;
}
