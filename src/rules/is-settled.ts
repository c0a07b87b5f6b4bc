interface TimedShape {
  readonly mtimeNs: bigint
  readonly ctimeNs: bigint
}

/** Milliseconds since a file's newest time, by the wall clock; negative when that time is yet to come. */
export function ageMsOf({ mtimeNs, ctimeNs }: TimedShape, nowMs: number): number {
  const newestNs = mtimeNs > ctimeNs ? mtimeNs : ctimeNs
  return nowMs - Number(newestNs / 1_000_000n)
}

/** Whether a file's own times say that it was quiet for `settleMs`; otherwise somebody must watch it for so long. */
export function isSettled(file: TimedShape, nowMs: number, settleMs: number): boolean {
  return ageMsOf(file, nowMs) >= settleMs
}
