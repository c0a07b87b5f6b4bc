import { describe, expect, test } from 'vitest'
import { writeHandled } from '../../src/daemon/schedule/schedule.ts'
import { forgetRemoved } from '../../src/daemon/supervisor.ts'
import { openStore } from '../../src/store/open-store.ts'
import { isPaused, pauseMirrors } from '../../src/sync/operator/pause-mirrors.ts'
import { temporaryDirectory } from '../support/temporary.ts'

function recordSchedules(store: ReturnType<typeof openStore>, names: readonly string[]): void {
  const handled = { cron: '0 2 * * *', handledAt: 1, isUnderWay: false }
  store.write(() => {
    for (const name of names) writeHandled(store.keyValues, name, handled)
  })
}

describe('records of removed mirrors', () => {
  test('the records of a removed mirror are deleted, others stay', () => {
    using store = openStore(temporaryDirectory())
    pauseMirrors(store, ['papers', 'gone'])
    recordSchedules(store, ['papers', 'gone', 'unscheduled'])
    store.write(() => store.keyValues.set('other:gone', 'not of mirrors'))
    forgetRemoved(store, ['papers', 'unscheduled'], ['papers'])
    const keys = store.keyValues.list('').map(({ key }) => key)
    expect(keys).toEqual(['other:gone', 'pause:papers', 'schedule:papers'])
  })

  test('a pause of all mirrors stays when none is configured', () => {
    using store = openStore(temporaryDirectory())
    pauseMirrors(store, [])
    forgetRemoved(store, [], [])
    expect(isPaused(store, 'any')).toBe(true)
  })
})
