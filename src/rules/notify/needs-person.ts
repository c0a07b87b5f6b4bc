/** Problems of files that the next run solves by itself: the file changes, or the service was away or busy. */
const PASSING: ReadonlySet<string> = new Set([
  'busy',
  'vanished',
  'upload-in-doubt',
  'service-unreachable',
  'service-unavailable',
  'service-throttling',
  'answer-late',
])

/** Whether somebody has to look at a problem of a file. */
export function needsPerson(code: string): boolean {
  return !PASSING.has(code)
}
