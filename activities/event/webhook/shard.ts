import { randomUUID } from 'node:crypto';
import type { Database } from '../../../db/orm.ts';
import { systemScope } from '../../../db/scope.ts';
import { inSqlTransaction } from '../../../db/transaction.ts';
import { createGuardedClient, type OutgoingPolicy } from '../../../integrations/guarded-client.ts';
import type { OutboxListener } from '../../../services/event/outbox-listener.ts';
import { fenceMs } from '../../../services/event/webhook/endpoint.ts';
import { openEndpoint } from '../../../services/event/webhook/endpoint-secret.ts';
import type { RenderInvoices } from '../../../services/event/webhook/frozen-body.ts';
import {
  type LeasedEndpoint,
  leasedEndpoints,
  leaseEndpoints,
  releaseEndpoint,
  type Shard,
} from '../../../services/event/webhook/lease.ts';
import type { EnvelopeKey } from '../../../services/platform/sealed-secret.ts';
import { AttemptLog } from './attempt-log.ts';
import type { FeedEnd } from './feed-end.ts';
import { Pause } from './pause.ts';
import { Rate } from './rate.ts';
import { ReplayLane } from './replay-lane.ts';
import { type RetrySchedule, retrySchedule } from './schedule.ts';
import { Sender } from './sender.ts';
import type { OpenEndpoint } from './sending.ts';
import { TestEvents } from './test-events.ts';

/** Outside world that the sending of webhooks needs. */
export interface WebhookDependencies {
  policy: OutgoingPolicy;
  secretKeys: readonly EnvelopeKey[];
  renderInvoices: RenderInvoices;
  /** The published one when absent. */
  schedule?: RetrySchedule;
}

export interface ShardOptions extends WebhookDependencies {
  database: Database;
  listener: OutboxListener;
  feedEnd: FeedEnd;
  /** Told of an endpoint whose standing changed. */
  onStanding(endpoint: LeasedEndpoint): void;
  warn(error: unknown, endpointId: string): void;
}

const leaseMs = 60_000;
/** A request and what may delay its start: one begins only while the lease lasts so much longer. */
const requestMs = 20_000;
/** Pause between looks for what no message tells, leases that are over and tenants that are back; each prolongs the own leases. */
const lookEveryMs = 15_000;
/** Pause between looks however many messages come. */
const lookAtMostEveryMs = 500;
/** Pause before an endpoint whose sender ended is taken again. */
const takeAgainMs = 500;

interface Running {
  sender: Sender;
  lane: ReplayLane;
  done: Promise<void>;
}

/**
 * Sends the endpoints of one shard their events until it is told to end: it leases them, reads them in one statement when something
 * changed, and wakes their senders when an event of their environment commits. An endpoint that is quiet has no timer of its own.
 * design: people-and-events §A 5, 6
 */
export class ShardDelivery {
  readonly #shard: Shard;
  readonly #options: ShardOptions;
  readonly #owner = randomUUID();
  readonly #running = new Map<string, Running>();
  readonly #tests: TestEvents;
  #looking: Promise<void> | null = null;
  #lookedAt = Number.NEGATIVE_INFINITY;
  #digest = '';
  #served = 0;
  #leasedUntil = Number.NEGATIVE_INFINITY;
  #renewedAt = Number.NEGATIVE_INFINITY;
  #isEnding = false;
  #isAborting = false;
  #wake = Promise.withResolvers<void>();
  readonly #ended = Promise.withResolvers<void>();

  constructor(shard: Shard, options: ShardOptions) {
    this.#shard = shard;
    this.#options = options;
    this.#tests = new TestEvents(shard, options);
  }

  /** Number of endpoints that were served when the end came. */
  get served(): number {
    return this.#served;
  }

