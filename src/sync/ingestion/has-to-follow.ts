import type { MirrorRow } from '../../store/tables/mirrors.ts'
import type { StoreContext } from '../engine.ts'

/** Whether a mirror has resources to poll, or to ask once for the warnings that an earlier version did not keep. */
export function hasToFollow({ store, clock }: StoreContext, row: MirrorRow): boolean {
  return (
    store.contents.countPending(row) > 0 ||
    store.contents.listDueForAnotherLook(row.id, clock.nowMs()).length > 0 ||
    store.contents.listWithUnreadWarnings(row.id, 1).length > 0
  )
}
