/** A name that every file system and header takes. */
export function documentFileName(text: string): string {
  return text.replaceAll(/[^\w.-]/g, '_');
}
