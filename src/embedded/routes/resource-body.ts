import { joinLibraryPath } from '../../contract/library-path.ts'
import type { AssetRecord } from '../../contract/records.ts'
import { ingestionOutcome } from '../../contract/states.ts'
import { isoTime } from '../../foundation/text/times.ts'
import type { Tables } from '../database/open-tables.ts'
import { type StoredPassage, type TraceDetail, traceDetail } from '../database/passages-table.ts'
import type { ResourceRow } from '../database/resources-table.ts'
import { stringList } from '../database/string-list.ts'
import { assetIdentifier } from '../identifiers.ts'
import { durationOf } from '../video/video-pictures.ts'

const MAX_PATHS = 1_000
const ABSTRACT_LENGTH = 300

/** Returns the fields that complete records of a resource and compact search results have in common. */
export function resourceHead(tables: Tables, resource: ResourceRow) {
  const library = tables.libraries.byId(resource.libraryId)
  const earlier = tables.versions.earlierOf(resource.id)
  return {
    id: resource.publicId,
    title: resource.title,
    library: { id: library?.publicId, name: library?.name },
    paths: tables.locations
      .ofResource(resource.id, MAX_PATHS)
      .map(({ path, filename }) => joinLibraryPath(path, filename)),
    mime_type: resource.mimeType,
    size: resource.sizeBytes,
    ingestion_status: resource.status,
    created_at: isoTime(resource.createdAtMs),
    superseded_by: tables.versions.successorIdOf(resource.id),
    earlier_versions: earlier && { count: earlier.count, newest_created_at: isoTime(earlier.createdAtMs) },
  }
}

/** Returns the complete record of a resource with these assets. Its abstract is made of `first`, its first passage with text. */
export function resourceBody(
  tables: Tables,
  resource: ResourceRow,
  assets: readonly AssetRecord[],
  first = tables.passages.from(resource.id, 0, 1)[0],
) {
  return {
    ...resourceHead(tables, resource),
    text_extracted: textExtracted(resource, first !== undefined),
    properties: JSON.parse(resource.properties),
    ingestion_warnings: stringList(resource.warnings),
    ingestion_error: resource.failure,
    abstract: first ? abstractOf(first.text) : null,
    assets,
  }
}

/** Returns whether ingestion extracted text, or the file is empty; undefined if ingestion has not ended or has failed. */
function textExtracted({ status }: ResourceRow, hasText: boolean): boolean | undefined {
  if (ingestionOutcome(status) !== 'searchable' && status !== 'partial') return undefined
  return hasText || status === 'completed'
}

/** Returns the record of a text asset (2.11 Assets); its `text` is cut to `maxLength` characters. */
export function assetBody(resource: ResourceRow, passage: StoredPassage, maxLength: number): AssetRecord {
  return {
    id: assetIdentifier(resource.publicId, passage.ordinal),
    type: 'text',
    position: passage.ordinal,
    mime_type: resource.textType,
    text: passage.text.slice(0, maxLength),
    trace: [{ unit: passage.unit, from: passage.firstUnit, to: passage.lastUnit, ...traceDetailOf(passage) }],
  }
}

/** Returns the video asset of a resource (2.11 Assets); none if it has no moving pictures. */
export function videoAssets(resource: ResourceRow): AssetRecord[] {
  const { videoType, publicId } = resource
  if (videoType === null) return []
  const seconds = durationOf(resource)
  const trace = seconds === undefined ? [] : [{ unit: 'second', from: 0, to: Math.ceil(seconds) }]
  return [{ id: assetIdentifier(publicId, 'video'), type: 'video', mime_type: videoType, text: null, trace }]
}

function traceDetailOf({ detail }: StoredPassage): TraceDetail {
  return detail === null ? {} : traceDetail.parse(JSON.parse(detail))
}

function abstractOf(text: string): string {
  return text
    .slice(0, ABSTRACT_LENGTH * 2)
    .replace(/^#{1,6} /gm, '')
    .replace(/\s+/g, ' ')
    .trim()
    .slice(0, ABSTRACT_LENGTH)
}
