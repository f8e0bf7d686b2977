import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';

/** Import of a source file. */
export interface Import {
  file: string;
  /** A package, or a path of this repository. */
  target: string;
  /** The text of the import: what is imported of a package may lie deeper in it. */
  specifier: string;
  typeOnly: boolean;
}

/** Every file of this repository, also those that are not committed yet. */
export const repositoryFiles = execFileSync('git', ['ls-files', '--cached', '--others', '--exclude-standard'], {
  encoding: 'utf8',
})
  .split('\n')
  .filter(Boolean);

/** The TypeScript among them. */
export const files = repositoryFiles.filter((file) => file.endsWith('.ts'));

/** Their text by path. */
export const sources = new Map(files.map((file) => [file, readFileSync(file, 'utf8')]));

/** Files beside the folders. */
const rootFiles = new Set(files.filter((file) => !file.includes('/')));

/** The first folder of a path. */
export function folderOf(file: string): string {
  return file.split('/')[0] ?? '';
}

/** Every import and re-export of a file, dynamic ones included. */
export function importsOf(file: string): Import[] {
  const source = sources.get(file) ?? '';
  const statements = source.matchAll(/^(?:import|export)\s+(type\s)?(?:[^'";]*?\sfrom\s+)?'([^']+)'/gm);
  const dynamic = source.matchAll(/\bimport\(\s*'([^']+)'/g);
  const found = [
    ...Array.from(statements, ([, type, specifier]) => ({ typeOnly: type !== undefined, specifier: specifier ?? '' })),
    ...Array.from(dynamic, ([, specifier]) => ({ typeOnly: false, specifier: specifier ?? '' })),
  ];
  return found.map(({ typeOnly, specifier }) => ({
    file,
    typeOnly,
    specifier,
    target: specifier.startsWith('.') ? normalize(join(dirname(file), specifier)) : packageOf(specifier),
  }));
}

/** Name of the package a specifier is of: `@temporalio/common/lib/x.js` is of `@temporalio/common`. */
export function packageOf(specifier: string): string {
  if (specifier.startsWith('node:')) return specifier;
  return specifier
    .split('/')
    .slice(0, specifier.startsWith('@') ? 2 : 1)
    .join('/');
}

/** True of a path of this repository, false of a package. */
export function isPath(target: string): boolean {
  return rootFiles.has(target) || (/\.(ts|json|js)$/.test(target) && target.includes('/'));
}
