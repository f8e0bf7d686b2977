export type DisputeStatus = 'open' | 'won' | 'lost';

/** A payment that its payer's bank takes back, as the gateway tells it; the amount is a plain decimal of the currency. */
export interface DisputeAtGateway {
  gatewayDisputeId: string;
  status: DisputeStatus;
  amount: string;
  currency: string;
  /** The gateway's word for what the payer says, such as `fraudulent`. */
  reason: string | null;
  openedAt: string;
  /** Until when the gateway takes evidence; null where it takes none any more. */
  evidenceDueAt: string | null;
}

/**
 * True where the word of a gateway moves a dispute. A decision is not undone by a late word that it is open, and money that was lost stays lost;
 * one that was won is lost where its bank decides again. design: money-in §5
 */
export function isDisputeMove(from: DisputeStatus, to: DisputeStatus): boolean {
  return from !== to && to !== 'open' && from !== 'lost';
}
