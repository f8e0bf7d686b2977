import type { Scope } from '../db/scope.ts';

/** Usage that goes on arriving is told of this often. */
const noticeEveryMs = 500;

/**
 * Tells that marked usage arrived in an environment: at once, and while more keeps arriving twice a second.
 * What is told is only that there is something to look at; the marks are rows.
 */
export class UsageNotices {
  readonly #tell: (scope: Scope) => void;
  readonly #quiet = new Map<string, { timer: NodeJS.Timeout; again: Scope | null }>();

  constructor(tell: (scope: Scope) => void) {
    this.#tell = tell;
  }

  arrived(scope: Scope): void {
    const quiet = this.#quiet.get(scope.environmentId);
    if (quiet) {
      quiet.again = scope;
      return;
    }
    this.#tell(scope);
    const timer = setTimeout(() => {
      const again = this.#quiet.get(scope.environmentId)?.again;
      this.#quiet.delete(scope.environmentId);
      if (again) this.arrived(again);
    }, noticeEveryMs);
    this.#quiet.set(scope.environmentId, { timer, again: null });
  }

  /** Tells what waits and forgets the rest. */
  close(): void {
    for (const { timer, again } of this.#quiet.values()) {
      clearTimeout(timer);
      if (again) this.#tell(again);
    }
    this.#quiet.clear();
  }
}
