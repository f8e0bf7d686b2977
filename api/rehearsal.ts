import type { FastifyRequest } from 'fastify';
import { isDeadlock, type Transaction } from '../db/transaction.ts';

/** Carries an answer out of a transaction that must not commit. */
class Rehearsed<Answer> extends Error {
  readonly answer: Answer;
  constructor(answer: Answer) {
    super('rehearsed');
    this.answer = answer;
  }
}

const maxAttempts = 3;

/**
 * What `work` answers, with everything it wrote rolled back: production code shows what would be. One that met the object's own
 * workflow at work is done again. spec: §1.5 dry_run
 */
export async function rehearse<Answer>(
  request: Pick<FastifyRequest, 'transaction'>,
  work: (tx: Transaction) => Promise<Answer>,
): Promise<Answer> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await request.transaction(async (tx): Promise<Answer> => {
        throw new Rehearsed(await work(tx));
      });
    } catch (error) {
      if (error instanceof Rehearsed) return error.answer as Answer;
      if (!isDeadlock(error) || attempt === maxAttempts) throw error;
    }
  }
}
