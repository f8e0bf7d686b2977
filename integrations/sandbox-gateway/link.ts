import { randomUUID } from 'node:crypto';
import type { GatewayReference } from '../gateway-reference.ts';
import { type AttemptUnderWay, GatewayOutcomeUnknown, type LinkAttempt } from '../payment-gateway.ts';
import { type LinkRequest, type LinkState, neverOpened, type OpenedLink, type PaymentLinks } from '../payment-link.ts';
import { withFaults } from './fault.ts';
import {
  attemptUnderWayText,
  captureBesideText,
  closeLinkText,
  linkText,
  nearerText,
  openLinkText,
  payLinkText,
  settleSetupText,
  setUpText,
} from './link-statements.ts';
import type { ChargeRow, LinkedCharge, LinkRow, SandboxStore } from './store.ts';

/** Reason and class of a declined attempt. */
export function declineClassOf(code: string): 'retry' | 'never' | 'authenticate' {
  if (code === 'authentication_required') return 'authenticate';
  return code === 'stolen_card' ? 'never' : 'retry';
}

/**
 * Links of the sandbox: rows in its books, paid on our own page. They end when they are closed and not by the time of day, because the
 * customers of test clocks live at other times. design: money-in-checkout §A12, §D
 */
export function sandboxLinks(store: SandboxStore): PaymentLinks {
  return {
    resend: { untilMs: Number.POSITIVE_INFINITY },
    minimumLifeMs: 0,
    closable: true,
    open: (request) => withFaults(store, 'open', request.intentToken, () => openLink(store, request)),
    read: ({ intentToken }) => withFaults(store, 'read', intentToken, () => readLink(store, intentToken, 'read_link')),
    close: (reference) => withFaults(store, 'close', reference.intentToken, () => closeLink(store, reference)),
  };
}

async function openLink(store: SandboxStore, request: LinkRequest): Promise<OpenedLink> {
  const [link] = await store.rows<{ id: string; url: string; expiresAt: string; same: boolean }>(openLinkText, [
    request.intentToken,
    `sandbox_link_${randomUUID()}`,
    request.mode,
    request.amount,
    request.currency,
    request.pageUrl,
    request.expiresAt,
    request.saveMethod || request.mode === 'setup',
    request.description,
    JSON.stringify(request.metadata),
  ]);
  if (!link) throw new GatewayOutcomeUnknown('the sandbox gateway opened the link of another request');
  if (!link.same) throw new Error(`link ${request.intentToken} was first opened for another amount or currency`);
  return { providerId: link.id, url: link.url, expiresAt: new Date(link.expiresAt).toISOString() };
}

async function closeLink(store: SandboxStore, { intentToken }: GatewayReference): Promise<LinkState> {
  await store.rows(closeLinkText, [intentToken]);
  return readLink(store, intentToken, 'close_link');
}

async function readLink(store: SandboxStore, intentToken: string, kind: string): Promise<LinkState> {
  await store.rows(nearerText, [intentToken, kind]);
  const [link] = await store.rows<LinkRow>(linkText, [intentToken]);
  if (!link) return neverOpened;
  const captured = link.charges.filter((charge) => charge.state === 'captured');
  return {
    status: statusOf(link, captured),
    providerId: link.id,
    url: link.url,
    expiresAt: new Date(link.expires_at).toISOString(),
    captures: captured.map(({ id, amount, currency, capturedAt }) => ({
      chargeProviderId: id,
      amount,
      currency,
      capturedAt: new Date(capturedAt!).toISOString(),
    })),
    declines: link.charges
      .filter((charge) => charge.state === 'declined')
      .map(({ id, declineReason }) => {
        const code = declineReason ?? 'card_declined';
        return { chargeProviderId: id, code, class: declineClassOf(code) };
      }),
    savedMethod: link.kept && { ...link.kept, customerToken: null },
  };
}

