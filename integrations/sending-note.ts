import { randomInt } from 'node:crypto';
import { GatewayOutcomeUnknown, GatewayTurnedAway } from './payment-gateway.ts';

const noteName = 'perennial_charge';

/** An object at a provider that stands for one charge and holds notes of ours. */
export interface ChargeHolder<Held> {
  /** Named in errors. */
  provider: string;
  /** Letters of the longest note that it takes. */
  longestNote: number;
  read(): Promise<Held>;
  /** All its notes by their names, those of others among them. */
  notesOf(held: Held): Readonly<Record<string, unknown>>;
  /** Replaces all its notes. */
  write(notes: Readonly<Record<string, unknown>>): Promise<void>;
}

/**
 * Note of the sending of a charge, for a provider that knows no idempotency key for charges: it is written at the object that stands for the
 * charge before the charge is sent. One that was sent and is not found is on its way for `settledMs`, and is not sent again so long.
 * Everything throws `GatewayOutcomeUnknown` where the provider does not answer. design: money-in-checkout §A2
 */
export function sendingNote<Held>(holder: ChargeHolder<Held>, settledMs: number) {
  const { provider } = holder;
  const textOf = (held: Held) => String(holder.notesOf(held)[noteName] ?? '');

  async function write(text: string | null): Promise<void> {
    const { [noteName]: _, ...others } = holder.notesOf(await holder.read());
    await holder.write({ ...others, ...(text === null ? {} : { [noteName]: text.slice(0, holder.longestNote) }) });
  }

  return {
    /**
     * Writes down that the charge is being sent, reads that back, and sends it: where it is being sent twice, one of the two goes no
     * further. The note is taken back where the provider turned the request away, so that nothing came of it. Answers the object with
     * what the provider said.
     */
    async sendOnce<Answer>(send: () => Promise<Answer>): Promise<{ held: Held; answer: Answer }> {
      const text = `sent:${Date.now()}:${randomInt(2 ** 47)}`;
      await write(text);
      const held = await holder.read();
      if (textOf(held) !== text) {
        throw new GatewayOutcomeUnknown(`the charge is being sent to ${provider} in the same moment`);
      }
      const answer = await send().catch(async (error: unknown) => {
        if (error instanceof GatewayTurnedAway) await write(null).catch(() => undefined);
        throw error;
      });
      return { held, answer };
    },

    /** Writes down why the provider refused the charge. Where that cannot be kept, the charge stays on its way. */
    noteRefusal: (reason: string): Promise<void> => write(`refused:${reason}`).catch(() => undefined),

    /** Reason for which the provider refused the charge; null for one that is not on its way. Throws while it may still arrive. */
    refusalOf(held: Held): string | null {
      const [kind, ...rest] = textOf(held).split(':');
      if (kind === 'refused') return rest.join(':');
      if (kind === 'sent' && Date.now() - Number(rest[0]) < settledMs) {
        throw new GatewayOutcomeUnknown(
          `the charge was sent to ${provider}, which does not list it; it may still arrive there`,
        );
      }
      return null;
    },
  };
}
