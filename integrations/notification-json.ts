import type { NotificationMarker } from './provider-notification.ts';

const longestName = 255;

/** Our name of an object as it was left with a provider; null unless it is there whole. */
export function markerOf(left: Readonly<Record<string, unknown>>): NotificationMarker | null {
  const [environment, kind, id] = [left.environment, left.kind, left.id].map(nameIn);
  return environment && kind && id ? { environment, kind, id } : null;
}

/** The name of an object whose money went back: it is a payment or a refund, also where what was paid carries the name of its page. */
export function markerOfReturn(marker: NotificationMarker | null): NotificationMarker | null {
  return marker?.kind === 'checkout_session' ? null : marker;
}

/** A text of a notification that names something; null for one with NUL, which no column takes. */
export function nameIn(value: unknown): string | null {
  const isName = typeof value === 'string' && value !== '' && value.length <= longestName && !value.includes('\0');
  return isName ? value : null;
}

/** A member that is a JSON object, else null. */
export function objectMember(value: unknown): Readonly<Record<string, unknown>> | null {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
    ? (value as Record<string, unknown>)
    : null;
}

/** The JSON object that the bytes of a notification are; null for other JSON, no JSON and no UTF-8. */
export function jsonObject(body: Uint8Array): Readonly<Record<string, unknown>> | null {
  return objectMember(jsonIn(body));
}

/** The JSON list that the bytes of a notification are; null likewise. */
export function jsonList(body: Uint8Array): readonly unknown[] | null {
  const list = jsonIn(body);
  return Array.isArray(list) ? list : null;
}

function jsonIn(body: Uint8Array): unknown {
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(body));
  } catch {
    return undefined;
  }
}
