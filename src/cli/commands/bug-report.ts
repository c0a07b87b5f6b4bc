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
    'Prints what is needed to find a fault, as Markdown: versions, the configuration in force, what "shelfd doctor" finds, the counts of',
    'each mirror, and the last runs. The report contains no token, and neither the name nor the text of any file; but it names mirrors,',
    'directories, libraries and addresses. Read it before you hand it on.',
  ].join('\n'),
  settingFlags: CONNECTION_FLAGS,
  examples: [['bug-report > bug.md', 'a file to read and to attach to an issue']],
  exits: ['done'],
  async run(context) {
    await using doctor = await openDoctor(context)
    const parts: Part[] = [
      { title: 'Program', language: 'json', text: await renderProgram(context) },
      { title: 'Configuration', language: 'yaml', text: await renderConfiguration(context) },
      { title: 'Checks', language: 'text', text: await runAllChecks(doctor) },
      ...(await describeStore(() => doctor.store())),
    ]
    // The path of the home directory often contains a person's name. Tokens are redacted already.
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

async function renderProgram({ io, config }: CommandContext): Promise<string> {
  const { describeProgram } = await import('../../app/describe-program.ts')
  return inLines(describeProgram(io, config))
}

/** Returns the configuration as YAML; if it is invalid, the error instead, because the report may be about that. */
async function renderConfiguration({ io, config, settingFlags }: CommandContext): Promise<string> {
  const { explainSettings } = await import('../../app/settings/explain-settings.ts')
  const { renderConfigYaml } = await import('../render/config-yaml.ts')
  try {
    return renderConfigYaml(explainSettings({ ...io, flags: { ...settingFlags, config } }).root)
  } catch (error) {
    return `# ${messageOf(error)}`
  }
}

async function runAllChecks(doctor: Awaited<ReturnType<typeof openDoctor>>): Promise<string> {
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
      // Only the codes, because the paths and messages of problems name files.
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
