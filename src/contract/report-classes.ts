const OTHERS = [
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

/** The classes of the report: each thing is in exactly one of them. */
export const REPORT_CLASS_NAMES = ['in-sync', ...OTHERS] as const

/**
 * What people are shown: the classes, with three parts of them shown apart. These are stored files without searchable text (of `in-sync`),
 * entries that are not files or were set aside (of `needs-attention`), and what no newer version replaces (of `superseded`).
 */
export const SHOWN_STATES = [
  'in-sync',
  'without-text',
  ...OTHERS,
  'gone',
  'left-out',
  'set-aside',
  'unsupported',
] as const

export type ReportClass = (typeof REPORT_CLASS_NAMES)[number]
export type ShownState = (typeof SHOWN_STATES)[number]
