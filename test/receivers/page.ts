import { readFileSync } from 'node:fs';

/** Languages of the receivers in docs/webhooks.md, as their blocks are marked there. */
export const languages = ['js', 'python', 'go', 'java'] as const;
export type Language = (typeof languages)[number];

/** Source of a receiver as it stands on the page. Throws unless the page has one of that language. */
export function receiverOf(language: Language): string {
  const page = readFileSync('docs/webhooks.md', 'utf8');
  const blocks = [...page.matchAll(/^```(\w+)\n(.*?)^```$/gms)].filter(([, marked]) => marked === language);
  const [source] = blocks.map(([, , text]) => text);
  if (blocks.length !== 1 || source === undefined) {
    throw new Error(`docs/webhooks.md has ${blocks.length} receivers in ${language} where one is expected`);
  }
  return source;
}
