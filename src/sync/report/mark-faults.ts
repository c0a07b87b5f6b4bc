import { classifyDownload } from '../../rules/report-class.ts'
import { blankEntry } from './build-entry.ts'
import type { ReportEntry, ReportRow } from './report-entry.ts'
import type { VerificationFault } from './verify-contents.ts'

/** Yields the rows, those of faulty contents in the class of their fault; a fault that no row shows gets one of its own. */
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

/** A content that was set aside is named all the same: that concerned its ingestion, not its bytes. */
function markRow(entry: ReportEntry, { fault }: VerificationFault): ReportRow {
  const { class: reportClass, reason } = classifyDownload(fault, entry)
  return {
    entry: { ...entry, class: reportClass, reason },
    isElsewhere: false,
    isSetAside: false,
    isUnsupported: false,
    kindWithoutText: null,
  }
}

function entryOf({ content }: VerificationFault): ReportEntry {
  const { path, size, sha256, mime, resourceId } = content
  return {
    ...blankEntry(path, { class: 'unknown', reason: null }),
    size,
    sha256: sha256.toString('hex'),
    mime,
    resourceId,
  }
}
