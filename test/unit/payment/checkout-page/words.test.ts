import { expect, test } from 'vitest';
import { checkoutWords } from '../../../../integrations/checkout-page/words.ts';

function sentences(words: object, path = ''): [string, string][] {
  return Object.entries(words).flatMap(([name, value]) =>
    typeof value === 'string'
      ? [[path + name, value] as [string, string]]
      : sentences(value as object, `${path}${name}.`),
  );
}

const english = sentences(checkoutWords.en);

test.each(['de', 'ar'] as const)('%s has every text, with the same values in it', (language) => {
  const others = new Map(sentences(checkoutWords[language]));
  expect([...others.keys()]).toEqual(english.map(([path]) => path));
  for (const [path, text] of english) {
    const places = (words: string) => [...words.matchAll(/\{\w+\}/g)].map(String).toSorted();
    expect(places(others.get(path) ?? ''), path).toEqual(places(text));
    expect(others.get(path)?.trim(), path).toBeTruthy();
  }
});

test('no text is left in English but names', () => {
  const same = (language: 'de' | 'ar') => {
    const others = new Map(sentences(checkoutWords[language]));
    return english.filter(([path, text]) => others.get(path) === text).map(([path]) => path);
  };
  expect(same('de')).toEqual(['direction', 'testCard.requires_action']);
  expect(same('ar')).toEqual(['testCard.requires_action']);
});
