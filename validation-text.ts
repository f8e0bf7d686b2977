import { z } from 'zod';

/*
 * Texts about values that a schema does not accept, in the words of docs/api.md: "must …", "is required". A schema that knows more
 * says it itself (`z.enum([...], 'must be …')`). Set once for the process, so that no text of the library reaches an answer.
 */

const types: Record<string, string> = {
  string: 'a string',
  number: 'a number',
  int: 'a whole number',
  boolean: 'true or false',
  array: 'an array',
  tuple: 'an array',
  object: 'an object',
  record: 'an object',
  null: 'null',
};
const formats: Record<string, string> = {
  email: 'a mail address',
  url: 'an address, such as https://example.com',
  datetime: 'an instant with its zone, such as 2026-01-31T00:00:00Z',
  date: 'a date, such as 2026-01-31',
  time: 'a time, such as 13:30',
  ipv4: 'an IPv4 address',
  ipv6: 'an IPv6 address',
  uuid: 'a UUID',
};

/** Reason why a value is refused, to be read behind the name of its field. */
export function validationText(issue: z.core.$ZodRawIssue): string {
  switch (issue.code) {
    case 'invalid_type':
      if (issue.input === undefined) return 'is required';
      if (issue.expected === 'never') return 'must be left out';
      return `must be ${types[issue.expected] ?? 'of another type'}`;
    case 'invalid_value':
      return issue.input === undefined ? 'is required' : `must be ${listed(issue.values.map(String))}`;
    case 'too_small':
      return tooSmall(issue);
    case 'too_big':
      return tooBig(issue);
    case 'invalid_format':
      return `must ${formatRule(issue)}`;
    case 'not_multiple_of':
      return `must be a multiple of ${issue.divisor}`;
    case 'unrecognized_keys':
      return `has members that are not known: ${issue.keys.join(', ')}`;
    case 'invalid_key':
      return 'has a name that is not accepted';
    case 'invalid_union':
      return issue.input === undefined ? 'is required' : unionText(issue.errors);
    default:
      return 'is not accepted';
  }
}

const units: Record<string, string> = { string: 'character', array: 'element', set: 'element', map: 'entry' };

function sized(count: number | bigint, origin: string): string | null {
  const unit = units[origin];
  if (!unit) return null;
  if (Number(count) === 1) return `1 ${unit}`;
  return `${count} ${unit === 'entry' ? 'entries' : `${unit}s`}`;
}

type Bounded<Code extends 'too_small' | 'too_big'> = Extract<z.core.$ZodRawIssue, { code: Code }>;

function tooSmall({ minimum, origin, inclusive, exact }: Bounded<'too_small'>): string {
  const size = sized(minimum, origin);
  if (!size) return inclusive === false ? `must be greater than ${minimum}` : `must be ${minimum} or more`;
  if (exact) return `must have exactly ${size}`;
  return Number(minimum) === 1 ? 'must not be empty' : `must have at least ${size}`;
}

function tooBig({ maximum, origin, inclusive, exact }: Bounded<'too_big'>): string {
  const size = sized(maximum, origin);
  if (!size) return inclusive === false ? `must be less than ${maximum}` : `must be ${maximum} or less`;
  return exact ? `must have exactly ${size}` : `must have ${size} at most`;
}

function formatRule(issue: Extract<z.core.$ZodRawIssue, { code: 'invalid_format' }>): string {
  const { format, prefix, suffix, includes, pattern } = issue as unknown as Record<string, string>;
  if (format === 'starts_with') return `begin with ${prefix}`;
  if (format === 'ends_with') return `end with ${suffix}`;
  if (format === 'includes') return `contain ${includes}`;
  const known = formats[format ?? ''];
  return known ? `be ${known}` : `match the pattern ${pattern}`;
}

/** Every type of alternatives that differ in their type alone. */
function unionText(branches: readonly (readonly z.core.$ZodIssue[])[]): string {
  const first = branches.flatMap((branch) => branch.slice(0, 1));
  const wanted = first.map(({ message, path }) =>
    path.length === 0 ? /^must be (.+)$/.exec(message)?.[1] : undefined,
  );
  const known = [...new Set(wanted.filter((each) => each !== undefined))];
  return known.length > 0 && known.length <= 4 && wanted.every((each) => each !== undefined)
    ? `must be ${listed(known)}`
    : 'has a form that is not accepted';
}

/** `a, b or c`; texts that are empty are named so. */
function listed(texts: readonly string[]): string {
  const named = texts.map((text) => (text === '' ? 'empty' : text));
  return named.length < 2 ? named.join('') : `${named.slice(0, -1).join(', ')} or ${named.at(-1)}`;
}

z.config({ localeError: validationText });
