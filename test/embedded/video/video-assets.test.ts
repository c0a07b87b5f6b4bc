import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest'
import { type EmbeddedLibrary, startEmbeddedLibrary } from '../../../src/embedded/start-embedded.ts'
import { ServiceClient } from '../../contract/service-client.ts'
import { needs } from '../../support/needs.ts'
import { makeDirectory, startLibrary, temporaryDirectory } from '../temporary-library.ts'
import { largeFilm, look, TWO_SCENES } from './film.ts'

const RED = Array(5).fill('red')
const BLUE = Array(5).fill('blue')

function withoutPrograms(): void {
  vi.stubEnv('PATH', temporaryDirectory())
  onTestFinished(() => {
    vi.unstubAllEnvs()
  })
}

async function addFilm(client: ServiceClient, content: Uint8Array<ArrayBuffer>) {
  const library = await client.createLibrary()
  const id = await client.uploaded(library, { name: 'Film.mp4', type: 'video/mp4', content })
  const record = await client.processed(library, id)
  return { library, id, record, asset: `/assets/${Array.isArray(record.assets) ? record.assets[0].id : ''}` }
}

async function pictureOf(response: Response) {
  expect([response.status, response.headers.get('content-type')]).toEqual([200, 'image/png'])
  return await look(new Uint8Array(await response.arrayBuffer()))
}

describe('the video asset of a film', () => {
  needs('ffmpeg', 'ffprobe')
  let service: EmbeddedLibrary
  let client: ServiceClient
  let film: Awaited<ReturnType<typeof addFilm>>

  beforeAll(async () => {
    const { directory, remove } = makeDirectory()
    service = await startEmbeddedLibrary({ dataDir: directory })
    client = new ServiceClient(service)
    film = await addFilm(client, largeFilm())
    return async () => {
      await service[Symbol.asyncDispose]()
      remove()
    }
  })
  const picture = async (kind: string, seconds: number | string) =>
    await client.fetch(`${film.asset}/representations/${kind}?timestamp_seconds=${seconds}`, { method: 'GET' })

  test('a film has a video asset of its whole length', () => {
    expect(film.record.assets).toEqual([
      {
        id: expect.stringContaining(film.id),
        type: 'video',
        mime_type: 'video/mp4',
        text: null,
        trace: [{ unit: 'second', from: 0, to: 4 }],
      },
    ])
  })

  test('the payload of a video asset is the file, in ranges too', async () => {
    const content = largeFilm()
    const whole = await client.fetch(film.asset, { method: 'GET' })
    expect(Object.fromEntries(whole.headers)).toMatchObject({
      'content-type': 'video/mp4',
      'content-length': String(content.length),
      'accept-ranges': 'bytes',
      'content-disposition': expect.stringMatching(/^inline;.*Film\.mp4/),
    })
    expect(new Uint8Array(await whole.arrayBuffer())).toEqual(content)
    const part = await client.fetch(film.asset, { method: 'GET', headers: { range: 'bytes=4-7' } })
    expect([part.status, await part.text()]).toEqual([206, 'ftyp'])
  })

  test.each([
    [0, RED],
    ['1.999', RED],
    [2, BLUE],
    ['3.99999999999', BLUE],
    ['1e-7', RED],
  ])('the frame at %s s is what a player shows then', async (seconds, colours) => {
    expect(await pictureOf(await picture('frame', seconds))).toEqual({ width: 64, height: 48, colours })
  })

  test('a scene holds its start and not its end', async () => {
    const before = await pictureOf(await picture('scene', 1.999))
    const from = await pictureOf(await picture('scene', 2))
    expect(before).toEqual({ width: 5 * 320, height: 240, colours: RED })
    expect(from).toEqual({ width: 5 * 320, height: 240, colours: BLUE })
  })

  test('all moments of a scene have one collage', async () => {
    const tags = await Promise.all([2, 2.5, 3.9].map(async (at) => (await picture('scene', at)).headers.get('etag')))
    expect(new Set(tags).size).toBe(1)
  })

  test('moments from the end of a video on are refused', async () => {
    for (const seconds of [4, 4.001, 999_999_999]) {
      for (const representation of ['frame', 'scene']) {
        const errors = { timestamp_seconds: ['The video ends after 4 seconds'] }
        expect(
          (await client.get(`${film.asset}/representations/${representation}?timestamp_seconds=${seconds}`)).json,
        ).toMatchObject({ errors })
        const body = { representation, timestamp_seconds: seconds }
        expect((await client.call('POST', `${film.asset}/view-urls`, body)).json).toMatchObject({ errors })
      }
    }
  })

  test('signed URLs of pictures show their moment and no other', async () => {
    for (const representation of ['frame', 'scene']) {
      const body = { representation, timestamp_seconds: 2.0004, disposition: 'attachment' }
      const { json } = await client.call('POST', `${film.asset}/view-urls`, body)
      expect(json).toMatchObject({ representation, expires_in_minutes: 15 })
      const url = new URL(String(json.url))
      expect(url.searchParams.get('timestamp_seconds')).toBe('2')
      const shown = await fetch(url)
      expect(shown.headers.get('content-disposition')).toMatch(/^attachment; filename="Film\.mp4\.2s\.png"/)
      expect(await pictureOf(shown)).toMatchObject({ colours: BLUE })
      url.searchParams.set('timestamp_seconds', '1')
      expect((await fetch(url)).status).toBe(401)
    }
  })

  test('pictures answer HEAD and an entity tag', async () => {
    const tag = (await picture('frame', 0)).headers.get('etag') ?? ''
    const path = `${film.asset}/representations/frame?timestamp_seconds=0`
    const head = await client.fetch(path, { method: 'HEAD' })
    expect([head.status, head.headers.get('etag')]).toEqual([200, tag])
    expect((await client.fetch(path, { method: 'GET', headers: { 'if-none-match': tag } })).status).toBe(304)
  })

  test('pictures that were made are there without ffmpeg, others are not', async () => {
    const made = await Promise.all([picture('frame', 0.5), picture('scene', 0.5)])
    expect(made.map(({ status }) => status)).toEqual([200, 200])
    withoutPrograms()
    const again = await Promise.all([picture('frame', 0.5), picture('scene', 1)])
    expect(again.map(({ status }) => status)).toEqual([200, 200])
    const missing = await client.get(`${film.asset}/representations/frame?timestamp_seconds=0.75`)
    expect(missing).toMatchObject({
      status: 503,
      json: { message: expect.stringContaining('ffmpeg is not installed') },
    })
  })
})

