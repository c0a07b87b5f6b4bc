import { styleText } from 'node:util'
import type { CliIo } from './cli-io.ts'

export const COLOR_CHOICES = ['auto', 'always', 'never'] as const

export type ColorChoice = (typeof COLOR_CHOICES)[number]

/** Functions that colour a text. Their callers escape it first, so that control characters in foreign text have no effect. */
export interface Palette {
  /** Colours the sign that a line begins with, or the level of a log line. */
  line(text: string): string
  heading(text: string): string
  /** Dims details that few people read. */
  quiet(text: string): string
  /** Prints `**found words**` in bold instead of between stars. */
  excerpt(text: string): string
  progress(text: string): string
}

type Format = Parameters<typeof styleText>[0]

/** The colours of the signs with which lines begin. */
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
/** The level of a log line, or the name before an error's message. */
const LEVEL = /^((?:\d\d:\d\d:\d\d )?)(warn|error|shelfd:)(?= )/gm
const LEVELS: Readonly<Record<string, Format>> = { warn: 'yellow', error: 'red', 'shelfd:': 'red' }

const PLAIN: Palette = { line: same, heading: same, quiet: same, excerpt: same, progress: same }

const COLORED: Palette = {
  line: (text) =>
    text
      .replace(SIGN, (_, indent: string, sign: string) => indent + style(SIGNS[sign], sign))
      .replace(LEVEL, (_, time: string, level: string) => style('dim', time) + style(LEVELS[level], level)),
  heading: (text) => style('bold', text),
  quiet: (text) => style('dim', text),
  excerpt: (text) => text.replaceAll(/\*\*(.+?)\*\*/gs, (_, words: string) => style('bold', words)),
  progress: (text) => text.replace(/━+╸?/, (done) => style('green', done)).replace(/─+/, (left) => style('dim', left)),
}

/** Returns the palette for a stream: by `--color`, or else by NO_COLOR, FORCE_COLOR and the terminal, in this order. */
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
  // paletteOf has already decided whether the stream shows colours.
  return styleText(format, text, { validateStream: false })
}

function same(text: string): string {
  return text
}
