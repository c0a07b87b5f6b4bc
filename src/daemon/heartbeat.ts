import { type Clock, type Moment, momentOf } from '../foundation/clock.ts'

/** `woke`: the machine or this process slept, or the clock was set forward. `clock`: the clock was set back. */
export type JumpKind = 'woke' | 'clock'

export interface HeartbeatInput {
  readonly clock: Clock
  readonly intervalMs: number
  onBeat(): void
  /** Called before `onBeat`; `byMs` is negative when the clock was set back. */
  onJump(kind: JumpKind, byMs: number): void
}

/** Smaller jumps are not reported: they come from small corrections of the clock and from a busy machine. */
const MIN_JUMP_MS = 30_000
const BEATS_UNTIL_DEAD = 3

/** Calls `onBeat` now and every `intervalMs`. Its errors are not caught: a daemon whose beats fail should be restarted. */
export function startHeartbeat(input: HeartbeatInput) {
  const { clock, intervalMs } = input
  const stop = new AbortController()
  let last = momentOf(clock)
  const beat = () => {
    const moment = momentOf(clock)
    reportJump(last, moment, input)
    last = moment
    input.onBeat()
  }
  beat()
  void repeat(beat, input, stop.signal)
  return {
    /** Returns whether the last beat is no older than three intervals. */
    isAlive: () => clock.monotonicMs() - last.monotonicMs <= intervalMs * BEATS_UNTIL_DEAD,
    [Symbol.dispose]: () => stop.abort(),
  }
}

async function repeat(beat: () => void, { clock, intervalMs }: HeartbeatInput, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    await clock.sleep(intervalMs, signal).catch(() => {})
    if (!signal.aborted) beat()
  }
}

/** Calls `onJump` for a jump of the wall clock and for a late beat, because not every system's monotonic clock runs during sleep. */
function reportJump(last: Moment, now: Moment, { intervalMs, onJump }: HeartbeatInput): void {
  const passedMs = now.monotonicMs - last.monotonicMs
  const driftMs = now.wallMs - last.wallMs - passedMs
  const lateMs = Math.max(0, passedMs - intervalMs)
  if (driftMs < -MIN_JUMP_MS) onJump('clock', driftMs)
  else if (driftMs + lateMs > MIN_JUMP_MS) onJump('woke', driftMs + lateMs)
}
