/** What of a mirror's directory is scanned, by its settings. */
export interface ScanRules {
  readonly ignore: readonly string[]
  readonly maxSizeBytes: number | null
  readonly oneFileSystem: boolean
  readonly emptyFiles: 'upload' | 'skip'
}

/** Returns the rules alone of settings that hold more, so that they can be passed to a thread. */
export function scanRulesOf({ ignore, maxSizeBytes, oneFileSystem, emptyFiles }: ScanRules): ScanRules {
  return { ignore, maxSizeBytes, oneFileSystem, emptyFiles }
}
