import { type Clock, type Moment, momentOf } from '../foundation/clock.ts'

/** `woke`: the machine or this process slept, or the clock was set forward. `clock`: it was set back. */
export type JumpKind = 'woke' | 'clock'

export interface HeartbeatInput {
  readonly clock: Clock
  readonly intervalMs: number
  onBeat(): void
  /** Called before `onBeat`; `byMs` is negative when the clock was set back. */
  onJump(kind: JumpKind, byMs: number): void
}

/** Smaller differences come from corrections of the clock and a busy machine. */
const MIN_JUMP_MS = 30_000
const BEATS_UNTIL_DEAD = 3

/** Beats every `intervalMs`. Errors are not caught: a daemon whose beats fail should be restarted. */
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
    /** The last beat is no older than three intervals. */
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

/** The monotonic clock may stop or continue while the machine sleeps. */
function reportJump(last: Moment, now: Moment, { intervalMs, onJump }: HeartbeatInput): void {
  const passedMs = now.monotonicMs - last.monotonicMs
  const driftMs = now.wallMs - last.wallMs - passedMs
  const lateMs = Math.max(0, passedMs - intervalMs)
  if (driftMs < -MIN_JUMP_MS) onJump('clock', driftMs)
  else if (driftMs + lateMs > MIN_JUMP_MS) onJump('woke', driftMs + lateMs)
}
