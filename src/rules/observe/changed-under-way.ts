const CHANGED: ReadonlySet<string> = new Set(['busy', 'vanished'])

/** Whether a problem says that its file changed or vanished after it was scanned: the file waits, and is read again. */
export function hasChangedUnderWay(code: string): boolean {
  return CHANGED.has(code)
}
