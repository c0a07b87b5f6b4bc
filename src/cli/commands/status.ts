import { setTimeout as sleep } from 'node:timers/promises'
import { openReader } from '../../app/open-engine.ts'
import { escapeText } from '../../foundation/text.ts'
import { formatSize } from '../../foundation/units.ts'
import { type MirrorStatus, readStatus } from '../../sync/status.ts'
import { defineCommand } from '../command.ts'
import type { CommandContext } from '../context.ts'
import { renderFields } from '../render/table.ts'

const WATCH_PAUSE_MS = 1_000
/** Problems that are spelled out for each mirror. */
const MOST_PROBLEMS = 10

export const statusCommand = defineCommand({
  name: 'status',
  summary: 'Show what is going on now',
  description:
    'For each mirror: its files by state, what waits to be sent, ingestion, the last run, problems. Asks only the store.',
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
  const mirrors = reader.store ? readStatus(reader.store) : []
  if (context.json) {
    context.printJson({ mirrors })
    return
  }
  if (redraws) context.io.stdout.write('\x1b[2J\x1b[H')
  if (mirrors.length === 0) context.print('Nothing was mirrored yet: see "shelfd sync --help"')
  for (const mirror of mirrors) showMirror(context, mirror)
}

function showMirror(context: CommandContext, mirror: MirrorStatus): void {
  const { files, queue, lastRun, problems } = mirror
  context.print(
    `${escapeText(mirror.name)}: ${escapeText(mirror.path)} → ${escapeText(mirror.library.name)}:${escapeText(mirror.remotePath)}`,
  )
  const fields = renderFields({
    files: `${files.known} known, ${files.searchable} searchable, ${files.inIngestion} in ingestion`,
    'to send': queue.contents === 0 ? 'nothing' : `${queue.contents} contents, ${formatSize(queue.bytes)}`,
    'in doubt': files.inDoubt || undefined,
    'need attention': files.needAttention || undefined,
    'directories to make': mirror.directoriesToMake || undefined,
    'last run': lastRun
      ? `${lastRun.run}: ${lastRun.verdict}, ${lastRun.finishedAt ?? `since ${lastRun.startedAt}`}`
      : 'none',
  })
  context.print(fields.replaceAll(/^/gm, '  '))
  for (const { path, code, message } of problems.slice(0, MOST_PROBLEMS)) {
    context.print(`  problem  ${escapeText(path) || '.'}: ${escapeText(message)} [${code}]`)
  }
  if (problems.length > MOST_PROBLEMS)
    context.print(`  and ${problems.length - MOST_PROBLEMS} more problems: shelfd report`)
}
