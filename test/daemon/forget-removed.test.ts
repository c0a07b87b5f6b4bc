import { describe, expect, test } from 'vitest'
import { forgetRemoved } from '../../src/daemon/forget-removed.ts'
import { writeHandled } from '../../src/daemon/schedule/handled-batch.ts'
import { openStore } from '../../src/store/open-store.ts'
import { isPaused, pauseMirrors } from '../../src/sync/pause.ts'
import { temporaryDirectory } from '../support/temporary.ts'

function noteSchedules(store: ReturnType<typeof openStore>, names: readonly string[]): void {
  const handled = { cron: '0 2 * * *', handledAt: 1, isUnderWay: false }
  store.write(() => {
    for (const name of names) writeHandled(store.keyValues, name, handled)
  })
}

describe('notes of mirrors', () => {
  test('go with the mirror, others stay', () => {
    using store = openStore(temporaryDirectory())
    pauseMirrors(store, ['papers', 'gone'])
    noteSchedules(store, ['papers', 'gone', 'unscheduled'])
    store.write(() => store.keyValues.set('other:gone', 'not of mirrors'))
    forgetRemoved(store, { names: ['papers', 'unscheduled'], scheduled: ['papers'] })
    const keys = store.keyValues.list('').map(({ key }) => key)
    expect(keys).toEqual(['other:gone', 'pause:papers', 'schedule:papers'])
  })

  test('of all mirrors are kept with none', () => {
    using store = openStore(temporaryDirectory())
    pauseMirrors(store, [])
    forgetRemoved(store, { names: [], scheduled: [] })
    expect(isPaused(store, 'any')).toBe(true)
  })
})
