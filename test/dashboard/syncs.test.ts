import { expect, test } from 'vitest'
import { OutageTracker } from '../../src/dashboard/outage-tracker.ts'
import { DashboardSyncs } from '../../src/dashboard/syncs.ts'

test('a sync that waits for its turn names the mirror that it waits for', async () => {
  const turns = new Map(['notes', 'papers'].map((name) => [name, Promise.withResolvers<void>()]))
  const sync = async (names: readonly string[]) => void (await turns.get(names.join())?.promise)
  const syncs = new DashboardSyncs(sync, new OutageTracker(() => {}))
  const waits = () => ['notes', 'papers'].map((name) => [syncs.isRunning(name), syncs.waitsFor(name)])
  syncs.begin(['notes', 'papers'])
  const NOTHING = [false, null]
  await expect.poll(waits).toEqual([
    [true, null],
    [true, 'notes'],
  ])
  turns.get('notes')?.resolve()
  await expect.poll(waits).toEqual([NOTHING, [true, null]])
  turns.get('papers')?.resolve()
  await expect.poll(waits).toEqual([NOTHING, NOTHING])
})
