import type { DoctorContext } from '../../app/doctor/doctor-context.ts'
import type { Checked } from '../../app/doctor/run-checks.ts'
import type { Draft } from '../../app/settings/draft.ts'
import { defineCommand } from '../command.ts'
import type { CommandContext } from '../context.ts'
import { type ExitName, exitOfCode, worstExit } from '../exit-codes.ts'
import { CONNECTION_FLAGS } from '../global-options.ts'
import { renderFinding, SYMBOLS, WORDS } from '../render/findings.ts'
import { showsSymbols } from '../terminal/cli-io.ts'

export const command = defineCommand({
  description: [
    "Checks the configuration, permissions, mirrors, the connection to the service, the credential and its rights, what the instance's",
    'OpenAPI shows, the state, disk, watches, clock, service manager and daemon. It changes nothing, and runs beside a daemon.',
    'Each line has a mark: ✓ good, ! worth knowing, ✗ does not work; where there is one, it ends with what fixes it. Warnings',
    'exit with 0, failures with the code that the worst of them has elsewhere.',
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

/** Before lines are wrapped, since commands may be longer as they are typed here. */
function asTypedHere({ message, remedy, ...finding }: Checked, { io: { asTyped = String } }: CommandContext): Checked {
  return { ...finding, message: asTyped(message), remedy: remedy && asTyped(remedy) }
}

function toJson({ check, level, message, remedy, code }: Checked) {
  return { check, level, message, remedy: remedy ?? null, code: level === 'failed' ? (code ?? null) : null }
}

/** The time that one check may take. */
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
