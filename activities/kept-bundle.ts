import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync, renameSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const packages = fileURLToPath(new URL('../node_modules', import.meta.url));
const keptBundles = join(packages, '.cache/workflows');
/** Files that every bundle depends on beside its sources: the list of installed packages, and the bundler. */
const ofEveryBundle = [
  join(packages, '.package-lock.json'),
  fileURLToPath(new URL('./workflow-bundler.ts', import.meta.url)),
];

interface KeptBundle {
  /** Digest of each file the bundle was made of, by its path. */
  sources: Record<string, string>;
  code: string;
}

/** The bundle that was kept for this entry; null when there is none, or when a file it was made of has changed since. */
export function keptBundle(entry: string, folder = keptBundles): string | null {
  try {
    const { sources, code } = JSON.parse(readFileSync(fileOf(entry, folder), 'utf8')) as KeptBundle;
    return Object.entries(sources).every(([file, digest]) => digestOf(file) === digest) ? code : null;
  } catch {
    // No bundle was kept yet, or a source of it is gone.
    return null;
  }
}

/**
 * Keeps a bundle, so that the next start of a worker need not make it. `sources` are the files it was made of, without those of packages;
 * `beganMs` is when the bundler began. A bundle is not kept when a source has changed since then, or when its folder cannot be written.
 */
export function keepBundle(
  entry: string,
  made: { sources: readonly string[]; code: string; beganMs: number },
  folder = keptBundles,
): void {
  const { code, beganMs } = made;
  const files = [...ofEveryBundle, ...made.sources];
  try {
    if (files.some((file) => statSync(file).mtimeMs >= beganMs)) return;
    const sources = Object.fromEntries(files.map((file) => [file, digestOf(file)]));
    const file = fileOf(entry, folder);
    const part = `${file}.${process.pid}`;
    mkdirSync(folder, { recursive: true });
    writeFileSync(part, JSON.stringify({ sources, code } satisfies KeptBundle));
    // Another process may keep the same bundle at this moment.
    renameSync(part, file);
  } catch {
    // The packages of an image, for example, can only be read.
  }
}

function fileOf(entry: string, folder: string): string {
  return join(folder, `${sha256(`${process.version} ${entry}`)}.json`);
}

function digestOf(file: string): string {
  return sha256(readFileSync(file));
}

function sha256(content: string | Buffer): string {
  return createHash('sha256').update(content).digest('hex');
}
