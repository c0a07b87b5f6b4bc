import type { StoreReader } from '../store/open-store.ts'

/** The message when the state may lack uploads that the service has; undefined otherwise. */
export function describeLacking(store: StoreReader | undefined): string | undefined {
  if (!store?.mayLack()) return undefined
  return 'The state was restored, copied, or is new: uploads that it does not know are looked for before anything is sent'
}
