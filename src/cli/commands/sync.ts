import { describeUnusedGitignore } from '../../app/mirrors/check-roots.ts'
import { awaitMounts, chooseMirrors } from '../../app/mirrors/choose-mirrors.ts'
import { openRunner, type Runner } from '../../app/open-runner.ts'
import { callAfter } from '../../foundation/clock.ts'
import { HeldBackError, UsageError } from '../../foundation/errors.ts'
import { freeBytesOf } from '../../foundation/files/free-bytes.ts'
import { withTilde } from '../../foundation/files/home.ts'
import { counted, escapeText } from '../../foundation/text/safe-text.ts'
import { formatDuration, formatSize, MAX_DURATION_TEXT, parseDuration } from '../../foundation/text/units.ts'
import type { RetryPolicy } from '../../rules/retry-delay.ts'
import { type RunOutcome, runOutcome, verdictOf } from '../../rules/run-outcome.ts'
import type { RunSummary } from '../../rules/sync-summary.ts'
import type { MirrorRow } from '../../store/tables/mirrors.ts'
import type { MirrorSettings } from '../../sync/engine.ts'
import { verifySearch } from '../../sync/report/verify-search.ts'
import type { RunResult } from '../../sync/run/run-sync.ts'
import { assertMayRun, ROOT_OPTIONS } from '../allow-root.ts'
import { defineCommand } from '../command.ts'
import type { CommandContext } from '../context.ts'
import type { ExitName } from '../exit-codes.ts'
import { withProgress } from '../render/progress-line.ts'
import { renderRunSummary } from '../render/run-summary.ts'
import { announceHowToNameFiles, announceStop, FirstSync, logOfRun, nameFiles } from '../render/sync-messages.ts'
import { askLine } from '../terminal/prompts.ts'

const EXIT_OF: Readonly<Record<RunOutcome, ExitName>> = {
  done: 'done',
  failures: 'failed',
  temporary: 'temporary',
  pending: 'pending',
  'held-back': 'heldBack',
  interrupted: 'interrupted',
}

