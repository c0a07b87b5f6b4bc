import { styleText } from 'node:util'
import type { CliIo } from './cli-io.ts'

export const COLOR_CHOICES = ['auto', 'always', 'never'] as const

export type ColorChoice = (typeof COLOR_CHOICES)[number]

/** Colours text for one stream. The text is escaped before, so that nothing from outside can colour or move anything. */
export interface Palette {
  /** Colours the sign that a line begins with, or the level of a log line. */
  line(text: string): string
  heading(text: string): string
  /** Prints `**found words**` in bold instead of between stars. */
  excerpt(text: string): string
  /** Colours the bar of a progress line. */
  progress(text: string): string
}

type Format = Parameters<typeof styleText>[0]

/** The beginnings of lines that get a colour: the mark of a check or a state, or the sign of a class of the report. */
const SIGNS: Readonly<Record<string, Format>> = {
  '✓': 'green',
  '=': 'green',
  '~': 'cyan',
  '→': 'cyan',
  '+': 'cyan',
  '-': 'dim',
  '*': 'yellow',
  '^': 'yellow',
  '!': 'yellow',
  warning: 'yellow',
  '?': 'red',
  '✗': 'red',
  FAILED: 'red',
}
const SIGN = /^( *)(✓|=|~|→|\+|-|\*|\^|!|warning|\?|✗|FAILED)(?= )/gm
/** The first word of a text log's line, after the time, and the name before the message of an error. */
const LEVEL = /^((?:\d\d:\d\d:\d\d )?)(warn|error|shelfd:)(?= )/gm
const LEVELS: Readonly<Record<string, Format>> = { warn: 'yellow', error: 'red', 'shelfd:': 'red' }

const PLAIN: Palette = { line: same, heading: same, excerpt: same, progress: same }

const COLORED: Palette = {
  line: (text) =>
    text
      .replace(SIGN, (_, indent: string, sign: string) => indent + style(SIGNS[sign], sign))
      .replace(LEVEL, (_, time: string, level: string) => style('dim', time) + style(LEVELS[level], level)),
  heading: (text) => style('bold', text),
  excerpt: (text) => text.replaceAll(/\*\*(.+?)\*\*/gs, (_, words: string) => style('bold', words)),
  progress: (text) => text.replace(/━+╸?/, (done) => style('green', done)).replace(/─+/, (left) => style('dim', left)),
}

/** Returns the palette of stdout or stderr. `--color` decides before NO_COLOR, that before FORCE_COLOR, and then the terminal. */
export function paletteOf(
  stream: 'stdout' | 'stderr',
  { isTerminal, env }: Pick<CliIo, 'isTerminal' | 'env'>,
  choice: ColorChoice,
): Palette {
  if (choice !== 'auto') return choice === 'always' ? COLORED : PLAIN
  if (env.NO_COLOR) return PLAIN
  if (env.FORCE_COLOR) return ['0', 'false'].includes(env.FORCE_COLOR) ? PLAIN : COLORED
  return isTerminal[stream] && env.TERM !== 'dumb' ? COLORED : PLAIN
}

function style(format: Format | undefined, text: string): string {
  if (format === undefined || text === '') return text
  // Whether the stream takes colours was decided before.
  return styleText(format, text, { validateStream: false })
}

function same(text: string): string {
  return text
}
