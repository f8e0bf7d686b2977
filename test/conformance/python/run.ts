import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';

/*
 * `npm run conformance:python`: the conversation of `npm run conformance`, spoken by the published Python client, which pip
 * installs into a cache directory. The environment has `decimal_format: string`, as docs/clients.md advises.
 */

const versions = ['2.1.1', 'newest'];
const cache = process.env.XDG_CACHE_HOME ?? join(homedir(), '.cache');

function installed(version: string): string {
  const directory = join(cache, 'perennial', `python-client-${version}`);
  const python = join(directory, 'bin', 'python');
  if (!existsSync(python)) execFileSync('python3', ['-m', 'venv', directory], { stdio: 'inherit' });
  const wanted = version === 'newest' ? ['--upgrade', 'flexprice'] : [`flexprice==${version}`];
  const pip = ['-m', 'pip', 'install', '--quiet', '--disable-pip-version-check', ...wanted];
  execFileSync(python, pip, { stdio: 'inherit' });
  return python;
}

let failed = false;
for (const version of versions) {
  const python = installed(version);
  const said = execFileSync(python, ['-m', 'pip', 'show', 'flexprice'], { encoding: 'utf8' });
  console.log(`\nPython client ${/^Version: (.+)$/m.exec(said)?.[1] ?? version}`);
  const run = ['run', '--silent', 'conformance'];
  const env = { ...process.env, CONFORMANCE_PYTHON: python };
  const { status } = spawnSync('npm', run, { stdio: 'inherit', env });
  failed ||= status !== 0;
}
process.exitCode = failed ? 1 : 0;
