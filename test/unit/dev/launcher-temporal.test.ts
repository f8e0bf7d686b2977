import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { temporalCli } from '../../../dev/temporal-binary.ts';

let directory: string;
let env: NodeJS.ProcessEnv;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'launcher-temporal-'));
  env = { PATH: join(directory, 'bin'), XDG_CACHE_HOME: join(directory, 'cache'), PERENNIAL_OFFLINE: '1' };
});
afterEach(() => rmSync(directory, { recursive: true, force: true }));

const silent = () => {};

function makeProgram(...path: string[]): string {
  const file = join(directory, ...path);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, '#!/bin/sh\n');
  chmodSync(file, 0o755);
  return file;
}

test('TEMPORAL_CLI wins over the PATH, and the PATH over the cache', async () => {
  const cached = makeProgram('cache/perennial/temporal-v1.5.1/temporal');
  expect(await temporalCli(silent, env)).toBe(cached);
  const onPath = makeProgram('bin/temporal');
  expect(await temporalCli(silent, env)).toBe(onPath);
  const named = makeProgram('named');
  expect(await temporalCli(silent, { ...env, TEMPORAL_CLI: named })).toBe(named);
});

test('a TEMPORAL_CLI that is no program is said so', async () => {
  await expect(temporalCli(silent, { ...env, TEMPORAL_CLI: '/no/such/file' })).rejects.toThrow(
    'TEMPORAL_CLI names /no/such/file, which is no executable file: correct it or unset it.',
  );
});

test('a half-written file in the cache is not taken for the program', async () => {
  const cached = makeProgram('cache/perennial/temporal-v1.5.1/temporal');
  chmodSync(cached, 0o644);
  makeGo('exit 1');
  await expect(temporalCli(silent, env)).rejects.toThrow('No Temporal server was found');
});

test('the last resort is a build with Go into the cache', async () => {
  makeGo('printf "#!/bin/sh\\n" > "$GOBIN/temporal"; chmod +x "$GOBIN/temporal"; echo some/package >&2');
  const said: string[] = [];
  expect(await temporalCli((line) => said.push(line), env)).toBe(
    join(directory, 'cache/perennial/temporal-v1.5.1/temporal'),
  );
  expect(said.join('\n')).toContain('building github.com/temporalio/cli/cmd/temporal@v1.5.1 with Go, once');
});

test('when nothing helps, one sentence says what to do', async () => {
  makeGo('echo "proxy unreachable" >&2; exit 1');
  await expect(temporalCli(silent, env)).rejects.toThrow(
    /^No Temporal server was found: install the Temporal CLI 1\.5\.1 .* or set TEMPORAL_ADDRESS to a running server\.$/,
  );
});

/** A `go` on the PATH that does what a script says, so that no test builds for minutes. */
function makeGo(script: string): void {
  writeFileSync(makeProgram('bin/go'), `#!/bin/sh\nPATH=/usr/bin:/bin\n${script}\n`);
}
