import { createRequire } from 'node:module'

const FIELDS: Readonly<Record<string, string>> = {
  minute: 'minute',
  hour: 'hour',
  dayOfMonth: 'day of the month',
  month: 'month',
  dayOfWeek: 'day of the week',
}

/**
 * Describes why the scheduler rejects an expression, as the end of a message; undefined when it accepts it. Seconds and
 * names such as @daily, which the scheduler knows, are rejected in a configuration.
 */
export function findCronFlaw(expression: string): string | undefined {
  const fields = expression.trim().split(/\s+/)
  if (fields.length !== 5) return ''
  const [error] = loadNodeCron().validateDetailed(fields.join(' ')).errors
  if (!error) return undefined
  const field = FIELDS[error.field]
  return field === undefined ? '' : ` (its ${field} cannot be ${JSON.stringify(error.value)})`
}

/** Loaded at the first expression, since most configurations have none. */
function loadNodeCron(): typeof import('node-cron') {
  return createRequire(import.meta.url)('node-cron')
}
