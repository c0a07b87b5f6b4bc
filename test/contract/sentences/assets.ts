import assert from 'node:assert/strict'
import { hasStatus, isPicture, refuses, refusesSomehow } from '../suite/assert-answer.ts'
import { type Examination, NO_SUCH_THING } from '../suite/examination.ts'
import { samplesOf } from '../suite/samples.ts'
import { assertion, NotObserved, type Sentence, sentence, unobservable } from '../suite/sentence.ts'

const PNG = Buffer.from('89504e470d0a1a0a', 'hex')

/** Sections 4.2 to 4.4: the payload of an asset, and the pictures of videos. */
export const assets: readonly Sentence[] = [
  sentence(
    '4.2 The payload of an asset is streamed to a bearer credential.',
    assertion('the payload of an asset comes as a body of its own', async (it) => {
      const answer = await it.client().get(`/assets/${await samplesOf(it).asset()}`)
      hasStatus(answer, 200)
      assert.ok(answer.text.length > 0, 'the body is empty')
    }),
    assertion('an unknown asset is not found', async (it) => {
      refuses(await it.client().get(`/assets/${NO_SUCH_THING}`), 404)
    }),
    assertion('an asset is refused without a credential and a signature', async (it) => {
      refuses(await it.clientWith('').get(`/assets/${await samplesOf(it).asset()}`), 401)
    }),
    assertion('an asset is forbidden without the right to read its library', async (it) => {
      refuses(await it.client('steward').get(`/assets/${await samplesOf(it).asset()}`), 403)
    }),
  ),
  sentence(
    '4.2 Its type is the real one; only what is unknown is a stream of octets.',
    assertion('an asset of a text is sent as text', async (it) => {
      const [asset] = (await samplesOf(it).text()).record.assets ?? []
      const { headers } = await it.client().get(`/assets/${asset?.id}`)
      assert.match(headers.get('content-type') ?? '', /^text\//)
    }),
    assertion('an asset of a video is sent as a video, whole', async (it) => {
      const response = await it.client().fetch(`/assets/${await samplesOf(it).video()}`, { method: 'GET' })
      hasStatus({ status: response.status }, 200)
      assert.match(response.headers.get('content-type') ?? '', /^video\//)
      const size = response.headers.get('content-length')
      const { byteLength } = await response.arrayBuffer()
      assert.ok(byteLength > 0 && (size === null || Number(size) === byteLength), 'the payload is not whole')
    }),
  ),
  sentence(
    '4.2 Content-Disposition has the disposition, inline unless asked otherwise, and a filename.',
    assertion('the disposition of an asset is inline or as asked for', async (it) => {
      const path = `/assets/${await samplesOf(it).asset()}`
      for (const [query, expected] of [
        ['', 'inline'],
        ['?disposition=inline', 'inline'],
        ['?disposition=attachment', 'attachment'],
      ]) {
        const { headers } = await it.client().get(path + query)
        assert.match(headers.get('content-disposition') ?? '', new RegExp(`^${expected}\\b.*\\bfilename`))
      }
    }),
  ),
  sentence(
    '4.3 The collage of a scene is a PNG, for video assets.',
    assertion('the collage of a scene is one PNG for any of its moments', async (it) => {
      const asset = await samplesOf(it).video()
      const first = await picture(it, `/assets/${asset}/representations/scene?timestamp_seconds=0.25`)
      const second = await picture(it, `/assets/${asset}/representations/scene?timestamp_seconds=0.5`)
      assert.ok(first.equals(second), 'two moments of one scene have two collages')
    }),
    assertion('an asset that is no video gives no collage', async (it) => {
      const asset = await samplesOf(it).asset()
      refusesSomehow(await it.client().get(`/assets/${asset}/representations/scene?timestamp_seconds=1`))
    }),
  ),
  sentence(
    '4.3 A scene holds its start and not its end.',
    assertion('the moment at which the picture changes belongs to the next scene', async (it) => {
      const asset = await samplesOf(it).video()
      const sceneAt = (seconds: number) =>
        picture(it, `/assets/${asset}/representations/scene?timestamp_seconds=${seconds}`)
      const [red, blue] = [await sceneAt(0.25), await sceneAt(3)]
      if (red.equals(blue)) throw new NotObserved('the service sees one scene in a video of two')
      assert.ok(red.equals(await sceneAt(1.75)), 'the first scene ends before the picture changes')
      assert.ok(blue.equals(await sceneAt(2)), 'the second scene does not hold its start')
    }),
  ),
  unobservable('4.3 The collage of a scene has five frames.', 'how they are laid out is not shown'),
  sentence(
    '4.4 One frame at a moment is a PNG, for video assets.',
    assertion('the frames of different moments are different PNGs', async (it) => {
      const asset = await samplesOf(it).video()
      const red = await picture(it, `/assets/${asset}/representations/frame?timestamp_seconds=1`)
      const blue = await picture(it, `/assets/${asset}/representations/frame?timestamp_seconds=3`)
      assert.ok(!red.equals(blue), 'two pictures of the video have one frame')
    }),
    assertion('the frame of a moment is the same again', async (it) => {
      const path = `/assets/${await samplesOf(it).video()}/representations/frame?timestamp_seconds=1`
      assert.ok((await picture(it, path)).equals(await picture(it, path)), 'one moment has two frames')
    }),
    assertion('an asset that is no video gives no frame', async (it) => {
      const asset = await samplesOf(it).asset()
      refusesSomehow(await it.client().get(`/assets/${asset}/representations/frame?timestamp_seconds=1`))
    }),
  ),
  sentence(
    '4.3 The moment is a number from 0 on, and is needed.',
    assertion('a collage without a valid moment is refused', async (it) => {
      await expectBadMomentsRefused(it, 'scene')
    }),
  ),
  sentence(
    '4.4 The moment is a number from 0 on, and is needed.',
    assertion('a frame without a valid moment is refused', async (it) => {
      await expectBadMomentsRefused(it, 'frame')
    }),
  ),
  sentence(
    '4.3 Collages need a credential or a signature, and an asset that exists and may be read.',
    assertion('a collage needs a credential and an existing asset', async (it) => {
      await expectRefusals(it, 'scene')
    }),
    assertion('a collage is forbidden without the right to read its library', async (it) => {
      refuses(await it.client('steward').get(pictureAt(await samplesOf(it).asset(), 'scene')), 403)
    }),
  ),
  sentence(
    '4.4 Frames need a credential or a signature, and an asset that exists and may be read.',
    assertion('a frame needs a credential and an existing asset', async (it) => {
      await expectRefusals(it, 'frame')
    }),
    assertion('a frame is forbidden without the right to read its library', async (it) => {
      refuses(await it.client('steward').get(pictureAt(await samplesOf(it).asset(), 'frame')), 403)
    }),
  ),
  unobservable(
    '4.4 A frame is taken from the video or from earlier answers; 503 when it cannot be taken now.',
    'when that is so is not shown',
  ),
]

async function picture(it: Examination, path: string): Promise<Buffer> {
  const response = await it.client().fetch(path, { method: 'GET' })
  isPicture(response)
  assert.equal(response.headers.get('content-type'), 'image/png')
  const bytes = Buffer.from(await response.arrayBuffer())
  assert.ok(bytes.subarray(0, PNG.length).equals(PNG), 'the bytes are not those of a PNG')
  return bytes
}

async function expectBadMomentsRefused(it: Examination, kind: string): Promise<void> {
  const asset = await samplesOf(it).asset()
  for (const query of ['', '?timestamp_seconds=-1', '?timestamp_seconds=soon']) {
    refuses(await it.client().get(`/assets/${asset}/representations/${kind}${query}`), 422)
  }
}

async function expectRefusals(it: Examination, kind: string): Promise<void> {
  refuses(await it.clientWith('').get(pictureAt(await samplesOf(it).asset(), kind)), 401)
  refuses(await it.client().get(pictureAt(NO_SUCH_THING, kind)), 404)
}

function pictureAt(asset: string, kind: string): string {
  return `/assets/${asset}/representations/${kind}?timestamp_seconds=1`
}
