import { readdirSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import SaxonJS from 'saxon-js';
import { validateXML, type XMLFileInfo } from 'xmllint-wasm';

/** What the published schemas and rules say of a file; see published/README.md. */
const root = join(import.meta.dirname, 'published');
const syntaxes = {
  ubl: { main: 'UBL-Invoice-2.1.xsd', folders: ['ubl/maindoc', 'ubl/common'] },
  'ubl credit note': { main: 'UBL-CreditNote-2.1.xsd', folders: ['ubl/maindoc', 'ubl/common'] },
  cii: { main: 'CrossIndustryInvoice_100pD16B.xsd', folders: ['cii'] },
} as const;
export type Syntax = keyof typeof syntaxes;

const rules = new Map<string, string>();

function rulesOf(set: 'EN16931' | 'XRechnung', syntax: Syntax): string {
  const name = `${set}-${syntax === 'cii' ? 'CII' : 'UBL'}`;
  const known = rules.get(name);
  if (known) return known;
  const packed = readFileSync(join(root, `rules/${name}-validation.sef.json.gz`));
  const made = gunzipSync(packed).toString('utf8');
  rules.set(name, made);
  return made;
}

const finding = /<svrl:failed-assert\b[^>]*?\bid="([^"]+)"[^>]*>\s*<svrl:text>([^<]*)/g;

/** The ids of the rules of EN 16931, and of a profile on top of it, that a file breaks, with what they say. */
export function brokenRules(file: string, syntax: Syntax, profile?: 'xrechnung'): string[] {
  const core = brokenOf(rulesOf('EN16931', syntax), file);
  return profile ? [...core, ...brokenOf(rulesOf('XRechnung', syntax), file)] : core;
}

function brokenOf(stylesheetText: string, file: string): string[] {
  const { principalResult } = SaxonJS.transform({ stylesheetText, sourceText: file, destination: 'serialized' });
  if (!principalResult.includes('svrl:fired-rule')) throw new Error('the rules were not applied');
  return [...principalResult.matchAll(finding)].map(([, id, text]) => `${id}: ${text?.trim()}`);
}

/** What the XML schemas refuse of a file. */
export async function schemaErrors(file: string, syntax: Syntax): Promise<string[]> {
  const { main, folders } = syntaxes[syntax];
  const files = folders.flatMap((folder) =>
    readdirSync(join(root, folder)).map(
      (name): XMLFileInfo => ({ fileName: name, contents: flat(`${folder}/${name}`) }),
    ),
  );
  const result = await validateXML({
    xml: [{ fileName: 'file.xml', contents: file }],
    schema: files.filter(({ fileName }) => fileName === main),
    preload: files.filter(({ fileName }) => fileName !== main),
  });
  return result.errors.map(({ message }) => message);
}

/** The validator has one folder. */
function flat(path: string): string {
  return textOf(path).replaceAll(
    /schemaLocation="([^"]+)"/g,
    (_, target: string) => `schemaLocation="${basename(target)}"`,
  );
}

function textOf(path: string): string {
  return readFileSync(join(root, path), 'utf8');
}
