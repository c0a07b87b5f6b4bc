/** The bare work of a listing: asks for each directory and page of a library, level by level, and keeps nothing but the folders. */
import { Pool } from 'undici'

interface Page {
  readonly folders: readonly { readonly name: string }[]
  readonly files: readonly unknown[]
  readonly next_cursor: string | null
}

const HEADERS = { authorization: 'Bearer bench', accept: 'application/json' }

const [, , url = '', connections = '1'] = process.argv
const pool = new Pool(url, { connections: Number(connections) })
let files = 0
for (let level: readonly string[] = ['/']; level.length > 0; ) level = await listLevel(level)
await pool.close()
process.stdout.write(`${files}\n`)

async function listLevel(level: readonly string[]): Promise<string[]> {
  const below: string[] = []
  let next = 0
  const listOthers = async () => {
    for (let path = level[next++]; path !== undefined; path = level[next++]) await listDirectory(path, below)
  }
  await Promise.all(Array.from({ length: Number(connections) }, listOthers))
  return below
}

async function listDirectory(path: string, below: string[]): Promise<void> {
  let cursor: string | null = null
  do {
    const page: Page = await fetchPage(path, cursor)
    for (const { name } of page.folders) below.push(path === '/' ? `/${name}` : `${path}/${name}`)
    files += page.files.length
    cursor = page.next_cursor
  } while (cursor !== null)
}

async function fetchPage(path: string, cursor: string | null): Promise<Page> {
  const query = `path=${encodeURIComponent(path)}&limit=500${cursor === null ? '' : `&cursor=${cursor}`}`
  const answer = await pool.request({
    method: 'GET',
    path: `/api/v1/libraries/bench/directory?${query}`,
    headers: HEADERS,
  })
  if (answer.statusCode !== 200) throw new Error(`The null service answered ${answer.statusCode}`)
  return JSON.parse(await answer.body.text())
}
