import { counted, escapeText, truncateText } from '../../foundation/text/safe-text.ts'
import type { Cause } from './cause.ts'
import type { Notice } from './decide-notice.ts'

/** What is sent: `well` is the sign of life for services that miss it. */
export type NoticeEvent = 'failure' | 'recovery' | 'well' | 'test'

export interface NoticeMessage {
  readonly event: NoticeEvent
  readonly host: string
  /** ISO 8601 */
  readonly time: string
  /** One line. */
  readonly subject: string
  /** Some lines, with the subject's news in full. */
  readonly text: string
  readonly problems: readonly Cause[]
  readonly recovered: readonly Cause[]
  /** How many problems are not over. */
  readonly open: number
}

interface Sender {
  readonly host: string
  readonly nowMs: number
}

const MOST_CAUSES = 10
const LONGEST_MESSAGE = 300

/** Words a notice for people and programs; bounded whatever the causes are. */
export function describeNotice({ failures, recoveries, open }: Notice, sender: Sender): NoticeMessage {
  const problems = failures.map(bounded)
  const recovered = recoveries.map(bounded)
  const [first] = problems
  const earlier = open - problems.length
  const news =
    problems.length === 1 && first
      ? first.message
      : problems.length > 1
        ? counted(problems.length, 'new problem')
        : open === 0
          ? 'all is well again'
          : `${counted(recovered.length, 'problem')} solved, ${open} left`
  const lines = [
    ...listed('', problems),
    ...listed('Solved: ', recovered),
    ...(earlier > 0 && problems.length > 0 ? [`${counted(earlier, 'earlier problem')} not solved yet.`] : []),
    ...(open > 0 ? ['Look: shelfd status'] : []),
  ]
  return {
    ...messageOf(problems.length > 0 ? 'failure' : 'recovery', sender, news, lines),
    problems: problems.slice(0, MOST_CAUSES),
    recovered: recovered.slice(0, MOST_CAUSES),
    open,
  }
}

export function describeWell(sender: Sender): NoticeMessage {
  return messageOf('well', sender, 'all is well', [])
}

export function describeTest(sender: Sender): NoticeMessage {
  return messageOf('test', sender, 'this is a test', ['shelfd would tell you here when something goes wrong.'])
}

function messageOf(event: NoticeEvent, { host, nowMs }: Sender, news: string, lines: readonly string[]): NoticeMessage {
  const time = new Date(nowMs).toISOString()
  const subject = truncateText(`shelfd on ${host}: ${news}`, LONGEST_MESSAGE)
  return { event, host, time, subject, text: lines.join('\n'), problems: [], recovered: [], open: 0 }
}

function listed(label: string, causes: readonly Cause[]): string[] {
  const shown = causes
    .slice(0, MOST_CAUSES)
    .map(({ message, code }) => `${label}${message}${code === '' ? '' : ` [${code}]`}`)
  return causes.length > MOST_CAUSES ? [...shown, `${label}and ${causes.length - MOST_CAUSES} more`] : shown
}

function bounded({ key, code, message }: Cause): Cause {
  return { key: escapeText(key), code, message: truncateText(escapeText(message), LONGEST_MESSAGE) }
}
