import type { Database } from '../../../db/orm.ts';
import { workflowScope } from '../../../db/scope.ts';
import { inSqlTransaction } from '../../../db/transaction.ts';
import { disableEndpoint } from '../../../services/event/webhook/disabling.ts';
import type { LeasedEndpoint } from '../../../services/event/webhook/lease.ts';
import { saveProgress } from '../../../services/event/webhook/progress.ts';
import { crashPoint } from '../../crash-points.ts';
import type { Backlog } from './backlog.ts';
import type { Lines } from './lines.ts';
import type { Pause } from './pause.ts';
import type { Reception } from './reception.ts';

/** State of an endpoint's sender that outlives it. */
export interface SenderState {
  backlog: Backlog;
  lines: Lines;
  pause: Pause;
  reception: Reception;
}

/** The written part of a sender's state, from which its successor goes on. design: people-and-events §A 6, B 27 */
export class WrittenState {
  readonly #database: Database;
  readonly #state: SenderState;
  #position: bigint;

  constructor(database: Database, state: SenderState) {
    this.#database = database;
    this.#state = state;
    this.#position = state.backlog.settled;
  }

  /** True while something is to be written. */
  get isChanged(): boolean {
    const { backlog, lines, pause, reception } = this.#state;
    return backlog.settled !== this.#position || lines.isChanged || pause.isChanged || reception.reason !== null;
  }

  /** Writes what changed, and disables the endpoint where there is a reason to. False when this sender sends to it no longer. */
  async write(endpoint: LeasedEndpoint): Promise<boolean> {
    if (!this.isChanged) return true;
    const { backlog, lines, pause, reception } = this.#state;
    const { id: endpointId, epoch } = endpoint;
    const { reason } = reception;
    const position = backlog.settled;
    const progress = {
      ...{ endpointId, epoch, position, reception: reception.written },
      ...lines.takeChanges(),
      pause: pause.take(),
    };
    const isMine = await inSqlTransaction(this.#database, workflowScope(endpoint), async (tx) => {
      const isSaved = await (reason === null
        ? saveProgress(tx, progress)
        : disableEndpoint(tx, progress, { reason, url: endpoint.url }));
      crashPoint('webhook.beforeCommit');
      return isSaved;
    });
    this.#position = position;
    return isMine && reason === null;
  }
}
