const decimalText = /^-?(0|[1-9]\d*)(\.\d+)?$/;
const instantText = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(\.\d+)?(Z|[+-]\d{2}:\d{2})$/;

/**
 * Equality as the specification's vectors mean it: decimals by value, instants as instants, arrays element by element, of
 * objects the members expected (others are allowed), everything else exactly; absent equals null.
 */
export function matches(expected: unknown, actual: unknown): boolean {
  if (expected === null || expected === undefined) return actual === null || actual === undefined;
  if (Array.isArray(expected)) {
    return (
      Array.isArray(actual) &&
      actual.length === expected.length &&
      expected.every((item, position) => matches(item, actual[position]))
    );
  }
  if (typeof expected === 'object') {
    if (typeof actual !== 'object' || actual === null || Array.isArray(actual)) return false;
    const members = actual as Record<string, unknown>;
    return Object.entries(expected).every(([name, value]) => matches(value, members[name]));
  }
  if (expected === actual) return true;
  if (typeof expected === 'boolean' || typeof actual === 'boolean') return false;
  return scalar(expected) === scalar(actual);
}

function scalar(value: unknown): string {
  const plain = typeof value === 'number' ? String(value) : value;
  if (typeof plain !== 'string') return JSON.stringify(plain) ?? 'undefined';
  if (instantText.test(plain)) return `instant ${Date.parse(plain)}`;
  if (!decimalText.test(plain)) return `text ${plain}`;
  const trimmed = plain.includes('.') ? plain.replace(/\.?0+$/, '') : plain;
  return `decimal ${trimmed === '-0' ? '0' : trimmed}`;
}
