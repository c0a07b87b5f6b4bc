import type { Checked } from '../../app/doctor/run-checks.ts'
import { messageOf } from '../../foundation/errors.ts'
import type { StoreReader } from '../../store/open-store.ts'
import { readHistory } from '../../sync/report/run-history.ts'
import { readStatus } from '../../sync/report/status-of-mirrors.ts'
import { defineCommand } from '../command.ts'
import type { CommandContext } from '../context.ts'
import { CONNECTION_FLAGS } from '../global-options.ts'
import { openDoctor } from './doctor.ts'

const MAX_RUNS = 20

export const command = defineCommand({
  description: [
    'Prints, as Markdown, what someone needs who is to find a fault: versions, the configuration in force, what "shelfd doctor" finds,',
    "each mirror's counts, and the last runs. It has no token, and neither the name nor the text of any file; it names mirrors, directories,",
    'libraries and addresses. Read it before you hand it on.',
  ].join('\n'),
  settingFlags: CONNECTION_FLAGS,
  examples: [['bug-report > bug.md', 'a file to read and to attach to an issue']],
  exits: ['done'],
  async run(context) {
    await using doctor = await openDoctor(context)
    const parts: Part[] = [
      { title: 'Program', language: 'json', text: await describe(context) },
      { title: 'Configuration', language: 'yaml', text: await configuration(context) },
      { title: 'Checks', language: 'text', text: await checks(doctor) },
      ...(await describeStore(() => doctor.store())),
    ]
    // The home directory often has a person's name. No token is printed, since the checks have redacted it.
    const { home } = context.io
    const shown = parts.map((part) => ({ ...part, text: home === '' ? part.text : part.text.replaceAll(home, '~') }))
    if (context.json) context.printJson(Object.fromEntries(shown.map(({ title, text }) => [title.toLowerCase(), text])))
    else for (const part of shown) context.print(render(part))
  },
})

interface Part {
  readonly title: string
  readonly language: 'json' | 'yaml' | 'text'
  readonly text: string
}

function render({ title, language, text }: Part): string {
  return `## ${title}\n\n\`\`\`${language}\n${text}\n\`\`\`\n`
}

async function describe({ io, config }: CommandContext): Promise<string> {
  const { describeProgram } = await import('../../app/describe-program.ts')
  return inLines(describeProgram(io, config))
}

/** An invalid configuration is replaced by its error, since the report may be about it. */
async function configuration({ io, config, settingFlags }: CommandContext): Promise<string> {
  const { explainSettings } = await import('../../app/settings/explain-settings.ts')
  const { renderConfigYaml } = await import('../render/config-yaml.ts')
  try {
    return renderConfigYaml(explainSettings({ ...io, flags: { ...settingFlags, config } }).root)
  } catch (error) {
    return `# ${messageOf(error)}`
  }
}

async function checks(doctor: Awaited<ReturnType<typeof openDoctor>>): Promise<string> {
  const { CHECKS, runChecks } = await import('../../app/doctor/run-checks.ts')
  const findings: Checked[] = []
  for await (const finding of runChecks(CHECKS, doctor)) findings.push(finding)
  return findings.map(({ check, level, message }) => `${level} ${check}: ${message}`).join('\n')
}

async function describeStore(openStore: () => Promise<StoreReader | undefined>): Promise<Part[]> {
  try {
    const store = await openStore()
    if (!store) return []
    const mirrors = readStatus(store).map(({ problems, lastRun, ...mirror }) => ({
      ...mirror,
      lastRun: lastRun && {
        verdict: lastRun.verdict,
        startedAt: lastRun.startedAt,
        failure: lastRun.failure?.code ?? null,
      },
      // The paths and messages of problems name files.
      problems: countCodes(problems),
    }))
    return [
      { title: 'Mirrors', language: 'json', text: inLines(mirrors) },
      { title: 'Runs', language: 'json', text: inLines(readHistory(store, { limit: MAX_RUNS, mirror: undefined })) },
    ]
  } catch (error) {
    return [{ title: 'Mirrors', language: 'text', text: messageOf(error) }]
  }
}

function countCodes(problems: readonly { readonly code: string }[]): Record<string, number> {
  return Object.fromEntries([...Map.groupBy(problems, ({ code }) => code)].map(([code, each]) => [code, each.length]))
}

function inLines(value: unknown): string {
  return JSON.stringify(value, undefined, 2)
}
