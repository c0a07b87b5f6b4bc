import { hintFor } from '../app/hints-and-remedies.ts'
import type { LogFormat } from '../app/settings/settings.ts'
import { messageOf, ShelfdError } from '../foundation/errors.ts'
import { escapeText } from '../foundation/text/safe-text.ts'
import { exitCodeOf } from './exit-codes.ts'
import { type CliIo, wordingFor } from './terminal/cli-io.ts'
import { COLOR_CHOICES, type ColorChoice, paletteOf } from './terminal/palette.ts'

export interface Shown {
  commandName: string | undefined
  withStack: boolean
  logFormat: LogFormat
  readonly color: ColorChoice
  redact: (text: string) => string
}

/** A sentence and a hint for people, or one line of a JSON log. */
export async function reportError(error: unknown, io: CliIo, shown: Shown): Promise<void> {
  const hint = hintFor(error, shown.commandName)
  const stack = shown.withStack ? await stackOf(error) : undefined
  const { chooseLogFormat } = await import('../app/logging/create-logger.ts')
  if (chooseLogFormat(shown.logFormat, io.env) === 'json') return logError(error, io, shown, { hint, stack })
  const parts = [`shelfd: ${messageOf(error)}`, ...(hint ? [hint] : []), ...(stack ? [stack] : [])]
  const lines = parts.join('\n').split('\n').map(escapeText)
  const palette = paletteOf('stderr', io, shown.color)
  io.stderr.write(`${palette.line(wordingFor(io, 'stderr')(shown.redact(lines.join('\n  '))))}\n`)
}

async function stackOf(error: unknown): Promise<string | undefined> {
  if (!(error instanceof Error) || error.stack === undefined) return undefined
  const { stackInSources } = await import('../foundation/text/stack-in-sources.ts')
  return stackInSources(error.stack)
}

async function logError(
  error: unknown,
  { stderr }: CliIo,
  { redact }: Shown,
  fields: { readonly hint: string | undefined; readonly stack: string | undefined },
): Promise<void> {
  const { createLogger } = await import('../app/logging/create-logger.ts')
  const write = (line: string) => void stderr.write(line)
  const logger = createLogger({ format: 'json', level: 'error', withTime: true, write, redact })
  const code = error instanceof ShelfdError ? error.code : 'unexpected'
  logger.error(messageOf(error), { code, ...fields, exitCode: exitCodeOf(error) })
}

/** For errors before the configuration was read. */
export function typedLogFormat(argv: readonly string[], env: CliIo['env']): LogFormat {
  const format = typedValue(argv, '--log-format') ?? env.SHELFD_LOG_FORMAT
  return format === 'json' || format === 'text' ? format : 'auto'
}

export function typedColor(argv: readonly string[]): ColorChoice {
  const color = typedValue(argv, '--color')
  return COLOR_CHOICES.find((choice) => choice === color) ?? 'auto'
}

export function typedValue(argv: readonly string[], flag: string): string | undefined {
  const at = argv.findLastIndex((word) => word === flag || word.startsWith(`${flag}=`))
  if (at === -1) return undefined
  const [, attached] = argv[at]?.split('=') ?? []
  return attached ?? argv[at + 1]
}
