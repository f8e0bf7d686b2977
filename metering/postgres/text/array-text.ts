/**
 * PostgreSQL's text of an array. The driver's own conversion looks at every element several times; a batch of events has
 * thousands of them, of a type that is known.
 */

/** Of elements whose text needs no quoting: numbers, booleans, UUIDs, instants. */
export function plainArray(elements: readonly (string | number | boolean | null)[]): string {
  return `{${elements.map((element) => element ?? 'NULL').join(',')}}`;
}

/** Of any texts. */
export function textArray(elements: readonly (string | null)[]): string {
  return `{${elements.map((element) => (element === null ? 'NULL' : quoted(element))).join(',')}}`;
}

const special = /[\\"]/;
const specials = /[\\"]/g;

function quoted(text: string): string {
  return special.test(text) ? `"${text.replace(specials, '\\$&')}"` : `"${text}"`;
}
