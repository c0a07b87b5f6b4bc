import type { Clock } from '../../foundation/clock.ts'
import type { FileSystem } from './file-system.ts'

export interface ReadAmount {
  readonly files: number
  readonly bytes: number
}

export type OnRead = (amount: ReadAmount) => void

/** How often amounts are reported: a counter that stands still for longer looks like a program that hangs. */
const REPORT_EVERY_MS = 200

/** Counts what is read through `fs`, and reports it also in the middle of a large directory or file. */
export class ReadMeter {
  readonly fs: FileSystem
  readonly #clock: Clock
  readonly #report: OnRead
  #files = 0
  #bytes = 0
  #reportedAtMs: number

  constructor(fs: FileSystem, clock: Clock, report: OnRead) {
    this.#clock = clock
    this.#report = report
    this.#reportedAtMs = clock.monotonicMs()
    const readSync: FileSystem['readSync'] = (...args) => {
      const bytes = fs.readSync(...args)
      this.#bytes += bytes
      this.#reportInTime()
      return bytes
    }
    this.fs = Object.assign(Object.create(fs), { readSync })
  }

  readonly countFile = (): void => {
    this.#files += 1
    this.#reportInTime()
  }

  flush(): void {
    this.#reportedAtMs = this.#clock.monotonicMs()
    if (this.#files + this.#bytes === 0) return
    this.#report({ files: this.#files, bytes: this.#bytes })
    this.#files = 0
    this.#bytes = 0
  }

  #reportInTime(): void {
    if (this.#clock.monotonicMs() - this.#reportedAtMs >= REPORT_EVERY_MS) this.flush()
  }
}
