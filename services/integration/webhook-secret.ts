import type { ConnectionSecrets } from './connection-secret.ts';

/** Sealed beside the others, and no member that anybody sends or sees. */
const former = 'webhook_secrets_before';
const validMs = 72 * 3_600_000;
const mostFormer = 5;

interface FormerSecret {
  secret: string;
  /** Real time until which it verifies notifications. */
  until: string;
}

/**
 * New secrets of a connection with those that verified its notifications until now, each of which stays valid for 72 hours after it was
 * replaced, because providers sign repeats of old events with the old one. A secret that is taken away and not replaced is
 * valid no longer. design: money-in-checkout §A13
 */
export function withFormerSecrets(before: ConnectionSecrets, after: ConnectionSecrets, now: string): ConnectionSecrets {
  const present = presentOf(after);
  if (present === null) return withoutFormerSecrets(after);
  const replaced = presentOf(before);
  const until = new Date(Date.parse(now) + validMs).toISOString();
  const kept = [
    ...(replaced === null || replaced === present ? [] : [{ secret: replaced, until }]),
    ...formerOf(before).filter((each) => each.until > now && each.secret !== present),
  ].slice(0, mostFormer);
  const others = withoutFormerSecrets(after);
  return kept.length === 0 ? others : { ...others, [former]: JSON.stringify(kept) };
}

/** The secrets that people gave. */
export function withoutFormerSecrets(secrets: ConnectionSecrets): ConnectionSecrets {
  const { [former]: _, ...given } = secrets;
  return given;
}

/** The secrets that verify notifications at `nowMs`, the present one first; empty without one. */
export function webhookSecretsOf(secrets: ConnectionSecrets, nowMs: number): string[] {
  const secret = presentOf(secrets);
  if (secret === null) return [];
  const valid = formerOf(secrets).filter(({ until }) => Date.parse(until) > nowMs);
  return [secret, ...valid.map((each) => each.secret)];
}

/** Present secret or token of notifications, or the credentials that a provider calls with, as `user:password`. Null without any. */
function presentOf(secrets: ConnectionSecrets): string | null {
  const { webhook_secret, webhook_verifier_token, webhook_username, webhook_password } = secrets;
  if (webhook_secret || webhook_verifier_token) return webhook_secret || webhook_verifier_token || null;
  return webhook_username && webhook_password ? `${webhook_username}:${webhook_password}` : null;
}

function formerOf(secrets: ConnectionSecrets): FormerSecret[] {
  return JSON.parse(secrets[former] ?? '[]') as FormerSecret[];
}