function statusOf(link: LinkRow, captured: readonly LinkedCharge[]): LinkState['status'] {
  if (captured.length > 0 || link.saved_card !== null) return 'paid';
  if (link.charges.some((charge) => charge.state === 'processing')) return 'processing';
  return link.closed ? 'dead' : 'open';
}

/** Pays a link with a saved card, in place of the payer: at most one attempt at a time, and one that captures. */
export async function payLink(store: SandboxStore, intentToken: string, cardToken: string): Promise<LinkAttempt> {
  const [link] = await store.rows<LinkRow>(linkText, [intentToken]);
  if (!link || link.closed) return { status: 'closed', attemptToken: null, declineCode: null };
  if (link.mode === 'setup') return setUp(store, intentToken, cardToken);
  const attemptToken = `${intentToken}#${randomUUID().slice(0, 8)}`;
  const values = [attemptToken, cardToken, `sandbox_charge_${randomUUID()}`, intentToken];
  const [made] = await store.rows<ChargeRow>(payLinkText, values);
  if (!made) return refusedAttempt(store, intentToken);
  const status = made.state === 'captured' ? 'paid' : made.state;
  return { status, attemptToken, declineCode: made.decline_reason };
}

/** Why an attempt was not begun. */
async function refusedAttempt(store: SandboxStore, intentToken: string): Promise<LinkAttempt> {
  const [link] = await store.rows<LinkRow>(linkText, [intentToken]);
  const isAlive = link?.charges.some(({ state }) => state === 'processing' || state === 'requires_action');
  return { status: isAlive ? 'busy' : 'closed', attemptToken: null, declineCode: null };
}

const setupSuffix = '#setup';

async function setUp(store: SandboxStore, intentToken: string, cardToken: string): Promise<LinkAttempt> {
  const [card] = await store.rows<{ behaviour: string }>(
    'select behaviour from sandbox_gateway.card where token = $1',
    [cardToken],
  );
  if (card?.behaviour === 'declines') return { status: 'declined', attemptToken: null, declineCode: 'card_declined' };
  if (card?.behaviour === 'declines_for_good')
    return { status: 'declined', attemptToken: null, declineCode: 'stolen_card' };
  const asksPayer = card?.behaviour === 'requires_action';
  const [set] = await store.rows(setUpText, [intentToken, cardToken, asksPayer]);
  if (!set) return { status: 'closed', attemptToken: null, declineCode: null };
  return {
    status: asksPayer ? 'requires_action' : 'paid',
    attemptToken: `${intentToken}${setupSuffix}`,
    declineCode: null,
  };
}

/** The payer of a setup confirms or fails; null when the token is of no setup. */
export async function playSetup(
  store: SandboxStore,
  attemptToken: string,
  action: 'confirm' | 'fail',
): Promise<boolean | null> {
  if (!attemptToken.endsWith(setupSuffix)) return null;
  const intentToken = attemptToken.slice(0, -setupSuffix.length);
  return (await store.rows(settleSetupText, [intentToken, action === 'confirm'])).length > 0;
}

/** The attempt of a link that nobody has decided yet. */
export async function attemptUnderWay(store: SandboxStore, intentToken: string): Promise<AttemptUnderWay | null> {
  const [attempt] = await store.rows<AttemptUnderWay & { [column: string]: unknown }>(attemptUnderWayText, [
    intentToken,
    `${intentToken}${setupSuffix}`,
  ]);
  return attempt ?? null;
}

/** Takes money beside the one payment of a link or after its end; answers the gateway's id of it, null for an unknown link. */
export async function captureBeside(
  store: SandboxStore,
  intentToken: string,
  cardToken: string,
  taken: { amount?: string; currency?: string },
): Promise<string | null> {
  const [made] = await store.rows<ChargeRow>(captureBesideText, [
    `${intentToken}#${randomUUID().slice(0, 8)}`,
    `sandbox_charge_${randomUUID()}`,
    intentToken,
    cardToken,
    taken.amount ?? null,
    taken.currency ?? null,
  ]);
  return made?.id ?? null;
}
