import type { FastifySchemaValidationError } from 'fastify';
import { unknownMember } from './known-members.ts';
import '../validation-text.ts';

/** One failing field: its wire path (`line_items[0].quantity`) and the reason. spec: platform §2.3 */
interface FieldFailure {
  field: string;
  reason: string;
}

const elementsNamed = 20;

/**
 * The human sentence about the first field that fails; where elements of a list do, about the first of each of them. Members
 * that nobody knows are all named, before the first that fails: a misspelled name is why another is missing.
 */
export function firstFailure(issues: readonly FastifySchemaValidationError[]): string {
  const unknown = issues.filter(({ keyword }) => keyword === unknownMember).map(fieldFailure);
  const failures = issues.filter(({ keyword }) => keyword !== unknownMember).map(fieldFailure);
  const more = unknown.length > elementsNamed ? [`and ${unknown.length - elementsNamed} more`] : [];
  const named = [...unknown.slice(0, elementsNamed).map(sentenceAbout), ...more];
  return (failures.length > 0 || named.length === 0 ? [...named, failing(failures)] : named).join('; ');
}

function failing(failures: readonly FieldFailure[]): string {
  const [first] = failures;
  const elements = new Map(failures.toReversed().map((failure) => [elementOf(failure.field), failure]));
  if (!first || elementOf(first.field) === null || elements.size < 2) return sentenceAbout(first);
  const bad = [...elements].flatMap(([element, failure]) => (element === null ? [] : [failure])).toReversed();
  const rest = bad.length > elementsNamed ? `; and ${bad.length - elementsNamed} more` : '';
  return `${bad.slice(0, elementsNamed).map(sentenceAbout).join('; ')}${rest}`;
}

/** `items[3]` of `items[3].tiers[0].up_to`; null for a field that is in no element of a list. */
function elementOf(field: string): string | null {
  return /^\w+\[\d+\]/.exec(field)?.[0] ?? null;
}

function sentenceAbout(failure: FieldFailure | undefined): string {
  if (!failure) return 'The request is malformed.';
  if (failure.field === '') return 'A JSON object is required as body.';
  return /^(?:is|has|must) /.test(failure.reason)
    ? `${failure.field} ${failure.reason}`
    : `${failure.field}: ${failure.reason}`;
}

/** `details.fields`: every failing field with its reason. */
export function validationDetails(issues: readonly FastifySchemaValidationError[]): Record<string, unknown> {
  const fields: Record<string, string> = {};
  for (const { field, reason } of issues.map(fieldFailure)) fields[field || 'body'] ??= reason;
  return { fields };
}

/** The first issue of a schema that is not a route's. */
export function firstIssue(
  issues: readonly { path: readonly PropertyKey[]; message: string; keys?: unknown }[],
): FieldFailure {
  const [issue] = issues;
  if (!issue) return { field: '', reason: 'is not valid' };
  const unknown = Array.isArray(issue.keys) ? [String(issue.keys[0])] : [];
  const reason = unknown.length > 0 ? 'is not a known member' : issue.message;
  return { field: wirePath([...issue.path, ...unknown]), reason };
}

interface UnionIssue {
  code?: string;
  values?: readonly unknown[];
  path: PropertyKey[];
  message: string;
  errors?: UnionIssue[][];
}

function fieldFailure(issue: FastifySchemaValidationError): FieldFailure {
  const path = issue.instancePath.split('/').filter((part) => part !== '');
  const branches = (issue.params as { errors?: UnionIssue[][] }).errors;
  const deepest = branches ? deepestIssue(branches) : null;
  const isNear = deepest !== null && (deepest.path.length > 0 || !isTypeError(deepest));
  return isNear
    ? { field: wirePath([...path, ...deepest.path]), reason: deepest.message }
    : { field: wirePath(path), reason: issue.message ?? 'is not valid' };
}

/**
 * Of the alternatives of a union the one that came furthest is what the caller meant; of several, one that says more than which
 * type it expected.
 */
function deepestIssue(branches: readonly UnionIssue[][]): UnionIssue | null {
  const candidates = branches.flatMap((branch) => branch.slice(0, 1));
  return candidates.reduce<UnionIssue | null>(
    (best, issue) => (best === null || isNearer(issue, best) ? issue : best),
    null,
  );
}

function isNearer(issue: UnionIssue, best: UnionIssue): boolean {
  if (issue.path.length !== best.path.length) return issue.path.length > best.path.length;
  return isTypeError(best) && !isTypeError(issue);
}

/** Whether a value is of another type than an alternative of a union, which says little about the others. */
function isTypeError({ code, values }: UnionIssue): boolean {
  return code === 'invalid_type' || code === 'invalid_union' || (code === 'invalid_value' && values?.length === 1);
}

/** `items[3].tiers[0].up_to` of the path of an issue. */
export function wirePath(path: readonly PropertyKey[]): string {
  return path.reduce<string>((text, part) => {
    if (/^\d+$/.test(String(part))) return `${text}[${String(part)}]`;
    return text === '' ? String(part) : `${text}.${String(part)}`;
  }, '');
}
