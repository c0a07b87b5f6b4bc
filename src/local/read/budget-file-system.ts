import type { FileSystem } from './file-system.ts'

export interface ReadBudget {
  /** Calls, and entries of listings. */
  readonly calls: number
  readonly bytes: number
}

export interface BudgetedFileSystem {
  readonly fs: FileSystem
  /** True when a call failed or would fail now; callers then discard the results they derived from earlier answers. */
  isSpent(): boolean
}

/** A file system whose calls fail, but for closing, once the budget is used up or `isLate`. */
export function budgetFileSystem(
  fs: FileSystem,
  { calls, bytes }: ReadBudget,
  isLate: () => boolean,
): BudgetedFileSystem {
  let callsLeft = calls
  let bytesLeft = bytes
  const isSpent = () => callsLeft < 0 || bytesLeft < 0
  const spend = (name: string, answer: unknown) => {
    if (Array.isArray(answer)) callsLeft -= answer.length
    if (name.startsWith('read') && typeof answer === 'number') bytesLeft -= answer
    if (isLate()) callsLeft = -1
  }
  const limited = new Proxy(fs, {
    get: (target, name: keyof FileSystem) => {
      const call: unknown = Reflect.get(target, name)
      if (typeof call !== 'function' || name === 'closeSync') return call
      return (...args: unknown[]) => {
        callsLeft -= 1
        if (isSpent()) throw new Error('This walk has read enough')
        const answer: unknown = Reflect.apply(call, target, args)
        spend(name, answer)
        return answer
      }
    },
  })
  return { fs: limited, isSpent }
}
