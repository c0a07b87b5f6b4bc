import { setTimeout as sleep } from 'node:timers/promises'
import { describeInactive, listRoster } from '../../app/mirror-roster.ts'
import { openReader } from '../../app/open-engine.ts'
import { connectToDaemon } from '../../daemon/control/connect-to-daemon.ts'
import type { DaemonStanding, MirrorStanding } from '../../daemon/standing.ts'
import { messageOf } from '../../foundation/errors.ts'
import { escapeText } from '../../foundation/text.ts'
import { formatSize } from '../../foundation/units.ts'
import type { MirrorActivity } from '../../rules/mirror-activity.ts'
import { type MirrorStatus, readStatus } from '../../sync/status.ts'
import { defineCommand } from '../command.ts'
import type { CommandContext } from '../context.ts'
import { describeMirrorStanding, showDaemon } from '../render/standing.ts'
import { standingJson } from '../render/standing-json.ts'
import { renderFields } from '../render/table.ts'

/** A mirror, and why it is synced by nobody who doesn't name it. */
interface ShownMirror extends MirrorStatus {
  readonly activity: MirrorActivity
  readonly inactive: string | null
}

const WATCH_PAUSE_MS = 1_000
/** Problems that are spelled out for each mirror. */
const MOST_PROBLEMS = 10

export const statusCommand = defineCommand({
  name: 'status',
  summary: 'Show what is going on now',
  description:
    'For each mirror: its files by state, what waits to be sent, ingestion, the last run, problems, and what a running daemon does for it. Asks only the store and the daemon.',
  positionals: {},
  options: { watch: { type: 'boolean', describe: 'Show it again every second until interrupted' } },
  examples: [
    ['status', 'where each mirror stands'],
    ['status --watch', 'the same, again and again, while a sync runs elsewhere'],
    ['status --json', 'for scripts'],
  ],
  exits: ['done', 'operator'],
  async run(context, args) {
    do {
      await showOnce(context, args.watch && context.io.isTerminal.stdout)
      if (args.watch) await sleep(WATCH_PAUSE_MS, undefined, { signal: context.signal }).catch(() => {})
    } while (args.watch && !context.signal.aborted)
    return args.watch ? 'interrupted' : 'done'
  },
})

async function showOnce(context: CommandContext, redraws: boolean): Promise<void> {
  await using reader = openReader(context.settings, {
    ...context.io,
    logger: context.logger,
    redactor: context.redactor,
  })
  const roster = listRoster(context.settings, reader.store?.mirrors.list() ?? [])
  const mirrors = (reader.store ? readStatus(reader.store) : []).map((mirror): ShownMirror => {
    const entry = roster.find(({ row }) => row?.name === mirror.name)
    return { ...mirror, activity: entry?.activity ?? 'active', inactive: (entry && describeInactive(entry)) ?? null }
  })
  const daemon = await askDaemon(context)
  if (context.json) {
    context.printJson({ mirrors, daemon: daemon && standingJson(daemon) })
    return
  }
  if (redraws) context.io.stdout.write('\x1b[2J\x1b[H')
  if (daemon) showDaemon(daemon, context.print)
  if (mirrors.length === 0 && !daemon) context.print('Nothing was mirrored yet: see "shelfd sync --help"')
  for (const mirror of mirrors)
    showMirror(
      context,
      mirror,
      daemon?.mirrors.find(({ name }) => name === mirror.name),
    )
  const names = new Set(mirrors.map(({ name }) => name))
  for (const standing of daemon?.mirrors ?? []) if (!names.has(standing.name)) showNewMirror(context, standing)
}

/** Null when none runs; one that does not answer is said, and the rest shown all the same. */
async function askDaemon({ settings, note }: CommandContext): Promise<DaemonStanding | null> {
  try {
    const daemon = await connectToDaemon(settings.stateDir)
    return (await daemon?.status()) ?? null
  } catch (error) {
    note(`The daemon does not say where it stands: ${escapeText(messageOf(error))}`)
    return null
  }
}

/** One that the daemon looks after and that was never passed over yet. */
function showNewMirror(context: CommandContext, standing: MirrorStanding): void {
  context.print(`${escapeText(standing.name)}: ${escapeText(standing.path)}`)
  context.print(indent(renderFields(describeMirrorStanding(standing))))
}

function showMirror(context: CommandContext, mirror: ShownMirror, standing: MirrorStanding | undefined): void {
  const { files, queue, lastRun, problems } = mirror
  context.print(
    `${escapeText(mirror.name)}: ${escapeText(mirror.path)} → ${escapeText(mirror.library.name)}:${escapeText(mirror.remotePath)}`,
  )
  const fields = renderFields({
    inactive: mirror.inactive,
    files: `${files.known} known, ${files.searchable} searchable, ${files.inIngestion} in ingestion`,
    'without text': files.withoutText ? `${files.withoutText} stored, but their text can't be searched` : undefined,
    'to send': queue.contents === 0 ? 'nothing' : `${queue.contents} contents, ${formatSize(queue.bytes)}`,
    'being sent': files.sending || undefined,
    'in doubt': files.inDoubt || undefined,
    'need attention': files.needAttention || undefined,
    'set aside': files.setAside || undefined,
    'directories to make': mirror.directoriesToMake || undefined,
    'last run': lastRun
      ? `${lastRun.run}: ${lastRun.verdict}, ${lastRun.finishedAt ?? `since ${lastRun.startedAt}`}`
      : 'none',
    paused: mirror.isPaused ? 'the daemon uploads nothing until "shelfd resume"' : undefined,
    ...(standing && describeMirrorStanding(standing)),
  })
  context.print(indent(fields))
  for (const { path, code, message } of problems.slice(0, MOST_PROBLEMS)) {
    context.print(`  problem  ${escapeText(path) || '.'}: ${escapeText(message)} [${code}]`)
  }
  if (problems.length > MOST_PROBLEMS)
    context.print(`  and ${problems.length - MOST_PROBLEMS} more problems: shelfd report`)
}

function indent(text: string): string {
  return text.replaceAll(/^/gm, '  ')
}
