import type { CheckoutLanguage } from './view.ts';
import { ar } from './words-ar.ts';
import { de } from './words-de.ts';
import { type CheckoutWords, en } from './words-en.ts';

/** All texts of the page. */
export const checkoutWords: Record<CheckoutLanguage, CheckoutWords> = { en, de, ar };