export const command = defineCommand({
  description: [
    'Without arguments it syncs all mirrors. shelfd never deletes, moves or overwrites anything, local or remote.',
    '',
    'One pass over each mirror: scan, hash, create directories, upload what is new, follow its ingestion, print a summary. A',
    'directory that no mirror names becomes a mirror of its own, in the embedded library or in the one that --to names. When a',
    'daemon holds the state directory, the daemon does the pass, also for paused mirrors.',
  ].join('\n'),
  positionals: {
    mirrors: {
      type: 'string',
      array: true,
      describe: 'Names of mirrors, or directories',
      placeholder: 'MIRROR|DIR',
      completes: 'mirrors',
    },
  },
  options: {
    to: {
      type: 'string',
      describe: 'Library (and path) for a directory',
      placeholder: 'LIBRARY[:/path]',
      completes: 'libraries',
    },
    'dry-run': {
      type: 'boolean',
      alias: 'n',
      describe: 'Only print how much it would send, with -v each file',
    },
    'no-wait': { type: 'boolean', describe: 'Do not wait for ingestion' },
    'wait-timeout': {
      type: 'string',
      describe: 'How long to wait for ingestion, such as 30m',
      placeholder: 'DURATION',
    },
    'verify-search': {
      type: 'boolean',
      describe: 'After the run, search for a phrase from each of some new text documents; exit 1 when one is not found',
    },
    checksum: { type: 'boolean', describe: 'Hash every file again' },
    'max-duration': {
      type: 'string',
      describe: 'Start no new upload after this time, such as 2h',
      placeholder: 'DURATION',
    },
    'min-age': {
      type: 'string',
      describe: 'Leave files that changed within this time, such as 1h, to a later run',
      placeholder: 'DURATION',
    },
    'accept-removals': { type: 'boolean', describe: 'Continue although many files are gone' },
    'accept-root': { type: 'boolean', describe: 'Accept that another directory is at the path now' },
    adopt: {
      type: 'boolean',
      describe: 'Continue with what the library already holds there; it is not paid for again',
    },
    yes: {
      type: 'boolean',
      describe:
        'Do not ask before mirroring a home or system directory, or before sending more than 1 GiB to this computer',
    },
    ...ROOT_OPTIONS,
    report: { type: 'boolean', describe: 'Print the report after the summary; not with --json' },
  },
  rareOptions: [
    'wait-timeout',
    'verify-search',
    'min-age',
    'accept-removals',
    'accept-root',
    'adopt',
    'yes',
    'allow-root',
  ],
  settingFlags: [
    'transfers',
    'checkers',
    'bwlimit',
    'max-new',
    'max-new-bytes',
    'max-new-per-day',
    'requests-per-second',
    'in-ingestion',
    'retry-for',
    'embedder',
  ],
  examples: [
    ['sync ~/Papers', 'mirror a directory, later what changed'],
    ['sync papers --dry-run', 'print what it would send'],
    ['sync ~/Papers --to Research', 'into a library of the service'],
    ['sync --no-wait --max-new 100', 'send at most 100 new files'],
  ],
  exits: ['done', 'failed', 'rootMissing', 'pending', 'temporary', 'refused', 'heldBack', 'locked', 'operator'],
  async run(context, args) {
    assertMayRun(context, args.allowRoot)
    const waitMs = args.noWait
      ? 0
      : readDuration('--wait-timeout', args.waitTimeout, context.settings.ingestion.deadlineMs)
    if (args.verifySearch && (args.dryRun || waitMs === 0))
      throw new UsageError('bad-usage', '--verify-search searches for what was sent: leave out --dry-run and --no-wait')
    const signal = withDeadline(context, args.maxDuration)
    await using runner = await openRunner(context.settings, {
      ...context.io,
      logger: logOfRun(context),
      redactor: context.redactor,
      signal,
      isDryRun: args.dryRun,
      fileLog: nameFiles(context),
      retry: retryPolicyOf(context),
      onOutage: context.onOutage,
      beforeUploads: (bytes) => confirmRoom(context, bytes, args.yes),
    })
    warnOfIgnoredFlags(context, runner)
    const { storedMirrors } = runner
    const { cwd, home } = context.io
    const choice = { words: args.mirrors, to: args.to, cwd, home, storedMirrors }
    await awaitMounts(context.settings, choice, signal)
    const mirrors = chooseMirrors(context.settings, choice)
    const asks = !args.yes && !args.dryRun
    const acceptsBreadth = asks ? await confirmBroadRoot(context, mirrors, storedMirrors) : args.yes
    const options = {
      waitMs,
      hashEverything: args.checksum,
      isDryRun: args.dryRun,
      acceptsRemovals: args.acceptRemovals,
      adopts: args.adopt,
      acceptsRoot: args.acceptRoot,
      acceptsBreadth,
      minAgeMs: args.minAge === undefined ? null : readDuration('--min-age', args.minAge, 0),
    }
    using _stopping = announceStop(context, runner)
    const firstSync = new FirstSync(context, runner, mirrors)
    firstSync.begin(args.dryRun)
    const ran = await withProgress(context, runner.progress, () => runner.run(mirrors, options))
    const result = args.verifySearch && !ran.failure ? await checkSearch(context, runner, ran) : ran
    const { summary, outcome, failure } = result
    if (context.json) context.printJson(summary)
    else if (!context.quiet || summary.verdict !== 'ok') renderRunSummary(result, context.printText)
    announceUnusedGitignore(context, mirrors, summary)
    if (failure) throw failure
    if (args.dryRun) announceHowToNameFiles(context, summary)
    if (args.report && !args.dryRun && !context.json) {
      const { printReport } = await import('../render/report/print-report.ts')
      const names = summary.mirrors.map(({ name }) => name)
      await printReport(context, runner.reportContext(), names)
    }
    if (waitMs > 0 && !args.dryRun) await embedNew(context, runner, summary, signal)
    await firstSync.end(summary)
    return EXIT_OF[outcome]
  },
})

/** Names mirrors that have an unused `.gitignore`, if the run has sent files of them. */
function announceUnusedGitignore(
  context: CommandContext,
  settings: readonly MirrorSettings[],
  { mirrors }: RunSummary,
) {
  if (context.json || context.quiet) return
  for (const { path, gitignore } of settings) {
    const unused = describeUnusedGitignore(path, gitignore)
    const hasSent = mirrors.some((mirror) => mirror.path === path && mirror.uploads.created > 0)
    if (unused !== undefined && hasSent) context.announce(`${escapeText(path)} ${unused}`)
  }
}

/** Returns how a run retries: for longer than other commands. Messages name the flag and the setting for this time. */
function retryPolicyOf({ settings, settingFlags }: CommandContext): RetryPolicy {
  const { retryForMs: forMs } = settings.limits
  const forWords = `--retry-for ${settingFlags['retry-for'] ?? formatDuration(forMs)} (limits.retryFor)`
  return { attempts: Number.POSITIVE_INFINITY, firstDelayMs: 500, maxDelayMs: 30_000, forMs, forWords }
}

