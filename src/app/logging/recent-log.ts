import type { LogLine } from '../../contract/dashboard.ts'
import type { RecentLog } from '../../dashboard/sources.ts'
import { type Logger, loggerTo } from '../../foundation/logger.ts'
import { createLogger } from './create-logger.ts'

const MAX_LINES = 500

export function keepRecent(logger: Logger, redact: (text: string) => string): { logger: Logger; recent: RecentLog } {
  const lines: LogLine[] = []
  let level: LogLine['level'] = 'info'
  let last = 0
  const write = (line: string) => {
    last += 1
    // The text of a line follows its level, which takes six columns.
    lines.push({ number: last, at: new Date().toISOString(), level, text: line.trimEnd().slice(6) })
    if (lines.length > MAX_LINES) lines.shift()
  }
  const text = createLogger({ format: 'text', level: 'info', withTime: false, write, redact })
  const kept = loggerTo((name, message, fields) => {
    logger[name](message, fields)
    if (name === 'debug') return
    level = name
    text[name](message, fields)
  })
  const recent = {
    get last() {
      return last
    },
    list: () => lines,
  }
  return { logger: kept, recent }
}
