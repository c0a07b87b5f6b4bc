/**
 * The records of the interface, version 0.9.0, as zod shapes. The client parses the answers of any service with them, so they let
 * fields pass that the interface does not name. The embedded service makes exact shapes of them, which describe its own answers.
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
 * An answer 201 has a new id, an answer 200 has `duplicate: true` and the id of the existing resource. The last two fields are extras of
 * the embedded service: the state of the resource at that time.
 */
export const uploadResponse = z.looseObject({
  id: identifier,
  duplicate: z.boolean().optional(),
  ingestion_status: z.unknown().optional(),
  text_extracted: z.boolean().optional().catch(undefined),
})

/** `excerpt`, the part of `text` that matched, and `excerpt_marks`, the ranges of the words in it, are extras of the embedded service. */
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
 * Fields other than `id` may be missing; `ingestion_status` may hold any value, which `ingestionOutcome` interprets. The
 * last five fields are extras of the embedded service; one with an unusable value counts as missing. `text_extracted` is false if the
 * service cannot search the text of the resource; `superseded_by` is the newest version of the document, null if this is the newest.
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

/** Only the answers for assets have a `representation`. The URL may be relative. */
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

/** The body of an error: a text for people in `detail`, or else in `message`; `errors` holds messages by field. */
const errorBody = z.looseObject({
  detail: z.string().optional(),
  message: z.string().optional(),
  errors: z.unknown().optional(),
})

export interface ErrorText {
  readonly text: string | undefined
  readonly fields: readonly string[]
}

/** Reads the texts of an error body of any shape; never throws. */
export function readErrorBody(body: unknown): ErrorText {
  const parsed = errorBody.safeParse(body)
  if (!parsed.success) return { text: undefined, fields: [] }
  const { detail, message, errors } = parsed.data
  return { text: detail ?? message, fields: fieldMessages(errors) }
}

function fieldMessages(errors: unknown): string[] {
  if (typeof errors !== 'object' || errors === null) return []
  return Object.entries(errors)
    .slice(0, 20)
    .map(([field, messages]) => `${field}: ${[messages].flat().slice(0, 20).map(textOf).join(', ')}`)
}

/** Returns a value as text. Does not convert objects, because an object from outside may have any `toString` or none. */
function textOf(value: unknown): string {
  return typeof value === 'object' && value !== null ? 'a value that is not text' : String(value)
}
