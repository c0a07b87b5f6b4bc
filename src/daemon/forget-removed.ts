import type { Store } from '../store/open-store.ts'
import { forgetPause, listPauseKeys } from '../sync/pause.ts'
import { forgetHandled, listHandled } from './schedule/handled-batch.ts'

/** The existing mirrors, and those of them with a schedule. */
interface Kept {
  readonly names: readonly string[]
  readonly scheduled: readonly string[]
}

/** Forgets pauses of removed mirrors and handled times of removed schedules, so that later ones start afresh. */
export function forgetRemoved(store: Store, { names, scheduled }: Kept): void {
  const pauses = listPauseKeys(store).filter((name) => !names.includes(name))
  const schedules = listHandled(store.keyValues).filter((name) => !scheduled.includes(name))
  if (pauses.length + schedules.length === 0) return
  store.write(() => {
    for (const name of pauses) forgetPause(store, name)
    for (const name of schedules) forgetHandled(store.keyValues, name)
  })
}
