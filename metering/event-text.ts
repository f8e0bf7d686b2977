import { refuse } from '../billing/refusal.ts';

/** Characters of an event's id, name, customer and source, and of a property's name. Own. */
export const maxTextLength = 255;
/** Characters of one text among the properties. Own. */
export const maxPropertyLength = 65_536;
/** Characters of all properties of an event as JSON. Own. */
export const maxPropertiesLength = 4 * 1024 * 1024;
/** Levels of objects and lists among the properties. Own. */
const maxLevels = 64;

const readable = 'must be valid Unicode without NUL characters';

/** Throws `validation_error` about `field` for a text that is too long, or that no column takes. spec: catalogue-and-metering §6.2 */
export function checkText(text: string, field: string, maxLength: number): void {
  if (text.length > maxLength) throw invalidField(field, `must be at most ${maxLength} characters long`);
  if (!text.isWellFormed() || text.includes('\0')) throw invalidField(field, readable);
}

/** An escape for half a character: PostgreSQL could store such JSON but never read a string from it. */
const unreadable = /(?<!\\)(?:\\\\)*\\u(?:0000|d[89a-f])/;

/**
 * The JSON text of the properties of an event. Throws `validation_error` about `field`, or about the property in it, for a name or
 * a text that is too long, for more levels or more in all than an event holds, and for what no column takes.
 * spec: catalogue-and-metering §6.2
 */
export function checkProperties(properties: Readonly<Record<string, unknown>>, field: string): string {
  checkMembers(properties, field, maxLevels);
  const text = JSON.stringify(properties);
  if (text.length > maxPropertiesLength) {
    throw invalidField(field, `must be at most ${maxPropertiesLength} characters of JSON in all`);
  }
  if (text.includes('\\u') && unreadable.test(text)) throw invalidField(field, readable);
  return text;
}

function checkMembers(members: object, field: string, levels: number): void {
  if (levels === 0)
    throw invalidField(field.slice(0, maxTextLength), `must be nested at most ${maxLevels} levels deep`);
  for (const [name, value] of Object.entries(members)) {
    if (name.length > maxTextLength) {
      const shown = `${field}.${name.slice(0, 40)}…`;
      throw invalidField(shown, `must have a name of at most ${maxTextLength} characters`);
    }
    if (typeof value === 'string') {
      if (value.length > maxPropertyLength) {
        throw invalidField(`${field}.${name}`, `must be at most ${maxPropertyLength} characters long`);
      }
    } else if (typeof value === 'object' && value !== null && !JSON.isRawJSON(value)) {
      checkMembers(value, `${field}.${name}`, levels - 1);
    }
  }
}

/** The refusal of one field of an event. */
export function invalidField(field: string, reason: string) {
  return refuse('validation_error', `${field} ${reason}`, { fields: { [field]: reason } });
}
