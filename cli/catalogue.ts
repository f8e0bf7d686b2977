import { Command } from 'commander';
import { type Change, diffText } from './catalogue-diff.ts';
import {
  BrokenFile,
  type CatalogueFile,
  catalogueText,
  readCatalogueFile,
  writeCatalogueFile,
} from './catalogue-file.ts';
import { type Connection, connected, Problem, send } from './connection.ts';

interface PushFlags extends Connection {
  prune?: boolean;
  effectiveFrom?: string;
  color?: boolean;
  exitCode?: boolean;
}

/** `perennial catalogue pull|diff|push`. See docs/catalogue-as-code.md. */
export function catalogueCommand(): Command {
  const catalogue = new Command('catalogue').description('the catalogue of an environment as a YAML file');
  connected(catalogue.command('pull'))
    .description('write the catalogue to a file, or print it')
    .argument('[file]')
    .action(async (file: string | undefined, flags: Connection) => {
      const text = catalogueText(await request(flags, 'GET', '/catalogue'));
      if (file === undefined) process.stdout.write(text);
      else writeCatalogueFile(file, text);
    });
  pushing(catalogue.command('diff'))
    .description('show what a push would do; nothing is written')
    .option('--exit-code', 'end with 2 when there are differences')
    .action(async (file: string, flags: PushFlags) => {
      const changes = await push(file, flags, true);
      console.log(diffText(changes, isColored(flags)));
      if (flags.exitCode && changes.some(({ action }) => action !== 'keep')) process.exitCode = 2;
    });
  pushing(catalogue.command('push'))
    .description('bring the environment to what the file says, in one transaction')
    .action(async (file: string, flags: PushFlags) => {
      console.log(diffText(await push(file, flags, false), isColored(flags)));
    });
  return catalogue;
}

function pushing(command: Command): Command {
  return connected(command)
    .argument('<file>')
    .option('--prune', 'archive or end what the file does not name')
    .option('--effective-from <instant>', 'when new prices begin and those they replace end; now by default')
    .option('--color', 'colour the differences, also where it is no terminal')
    .option('--no-color', 'do not colour the differences');
}

function isColored({ color }: PushFlags): boolean {
  return color ?? (process.stdout.isTTY && !process.env.NO_COLOR);
}

async function push(path: string, flags: PushFlags, isDry: boolean): Promise<Change[]> {
  const file = read(path);
  const body = {
    catalogue: file.catalogue,
    dry_run: isDry,
    prune: flags.prune ?? false,
    ...(flags.effectiveFrom === undefined ? {} : { effective_from: flags.effectiveFrom }),
  };
  const { changes } = await request<{ changes: Change[] }>(flags, 'POST', '/catalogue/push', body, (fields) =>
    problemsText(
      path,
      Object.entries(fields).map(([field, problem]) => ({ line: file.lineOf(field), field, problem })),
    ),
  );
  return changes;
}

function read(path: string): CatalogueFile {
  try {
    return readCatalogueFile(path);
  } catch (error) {
    if (error instanceof BrokenFile) throw new Problem(problemsText(path, error.problems));
    throw new Problem(`${path} cannot be read: ${(error as Error).message}`);
  }
}

function problemsText(path: string, problems: readonly { line: number; field?: string; problem: string }[]): string {
  const lines = [...problems]
    .sort((a, b) => a.line - b.line)
    .map(
      ({ line, field, problem }) =>
        `${path}:${line}: ${field ? `${field.replace(/^catalogue\.?/, '')} ` : ''}${problem}`,
    );
  return [...lines, `${lines.length === 1 ? 'A problem' : `${lines.length} problems`}; nothing was written.`].join(
    '\n',
  );
}

interface Refusal {
  message: string;
  details?: { fields?: Record<string, string> };
}

async function request<Body>(
  connection: Connection,
  method: 'GET' | 'POST',
  path: string,
  body?: unknown,
  explain?: (fields: Record<string, string>) => string,
): Promise<Body> {
  const content =
    body === undefined ? {} : { headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) };
  const response = await send(connection, path, { method, ...content });
  const answer = (await response.json().catch(() => ({ message: response.statusText }))) as Body & Refusal;
  if (response.ok) return answer;
  const fields = answer.details?.fields;
  throw new Problem(fields && explain ? explain(fields) : `The API answers ${response.status}: ${answer.message}`);
}
