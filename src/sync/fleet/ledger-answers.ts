import { joinLibraryPath } from '../../contract/library-path.ts'
import { INBOX_PATH } from '../../contract/routes.ts'
import { momentOf } from '../../foundation/clock.ts'
import { joinPath, nameOf } from '../../foundation/files/paths.ts'
import { escapeText } from '../../foundation/text/safe-text.ts'
import { HOUR_MS } from '../../foundation/text/times.ts'
import type { ClaimResult, LedgerLibrary, UploadPlace, WantedContent } from '../../ledger/ledger.ts'
import { quarantineLeftMs } from '../../rules/retry-delay.ts'
import type { SyncSummary } from '../../rules/sync-summary.ts'
import { OPEN_FILES_START, type OpenFile, type OpenFileCursor } from '../../store/tables/files.ts'
import type { MirrorContext } from '../engine.ts'
import { newAttempts, type RunAttempts } from '../pass.ts'
import { withdrawUpload } from '../progress.ts'
import { keyOf, type Membership } from './membership.ts'

/** The most files of one query to the store and of one call to the ledger. */
export const PAGE = 500

export interface AnswerOptions {
  readonly fleet: Membership
  readonly summary: SyncSummary
  readonly attempts: RunAttempts
  readonly needsDirectory: boolean
}

/** A content that this host would send, and the place to send it to. */
export interface Candidate extends UploadPlace {
  readonly contentId: number
  readonly sha256: Uint8Array
  readonly mime: string
  readonly sizeBytes: number
}

type AnswerOf<Kind extends ClaimResult['kind']> = Extract<ClaimResult, { kind: Kind }>

/** Builds the questions to the ledger about one mirror, and applies the answers to the store. */
export class LedgerAnswers {
  readonly #context: Pick<MirrorContext, 'engine' | 'mirror'>
  readonly #options: AnswerOptions

  constructor(context: Pick<MirrorContext, 'engine' | 'mirror'>, options: AnswerOptions) {
    this.#context = context
    this.#options = options
  }

  get library(): LedgerLibrary {
    const { origin, tenantId, remoteId } = this.#context.mirror.row.library
    return { origin, tenantId, remoteId }
  }

  listCandidates(files: readonly OpenFile[]): Candidate[] {
    const { store, clock } = this.#context.engine
    const { attempts } = this.#options
    return files.flatMap((file) => {
      const { contentId, sha256, mime, size: sizeBytes } = file
      if (attempts.exhausted.has(contentId)) return []
      const { state, retryAt, isSetAside } = store.contents.getUploadState(contentId)
      const isDue = isSetAside === 0 && quarantineLeftMs(retryAt, clock.nowMs()) === 0
      if (state !== 'new' && !(state === 'refused' && isDue)) return []
      return [{ contentId, sha256, mime, sizeBytes, ...this.placeOf(file) }]
    })
  }

  placeOf({ directory, name }: Pick<OpenFile, 'directory' | 'name'>): UploadPlace {
    const { remotePath } = this.#context.mirror.row
    const remoteDirectory = this.#options.needsDirectory ? joinLibraryPath(remotePath, directory) : INBOX_PATH
    return { path: joinPath(directory, name), remoteDirectory }
  }

  /** Applies the ledger's answer about a content to the store. Call it inside a transaction. */
  record(candidate: Candidate, result: ClaimResult): void {
    switch (result.kind) {
      case 'stored':
        this.#recordStored(candidate, result)
        break
      case 'refused':
        this.#recordRefused(candidate, result)
        break
      case 'doubtful':
        this.#recordDoubt(candidate, result)
        break
      case 'unreadable':
        this.#recordUnreadable(candidate, result)
        break
    }
  }

