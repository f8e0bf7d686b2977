import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync, renameSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const packages = fileURLToPath(new URL('../node_modules', import.meta.url));
const keptBundles = join(packages, '.cache/workflows');
/** Files that every bundle depends on beside its sources: the installed packages, and how they are put together. */
const ofEveryBundle = [
  join(packages, '.package-lock.json'),
  fileURLToPath(new URL('./workflow-bundler.ts', import.meta.url)),
];

interface KeptBundle {
  /** Digest of each file the bundle was made of, by its path. */
  sources: Record<string, string>;
  code: string;
}

/** The bundle of this entry that was kept, when each file it was made of is still what it was; null otherwise. */
export function keptBundle(entry: string, folder = keptBundles): string | null {
  try {
    const { sources, code } = JSON.parse(readFileSync(fileOf(entry, folder), 'utf8')) as KeptBundle;
    return Object.entries(sources).every(([file, digest]) => digestOf(file) === digest) ? code : null;
  } catch {
    // There is none yet, or one of its sources is gone.
    return null;
  }
}

/**
 * Keeps a bundle for the next start of a worker, which takes seconds less for it. `sources` are the files outside of packages that it was
 * made of since `beganMs`. Where nothing can be written nothing is kept, nor where a source was changed meanwhile.
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
    // A folder of packages that is read only, as in an image.
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
