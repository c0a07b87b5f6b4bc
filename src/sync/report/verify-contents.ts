import { forEachConcurrently } from '../../foundation/concurrency/run-concurrently.ts'
import { classifyDownload, type DownloadFault } from '../../rules/report-class.ts'
import type { StoreReader } from '../../store/open-store.ts'
import type { MirrorRow } from '../../store/tables/mirrors.ts'
import type { SentContent } from '../../store/tables/report-queries.ts'
import { isOtherContent, readRemoteBytes } from '../doubts/search-for-content.ts'
import type { Connection, Engine } from '../engine.ts'
import { itemFailure } from '../item-failure.ts'
import { blankEntry, type ReportEntry, type ReportRow, rowOf } from './report-entry.ts'

interface VerifyContext extends Pick<Engine, 'service' | 'clock' | 'signal'> {
  readonly store: StoreReader
  readonly listConcurrency: number
}

const PAGE_SIZE = 500

export interface Verification {
  readonly contents: number
  /** The sum of the sizes of these contents. */
  readonly bytes: number
  readonly faults: readonly VerificationFault[]
}

interface VerificationFault {
  readonly content: SentContent
  readonly fault: DownloadFault
}

/** Downloads sent contents, a few at a time, and compares their SHA-256. Throws only errors that concern the whole service. */
export async function verifyContents(
  context: VerifyContext,
  row: MirrorRow,
  onVerified: (soFar: Verification) => void,
): Promise<Verification> {
  const connection = await context.service.connect(context.signal)
  const faults: VerificationFault[] = []
  const verification = { contents: 0, bytes: 0, faults }
  for (const page of sentContents(context, row)) {
    await forEachConcurrently(page, context.listConcurrency, async (content) => {
      const fault = await downloadAndCompare(context, connection, row, content)
      verification.contents += 1
      verification.bytes += content.size
      if (fault) faults.push({ content, fault })
      onVerified(verification)
    })
  }
  return verification
}

function* sentContents({ store }: VerifyContext, { id }: MirrorRow): Generator<readonly SentContent[]> {
  let afterId = 0
  for (;;) {
    const page = store.report.listSent(id, afterId, PAGE_SIZE)
    if (page.length > 0) yield page
    if (page.length < PAGE_SIZE) break
    afterId = page.at(-1)?.id ?? afterId
  }
  yield store.report.listSuperseded(id).flatMap((content) => {
    const { resourceId } = content
    return resourceId === null ? [] : [{ ...content, resourceId }]
  })
}

async function downloadAndCompare(
  context: VerifyContext,
  connection: Connection,
  { library }: MirrorRow,
  content: SentContent,
): Promise<DownloadFault | undefined> {
  try {
    const found = await readRemoteBytes(context, connection, content.resourceId, content)
    if (!found) return { kind: 'gone' }
    const isSame = found.sha256 !== undefined && !isOtherContent(found, content)
    return isSame ? undefined : { kind: 'different' }
  } catch (error) {
    const needed = { libraryId: library.remoteId, right: 'read' } as const
    const failure = await itemFailure(error, connection, needed, context.signal)
    if (failure) return { kind: 'unread', message: failure.message }
    throw error
  }
}

/** Yields the rows. A row with a fault gets the class of the fault; a fault without a row gets one. */
export function* markFaults(rows: Iterable<ReportRow>, faults: readonly VerificationFault[]): Generator<ReportRow> {
  const byResource = new Map(faults.map((found) => [found.content.resourceId, found]))
  const unseen = new Set(faults)
  for (const row of rows) {
    const { entry } = row
    const found = entry.resourceId === null ? undefined : byResource.get(entry.resourceId)
    if (found) unseen.delete(found)
    yield found ? markRow(entry, found) : row
  }
  for (const found of unseen) yield markRow(entryOf(found), found)
}

/** Also marks an entry that was set aside, because the user ignored only its failed ingestion. */
function markRow(entry: ReportEntry, { fault }: VerificationFault): ReportRow {
  const { class: reportClass, reason } = classifyDownload(fault, entry)
  return rowOf({ ...entry, class: reportClass, reason })
}

function entryOf({ content }: VerificationFault): ReportEntry {
  const { path, size, sha256, mime, resourceId } = content
  const blank = blankEntry(path, { class: 'unknown', reason: null })
  return { ...blank, size, sha256: sha256.toString('hex'), mime, resourceId }
}
