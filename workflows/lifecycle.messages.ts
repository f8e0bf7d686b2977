import type { UpdateDefinition } from '@temporalio/common';
import { defineQuery, defineSignal, defineUpdate } from '@temporalio/workflow';
import type { AgendaItem } from '../billing/agenda.ts';

/** What every lifecycle workflow is started with: ids only, so that histories hold nothing personal. */
export interface LifecycleStart {
  tenantId: string;
  environmentId: string;
  objectId: string;
  customerId: string;
  testClockId: string | null;
  /** Time of the test clock when the run starts; null on real time. */
  clockTime: string | null;
  /** True when the run starts together with the command that makes the object. */
  creating: boolean;
  /** How the run before left the object when it rolled over; absent when nobody did. */
  carried?: CarriedStanding;
}

/** What a run that rolls over hands to the next one, so that an object at rest is not read again. */
export interface CarriedStanding<Snapshot extends LifecycleSnapshot = LifecycleSnapshot> {
  snapshot: Snapshot;
  announced: Announced;
  /** What it did last, the oldest first. */
  steps?: Step[];
  cancelRequestedAt?: string | null;
}

/** Something an object did, and the instant it was done as of. */
export interface Step {
  at: string;
  did: string;
}

/** The search attributes as last written; empty where there is none. */
export interface Announced {
  status: string;
  next: string;
  blockedOn: string;
}

/** Name of the caller and id of the request, so that a change carries them into rows and audit. */
export interface Caller {
  actor: string;
  requestId: string;
}

/** A command that says nothing but who asks for it and when. */
export interface Command {
  caller: Caller;
  /** The customer's present when the request came. */
  at: string;
}

/**
 * A command with content. The content is the row `commandId`, so that no amount, name or text gets into a history; the request makes the
 * id, so that a command whose task is repeated is carried out once.
 */
export interface KeptCommand extends Command {
  commandId: string;
}

/** An update that carries a command, whose content is kept as `Content`. */
export interface CommandDefinition<Answer, Content extends object> extends UpdateDefinition<Answer, [KeptCommand]> {
  /** Never set: it ties the content that the API keeps to the content that the activity reads. */
  readonly content?: Content;
}

/** Content of a command that says no more than its name, and is to be carried out once. */
export type NoContent = Record<string, never>;

/** Defines an update that carries a command with content. */
export function defineCommand<Answer, Content extends object>(name: string): CommandDefinition<Answer, Content> {
  return defineUpdate<Answer, [KeptCommand]>(name);
}

/** What a workflow knows of its object: read from PostgreSQL when its workflow starts, renewed by every activity. */
export interface LifecycleSnapshot {
  version: number;
  status: string;
  agenda: AgendaItem[];
  /** True when nothing is left to wait for. */
  ended: boolean;
  /** One line for operators: `active · period ends 2026-12-01T00:00Z`. */
  details: string;
  /** How long timers of real time are spread after the exact instant, in milliseconds. */
  spreadMs: number;
  /** The step at which the object is parked, when it is. */
  blockedOn: string | null;
  /** Reason for which it is parked there. Absent in snapshots of earlier releases. */
  blockedReason?: string | null;
}

/** Standing of an object when its workflow ended. */
export interface LifecycleResult {
  status: string;
  details: string;
}

/**
 * Sent by a test clock: do everything due up to `to`, then, instant after instant, what falls due until `through`, and answer. `again`
 * asks to be called once more, because the run rolls over in the middle of its work.
 */
export const settle = defineUpdate<{ again: boolean; parked: boolean }, [SettleRequest]>('settle');

export interface SettleRequest {
  to: string;
  /** Where nothing else of the clock shares anything with this object until then; absent otherwise. */
  through?: string;
}

/** Sent by an operator: try the step again at which the object was parked. */
export const retry = defineUpdate<{ performing: string }, []>('retry');

/**
 * The row changed without the workflow, or something it waits for happened elsewhere: load it again. What changed it tells the time that
 * the test clock showed then, which the workflow may not have heard of yet.
 */
export const rowChanged = defineSignal<[clockTime?: string | null]>('rowChanged');

/** What the workflow waits for now. */
export const waitingFor = defineQuery<WaitingFor>('waitingFor');

export interface WaitingFor {
  status: string;
  next: AgendaItem | null;
  blockedOn: string | null;
  /** Reason for which it is parked at `blockedOn`. */
  blockedReason: string | null;
  agenda: AgendaItem[];
  /** Instant at which somebody asked Temporal to cancel the workflow, in real time. It goes on: only the API ends what it looks after. */
  cancelRequestedAt: string | null;
}
