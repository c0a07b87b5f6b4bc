/** Whether a store may lack acknowledged uploads, as writers and readers see it. */
import { cpSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { openStore, openStoreReader } from '../../src/store/open-store.ts'
import { pinMirror } from '../support/record-file.ts'
import { temporaryDirectory } from '../support/temporary.ts'

function mayLackReceipts(directory: string): boolean | undefined {
  using reader = openStoreReader(directory)
  return reader?.mayLackReceipts()
}

test('a copy of a store may lack what was sent since', () => {
  const directory = temporaryDirectory()
  {
    using store = openStore(directory)
    store.write(() => pinMirror(store))
  }
  expect(mayLackReceipts(directory)).toBe(false)
  const copy = join(temporaryDirectory(), 'copy')
  cpSync(directory, copy, { recursive: true })
  expect(mayLackReceipts(copy)).toBe(true)
  {
    // A reader follows the writer's decision, whatever the generation record says.
    using holder = openStore(copy)
    expect([holder.mayLackReceipts(), mayLackReceipts(copy)]).toEqual([true, true])
    holder.write(() => holder.foreign.recordSearched(1))
    expect([holder.mayLackReceipts(), mayLackReceipts(copy)]).toEqual([false, false])
  }
  expect(mayLackReceipts(copy)).toBe(false)
})
