import type { StoreReader } from '../store/open-store.ts'

/** The message when the state may lack uploads that the service has; undefined otherwise. */
export function describeLacking(store: StoreReader | undefined): string | undefined {
  if (!store?.mayLack()) return undefined
  return 'The state is new, restored or copied: before it sends anything, shelfd looks for earlier uploads in the library'
}
