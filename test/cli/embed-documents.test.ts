import { expect, test } from 'vitest'
import { describeMissing, embedDocuments } from '../../src/cli/render/embed-documents.ts'
import { createProgress } from '../../src/sync/progress.ts'

test('embedding ends after its time, with what is missing then', async () => {
  let missing = 9
  const steps: number[] = []
  const embedFor = async (forMs: number) => {
    steps.push(forMs)
    if (forMs > 0) missing -= 1
    return { missing, isDone: false }
  }
  const progress = createProgress()
  // biome-ignore lint/suspicious/noExplicitAny: a quiet command draws nothing, so it needs nothing else
  const context = { quiet: true } as any
  const signal = new AbortController().signal
  const state = await embedDocuments(context, progress, embedFor, { limitMs: 0, signal })
  expect([state, steps]).toEqual([{ missing: 9, isDone: false }, [0]])
  expect(state && describeMissing(state)).toMatch(/^9 documents are compared by meaning once/)
})
