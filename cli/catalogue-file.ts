import { readFileSync, writeFileSync } from 'node:fs';
import { type Document, isScalar, LineCounter, parseDocument, stringify, visit } from 'yaml';

/** A catalogue file: what it says, and where in the text each part of it stands. */
export interface CatalogueFile {
  catalogue: unknown;
  /** The line of `catalogue.plans[0].prices[1].amount`, or of the nearest part around it that is there. */
  lineOf(path: string): number;
}

/** A file that is no YAML, with every place that is wrong. */
export class BrokenFile extends Error {
  readonly problems: { line: number; problem: string }[];
  constructor(problems: { line: number; problem: string }[]) {
    super('the file is not valid YAML');
    this.problems = problems;
  }
}

// More digits than a float holds: the decimal is sent as it is written.
const maxFloatDigits = 15;

/** Reads a catalogue file. Throws `BrokenFile` for what is no YAML, and what the file system says. */
export function readCatalogueFile(file: string): CatalogueFile {
  const lines = new LineCounter();
  const document = parseDocument(readFileSync(file, 'utf8'), { lineCounter: lines });
  if (document.errors.length > 0) {
    throw new BrokenFile(
      document.errors.map(({ message, pos }) => ({
        line: lines.linePos(pos[0]).line,
        problem: message.split('\n')[0] ?? '',
      })),
    );
  }
  visit(document, {
    Scalar(_key, node) {
      const digits = node.source?.replace(/\D/g, '') ?? '';
      if (typeof node.value === 'number' && digits.length > maxFloatDigits) node.value = node.source;
    },
  });
  return { catalogue: document.toJS() ?? {}, lineOf: (path) => lineOf(document, lines, path) };
}

/** Writes what was pulled; the same catalogue always gives the same text. */
export function catalogueText(catalogue: unknown): string {
  const sections = Object.entries(catalogue as Record<string, unknown[]>).filter(([, entries]) => entries.length > 0);
  return stringify(Object.fromEntries(sections), { lineWidth: 120, aliasDuplicateObjects: false });
}

export function writeCatalogueFile(file: string, text: string): void {
  writeFileSync(file, text);
}

function lineOf(document: Document, lines: LineCounter, path: string): number {
  const steps = [...path.replace(/^catalogue/, '').matchAll(/\.([^.[]+)|\[(\d+)\]/g)].map(([, member, index]) =>
    member === undefined ? Number(index) : member,
  );
  for (let length = steps.length; length > 0; length -= 1) {
    const node = document.getIn(steps.slice(0, length), true) as { range?: [number, number, number] } | undefined;
    if (node?.range && (isScalar(node) || length > 0)) return lines.linePos(node.range[0]).line;
  }
  return 1;
}
