const OTHERS = [
  'processing',
  'local-only',
  'remote-only',
  'changed',
  'superseded',
  'missing-remotely',
  'needs-attention',
  'unsupported',
  'ignored',
  'unknown',
] as const

/** The classes of the report: each thing is in exactly one of them. */
export const REPORT_CLASS_NAMES = ['in-sync', ...OTHERS] as const

/** What people are shown: the classes, and apart from `in-sync` the files that are stored without searchable text. */
export const SHOWN_STATES = ['in-sync', 'without-text', ...OTHERS] as const

export type ReportClass = (typeof REPORT_CLASS_NAMES)[number]
export type ShownState = (typeof SHOWN_STATES)[number]
