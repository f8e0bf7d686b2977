import { TemporalFailure } from '@temporalio/common';

/** Classes of SQLSTATE whose texts name tables, columns and constraints; those of others quote values of rows. */
const namesOnly = /^(08|21|23|25|40|42|53|54|55|57|58|P0)/;
/** Names of errors whose texts are our own sentences of ids, or name what stands in the code. */
const ownNames = new Set(['Error', 'TypeError', 'ReferenceError', 'GatewayOutcomeUnknown']);
const log = 'its text is in the log of the worker';

/**
 * The error with texts that a history may hold, in itself and in its causes: a library or the database may quote what a customer wrote,
 * and is only named. The same error where nothing has to be left out. Failures of Temporal were made of such texts already.
 * design: architecture §3 Ids only
 */
export function withTellableText(error: unknown): Error {
  if (!(error instanceof Error)) return new Error(`something that is no error was thrown; ${log}`);
  if (error instanceof TemporalFailure) return error;
  const text = tellableText(error);
  const cause = error.cause === undefined ? undefined : withTellableText(error.cause);
  if (text === error.message && cause === error.cause) return error;
  const told = new Error(text, cause && { cause });
  told.name = error.name;
  // The text stands before the frames.
  const frames = (error.stack ?? '').split('\n').filter((line) => /^\s+at /.test(line));
  told.stack = [`${error.name}: ${text}`, ...frames].join('\n');
  return told;
}

function tellableText(error: Error & { code?: unknown; severity?: unknown }): string {
  const { name, message, severity } = error;
  const code = String(error.code ?? '');
  if (severity !== undefined && /^[0-9A-Z]{5}$/.test(code)) {
    return namesOnly.test(code) ? message : `the database refused a value (${code}); ${log}`;
  }
  if (code.startsWith('ERR_')) return `${name} ${code}; ${log}`;
  if (message.startsWith('[DecimalError]')) return `DecimalError; ${log}`;
  return ownNames.has(name) ? message : `${name}; ${log}`;
}
