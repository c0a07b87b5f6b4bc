import { pluck, type SentFile } from '../../contract/service-client.ts'
import { startLibrary } from '../temporary-library.ts'

/** Uploads files to a new library and returns their records once their ingestion is over. */
export async function ingested(...files: readonly SentFile[]) {
  const { client } = await startLibrary()
  const library = await client.createLibrary()
  const ids: string[] = []
  for (const file of files) ids.push(await client.uploaded(library, file))
  const records = await Promise.all(ids.map((id) => client.processed(library, id)))
  /** The ids of the resources that a search finds. */
  const found = async (words: string) => {
    const { json } = await client.get(`/search/resources?query=${encodeURIComponent(words)}`)
    return pluck(pluck(json.results, 'resource'), 'id')
  }
  return { client, library, records, record: records[0] ?? {}, found }
}
