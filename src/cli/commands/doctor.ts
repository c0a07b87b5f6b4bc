import type { DoctorContext } from '../../app/doctor/doctor-context.ts'
import type { Checked } from '../../app/doctor/run-checks.ts'
import type { Draft } from '../../app/settings/draft.ts'
import { escapeText } from '../../foundation/text/safe-text.ts'
import type { Level } from '../../rules/doctor-findings.ts'
import { defineCommand } from '../command.ts'
import type { CommandContext } from '../context.ts'
import { type ExitName, exitOfCode, worstExit } from '../exit-codes.ts'
import { CONNECTION_FLAGS } from '../global-options.ts'
import { displayWidth, wrapText } from '../render/layout.ts'
import { showsSymbols } from '../terminal/cli-io.ts'

export const command = defineCommand({
  description: [
    'Checks the configuration, permissions, mirrors, the connection to the service, the credential and its rights, what the OpenAPI of',
    'the service shows, the state, disk, watches, clock, service manager and daemon. It changes nothing, and can run beside a daemon.',
    'Each line begins with a mark: ✓ works, - not checked, ! worth knowing, ✗ does not work; if there is a remedy, the line ends with it.',
    'With failures it exits with the exit code of the worst one; with warnings only, it exits 0.',
  ].join('\n'),
  settingFlags: CONNECTION_FLAGS,
  examples: [
    ['doctor', 'check everything'],
    ['doctor --json', 'the same for scripts'],
  ],
  exits: ['done', 'failed', 'rootMissing', 'temporary', 'refused', 'heldBack', 'locked', 'operator'],
  async run(context) {
    const { CHECKS, runChecks } = await import('../../app/doctor/run-checks.ts')
    await using doctor = await openDoctor(context)
    const layout = {
      marks: showsSymbols(context.io) ? SYMBOLS : WORDS,
      nameWidth: Math.max(...CHECKS.map(({ name }) => name.length)),
      columns: context.columns,
    }
    const findings: Checked[] = []
    const showNext = () => context.showWait(`checking ${CHECKS[findings.length]?.name ?? ''}`)
    showNext()
    for await (const finding of runChecks(CHECKS, doctor)) {
      findings.push(finding)
      if (!context.json) context.printText(renderFinding(asTypedHere(finding, context), layout))
      if (findings.length < CHECKS.length) showNext()
    }
    const exits = findings.map(({ level, code }): ExitName => (level === 'failed' ? exitOfCode(code) : 'done'))
    const verdict =
      (['failed', 'warning'] as const).find((level) => findings.some((one) => one.level === level)) ?? 'ok'
    if (context.json) context.printJson({ verdict, checks: findings.map(toJson) })
    return worstExit(exits)
  },
})

/** Applies `asTyped` to a finding before its lines are wrapped, because commands may become longer. */
function asTypedHere({ message, remedy, ...finding }: Checked, { io: { asTyped = String } }: CommandContext): Checked {
  return { ...finding, message: asTyped(message), remedy: remedy && asTyped(remedy) }
}

type Marks = Readonly<Record<Level, string>>

export const SYMBOLS: Marks = { ok: '✓', unchecked: '-', warning: '!', failed: '✗' }
export const WORDS: Marks = { ok: 'ok     ', unchecked: '-      ', warning: 'warning', failed: 'FAILED ' }

interface Layout {
  readonly marks: Marks
  readonly nameWidth: number
  /** Columns of the terminal; undefined for a file or a pipe, whose lines are not wrapped. */
  readonly columns: number | undefined
}

/** Renders a finding in one line; if the terminal is too narrow, the remedy gets a line of its own, because users copy it. */
export function renderFinding(
  { check, level, message, remedy }: Checked,
  { marks, nameWidth, columns }: Layout,
): string {
  const head = `${marks[level]} ${check.padEnd(nameWidth)}  `
  const lines = message.split('\n').map(escapeText)
  const hint = remedy === undefined ? '' : ` → ${escapeText(remedy)}`
  const whole = `${head}${lines.join('; ')}${hint}`
  if (columns === undefined || displayWidth(whole) <= columns) return whole
  const indent = head.length
  const text = lines.map((line) => wrapText(line, columns, indent)).join(`\n${' '.repeat(indent)}`)
  return `${head}${text}${hint === '' ? '' : `\n${' '.repeat(indent - 1)}${hint}`}`
}

function toJson({ check, level, message, remedy, code }: Checked) {
  return { check, level, message, remedy: remedy ?? null, code: level === 'failed' ? (code ?? null) : null }
}

/** How long one check may take. */
const LIMIT_MS = 5_000

export async function openDoctor(context: CommandContext, draft?: Draft): Promise<DoctorContext> {
  const { openDoctorContext, thisMachine } = await import('../../app/doctor/doctor-context.ts')
  const { io, settingFlags, redactor, signal } = context
  const { env, cwd, home } = io
  return openDoctorContext({
    env,
    cwd,
    home,
    redactor,
    signal,
    flags: { ...settingFlags, config: draft?.configFile ?? context.config },
    readSettings: draft?.readSettings ?? context.readSettings,
    ...(draft && { readFile: draft.readFile }),
    machine: thisMachine,
    limitMs: LIMIT_MS,
  })
}
