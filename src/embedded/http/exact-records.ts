/**
 * The exact shapes of this service's responses, for its OpenAPI description. The records of the contract are looser, because the client
 * also reads the responses of other services with them.
 */
import { z } from 'zod'
import {
  accessContext,
  assetRecord,
  directoryNode,
  directoryPage,
  fileEntry,
  folderEntry,
  GLOBAL_ABILITIES,
  libraryPage,
  libraryRecord,
  librarySummary,
  resourceRecord,
  searchResponse,
  tenantRecord,
  uploadResponse,
  userRecord,
  viewUrl,
} from '../../contract/records.ts'
import { INGESTION_STATUSES } from '../../contract/states.ts'
import { LIBRARY_RIGHTS } from '../access/grant.ts'
import { TRACE_UNITS, traceDetail } from '../database/passages-table.ts'

export const REPRESENTATIONS = ['content', 'scene', 'frame'] as const

const moment = z.iso.datetime()
const status = z.enum(INGESTION_STATUSES)
const summary = z.object({ ...librarySummary.shape, access: z.array(z.enum(LIBRARY_RIGHTS)) })

export const exactAccess = z.object({
  ...accessContext.shape,
  tenant: z.object(tenantRecord.shape),
  user: z.object({ ...userRecord.shape, email: z.email() }).nullable(),
  grant_type: z.enum(['access_token', 'connected_app']),
  interfaces: z.array(z.enum(['api', 'mcp'])),
  abilities: z.array(z.enum(GLOBAL_ABILITIES)),
  libraries: z.array(summary),
})

export const exactLibrary = z.object({ ...libraryRecord.shape, created_at: moment, updated_at: moment })

export const exactLibraryPage = z.object({ ...libraryPage.shape, items: z.array(summary) })

export const exactDirectoryPage = z.object({
  ...directoryPage.shape,
  folders: z.array(z.object(folderEntry.shape)),
  files: z.array(z.object(fileEntry.shape)),
})

export const exactDirectory = z.object(directoryNode.shape)

export const exactUpload = z.object({
  id: uploadResponse.shape.id,
  duplicate: z.boolean(),
  ingestion_status: status,
  text_extracted: z.boolean().optional(),
})

const asset = z.object({
  id: assetRecord.shape.id,
  type: z.enum(['text', 'video']),
  position: z.int().min(0).optional(),
  mime_type: z.string(),
  text: z.string().nullable(),
  trace: z.array(z.object({ unit: z.enum(TRACE_UNITS), from: z.int(), to: z.int(), ...traceDetail.shape })),
  excerpt: z.string().optional(),
  excerpt_marks: z.array(z.array(z.int()).length(2)).optional(),
})

/** The fields of a resource in compact search results. */
const head = {
  id: resourceRecord.shape.id,
  title: z.string(),
  library: z.object({ id: z.string(), name: z.string() }),
  paths: z.array(z.string()),
  mime_type: z.string(),
  size: z.int().min(0),
  ingestion_status: status,
  created_at: moment,
  superseded_by: resourceRecord.shape.superseded_by.unwrap().unwrap().nullable(),
  earlier_versions: z.object({ count: z.int().min(1), newest_created_at: moment }).nullable(),
}

const details = z.object({
  properties: z.record(z.string(), z.unknown()),
  ingestion_warnings: z.array(z.string()),
  ingestion_error: z.string().nullable(),
  abstract: z.string().nullable(),
  assets: z.array(asset),
})

/** Absent until the ingestion has ended. */
const text_extracted = z.boolean().optional()

export const exactResource = z.object({
  ...head,
  ...details.shape,
  text_extracted,
  next_assets_from: z.int().nullable(),
})

/** Compact results have no details. */
export const exactHits = z.object({
  ...searchResponse.shape,
  results: z.array(z.object({ resource: z.object({ ...head, ...details.partial().shape, text_extracted }) })),
})

export const exactResourceUrl = z.object(viewUrl.omit({ representation: true }).shape)
export const exactAssetUrl = z.object({ ...viewUrl.shape, representation: z.enum(REPRESENTATIONS) })
