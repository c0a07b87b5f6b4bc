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
 * What people are shown: the classes, but files that are stored without searchable text apart from `in-sync`, what is no file or was
 * set aside apart from `needs-attention`, and apart from `superseded` what no newer version replaces.
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
