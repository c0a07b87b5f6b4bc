import type { ErrorCode } from '../../foundation/errors.ts'

/**
 * `unchecked`: the check was impossible, because another one failed; `warning`: shelfd works, and a person should know;
 * `failed`: something does not work until a person acts.
 */
export type Level = 'ok' | 'unchecked' | 'warning' | 'failed'

/** One result of a check. */
export interface Finding {
  readonly level: Level
  readonly message: string
  /** A command or a step that fixes it. */
  readonly remedy?: string | undefined
  /** The code of the error that other commands would report. */
  readonly code?: ErrorCode | undefined
}

export function ok(message: string): Finding {
  return { level: 'ok', message }
}

export function warning(message: string, remedy?: string): Finding {
  return { level: 'warning', message, remedy }
}

export function failed(message: string, { remedy, code }: Pick<Finding, 'remedy' | 'code'>): Finding {
  return { level: 'failed', message, remedy, code }
}
