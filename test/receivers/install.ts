import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { StartupProblem } from '../../dev/processes.ts';
import { cacheDirectory } from '../../dev/temporal-binary.ts';
import { type Language, receiverOf } from './page.ts';

/** Program that starts a receiver. */
export interface Command {
  file: string;
  args: string[];
}

const versions = { python: '1.1.0', go: 'v0.0.1', java: '1.1.0' };

/** Libraries by which the receivers verify: of Standard Webhooks, in each language its own. They are fetched once and kept. */
const installers: Record<Language, (directory: string, source: string) => Command> = {
  js(directory, source) {
    const file = join(directory, 'receiver.mjs');
    writeFileSync(file, source);
    symlinkSync(resolve('node_modules'), join(directory, 'node_modules'));
    return { file: process.execPath, args: [file] };
  },

  python(directory, source) {
    const environment = join(cacheDirectory(), `receiver-python-${versions.python}`);
    const python = join(environment, 'bin', 'python');
    const asked = `standardwebhooks==${versions.python}`;
    const missing = 'the Python receiver needs python3 with venv, and its package index';
    if (!existsSync(join(environment, 'installed'))) {
      run(missing, 'python3', ['-m', 'venv', environment]);
      run(missing, python, ['-m', 'pip', 'install', '--quiet', '--disable-pip-version-check', asked]);
      writeFileSync(join(environment, 'installed'), asked);
    }
    const file = join(directory, 'receiver.py');
    writeFileSync(file, source);
    return { file: python, args: [file] };
  },

  go(directory, source) {
    const missing = 'the Go receiver needs go, and its module proxy';
    writeFileSync(join(directory, 'receiver.go'), source);
    run(missing, 'go', ['mod', 'init', 'receiver'], directory);
    run(missing, 'go', ['get', `github.com/standard-webhooks/standard-webhooks/libraries@${versions.go}`], directory);
    run('the Go receiver does not compile', 'go', ['build', '-o', 'receiver', 'receiver.go'], directory);
    return { file: join(directory, 'receiver'), args: [] };
  },

  java(directory, source) {
    const library = join(cacheDirectory(), `receiver-java-${versions.java}`);
    const jar = join(library, `standardwebhooks-${versions.java}.jar`);
    if (!existsSync(jar)) {
      const artifact = `-Dartifact=com.standardwebhooks:standardwebhooks:${versions.java}`;
      const missing = 'the Java receiver needs mvn, and its repository';
      mkdirSync(library, { recursive: true });
      run(missing, 'mvn', ['--quiet', '--batch-mode', 'dependency:copy', artifact, `-DoutputDirectory=${library}`]);
    }
    const file = join(directory, 'Receiver.java');
    writeFileSync(file, source);
    run('the Java receiver needs javac', 'javac', ['-cp', jar, '-d', directory, file]);
    return { file: 'java', args: ['-cp', `${jar}:${directory}`, 'Receiver'] };
  },
};

/**
 * Writes the receiver of the page into a directory, with the library it verifies by. Throws `StartupProblem`, in a sentence that names what the
 * machine lacks, where that cannot be done.
 */
export function installReceiver(language: Language, directory: string): Command {
  mkdirSync(directory, { recursive: true });
  return installers[language](directory, receiverOf(language));
}

function run(missing: string, file: string, args: readonly string[], cwd?: string): void {
  const { status, error, stdout, stderr } = spawnSync(file, [...args], { encoding: 'utf8', ...(cwd ? { cwd } : {}) });
  if (status === 0) return;
  const said = `${stdout ?? ''}${stderr ?? ''}`.trim().split('\n').at(-1) ?? '';
  throw new StartupProblem(`${missing}: ${error?.message ?? said}`);
}
