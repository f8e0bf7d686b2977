import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { type Noun, named, nounProblem, pluralOf } from './names.ts';

/** Problem that the caller can mend, told without a stack. */
export class Problem extends Error {}

/** Request to a generator. */
export interface Request {
  /** Folder of the repository that is written to. */
  root: string;
  area: string;
  noun: string;
  /** Plural of the noun, where it is not the usual one. */
  plural?: string | undefined;
}

/** A file that is written anew from a template, by its path. */
export interface NewFile {
  file: string;
  template: string;
}

/** A file that has a list, and the text that goes into it. */
export interface Entry {
  file: string;
  add(source: string): string;
}

const templates = join(import.meta.dirname, 'templates');

/** The noun of a request. Throws a problem for one that cannot be, and for an area that there is not. */
export function nounOf({ root, area, noun, plural = pluralOf(noun) }: Request): Noun {
  for (const name of [noun, plural]) {
    const problem = nounProblem(name);
    if (problem) throw new Problem(`${name} ${problem}`);
  }
  const areas = readdirSync(join(root, 'api'), { withFileTypes: true })
    .filter((folder) => folder.isDirectory() && existsSync(join(root, 'services', folder.name)))
    .map(({ name }) => name);
  if (!areas.includes(area)) throw new Problem(`there is no area ${area}; there are ${areas.sort().join(', ')}`);
  return { kebab: noun, plural };
}

/** Choices within templates. */
interface Filling {
  /** Traits of the noun: lines that end with `//= trait` stay only where it has that one. */
  traits?: readonly string[];
  /** Further words of templates, and the texts they become. */
  words?: Readonly<Record<string, string>>;
}

/**
 * Writes new files and entries of lists, has them formatted, and returns their paths. Throws a problem, with nothing written, where a file
 * is there already or a list is not where it was.
 */
export function build(
  { root, area }: Request,
  noun: Noun,
  work: { files: readonly NewFile[]; entries: readonly Entry[] } & Filling,
): string[] {
  const there = work.files.find(({ file }) => existsSync(join(root, file)));
  if (there) throw new Problem(`${there.file} is there already; choose another noun, or change that one`);
  const added = work.entries.map(({ file, add }) => ({ file, text: add(readFileSync(join(root, file), 'utf8')) }));
  const made = work.files.map(({ file, template }) => ({ file, text: filled(template, noun, area, work) }));
  for (const { file, text } of [...added, ...made]) {
    mkdirSync(dirname(join(root, file)), { recursive: true });
    writeFileSync(join(root, file), text);
  }
  const paths = [...made, ...added].map(({ file }) => file);
  format(root, paths);
  return paths;
}

/** Text of a template with a noun, its area and what else was chosen. */
export function filled(template: string, noun: Noun, area: string, { traits = [], words = {} }: Filling = {}): string {
  const lines = readFileSync(join(templates, `${template}.txt`), 'utf8').split('\n');
  const kept = lines.flatMap((line) => {
    const [, text = line, trait] = /^(.*?) *\/\/= (\w+)$/.exec(line) ?? [];
    return trait === undefined || traits.includes(trait) ? [text] : [];
  });
  const chosen = Object.entries(words).reduce((text, [word, made]) => text.replaceAll(word, made), kept.join('\n'));
  return named(chosen, noun, area);
}

/** Puts a line before the first line behind `after` that comes later in the alphabet, or at the end of that list. */
export function intoList(source: string, after: string, line: string): string {
  const lines = source.split('\n');
  const begin = lines.indexOf(after);
  if (begin < 0) throw new Problem(`the list ${after} is not where it was; add ${line.trim()} by hand`);
  let place = begin + 1;
  while (/^ +'?\w+'?,$/.test(lines[place] ?? '') && (lines[place] ?? '') < line) place += 1;
  lines.splice(place, 0, line);
  return lines.join('\n');
}

/** Puts lines before the last line that is `end`. */
export function beforeLast(source: string, end: string, added: string): string {
  const place = source.lastIndexOf(`\n${end}`);
  if (place < 0) throw new Problem(`the end of a list, ${end}, is not where it was; add by hand:\n${added}`);
  return `${source.slice(0, place)}\n${added}${source.slice(place)}`;
}

/** Sorts imports and breaks lines as the linter wants them. */
function format(root: string, paths: readonly string[]): void {
  const biome = join(root, 'node_modules/.bin/biome');
  execFileSync(process.execPath, [biome, 'check', '--write', ...paths], { cwd: root, stdio: 'pipe' });
}
