/** A noun in the forms that files, code, tables and people give it. */
export interface Noun {
  /** `usage-report`, as files and paths have it. */
  kebab: string;
  /** The same of several: `usage-reports`. */
  plural: string;
}

/** Words of SQL that no table may be called without quotes. */
const wordsOfSql = new Set(
  'all and any array as asc both case cast check collate column constraint create default desc distinct do else end except false fetch for foreign from grant group having in initially intersect into lateral leading limit localtime not null offset on only or order placing primary references returning select some symmetric table then to trailing true union unique user using variadic when where window with'.split(
    ' ',
  ),
);

const longestNoun = 27;

/** Words in lower case, with one hyphen between two. */
const nounPattern = /^[a-z][a-z0-9]*(-[a-z0-9]+)*$/;

/** Fault of a noun as an argument; null without one. */
export function nounProblem(noun: string): string | null {
  if (!nounPattern.test(noun)) return 'must be words in lower case with hyphens between them, such as usage-report';
  if (noun.length > longestNoun) return `is longer than ${longestNoun} characters, with which names of indexes fit`;
  if (wordsOfSql.has(noun)) return `is a word of SQL; choose two words, such as usage-${noun}`;
  return null;
}

/** The usual plural of an English noun. */
export function pluralOf(noun: string): string {
  if (/[^aeiou]y$/.test(noun)) return noun.replace(/y$/, 'ies');
  return /(s|x|z|ch|sh)$/.test(noun) ? `${noun}es` : `${noun}s`;
}

const camel = (kebab: string) => kebab.replace(/-(.)/g, (_, letter: string) => letter.toUpperCase());
const capital = (text: string) => text.charAt(0).toUpperCase() + text.slice(1);

/** Forms of a noun in the order in which a template is searched for them, each with the form that stands there. */
function formsOf(kebab: string): string[] {
  const words = kebab.replaceAll('-', ' ');
  return [kebab, kebab.replaceAll('-', '_'), camel(kebab), capital(camel(kebab)), words, capital(words)];
}

const sample = { kebab: 'sample-thing', plural: 'sample-things' };

/** The text of a template with `sample thing`, in any of its forms, made `noun`, and `sample-room` made `area`. */
export function named(template: string, noun: Noun, area: string): string {
  const article = /^([aeio]|u(?!s|ni))/.test(noun.kebab) ? 'an' : 'a';
  const articled = template.replace(/\b([Aa]) (?=sample thing\b)/g, (_, letter: string) =>
    letter === 'A' ? `${capital(article)} ` : `${article} `,
  );
  const forms = [
    ...formsOf(sample.plural).map((form, index) => [form, formsOf(noun.plural)[index]] as const),
    ...formsOf(sample.kebab).map((form, index) => [form, formsOf(noun.kebab)[index]] as const),
  ];
  return [...forms, ['sample-room', area] as const].reduce(
    (text, [form, made = '']) => text.replaceAll(form, made),
    articled,
  );
}

/** The name of a noun's class, as `UsageReport`. */
export function classOf(noun: Noun): string {
  return capital(camel(noun.kebab));
}

/** The name of a noun's table, as `usage_report`. */
export function tableOf(noun: Noun): string {
  return noun.kebab.replaceAll('-', '_');
}
