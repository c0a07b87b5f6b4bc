import { pluck, type SentFile } from '../../contract/service-client.ts'
import { shareLibrary } from '../common-library.ts'

/** Starts a service for the tests of a file. */
export function serviceOfFile() {
  const shared = shareLibrary()
  /** Uploads files to a new library and returns their records once their ingestion is over. */
  return async (...files: readonly SentFile[]) => {
    const { client } = shared
    const library = await shared.newLibrary()
    const ids: string[] = []
    for (const file of files) ids.push(await client.uploaded(library, file))
    const records = await Promise.all(ids.map((id) => client.processed(library, id)))
    /** The ids of the resources of the library that a search finds. */
    const found = async (words: string) => {
      const query = `query=${encodeURIComponent(words)}&library_ids[]=${library}`
      const { json } = await client.get(`/search/resources?${query}`)
      return pluck(pluck(json.results, 'resource'), 'id')
    }
    return { client, library, records, record: records[0] ?? {}, found }
  }
}
