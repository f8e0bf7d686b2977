/**
 * Time for which the gateway knows a token it was sent: until then the same token again gets the first answer, from then on it would be
 * a second effect, so nothing is sent any more and the gateway is only asked. design: money-in-checkout §A2
 */
export type ResendRule = 'never' | { untilMs: number };

/** Names by which an object at a gateway can be asked for. Its adapter uses those that the gateway understands. */
export interface GatewayReference {
  /** Our own name of the charge or link: readable, and the key of the sandbox's books. */
  intentToken: string;
  /** The same on the wire, `pn_` and 26 characters, as every provider takes it. design: money-in-checkout §A15 */
  token: string;
  /** The gateway's id of the object that we made there, from the moment it is known: a prepared charge, a link, a refund. */
  providerId: string | null;
  /** The gateway's id of the charge that took the money. */
  chargeProviderId: string | null;
  /** Real time at which the object was written down here; it was sent no earlier. */
  createdAt: string;
}

/** Class of a decline: whether another try with the same method makes sense. */
export type DeclineClass = 'retry' | 'never' | 'authenticate';
