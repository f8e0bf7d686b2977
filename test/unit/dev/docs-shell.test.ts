import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';

/** Shell blocks of README and docs, which people paste into bash and into zsh. */

const root = new URL('../../../', import.meta.url);
const pages = ['README.md', 'CONTRIBUTING.md', ...readdirSync(new URL('docs/', root)).map((name) => `docs/${name}`)]
  .filter((name) => name.endsWith('.md'))
  .map((name) => ({ name, text: readFileSync(new URL(name, root), 'utf8') }));
const banner = { name: 'npm start', text: readFileSync(new URL('dev/start.ts', root), 'utf8') };
const blocksOf = (text: string) => [...text.matchAll(/```sh\n(.*?)```/gs)].map(([, block]) => block ?? '');
/** A block without what stands in quotes. */
const bare = (block: string) => block.replace(/'[^']*'|"(?:\\.|[^"\\])*"/g, 'quoted');

describe.each(pages.filter(({ text }) => blocksOf(text).length > 0))('$name', ({ text }) => {
  it('has no comments in what is pasted, which zsh takes for arguments', () => {
    for (const block of blocksOf(text)) expect(bare(block)).not.toMatch(/(?:^|\s)#/m);
  });

  it('quotes what zsh would take for a pattern of file names', () => {
    for (const block of blocksOf(text)) expect(bare(block)).not.toMatch(/https?:\S*[?&]|\s\/\S*[?*[&]/);
  });
});

it('no two pages create objects of one name, so that they can be followed one after the other', () => {
  const names = [...pages, banner].flatMap(({ name, text }) => {
    const blocks = name === banner.name ? [text] : blocksOf(text);
    const created = blocks.flatMap((block) => [
      ...block.matchAll(
        /POST \/(customers|plans|features|addons|costs) '\{.*?"(?:external_id|lookup_key)": ?"([^"]+)"/g,
      ),
      ...block.matchAll(/\/v1\/(customers).*\n?.*-d '\{"external_id":"([^"]+)"/g),
    ]);
    return [...new Set(created.map(([, noun, key]) => `${noun} ${key}`))].map((key) => ({ key, name }));
  });
  expect(names.length).toBeGreaterThan(4);
  expect(names.find(({ name }) => name === banner.name)).toEqual({ key: 'customers first', name: banner.name });
  const byKey = Object.entries(Object.groupBy(names, ({ key }) => key));
  expect(byKey.filter(([, group]) => (group?.length ?? 0) > 1)).toEqual([]);
});

it('programs are started by npm, which brings its own Node', () => {
  for (const { name, text } of pages.filter((page) => page.name !== 'docs/operations.md'))
    expect(text.replaceAll(/docker compose run .*/g, ''), name).not.toMatch(/\bnode (?:api|activities|db)\/[\w-]+\.ts/);
});