  /** Starts no more requests; with `abort` those under way are broken off. */
  end({ abort = false }: { abort?: boolean } = {}): void {
    if (!this.#isEnding) this.#served = this.#running.size;
    this.#isEnding = true;
    this.#isAborting ||= abort;
    for (const running of this.#running.values()) endRunning(running, { abort });
    this.#tests.end({ abort });
    this.#ended.resolve();
    this.#wake.resolve();
  }

  /** Serves the shard until `end`; gives its endpoints back then. Throws when the database cannot be asked. */
  async run(): Promise<void> {
    const { listener } = this.#options;
    const forget = [
      listener.follow((environmentId) => this.#heard(environmentId)),
      listener.followEndpoints(() => this.#wake.resolve()),
    ];
    try {
      while (!this.#isEnding) {
        this.#wake = Promise.withResolvers();
        await listener.connected();
        // A look under way may have begun before the change that is told of.
        await this.#looking;
        await this.#look();
        await this.#rest(lookEveryMs, this.#wake.promise);
        await this.#rest(this.#lookedAt + lookAtMostEveryMs - performance.now(), this.#ended.promise);
      }
    } finally {
      for (const each of forget) each();
      this.end({ abort: this.#isAborting });
      await Promise.all([this.#tests.done(), ...[...this.#running.values()].map(({ done }) => done)]);
    }
  }

  /** Waits for so long, or until `early`. */
  async #rest(milliseconds: number, early: Promise<void>): Promise<void> {
    if (milliseconds <= 0) return;
    const timer = Promise.withResolvers<void>();
    const handle = setTimeout(timer.resolve, milliseconds);
    await Promise.race([timer.promise, early]);
    clearTimeout(handle);
  }

  #heard(environmentId: string | null): void {
    for (const { sender } of this.#running.values()) {
      if (environmentId === null || sender.endpoint.environmentId === environmentId) sender.wake();
    }
  }

  /** A look at the endpoints, shared by all who ask while it lasts. */
  async #look(): Promise<void> {
    this.#looking ??= this.#lookOnce().finally(() => {
      this.#looking = null;
    });
    await this.#looking;
  }

  async #lookOnce(): Promise<void> {
    const { database } = this.#options;
    const beganAt = performance.now();
    // The server starts a step of a shard when the one before has ended or is silent, so what that one held is free.
    const all = this.#renewedAt === Number.NEGATIVE_INFINITY;
    // A timer may be a millisecond early.
    const prolong = beganAt - this.#renewedAt >= lookEveryMs - 1;
    const [owner, shard] = [this.#owner, this.#shard];
    const { digest, endpoints, hasTests } = await inSqlTransaction(database, systemScope, async (tx) => {
      await leaseEndpoints(tx, { owner, shard, leaseMs, all, prolong });
      return leasedEndpoints(tx, owner, shard, this.#digest);
    });
    if (prolong) {
      this.#renewedAt = beganAt;
      this.#leasedUntil = beganAt + leaseMs;
    }
    this.#lookedAt = beganAt;
    if (hasTests) this.#tests.take();
    if (endpoints === null) return;
    this.#digest = digest;
    const mine = new Map(endpoints.map(({ id, epoch }) => [id, epoch]));
    for (const [id, running] of this.#running) {
      if (mine.get(id) !== running.sender.endpoint.epoch) endRunning(running, { abort: true });
    }
    if (this.#isEnding) return;
    for (const endpoint of endpoints) this.#serve(endpoint);
  }

  #serve(endpoint: LeasedEndpoint): void {
    const running = this.#running.get(endpoint.id);
    const known = running?.sender.endpoint;
    // A sender that ends gives its endpoint back, which is leased anew then.
    if (known && (known.revision === endpoint.revision || known.epoch !== endpoint.epoch)) return;
    let opened: OpenEndpoint;
    try {
      opened = { ...endpoint, secrets: openEndpoint(this.#options.secretKeys, endpoint) };
    } catch (error) {
      this.#options.warn(error, endpoint.id);
      return;
    }
    if (running) {
      running.sender.change(opened);
      running.lane.change(opened);
    } else this.#begin(opened);
  }

  #begin(endpoint: OpenEndpoint): void {
    const { database, feedEnd, policy, renderInvoices, schedule = retrySchedule } = this.#options;
    const onStanding = () => this.#options.onStanding(endpoint);
    const warn = (error: unknown) => this.#options.warn(error, endpoint.id);
    const permit = () => this.#permit(endpoint.id);
    const shared = { pause: new Pause(schedule, endpoint.pause), log: new AttemptLog(), rate: new Rate() };
    const options = { database, renderInvoices, schedule, permit, ...shared };
    // Connections of their own: neither waits for one of the other's.
    const [client, laneClient] = [createGuardedClient(policy), createGuardedClient(policy)];
    const sender: Sender = new Sender(endpoint, { ...options, feedEnd, client, onStanding });
    const onAttempt = () => sender.wake();
    const lane = new ReplayLane(endpoint, { ...options, client: laneClient, onAttempt, onEnd: onStanding, warn });
    const sending = sender
      .run()
      .catch(warn)
      .finally(() => lane.end({ abort: false }));
    const done = Promise.all([sending, lane.run()])
      .then(async () => {
        await Promise.all([client.close(), laneClient.close()]);
        await inSqlTransaction(database, systemScope, (tx) => releaseEndpoint(tx, endpoint));
      })
      .catch(warn)
      .finally(() => {
        this.#running.delete(endpoint.id);
        this.#digest = '';
        setTimeout(() => this.#wake.resolve(), takeAgainMs).unref();
      });
    this.#running.set(endpoint.id, { sender, lane, done });
  }

  /** True when a request to the endpoint may begin now. */
  async #permit(endpointId: string): Promise<boolean> {
    for (;;) {
      if (this.#isEnding) return false;
      const now = performance.now();
      const isLeased = this.#leasedUntil - now >= requestMs;
      if (isLeased && now - this.#lookedAt < fenceMs && this.#running.has(endpointId)) return true;
      await this.#look();
      if (!this.#running.has(endpointId)) return false;
    }
  }
}

function endRunning({ sender, lane }: Running, how: { abort: boolean }): void {
  sender.end(how);
  lane.end(how);
}