test('a film without ffprobe has a video asset without pictures', async () => {
  needs('ffmpeg', 'ffprobe')
  withoutPrograms()
  const { client } = await startLibrary()
  const { record, asset } = await addFilm(client, TWO_SCENES)
  expect(record).toMatchObject({ ingestion_status: 'completed_with_warnings', assets: [{ type: 'video', trace: [] }] })
  expect((await client.fetch(asset, { method: 'GET' })).headers.get('content-type')).toBe('video/mp4')
  for (const kind of ['frame', 'scene']) {
    expect((await client.get(`${asset}/representations/${kind}?timestamp_seconds=1`)).status).toBe(503)
  }
  vi.unstubAllEnvs()
  const shown = await client.fetch(`${asset}/representations/frame?timestamp_seconds=1`, { method: 'GET' })
  expect(await pictureOf(shown)).toMatchObject({ colours: RED })
})

test('the pictures of a film are removed with its last library', async () => {
  needs('ffmpeg', 'ffprobe')
  const { client, library, dataDir } = await startLibrary()
  const [film, other] = [await addFilm(client, TWO_SCENES), await addFilm(client, TWO_SCENES)]
  const left: string[][] = []
  for (const { library: id, asset } of [film, other]) {
    expect((await client.get(`${asset}/representations/frame?timestamp_seconds=1`)).status).toBe(200)
    await client.call('DELETE', `/libraries/${id}`)
    await library.settled()
    left.push(
      readdirSync(join(dataDir, 'pictures'), { recursive: true, encoding: 'utf8' }).filter((name) =>
        name.endsWith('.png'),
      ),
    )
  }
  expect(left).toEqual([[expect.stringMatching(/frame-1000\.png$/)], []])
})
