import { arabic } from './arabic.ts';
import { english } from './english.ts';
import { french } from './french.ts';
import { german } from './german.ts';
import { japanese } from './japanese.ts';
import { spanish } from './spanish.ts';

/** Languages of documents, with the locale of their dates and numbers. */
export const languages = {
  en: { words: english, locale: 'en-GB' },
  de: { words: german, locale: 'de-DE' },
  fr: { words: french, locale: 'fr-FR' },
  es: { words: spanish, locale: 'es-ES' },
  ar: { words: arabic, locale: 'ar-EG-u-nu-latn' },
  ja: { words: japanese, locale: 'ja-JP' },
};
