import { z } from 'zod'
import { identifier, resourceRecord } from './records.ts'

/** The calls of the dashboard that find documents and open them. */

const count = z.int().nonnegative()
const time = z.string()

/** An empty text means any; `type` is a kind such as `PDF`, `directory` one of a library. */
const searchInput = z.object({
  query: z.string().max(1_000),
  library: z.literal('').or(identifier),
  type: z.string().max(100),
  directory: z.string().max(10_000),
  /** Also earlier versions, and documents without a file. */
  allVersions: z.boolean(),
})

const hitVersion = z.enum(['current', 'waiting', 'earlier', 'gone', 'left-out'])

const searchPage = z.object({
  notice: z.string(),
  /** The first ones that fit, the best first. */
  results: z.array(
    z.object({
      resource: resourceRecord,
      mime: z.string().nullable(),
      size: z.number().nullable(),
      /** When its file was last changed; without a file here, when it was added. */
      date: time.nullable(),
      version: hitVersion,
      /** Its path today. */
      file: z.string().nullable(),
      /** Where its last file was; of a moved one, from where it was sent. */
      formerFile: z.string().nullable(),
      earlier: z.object({ count, newest: time }).nullable(),
    }),
  ),
  /** How many fit among the candidates that were looked at. */
  total: count,
  candidates: count,
  /** Whether these were all that the search found. */
  isComplete: z.boolean(),
  /** How many are left out because what the filter asks for is unknown. */
  undecided: count,
  /** How many are left out because no file has them any more. */
  outdated: count,
})

const fileToOpen = z.object({ resourceId: identifier, folder: z.boolean() })

/** They need a session. */
export const documentCalls = {
  search: { input: searchInput, answer: searchPage },
  /** An address under which the original can be opened for some minutes. */
  openDocument: { input: z.object({ resourceId: identifier }), answer: z.object({ url: z.string() }) },
  /** Opens a file of the resource, or its directory, on this computer; without a desktop it only says its path. */
  openFile: { input: fileToOpen, answer: z.object({ isOpened: z.boolean(), path: z.string() }) },
} as const