  #recordRefused({ contentId, path }: Candidate, result: AnswerOf<'refused'>): void {
    const { store } = this.#context.engine
    const { fleet, attempts } = this.#options
    const isOwn = result.host === fleet.name && result.message !== ''
    const message = isOwn ? result.message : describeForeign(result, path)
    store.contents.markRefused(contentId, { ...result, message })
    if (result.isSetAside) store.quarantine.setAside(contentId)
    // If this host's clock is ahead, the refusal may seem to be over already: this run does not try the content again.
    attempts.exhausted.add(contentId)
  }

  /** Refuses the content for an hour, because an upload may have arrived at a place that this version cannot read. */
  #recordUnreadable({ contentId, path }: Candidate, { host }: AnswerOf<'unreadable'>): void {
    const { store, clock, logger } = this.#context.engine
    const reason = `shelfd cannot read what host "${escapeText(host)}" recorded about it in the ledger; upgrade shelfd here if that host has a newer version`
    const message = `Cannot upload "${escapeText(nameOf(path))}": ${reason}`
    store.contents.markRefused(contentId, { code: 'ledger-unusable', message, retryAt: clock.nowMs() + HOUR_MS })
    this.#options.attempts.exhausted.add(contentId)
    logger.warn(message, { path })
  }

  /** Marks the content in doubt, and adds the places to which other hosts sent it, so that the search covers them. */
  #recordDoubt({ contentId }: Candidate, { places, host }: AnswerOf<'doubtful'>): void {
    const { store, clock } = this.#context.engine
    const { row, runId } = this.#context.mirror
    const recorded = new Set(store.uploads.listUnaccounted(contentId).map(keyOf))
    for (const place of places.filter((other) => !recorded.has(keyOf(other)))) {
      const begunAt = momentOf(clock)
      store.uploads.recordElsewhere({ contentId, mirrorId: row.id, ...place, runId, begunAt }, host)
    }
    if (store.contents.getUploadState(contentId).state !== 'doubt') store.contents.markInDoubt(contentId)
  }

  /** Records that another host has sent the content: files of this host with this content count as aliases. */
  #recordStored({ contentId, sizeBytes }: Candidate, { resourceId, outcome, host }: AnswerOf<'stored'>): void {
    const { store, clock, progress } = this.#context.engine
    const { row, runId } = this.#context.mirror
    const nowMs = clock.nowMs()
    const stored = { resourceId, isDuplicate: true, hasSecondLocation: false, mirrorId: row.id, runId, nowMs, host }
    store.contents.markStored(contentId, stored)
    if (outcome === 'searchable')
      store.contents.setIngestion(contentId, {
        status: 'completed',
        outcome,
        searchableAt: nowMs,
        note: null,
        seenAt: nowMs,
      })
    this.#options.summary.uploads.aliases += store.files.receiveAll(contentId)
    withdrawUpload(progress, sizeBytes)
  }
}

/** Records for a dry run which contents the ledger has as stored or refused, and claims nothing. */
export async function previewClaims(
  { engine, mirror }: Pick<MirrorContext, 'engine' | 'mirror'>,
  fleet: Membership,
  summary: SyncSummary,
): Promise<void> {
  const { store } = engine
  const options = { fleet, summary, attempts: newAttempts(), needsDirectory: false }
  const answers = new LedgerAnswers({ engine, mirror }, options)
  let files: readonly OpenFile[]
  for (let cursor: OpenFileCursor | undefined = OPEN_FILES_START; cursor; cursor = files.at(-1)) {
    files = store.files.listOpen(mirror.row.id, cursor, PAGE)
    const candidates = answers.listCandidates(files)
    const results = await fleet.peek(answers.library, candidates.map(wantedOf))
    engine.signal.throwIfAborted()
    const answered = new Map<number, [Candidate, ClaimResult]>()
    candidates.forEach((candidate, index) => {
      const result = results[index]
      if (result?.kind === 'stored' || result?.kind === 'refused')
        answered.set(candidate.contentId, [candidate, result])
    })
    store.write(() => answered.forEach(([candidate, result]) => void answers.record(candidate, result)))
  }
}

export function wantedOf({
  path,
  remoteDirectory,
  ...content
}: Candidate): WantedContent & Pick<Candidate, 'contentId'> {
  return { ...content, place: { path, remoteDirectory } }
}

/** Returns another host's message with the name of this host's file: `Cannot upload "b.md", as host "nas" could not: …`. */
function describeForeign({ message, host }: AnswerOf<'refused'>, path: string): string {
  const reason = message.replace(/^Cannot upload ".*?"(?:, as host ".*?" could not)?: /s, '')
  return `Cannot upload "${escapeText(nameOf(path))}", as host "${escapeText(host)}" could not: ${reason || 'that host keeps to itself what the service said'}`
}
