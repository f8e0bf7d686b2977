import { refuse } from '../../billing/refusal.ts';
import type { LinkReference, LinkRequest, LinkState, OpenedLink } from '../payment-link.ts';
import { modeOfKey } from './card-form.ts';
import { type MoyasarClient, objectOf } from './client.ts';
import { declineClassOfMoyasar } from './decline.ts';
import { isRecent } from './payment.ts';
import type { MoyasarToken } from './shapes.ts';

/** Keys of the connection: cards are saved under the publishable one and charged under the other. */
export interface SetupKeys {
  secretKey: string;
  publishableKey?: string | null;
}

/**
 * Opens the saving of a card, on our page: Moyasar has none for it, and keeps a card for the browser that sends it one. Nothing is asked of
 * Moyasar. Throws `invalid_operation` without a publishable key of the mode of the secret one.
 */
export function openSetup({ token, pageUrl }: LinkRequest, { secretKey, publishableKey }: SetupKeys): OpenedLink {
  if (!publishableKey) throw keyMissing('has no publishable_key, under which cards are saved');
  if (modeOfKey(publishableKey) !== modeOfKey(secretKey)) {
    throw keyMissing('has a publishable_key and a secret_key of different modes');
  }
  return { providerId: token, url: pageUrl, expiresAt: null };
}

function keyMissing(problem: string) {
  const told = `the connection of moyasar ${problem}`;
  return refuse('invalid_operation', told, { fields: { payment_provider: told } });
}

/**
 * State of a saving: the first of the cards that the payer's browser named to us which Moyasar has verified. A card counts only where its
 * own metadata names this saving, because a browser can name any. One whose payer left its bank's page half an hour ago was given up.
 */
export async function readSetup(client: MoyasarClient, reference: LinkReference): Promise<LinkState> {
  const state: LinkState = {
    ...{ status: 'open', providerId: reference.token, url: null, expiresAt: null },
    ...{ captures: [], declines: [], savedMethod: null },
  };
  const cards = await cardsOf(client, reference);
  const declines = cards
    .filter(({ status }) => status === 'inactive' || status === 'expired')
    .map(({ id }) => ({ chargeProviderId: id, code: 'not_verified', class: declineClassOfMoyasar('not_verified') }));
  const kept = cards.find(({ status }) => status === 'active');
  if (kept) {
    const { id: token, brand, last_four: lastFour } = kept;
    return { ...state, status: 'paid', declines, savedMethod: { token, customerToken: null, brand, lastFour } };
  }
  const isWaiting = cards.some((card) => card.status === 'initiated' && isRecent(card));
  return { ...state, status: isWaiting ? 'processing' : 'open', declines };
}

/** Ends a saving: our page takes no card any more, and one that is being verified is waited for. */
export async function closeSetup(client: MoyasarClient, reference: LinkReference): Promise<LinkState> {
  const state = await readSetup(client, reference);
  return state.status === 'open' ? { ...state, status: 'dead' } : state;
}

async function cardsOf(client: MoyasarClient, { token, methodTokens = [] }: LinkReference): Promise<MoyasarToken[]> {
  const cards: MoyasarToken[] = [];
  for (const id of methodTokens) {
    const answer = await client.get<MoyasarToken>(`/tokens/${encodeURIComponent(id)}`);
    if (answer.refusal !== null && answer.status === 404) continue;
    const card = objectOf(answer, 'show a saved card');
    if (card.metadata?.perennial_token === token) cards.push(card);
  }
  return cards;
}
