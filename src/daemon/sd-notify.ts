import type { Clock } from '../foundation/clock.ts'
import { messageOf } from '../foundation/errors.ts'
import type { Logger } from '../foundation/logger.ts'
import { describeFailure, runProgram } from '../foundation/run-program.ts'
import { escapeText, truncateText } from '../foundation/text/safe-text.ts'

type Environment = Readonly<Record<string, string | undefined>>

/** Lines are `NAME=value`. */
export type SendMessage = (lines: readonly string[], env: Environment) => Promise<unknown>

export interface NotifierInput {
  /** systemd sets NOTIFY_SOCKET, WATCHDOG_USEC and WATCHDOG_PID. */
  readonly env: Environment
  readonly run?: SendMessage
  readonly clock: Clock
  readonly logger: Logger
}

const STATUS_INTERVAL_MS = 3_000
const SEND_TIMEOUT_MS = 10_000
const MAX_STATUS_LENGTH = 400

/** Reports to the service manager, in order; sends nothing if none listens. No method throws, or waits until a message is sent. */
export class Notifier {
  readonly #input: NotifierInput
  readonly #stop = new AbortController()
  #tail: Promise<void> = Promise.resolve()
  #shown = ''
  #next = ''
  #isThrottled = false
  #hasFailed = false

  constructor(input: NotifierInput) {
    this.#input = input
    if (!input.env.NOTIFY_SOCKET) this.#stop.abort()
  }

  /** Also ends a reload. */
  ready(status: string): void {
    this.#next = toStatus(status)
    void this.#send(['READY=1', this.#takeStatus()])
  }

  /** Sends the status when it changes, at most every three seconds; the last one is always sent. */
  status(text: string): void {
    this.#next = toStatus(text)
    if (!this.#isThrottled && !this.#stop.signal.aborted) void this.#showStatus()
  }

  reloading(): void {
    // systemd compares with the kernel's monotonic clock; performance.now() starts at 0 with the process.
    void this.#send(['RELOADING=1', `MONOTONIC_USEC=${process.hrtime.bigint() / 1_000n}`])
  }

  /** Later calls send nothing. */
  stopping(): void {
    void this.#send(['STOPPING=1', ...(this.#next === this.#shown ? [] : [this.#takeStatus()])])
    this.#stop.abort()
  }

  /** Sends a sign of life at half of the service manager's limit while `isAlive` returns true. */
  startWatchdog(isAlive: () => boolean): Disposable {
    const stop = new AbortController()
    const intervalMs = watchdogIntervalMs(this.#input.env)
    const signal = AbortSignal.any([stop.signal, this.#stop.signal])
    if (intervalMs !== undefined) void this.#watch(intervalMs, isAlive, signal)
    return { [Symbol.dispose]: () => stop.abort() }
  }

  async #showStatus(): Promise<void> {
    this.#isThrottled = true
    while (this.#next !== this.#shown) {
      void this.#send([this.#takeStatus()])
      if (!(await this.#wait(STATUS_INTERVAL_MS, this.#stop.signal))) break
    }
    this.#isThrottled = false
  }

  async #watch(intervalMs: number, isAlive: () => boolean, signal: AbortSignal): Promise<void> {
    while (await this.#wait(intervalMs, signal)) {
      if (isAlive()) await this.#send(['WATCHDOG=1'])
    }
  }

  /** Returns false if `signal` ended the sleep early. */
  #wait(durationMs: number, signal: AbortSignal): Promise<boolean> {
    return this.#input.clock.sleep(durationMs, signal).then(
      () => true,
      () => false,
    )
  }

  #takeStatus(): string {
    this.#shown = this.#next
    return `STATUS=${this.#shown}`
  }

  #send(lines: readonly string[]): Promise<void> {
    if (!this.#stop.signal.aborted) this.#tail = this.#tail.then(() => this.#deliver(lines))
    return this.#tail
  }

  /** Logs only the first failure, because the daemon does not depend on the service manager. */
  async #deliver(lines: readonly string[]): Promise<void> {
    const { env, run = runSystemdNotify, logger } = this.#input
    try {
      await run(lines, { NOTIFY_SOCKET: env.NOTIFY_SOCKET, PATH: env.PATH })
    } catch (error) {
      if (!this.#hasFailed) logger.warn('Cannot notify the service manager', { reason: escapeText(messageOf(error)) })
      this.#hasFailed = true
    }
  }
}

/** Returns undefined if systemd does not watch this process. */
function watchdogIntervalMs({ WATCHDOG_USEC: allowed, WATCHDOG_PID: pid }: Environment): number | undefined {
  if (pid && Number(pid) !== process.pid) return undefined
  const allowedMs = Number(allowed) / 1_000
  return allowedMs > 0 ? allowedMs / 2 : undefined
}

function toStatus(text: string): string {
  return truncateText(escapeText(text), MAX_STATUS_LENGTH)
}

/** Sends by a program that waits until systemd has read the message, because systemd identifies the sender by its process. */
async function runSystemdNotify(lines: readonly string[], env: Environment): Promise<void> {
  const call = { program: 'systemd-notify', args: lines, env, timeoutMs: SEND_TIMEOUT_MS }
  const { failure } = await runProgram(call)
  if (failure) throw new Error(describeFailure(call, failure))
}
