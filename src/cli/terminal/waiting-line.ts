import type { MessageOutput } from './message-output.ts'

/** Shorter waits need no explanation. */
const SHOWN_AFTER_MS = 1_000
const REDRAW_MS = 200

/** Shows on a terminal what a command waits for, from the second second until its first output. */
export class WaitingLine {
  readonly #messages: MessageOutput
  readonly #isShown: boolean
  #timer: NodeJS.Timeout | undefined

  constructor(messages: MessageOutput, isShown: boolean) {
    this.#messages = messages
    this.#isShown = isShown
  }

  /** `what` names the activity and its object: `waiting for https://library.example.com`. */
  begin(what: string): void {
    this.end()
    if (!this.#isShown) return
    const startMs = performance.now()
    const show = () => {
      const elapsedMs = performance.now() - startMs
      if (elapsedMs >= SHOWN_AFTER_MS) this.#messages.draw(`${what} … ${Math.floor(elapsedMs / 1_000)} s`)
    }
    this.#timer = setInterval(show, REDRAW_MS).unref()
  }

  end(): void {
    if (!this.#timer) return
    clearInterval(this.#timer)
    this.#timer = undefined
    this.#messages.clear()
  }
}
