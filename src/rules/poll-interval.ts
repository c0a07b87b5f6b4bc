export interface PollIntervals {
  readonly firstPollMs: number
  readonly maxPollMs: number
  /** A resource that stays pending for longer is overdue. */
  readonly deadlineMs: number
}

/** Overdue resources are polled this many times less often. */
const OVERDUE_FACTOR = 20

/** The delay before poll number `polls + 1` of a resource: grows by half each time up to `maxPollMs`, with jitter. */
export function pollIntervalMs(
  { polls, isOverdue }: { readonly polls: number; readonly isOverdue: boolean },
  { firstPollMs, maxPollMs }: Omit<PollIntervals, 'deadlineMs'>,
  random: number,
): number {
  const grown = Math.min(maxPollMs, firstPollMs * 1.5 ** Math.min(polls, 64))
  return grown * (0.9 + 0.2 * random) * (isOverdue ? OVERDUE_FACTOR : 1)
}
