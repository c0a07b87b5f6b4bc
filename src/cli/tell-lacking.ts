import type { StoreReader } from '../store/open-store.ts'

/** What to say of a state that may have gone back; undefined when it has not. */
export function describeLacking(store: StoreReader | undefined): string | undefined {
  if (!store?.mayLack()) return undefined
  return 'The state was restored, copied, or is new: uploads that it does not know are looked for before anything is sent'
}
