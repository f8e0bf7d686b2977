import { types } from 'node:util';

const secretLike =
  /\b(?:[spr]k|pm|whsec|cs)_[A-Za-z0-9_-]{20,}|\beyJ[\w-]+\.[\w-]+(?:\.[\w-]*)?|\/\/[^/\s:@]+:[^/\s@]+@/g;

/** What a log line holds of an error. */
export interface DescribedError {
  type: string;
  code?: unknown;
  message: string;
  stack: string;
  cause?: DescribedError;
}

/** An error as the log may show it: a database error without its statement and values, any text without what looks secret. */
export function describeError(error: unknown, depth = 0): DescribedError {
  // An error of a workflow is of another realm, where `instanceof` is false.
  if (!types.isNativeError(error)) return { type: typeof error, message: 'not an Error', stack: '' };
  const { code, sqlMessage } = error as { code?: unknown; sqlMessage?: unknown };
  const isDatabase = typeof code === 'string' && /^[0-9A-Z]{5}$/.test(code);
  const message = isDatabase ? withoutValues(String(sqlMessage ?? lastLine(error.message))) : error.message;
  const cause = types.isNativeError(error.cause) && depth < 5 ? describeError(error.cause, depth + 1) : undefined;
  return {
    type: error.constructor.name,
    ...(code === undefined ? {} : { code }),
    message: withoutSecrets(message),
    stack: (error.stack ?? '')
      .split('\n')
      .filter((line) => /^\s+at /.test(line))
      .slice(0, 20)
      .join('\n'),
    ...(cause ? { cause } : {}),
  };
}

/** A text of unknown origin as the log may show it: cut, and without what looks like a credential. */
export function withoutSecrets(text: string): string {
  return text.replace(secretLike, '[redacted]').slice(0, 2_000);
}

function lastLine(message: string): string {
  return message.slice(message.lastIndexOf(' - ') + 1);
}

/** `invalid input syntax for type numeric: "…"` tells what a caller sent. */
function withoutValues(message: string): string {
  return message.replace(/: ".*/s, '');
}
