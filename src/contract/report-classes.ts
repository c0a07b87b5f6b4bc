/** The classes of the report: each thing is in exactly one of them. */
export const REPORT_CLASS_NAMES = [
  'in-sync',
  'processing',
  'local-only',
  'remote-only',
  'changed',
  'superseded',
  'missing-remotely',
  'needs-attention',
  'ignored',
  'unknown',
] as const

export type ReportClass = (typeof REPORT_CLASS_NAMES)[number]
