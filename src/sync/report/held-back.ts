import { describeHold } from '../../rules/limits.ts'
import type { StoreReader } from '../../store/open-store.ts'
import { readAccount } from './stored-account.ts'

/** Explains to people which limits held back contents of a mirror in its last run; null if none did. */
export function describeHeldBack(
  store: StoreReader,
  mirror: { readonly id: number; readonly name: string },
): string | null {
  const run = store.runs.last(mirror.id)
  const account = run && readAccount(run).find(({ name }) => name === mirror.name)
  return account?.uploads.heldBackBy.map(describeHold).join('; ') || null
}
