import { readFileSync } from 'node:fs'
import { type FileEntry, type ResourceRecord, resourceRecord } from '../../../src/contract/records.ts'
import { INBOX_PATH } from '../../../src/contract/routes.ts'
import { ingestionOutcome } from '../../../src/contract/states.ts'
import type { Answer } from '../service-client.ts'
import { conforms, hasStatus } from './assert-answer.ts'
import { type Examination, once } from './examination.ts'
import { NotObserved } from './sentence.ts'

const FIRST_POLL_MS = 20
const MAX_POLL_MS = 5_000
const MAX_DIRECTORIES = 50
const VIDEO = new URL('../samples/two-scenes.mp4', import.meta.url)

/** One uploaded file, followed until its processing is over. */
export interface Sample {
  readonly library: string
  readonly id: string
  readonly name: string
  readonly content: string
  /** The answer to the upload. */
  readonly answer: Answer
  /** The entry in the inbox right after the upload. */
  readonly listed: FileEntry | undefined
  /** The states seen, in their order. */
  readonly states: readonly unknown[]
  /** The record at the end. */
  readonly record: ResourceRecord
}

/** Uploaded or found samples for the assertions; made once for each examination. */
export interface Samples {
  /** A Markdown file with the word `stamp`. */
  text(): Promise<Sample>
  /** The same bytes as `text` under another name, sent when that was processed. */
  copy(): Promise<{ readonly answer: Answer; readonly record: ResourceRecord }>
  /** A resource to read: the text where the suite may write, otherwise the first one that a listing shows. */
  resource(): Promise<{ readonly library: string; readonly record: ResourceRecord }>
  /** An asset of that resource. */
  asset(): Promise<string>
  /** A video asset, made of two seconds of red and two of blue. */
  video(): Promise<string>
}

const known = new WeakMap<Examination, Samples>()

export function samplesOf(it: Examination): Samples {
  const samples = known.get(it) ?? createSamples(it)
  known.set(it, samples)
  return samples
}

function createSamples(it: Examination): Samples {
  const text = once(() => uploadText(it))
  const resource = once(async () => (it.target.mayWrite ? await text() : await findResource(it)))
  return {
    text,
    resource,
    copy: once(async () => {
      const { library, id, content } = await text()
      const answer = await it.client().upload(library, { ...textFile(it, content), name: `copy-${it.stamp}.md` })
      return { answer, record: await showResource(it, library, id) }
    }),
    asset: once(async () => {
      const [asset] = (await resource()).record.assets ?? []
      if (!asset) throw new NotObserved('the resource that was found has no assets')
      return asset.id
    }),
    video: once(() => uploadVideo(it)),
  }
}

function textFile({ stamp }: Examination, content: string) {
  return { name: `Text ${stamp}.md`, type: 'text/markdown', content }
}

async function uploadText(it: Examination): Promise<Sample> {
  const library = await it.ownLibrary()
  const content = `# A text of ${it.stamp}\n\nFoxes and geese live in the village of ${it.stamp}.\n`
  const file = textFile(it, content)
  const answer = await it.client().upload(library, file)
  hasStatus(answer, 200, 201)
  const id = String(answer.json.id)
  const { files } = await it.list(library, { path: INBOX_PATH, limit: '500' })
  const listed = files.find((each) => each.id === id)
  return { library, id, name: file.name, content, answer, listed, ...(await follow(it, library, id)) }
}

/** Asks for the resource at growing intervals until its processing is over. */
async function follow(it: Examination, library: string, id: string) {
  const states: unknown[] = []
  let waitedMs = 0
  for (let delayMs = FIRST_POLL_MS; ; delayMs = Math.min(delayMs * 1.5, MAX_POLL_MS)) {
    const record = await showResource(it, library, id)
    if (record.ingestion_status !== states.at(-1)) states.push(record.ingestion_status)
    if (ingestionOutcome(record.ingestion_status) !== 'pending') return { states, record }
    if (waitedMs > it.target.processingMs) throw new NotObserved(`the processing of ${id} lasts longer`)
    await it.target.wait(delayMs)
    waitedMs += delayMs
  }
}

export async function showResource(it: Examination, library: string, id: string): Promise<ResourceRecord> {
  const answer = await it.client().get(`/libraries/${library}/resources/${id}`)
  hasStatus(answer, 200)
  return conforms(resourceRecord, answer.json)
}

/** Looks for a file from the root on, the inbox first. */
async function findResource(it: Examination) {
  const library = await it.library()
  const paths = [INBOX_PATH, '/']
  for (const path of paths) {
    const { files, folders } = await it.list(library, { path })
    const [file] = files
    if (file) return { library, record: await showResource(it, library, file.id) }
    const below = folders
      .map(({ name }) => `${path === '/' ? '' : path}/${name}`)
      .filter((each) => !paths.includes(each))
    paths.push(...below.slice(0, MAX_DIRECTORIES - paths.length))
  }
  throw new NotObserved('the library shows no file')
}

async function uploadVideo(it: Examination): Promise<string> {
  const library = await it.ownLibrary()
  // Bytes after the end of a video are ignored, so they make the file of each run different.
  const content = new Uint8Array(Buffer.concat([readFileSync(VIDEO), Buffer.from(`\0\0\0\x14free${it.stamp}`)]))
  const id = await it.client().uploaded(library, { name: `Video ${it.stamp}.mp4`, type: 'video/mp4', content })
  const { assets = [] } = (await follow(it, library, id)).record
  for (const asset of assets) {
    const frame = { representation: 'frame', timestamp_seconds: 1 }
    const { status } = await it.client().call('POST', `/assets/${asset.id}/view-urls`, frame)
    if (status === 200) return asset.id
  }
  throw new NotObserved('the service makes no video assets')
}
