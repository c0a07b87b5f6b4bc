/** What identifies a file system, where the system tells it. */
export interface Volume {
  readonly id: string | null
  readonly sizeBytes: number | null
}

/** Whether two file systems may be one: by their identifiers, or by their sizes where an identifier is not known. */
export function mayBeSameVolume(pinned: Volume, found: Volume): boolean {
  if (pinned.id !== null && found.id !== null) return pinned.id === found.id
  return pinned.sizeBytes === null || found.sizeBytes === null || pinned.sizeBytes === found.sizeBytes
}
