import type { AccessContext, LibrarySummary } from '../../contract/records.ts'

/** Whether the credential may add resources to a library. */
export function mayUpload({ access }: LibrarySummary, { abilities }: Pick<AccessContext, 'abilities'>): boolean {
  return access.includes('resource.create') || abilities.includes('library.all.resource.create')
}
