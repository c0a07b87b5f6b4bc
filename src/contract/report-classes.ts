const OTHER_CLASSES = [
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

/** The classes of the report; each entry is in exactly one of them. */
export const REPORT_CLASS_NAMES = ['in-sync', ...OTHER_CLASSES] as const

/**
 * The states that users see: the classes, three of which are divided. `without-text` is a part of `in-sync`, `gone` and `left-out` are
 * parts of `superseded`, `set-aside` and `unsupported` are parts of `needs-attention`.
 */
export const SHOWN_STATES = [
  'in-sync',
  'without-text',
  ...OTHER_CLASSES,
  'gone',
  'left-out',
  'set-aside',
  'unsupported',
] as const

export type ReportClass = (typeof REPORT_CLASS_NAMES)[number]
export type ShownState = (typeof SHOWN_STATES)[number]
