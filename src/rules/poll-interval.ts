export interface PollIntervals {
  readonly firstPollMs: number
  readonly maxPollMs: number
  /** A resource that was followed for so long is overdue. */
  readonly deadlineMs: number
}

/** The pause before poll number `polls + 1` of one resource: growing by half each time, up to the longest. */
export function pollIntervalMs(polls: number, pace: Omit<PollIntervals, 'deadlineMs'>, random: number): number {
  const grown = Math.min(pace.maxPollMs, pace.firstPollMs * 1.5 ** Math.min(polls, 64))
  return grown * (0.9 + 0.2 * random)
}
