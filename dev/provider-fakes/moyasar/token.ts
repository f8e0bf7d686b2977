import { randomBytes } from 'node:crypto';
import { type SandboxCard, sandboxCardOf } from '../../../integrations/sandbox-gateway/card.ts';
import { type FakeToken, invalid, type MoyasarBooks, MoyasarRefusal } from './books.ts';

/** Keeps a card that a payer's browser sends; it can be charged once its payer has confirmed it. Throws as Moyasar refuses one. */
export function keepCard(
  books: MoyasarBooks,
  body: Readonly<Record<string, unknown>>,
  { pageUrl, metadata }: { pageUrl: string; metadata: Record<string, string> | null },
): FakeToken {
  const { name, number, month, year, cvc, callback_url: callbackUrl } = body;
  const card = typeof number === 'string' ? sandboxCardOf(number) : null;
  if (!card) throw invalid('number', 'is invalid');
  if (typeof name !== 'string' || name === '') throw invalid('name', 'is required');
  if (!/^(0?[1-9]|1[0-2])$/.test(String(month))) throw invalid('month', 'is invalid');
  if (!/^(\d{2}|\d{4})$/.test(String(year))) throw invalid('year', 'is invalid');
  if (!/^\d{3,4}$/.test(String(cvc))) throw invalid('cvc', 'is invalid');
  if (typeof callbackUrl !== 'string' || !URL.canParse(callbackUrl)) throw invalid('callback_url', 'is required');
  const expiry = { month: String(month).padStart(2, '0'), year: String(year) };
  return addToken(books, card, { ...expiry, name, lastFour: String(number).slice(-4), callbackUrl, metadata, pageUrl });
}

/** A card as it is kept before its payer has confirmed it. */
export function addToken(
  books: MoyasarBooks,
  card: SandboxCard,
  told: {
    name: string;
    month: string;
    year: string;
    lastFour: string;
    callbackUrl: string;
    metadata: Record<string, string> | null;
    pageUrl: string;
  },
): FakeToken {
  const id = `token_${randomBytes(16).toString('hex')}`;
  const now = new Date().toISOString();
  const { name, month, year, lastFour, metadata } = told;
  const token: FakeToken = {
    ...{ id, status: 'initiated', brand: 'visa', funding: 'credit', country: 'SA', month, year, name },
    ...{ last_four: lastFour, metadata, message: null },
    verification_url: `${told.pageUrl}/verify/${id}`,
    ...{ created_at: now, updated_at: now },
  };
  books.tokens.set(id, token);
  books.kept.set(id, { card: { ...card }, callbackUrl: told.callbackUrl });
  return token;
}

/** The kept card of an id. Throws as Moyasar refuses one that it does not have. */
export function tokenOf(books: MoyasarBooks, id: string): FakeToken {
  const token = books.tokens.get(id);
  if (!token) throw new MoyasarRefusal(404, 'invalid_request_error', 'Object not found');
  return token;
}

/** The payer confirms at its bank that a card is its own, or does not. Answers where it goes on; null when nothing waited. */
export function verifyCard(books: MoyasarBooks, id: string, how: 'confirm' | 'fail'): string | null {
  const token = books.tokens.get(id);
  if (token?.status !== 'initiated') return null;
  token.status = how === 'confirm' ? 'active' : 'inactive';
  token.updated_at = new Date().toISOString();
  if (how === 'fail') token.message = 'AUTHENTICATION FAILED';
  return books.kept.get(id)?.callbackUrl ?? null;
}
