interface TimedShape {
  readonly mtimeNs: bigint
  readonly ctimeNs: bigint
}

/** Milliseconds from a file's newest time to `nowMs`, by the wall clock; negative when that time is in the future. */
export function ageMsOf({ mtimeNs, ctimeNs }: TimedShape, nowMs: number): number {
  const newestNs = mtimeNs > ctimeNs ? mtimeNs : ctimeNs
  return nowMs - Number(newestNs / 1_000_000n)
}

/** Whether a file has been unchanged for `settleMs` by its own times; otherwise the caller must watch it for that time. */
export function isSettled(file: TimedShape, nowMs: number, settleMs: number): boolean {
  return ageMsOf(file, nowMs) >= settleMs
}
