/**
 * The records of the interface, version 0.9.0, as zod shapes, which accept what any service answers: the client parses answers
 * with them, and fields that the interface doesn't name pass through. The embedded service describes its own answers by exact
 * shapes made of these.
 */
import { z } from 'zod'
import { isIdentifier } from './identifier.ts'

/** Identifiers are opaque; one that is empty, or would change an address, is invalid. */
export const identifier = z.string().min(1).max(512).refine(isIdentifier, 'must be an identifier')
const dateTime = z.string().min(1)

export const tenantRecord = z.looseObject({ id: z.int(), name: z.string(), slug: z.string() })

export const userRecord = z.looseObject({ id: z.int(), name: z.string(), email: z.string() })

export const GLOBAL_ABILITIES = [
  'library.create',
  'library.delete',
  'library.all.read',
  'library.all.resource.create',
  'library.all.update',
  'library.all.resource.delete',
] as const

/** `access` holds the exact rights of the current grant on this library. */
export const librarySummary = z.looseObject({ id: identifier, name: z.string(), access: z.array(z.string()) })

export const accessContext = z.looseObject({
  tenant: tenantRecord,
  user: userRecord.nullable(),
  grant_type: z.string(),
  interfaces: z.array(z.string()),
  abilities: z.array(z.string()),
  libraries: z.array(librarySummary),
})

export const libraryRecord = z.looseObject({
  id: identifier,
  name: z.string(),
  overview: z.string().nullable(),
  created_at: dateTime,
  updated_at: dateTime,
})

export const folderEntry = z.looseObject({
  name: z.string().min(1),
  overview: z.string().nullable(),
  organization_locked: z.boolean(),
  is_archive: z.boolean(),
  archive_description: z.string().nullable().optional(),
  original_mime_type: z.string().nullable().optional(),
})

export const fileEntry = z.looseObject({
  id: identifier,
  title: z.string(),
  slug: z.string(),
  filename: z.string().min(1),
  mime_type: z.string(),
  organization_locked: z.boolean(),
})

export const directoryNode = z.looseObject({
  id: identifier,
  name: z.string(),
  overview: z.string().nullable(),
  parent_id: z.string().nullable(),
  organization_locked: z.boolean(),
  is_archive: z.boolean(),
})

/** `truncated` is true exactly when `next_cursor` is not null. */
const pageFields = { limit: z.int(), next_cursor: z.string().nullable(), truncated: z.boolean() }

export const libraryPage = z.looseObject({ items: z.array(librarySummary), ...pageFields })

export const directoryPage = z.looseObject({ folders: z.array(folderEntry), files: z.array(fileEntry), ...pageFields })

/**
 * 201 with a new id, or 200 with `duplicate: true` and the existing one. The last two fields are extras of the embedded service, from
 * the resource's record at that time.
 */
export const uploadResponse = z.looseObject({
  id: identifier,
  duplicate: z.boolean().optional(),
  ingestion_status: z.unknown().optional(),
  text_extracted: z.boolean().optional().catch(undefined),
})

/** Extras of the embedded service: `excerpt` is the part of `text` that matched, `excerpt_marks` where its words are. */
export const assetRecord = z.looseObject({
  id: identifier,
  mime_type: z.string().optional(),
  text: z.string().nullish(),
  excerpt: z.string().optional().catch(undefined),
  excerpt_marks: z
    .array(z.tuple([z.int(), z.int()]))
    .optional()
    .catch(undefined),
})

/**
 * Fields beyond `id` may be missing; `ingestion_status` may hold any value, which `ingestionOutcome` interprets. The
 * last five fields are extras of the embedded service; an unusable one counts as missing. `text_extracted` is false if the
 * service stores the resource but cannot search its text; `superseded_by` is the newest version of a document, null for that one.
 */
export const resourceRecord = z.looseObject({
  id: identifier,
  title: z.string().optional(),
  library: z.unknown().optional(),
  paths: z.array(z.string()).optional(),
  assets: z.array(assetRecord).optional(),
  abstract: z.string().nullish(),
  ingestion_status: z.unknown().optional(),
  text_extracted: z.boolean().optional().catch(undefined),
  ingestion_warnings: z.array(z.string()).optional().catch(undefined),
  ingestion_error: z.string().nullish().catch(undefined),
  superseded_by: identifier.nullish().catch(undefined),
  earlier_versions: z.object({ count: z.int(), newest_created_at: dateTime }).nullish().catch(undefined),
})

export const searchResponse = z.looseObject({
  notice: z.string(),
  results: z.array(z.looseObject({ resource: resourceRecord })),
})

/** `representation` only for assets. The URL may be relative. */
export const viewUrl = z.looseObject({
  url: z.string().min(1).meta({ format: 'uri' }),
  representation: z.string().optional(),
  expires_in_minutes: z.int(),
})

export type AccessContext = z.infer<typeof accessContext>
export type LibrarySummary = z.infer<typeof librarySummary>
export type LibraryRecord = z.infer<typeof libraryRecord>
export type FolderEntry = z.infer<typeof folderEntry>
export type FileEntry = z.infer<typeof fileEntry>
export type DirectoryPage = z.infer<typeof directoryPage>
export type UploadResponse = z.infer<typeof uploadResponse>
export type ResourceRecord = z.infer<typeof resourceRecord>
export type AssetRecord = z.infer<typeof assetRecord>
export type SearchResponse = z.infer<typeof searchResponse>
export type ViewUrl = z.infer<typeof viewUrl>
