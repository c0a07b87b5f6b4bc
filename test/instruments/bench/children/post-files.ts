/** The bare work of uploads: reads each file and posts it, and keeps no account of anything. */
import { readFileSync } from 'node:fs'
import { basename } from 'node:path'
import { Pool } from 'undici'
import { printMeasure } from './bench-engine.ts'

interface PostInput {
  readonly serviceUrl: string
  readonly token: string
  readonly libraryId: string
  readonly connections: number
  /** Names a file that holds the paths as a JSON array. */
  readonly listFile: string
  /** The state of ingestion that each answer must report; undefined: any. */
  readonly status?: string
}

const BOUNDARY = 'bench-0f3a9c51d7e24b68'
const TAIL = Buffer.from(`\r\n--${BOUNDARY}--\r\n`)

const input: PostInput = JSON.parse(process.argv[2] ?? '{}')
const requestPath = `/api/v1/libraries/${input.libraryId}/files`
const headers = { authorization: `Bearer ${input.token}`, 'content-type': `multipart/form-data; boundary=${BOUNDARY}` }
const paths: string[] = JSON.parse(readFileSync(input.listFile, 'utf8'))
const pool = new Pool(input.serviceUrl, { connections: input.connections })
await printMeasure(async () => {
  let next = 0
  const postOthers = async () => {
    for (let path = paths[next++]; path !== undefined; path = paths[next++]) await post(path)
  }
  await Promise.all(Array.from({ length: input.connections }, postOthers))
  return paths.length
})
await pool.close()

async function post(path: string): Promise<void> {
  const disposition = `form-data; name="file"; filename="${basename(path)}"`
  const head = `--${BOUNDARY}\r\nContent-Disposition: ${disposition}\r\nContent-Type: text/plain\r\n\r\n`
  const body = Buffer.concat([Buffer.from(head), readFileSync(path), TAIL])
  const answer = await pool.request({ method: 'POST', path: requestPath, headers, body })
  const { ingestion_status: status } = (await answer.body.json()) as { readonly ingestion_status?: unknown }
  if (answer.statusCode !== 201) throw new Error(`The service answered ${answer.statusCode}`)
  if (input.status !== undefined && status !== input.status) throw new Error(`${path} is ${status} after its upload`)
}
