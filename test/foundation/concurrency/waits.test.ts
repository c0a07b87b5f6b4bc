import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { describe, expect, test } from 'vitest'
import { onAbort } from '../../../src/foundation/concurrency/waits.ts'

describe('listeners of one signal', () => {
  test('each listener is called once when the signal is aborted, unless it was disposed of', () => {
    const end = new AbortController()
    const called: string[] = []
    const listen = (name: string) => onAbort(end.signal, () => called.push(name))
    const [, second] = [listen('first'), listen('second'), listen('third')]
    second?.[Symbol.dispose]()
    second?.[Symbol.dispose]()
    end.abort()
    expect(called).toEqual(['first', 'third'])
  })

  test('a listener that is called may dispose of itself and of others, which are then not called', () => {
    const end = new AbortController()
    const called: string[] = []
    const listen = (name: string): Disposable =>
      onAbort(end.signal, () => {
        called.push(name)
        for (const listening of [first, second]) listening[Symbol.dispose]()
      })
    const [first, second] = [listen('first'), listen('second'), listen('third')] as const
    end.abort()
    expect(called).toEqual(['first', 'third'])
  })

  test('what a listener holds is freed soon after it has gone, although others listened before and after', () => {
    setFlagsFromString('--expose-gc')
    const collect: typeof gc = runInNewContext('gc')
    const { signal } = new AbortController()
    let listening = onAbort(signal, () => {})
    // A collection of the whole heap moves the first listener to the old objects, which later collections of young objects keep.
    collect?.()
    const beforeBytes = process.memoryUsage().heapUsed
    for (let count = 0; count < 1_000; count += 1) {
      const held = Array.from({ length: 10_000 }, () => 0)
      const next = onAbort(signal, () => held)
      listening[Symbol.dispose]()
      listening = next
    }
    collect?.({ type: 'minor' })
    expect(process.memoryUsage().heapUsed - beforeBytes).toBeLessThan(8 << 20)
  })
})
