import assert from 'node:assert/strict'
import { z } from 'zod'
import type { Answer } from '../service-client.ts'
import { conforms, hasStatus, isPicture, refuses, refusesSomehow } from '../suite/assert-answer.ts'
import { type Examination, NO_SUCH_THING } from '../suite/examination.ts'
import { samplesOf } from '../suite/samples.ts'
import { assertion, NotObserved, type Sentence, sentence, unobservable } from '../suite/sentence.ts'

const ofAsset = z.looseObject({
  url: z.url(),
  representation: z.enum(['content', 'scene', 'frame']),
  expires_in_minutes: z.int(),
})
const ofResource = z.looseObject({ url: z.url(), expires_in_minutes: z.int() })
const SIGNED = ['signature', 'expires', 'tenant_id'] as const

/** Sections 2.13, 4.5, 4.16 and 5.6: signed URLs. */
export const viewUrls: readonly Sentence[] = [
  sentence(
    '2.13 A signed URL comes with its representation, if it is of an asset, and with its lifetime in minutes.',
    assertion('signed URLs of an asset and a resource are answered whole', async (it) => {
      conforms(ofAsset, (await sign(it)).json)
      const { record } = await samplesOf(it).resource()
      conforms(ofResource, (await it.client().call('POST', `/resources/${record.id}/view-urls`, {})).json)
    }),
  ),
  sentence(
    '2.13 It gives access without a credential when it is used unchanged.',
    assertion('a signed URL shows the payload of its asset', async (it) => {
      const shown = await it.open(await signedUrl(it))
      hasStatus(shown, 200)
      assert.equal(shown.text, (await it.client().get(`/assets/${await samplesOf(it).asset()}`)).text)
    }),
  ),
  sentence(
    '2.13 Any change of a signed parameter makes it invalid.',
    assertion('a signed URL with any changed parameter is refused', async (it) => {
      const url = new URL(await signedUrl(it))
      hasStatus(await it.open(url.href), 200)
      for (const name of url.searchParams.keys()) refuses(await it.open(changed(url, name)), 401)
    }),
  ),
  sentence(
    '4.2 Without a credential, signature, expiry and tenant must all be there and valid.',
    assertion('a signed URL that lacks a parameter is refused', async (it) => {
      for (const name of SIGNED) {
        const url = new URL(await signedUrl(it))
        url.searchParams.delete(name)
        refuses(await it.open(url.href), 401)
      }
    }),
    assertion('the URL of one asset opens no other address', async (it) => {
      const url = new URL(await signedUrl(it))
      url.pathname = `${url.pathname.slice(0, url.pathname.lastIndexOf('/'))}/${NO_SUCH_THING}`
      refuses(await it.open(url.href), 401, 404)
    }),
  ),
  sentence(
    '4.2 A disposition that was signed must be the one that is asked for.',
    assertion('a signed URL with another disposition is refused', async (it) => {
      const url = new URL(await signedUrl(it, { disposition: 'attachment' }))
      assert.match((await it.open(url.href)).headers.get('content-disposition') ?? '', /^attachment\b/)
      url.searchParams.set('disposition', 'inline')
      refuses(await it.open(url.href), 401)
    }),
  ),
  sentence(
    '4.3 Pictures take a signed URL that was made for them.',
    assertion('the signature of the content opens no picture', async (it) => {
      const url = new URL(await signedUrl(it))
      url.pathname += '/representations/scene'
      url.searchParams.set('timestamp_seconds', '1')
      refuses(await it.open(url.href), 401)
    }),
    assertion('a signed URL of a collage and of a frame opens a PNG', async (it) => {
      for (const representation of ['scene', 'frame']) {
        const answer = await sign(it, { representation, timestamp_seconds: 1 }, await samplesOf(it).video())
        assert.equal(answer.json.representation, representation)
        const shown = await it.open(conforms(ofAsset, answer.json).url)
        isPicture(shown)
        assert.equal(shown.headers.get('content-type'), 'image/png')
      }
    }),
    assertion('a signed URL of a picture shows no other moment, kind or disposition', async (it) => {
      const body = { representation: 'frame', timestamp_seconds: 1 }
      const answer = await sign(it, body, await samplesOf(it).video())
      const url = new URL(conforms(ofAsset, answer.json).url)
      for (const name of url.searchParams.keys()) refuses(await it.open(changed(url, name)), 401)
      url.pathname = url.pathname.replace(/frame$/, 'scene')
      refuses(await it.open(url.href), 401)
    }),
  ),
  sentence(
    '4.5 Without a body, the URL is one of the content, inline, for 15 minutes.',
    assertion('a URL requested without a body has the default values', async (it) => {
      const { json } = await sign(it, undefined)
      assert.deepEqual([json.representation, json.expires_in_minutes], ['content', 15])
      const shown = await it.open(conforms(ofAsset, json).url)
      assert.match(shown.headers.get('content-disposition') ?? '', /^inline\b/)
    }),
    assertion('a URL requested with an empty object has the default values', async (it) => {
      const { json } = await sign(it, {})
      assert.deepEqual([json.representation, json.expires_in_minutes], ['content', 15])
    }),
  ),
  sentence(
    '4.5 The lifetime is 1 to 60 minutes.',
    assertion('lifetimes of 1 and 60 minutes are accepted', async (it) => {
      for (const minutes of [1, 60]) {
        assert.equal((await sign(it, { ttl_minutes: minutes })).json.expires_in_minutes, minutes)
      }
    }),
    assertion('lifetimes of 0, 61, fractions and words are refused', async (it) => {
      for (const minutes of [0, 61, 1.5, 'x']) refuses(await sign(it, { ttl_minutes: minutes }), 422)
    }),
    assertion('the expiry in a URL is its lifetime from now', async (it) => {
      const { json, headers } = await sign(it, { ttl_minutes: 30 })
      const expires = Number(new URL(conforms(ofAsset, json).url).searchParams.get('expires'))
      const now = Date.parse(headers.get('date') ?? '') / 1_000
      assert.ok(Math.abs(expires - now - 30 * 60) <= 60, `it expires ${expires - now} seconds from now`)
    }),
    assertion('a signed URL is refused after its lifetime', async (it) => {
      const { laterBy } = it.target
      if (!laterBy) throw new NotObserved('it takes a minute (--patient)')
      const url = await signedUrl(it, { ttl_minutes: 1 })
      hasStatus(await it.open(url), 200)
      await laterBy(1.1)
      refuses(await it.open(url), 401)
    }),
  ),
  sentence(
    '4.5 Disposition and representation take the values that are named.',
    assertion('other dispositions and representations are refused', async (it) => {
      for (const body of [{ disposition: 'elsewhere' }, { representation: 'page' }]) refuses(await sign(it, body), 422)
    }),
  ),
  sentence(
    '4.5 Pictures need a video asset.',
    assertion('a URL of a picture of a text is refused', async (it) => {
      for (const representation of ['scene', 'frame']) {
        refusesSomehow(await sign(it, { representation, timestamp_seconds: 1 }))
      }
    }),
  ),
  sentence(
    '4.5 The moment is needed for pictures and prohibited for the content.',
    assertion('a URL of a picture without a moment is refused', async (it) => {
      for (const representation of ['scene', 'frame']) refuses(await sign(it, { representation }), 422)
    }),
    assertion('a URL of content at a moment is refused', async (it) => {
      refuses(await sign(it, { representation: 'content', timestamp_seconds: 1 }), 422)
      refuses(await sign(it, { timestamp_seconds: 1 }), 422)
    }),
    assertion('a URL with a negative moment is refused', async (it) => {
      refuses(await sign(it, { representation: 'frame', timestamp_seconds: -1 }), 422)
    }),
  ),
  sentence(
    '4.5 URLs are issued to bearer credentials, for assets that exist and may be read.',
    assertion('a signed URL issues no other URL', async (it) => {
      const { search } = new URL(await signedUrl(it))
      const path = `/assets/${await samplesOf(it).asset()}/view-urls${search}`
      refuses(await it.clientWith('').call('POST', path), 401)
    }),
    assertion('a URL of an unknown asset is not found', async (it) => {
      refuses(await sign(it, {}, NO_SUCH_THING), 404)
    }),
    assertion('a URL is forbidden without the right to read its library', async (it) => {
      refuses(await it.client('steward').call('POST', `/assets/${await samplesOf(it).asset()}/view-urls`), 403)
    }),
  ),
  sentence(
    '4.16 A URL of the original file is issued for a lifetime and a disposition.',
    assertion('a signed URL shows the original file without a credential', async (it) => {
      const { record } = await samplesOf(it).resource()
      const answer = await it
        .client()
        .call('POST', `/resources/${record.id}/view-urls`, { ttl_minutes: 5, disposition: 'attachment' })
      hasStatus(answer, 200)
      const { url, expires_in_minutes: minutes } = conforms(ofResource, answer.json)
      assert.equal(minutes, 5)
      const shown = await it.open(url)
      hasStatus(shown, 200)
      assert.match(shown.headers.get('content-disposition') ?? '', /^attachment\b/)
    }),
    assertion('a changed URL of the original file is refused', async (it) => {
      const { record } = await samplesOf(it).resource()
      const { json } = await it.client().call('POST', `/resources/${record.id}/view-urls`, { ttl_minutes: 5 })
      const url = new URL(conforms(ofResource, json).url)
      for (const name of url.searchParams.keys()) refuses(await it.open(changed(url, name)), 401)
    }),
  ),
  unobservable('4.16 Bounds and defaults for resources are left open.', 'nothing is described'),
  sentence(
    '5.6 Signed URLs carry their signature, their expiry as Unix time, and the tenant.',
    assertion('a signed URL carries signature, expiry and the tenant of the check', async (it) => {
      const { searchParams } = new URL(await signedUrl(it))
      for (const name of SIGNED) assert.ok(searchParams.get(name), `${name} is missing`)
      assert.match(searchParams.get('expires') ?? '', /^\d{10}$/)
      assert.equal(searchParams.get('tenant_id'), String((await it.access()).tenant.id))
    }),
  ),
  sentence(
    '5.6 A signed URL gives its holder access until it expires.',
    assertion('a signed URL opens twice', async (it) => {
      const url = await signedUrl(it)
      for (let times = 0; times < 2; times += 1) hasStatus(await it.open(url), 200)
    }),
  ),
]

async function sign(it: Examination, body: unknown = {}, asset?: string): Promise<Answer> {
  return await it.client().call('POST', `/assets/${asset ?? (await samplesOf(it).asset())}/view-urls`, body)
}

async function signedUrl(it: Examination, body?: unknown): Promise<string> {
  const answer = await sign(it, body)
  hasStatus(answer, 200)
  return conforms(ofAsset, answer.json).url
}

/** The URL with one parameter of another value of the same form. */
function changed(url: URL, name: string): string {
  const other = new URL(url)
  const value = url.searchParams.get(name) ?? ''
  const words: Readonly<Record<string, string>> = { inline: 'attachment', attachment: 'inline' }
  other.searchParams.set(name, words[value] ?? value.replace(/[^.-]$/, (last) => (last === '7' ? '8' : '7')))
  return other.href
}