function warnOfIgnoredFlags({ logger, settingFlags }: CommandContext, { ignoredFlags }: Runner): void {
  const flags = ignoredFlags.filter((flag) => settingFlags[flag] !== undefined).map((flag) => `--${flag}`)
  if (flags.length === 0) return
  logger.warn('the daemon does this run with its own limits; these flags have no effect', { flags: flags.join(' ') })
}

function readDuration(flag: string, text: string | undefined, byDefault: number): number {
  if (text === undefined) return byDefault
  const durationMs = parseDuration(text)
  if (durationMs === undefined) {
    throw new UsageError(
      'bad-usage',
      `Cannot read ${flag} "${text}": it must be a duration such as 90s, 30m or 2h, up to ${MAX_DURATION_TEXT}`,
    )
  }
  return durationMs
}

/** Returns a signal that aborts with the context's, and after `--max-duration`. */
function withDeadline({ signal }: CommandContext, maxDuration: string | undefined): AbortSignal {
  if (maxDuration === undefined) return signal
  const deadline = new AbortController()
  const reason = new HeldBackError(
    'limit-reached',
    `Stopped after --max-duration ${maxDuration}; the next run continues`,
  )
  callAfter(readDuration('--max-duration', maxDuration, 0), () => deadline.abort(reason))
  return AbortSignal.any([signal, deadline.signal])
}

const EMBEDDING_LIMIT_MS = 30_000

/** Embeds the documents that a run has sent. They are searchable by words already, so a stop does not change the exit code. */
async function embedNew(
  context: CommandContext,
  { progress, embedFor }: Runner,
  { mirrors }: RunSummary,
  signal: AbortSignal,
): Promise<void> {
  const isNew = mirrors.some(({ ingestion }) => ingestion.searchable + ingestion.warnings + ingestion.partial > 0)
  if (!isNew || !embedFor || signal.aborted) return
  const { embedDocuments, describeMissing } = await import('../render/embed-documents.ts')
  const state = await embedDocuments(context, progress, embedFor, { limitMs: EMBEDDING_LIMIT_MS, signal })
  if (state && !state.isDone) context.announce(describeMissing(state))
}

/** Searches for new documents, and returns the result with a problem for each document that is not found. */
async function checkSearch({ announce }: CommandContext, runner: Runner, result: RunResult): Promise<RunResult> {
  const { summary } = result
  let tried = 0
  let missed = 0
  const mirrors = []
  for (const mirror of summary.mirrors) {
    const check = await verifySearch(runner.reportContext(), mirror.name, summary.run)
    tried += check.tried
    missed += check.problems.length
    mirrors.push({ ...mirror, problems: [...mirror.problems, ...check.problems] })
  }
  if (tried === 0) announce('No new text document to search for.')
  else announce(`A search found ${tried - missed} of ${counted(tried, 'new text document')} by a phrase from it.`)
  if (missed === 0) return result
  const outcome = runOutcome(mirrors, true)
  return { ...result, outcome, summary: { ...summary, verdict: verdictOf(outcome), mirrors } }
}

const MANY_BYTES = 2 ** 30

/** Says how much space many new contents take, and asks on a terminal. Throws HeldBackError if the user does not agree. */
async function confirmRoom(context: CommandContext, bytes: number, isConfirmed: boolean): Promise<void> {
  if (bytes <= MANY_BYTES) return
  const { dataDir } = context.settings.service
  const free = formatSize(freeBytesOf(dataDir))
  const where = escapeText(withTilde(context.io.home, dataDir))
  context.announce(
    `The library on this computer (${where}) takes up to ${formatSize(bytes)} more; ${free} are free there.`,
  )
  if (isConfirmed || !context.io.isTerminal.stdin) return
  const answer = await askLine(context, 'Send all of it? [y/N] ')
  if (!/^y(?:es)?$/i.test(answer.trim())) throw new HeldBackError('confirmation-needed', 'Nothing new was sent')
}

/** Asks about each new mirror of a home or system directory. Returns false without a terminal; throws HeldBackError for a refusal. */
async function confirmBroadRoot(
  context: CommandContext,
  mirrors: readonly MirrorSettings[],
  storedMirrors: readonly MirrorRow[],
): Promise<boolean> {
  if (!context.io.isTerminal.stdin) return false
  for (const { name, path, breadth } of mirrors) {
    if (breadth === null || storedMirrors.some((row) => row.name === name)) continue
    const answer = await askLine(context, `Mirroring "${escapeText(path)}" sends ${breadth}. Is this intended? [y/N] `)
    if (/^y(?:es)?$/i.test(answer.trim())) continue
    throw new HeldBackError('confirmation-needed', `"${path}" is not mirrored: it holds ${breadth}`)
  }
  return true
}
