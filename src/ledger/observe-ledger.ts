import type { Ledger } from './ledger.ts'

export interface LedgerCall {
  readonly name: Exclude<keyof Ledger, symbol>
  readonly durationMs: number
  readonly error: unknown
}

/** Reports each call with its duration to `observe`, which delays no caller. `nowMs` is monotonic. */
export function observeLedger(ledger: Ledger, nowMs: () => number, observe: (call: LedgerCall) => void): Ledger {
  const observed = <A extends unknown[], R>(name: LedgerCall['name'], method: (...values: A) => Promise<R>) => {
    return (...values: A): Promise<R> => {
      const startMs = nowMs()
      const end = (error?: unknown) => observe({ name, durationMs: nowMs() - startMs, error })
      const answer = method.apply(ledger, values)
      answer.then(() => end(), end)
      return answer
    }
  }
  return {
    open: observed('open', ledger.open),
    renew: observed('renew', ledger.renew),
    claim: observed('claim', ledger.claim),
    peek: observed('peek', ledger.peek),
    settle: observed('settle', ledger.settle),
    close: observed('close', ledger.close),
    closeSilent: observed('closeSilent', ledger.closeSilent),
    takeFollowUps: observed('takeFollowUps', ledger.takeFollowUps),
    publish: observed('publish', ledger.publish),
    [Symbol.asyncDispose]: () => ledger[Symbol.asyncDispose](),
  }
}
