import { html } from 'ghtml';

/** Words with their values, as HTML: each value escaped and kept in its own direction. Throws for a place without a value. */
export function filled(words: string, values: Record<string, string> = {}): string {
  return words
    .split(/\{(\w+)\}/)
    .map((part, index) => (index % 2 === 0 ? html`${part}` : html`<bdi>${valueAt(values, part)}</bdi>`))
    .join('');
}

/** Words with their values as plain text, for titles. */
export function plain(words: string, values: Record<string, string>): string {
  return words.replace(/\{(\w+)\}/g, (_, name: string) => valueAt(values, name));
}

function valueAt(values: Record<string, string>, name: string): string {
  const value = values[name];
  if (value === undefined) throw new Error(`the words need a value for ${name}`);
  return value;
}

/** The address when a browser may be led there, else null: absolute, by http or https, and never a program in disguise. */
export function linkable(address: string | null): string | null {
  if (address === null || !URL.canParse(address)) return null;
  return /^https?:$/.test(new URL(address).protocol) ? address : null;
}

/** A picture that is inside the page and runs nothing, else null. */
export function picture(logo: string): string | null {
  return /^data:image\/(png|jpeg);base64,[A-Za-z0-9+/]+=*$/.test(logo) ? logo : null;
}

/** The address of a letter to somebody, or null for a text that is not plainly one. */
export function letterTo(email: string): string | null {
  return /^[\w.+-]+@[\w.-]+$/.test(email) ? `mailto:${email}` : null;
}
