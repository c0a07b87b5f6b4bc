import assert from 'node:assert/strict'
import { hasStatus, refuses } from '../suite/assert-answer.ts'
import { NO_SUCH_THING } from '../suite/examination.ts'
import { assertion, type Sentence, sentence, unobservable } from '../suite/sentence.ts'

/** Sections 7 and 8: errors and limits. All other refusals of the suite have their bodies checked as well. */
export const errors: readonly Sentence[] = [
  sentence(
    '7 Errors are JSON with a text for people in "detail" or "message".',
    assertion('errors of four kinds have a JSON body with a text', async (it) => {
      refuses(await it.clientWith('').get('/auth/check'), 401)
      refuses(await it.client().get(`/libraries/${NO_SUCH_THING}`), 404)
      refuses(await it.client().listing(await it.library(), { limit: '0' }), 422)
      refuses(await it.client().get('/nothing/here'), 404)
    }),
    assertion('a forbidden request has a JSON body with a text', async (it) => {
      refuses(await it.client('steward').get(`/libraries/${await it.library()}`), 403)
    }),
  ),
  sentence(
    '7 A validation error can have messages by field in "errors".',
    assertion('the errors member of a validation error is an object or a list', async (it) => {
      const { json } = await it.client().listing(await it.library(), { path: 'no-slash', limit: '0' })
      assert.ok(['undefined', 'object'].includes(typeof json.errors), `errors is ${typeof json.errors}`)
    }),
  ),
  sentence(
    '7 A missing or invalid credential or signature is 401.',
    assertion('an unknown token and an invented signature are answered with 401', async (it) => {
      refuses(await it.clientWith('Bearer unknown').get('/libraries'), 401)
      const query = 'signature=0123456789abcdef&expires=9999999999&tenant_id=1'
      refuses(await it.clientWith('').get(`/assets/${NO_SUCH_THING}?${query}`), 401)
    }),
  ),
  sentence(
    '7 A missing ability or right is 403.',
    assertion('reading without the right and creating without the ability get 403', async (it) => {
      refuses(await it.client('steward').get(`/libraries/${await it.library()}`), 403)
      refuses(
        await it.client('reader').call('POST', '/libraries', { name: `shelfd contract ${it.stamp} forbidden` }),
        403,
      )
    }),
  ),
  sentence(
    '7 An unknown asset, library, resource or path is 404.',
    assertion('an unknown asset, library, resource and path get 404', async (it) => {
      const library = await it.library()
      for (const path of [
        `/assets/${NO_SUCH_THING}`,
        `/libraries/${NO_SUCH_THING}`,
        `/libraries/${library}/resources/${NO_SUCH_THING}`,
        `/libraries/${library}/directory?path=/${NO_SUCH_THING}`,
      ]) {
        refuses(await it.client().get(path), 404)
      }
    }),
  ),
  sentence(
    '7 Values out of range and malformed paths are 422.',
    assertion('a limit out of range and a malformed path get 422', async (it) => {
      const library = await it.library()
      refuses(await it.client().listing(library, { limit: '501' }), 422)
      refuses(await it.client().listing(library, { path: '/../x' }), 422)
    }),
  ),
  unobservable('7 A conflict is 409.', 'what is a conflict is not described'),
  unobservable('7 Too many requests are 429.', 'how many are too many is not described'),
  unobservable('7 A fault of the service is 500, one that passes is 503.', 'nobody may bring it about'),
  unobservable('7 The status for pictures of what is no video is left open.', 'any refusal is taken'),
  sentence(
    '7 A search without a match is no error.',
    assertion('a search without a match is 200 with no results', async (it) => {
      const answer = await it.client().get(`/search/resources?strategy=lexical&query=${it.stamp}nothing`)
      hasStatus(answer, 200)
      assert.deepEqual(answer.json.results, [])
    }),
  ),
  sentence(
    '8 Page sizes, lifetimes and moments have the bounds that their calls name.',
    assertion('the greatest page sizes are accepted', async (it) => {
      hasStatus(await it.client().get('/libraries?limit=500'), 200)
      hasStatus(await it.client().listing(await it.library(), { limit: '500' }), 200)
    }),
  ),
  unobservable('8 Rates, and sizes and formats of uploads, are left to the instance.', 'nothing is described'),
]
