const secondMs = 1_000;

/**
 * Pace of an endpoint with a rate limit: so many requests at most begin within any second of real time. It remembers those of the last
 * second and has no timer. spec: platform §17.4
 */
export class Rate {
  /** Beginnings within the last second, the earliest first. */
  readonly #beginnings: number[] = [];

  /**
   * Takes a place for a request that begins at `nowMs`, a time that never goes back, and answers 0; with none left it answers the
   * milliseconds until there is one. `limit` is requests per second, null for none.
   */
  take(limit: number | null, nowMs: number): number {
    if (limit === null) return 0;
    const beginnings = this.#beginnings;
    const firstRecent = beginnings.findIndex((beganMs) => nowMs - beganMs < secondMs);
    beginnings.splice(0, firstRecent === -1 ? beginnings.length : firstRecent);
    const last = beginnings.at(-limit);
    if (last !== undefined) return last + secondMs - nowMs;
    beginnings.push(nowMs);
    return 0;
  }
}
