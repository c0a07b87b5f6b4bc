import { describeHold } from '../../rules/quota.ts'
import type { StoreReader } from '../../store/open-store.ts'
import { readAccount } from './stored-account.ts'

/** Why contents of a mirror wait, by the account of its last run, for people; null when no limit holds anything back. */
export function describeHeldBack(
  store: StoreReader,
  mirror: { readonly id: number; readonly name: string },
): string | null {
  const run = store.runs.last(mirror.id)
  const account = run && readAccount(run).find(({ name }) => name === mirror.name)
  return account?.uploads.heldBackBy.map(describeHold).join('; ') || null
}
