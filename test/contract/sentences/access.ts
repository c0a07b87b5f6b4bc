import assert from 'node:assert/strict'
import { z } from 'zod'
import { GLOBAL_ABILITIES, librarySummary } from '../../../src/contract/records.ts'
import { ROUTES } from '../../../src/contract/routes.ts'
import { conforms, hasStatus, refuses } from '../suite/assert-answer.ts'
import type { Examination } from '../suite/examination.ts'
import { assertion, type Sentence, sentence, unobservable } from '../suite/sentence.ts'

const interfaces = z.array(z.enum(['api', 'mcp']))
const contextShape = z.looseObject({
  tenant: z.looseObject({}),
  user: z.looseObject({}).nullable(),
  grant_type: z.enum(['access_token', 'connected_app']),
  interfaces,
  abilities: z.array(z.enum(GLOBAL_ABILITIES)),
  libraries: z.array(librarySummary),
})

const READING = Object.values(ROUTES).filter(({ method }) => method === 'GET')
const CHANGING = Object.values(ROUTES).filter(({ method }) => method !== 'GET')

/** Sections 4.1 and 5: credentials and what they allow. */
export const access: readonly Sentence[] = [
  sentence(
    '4.1 The check shows the tenant, the user, the kind of the grant, its interfaces, its abilities and its libraries.',
    assertion('the access context is whole and has only the named values', async (it) => {
      const answer = await it.client().get('/auth/check')
      hasStatus(answer, 200)
      conforms(contextShape, answer.json)
    }),
    assertion('a credential that may only read shows its own abilities', async (it) => {
      const { json } = await it.client('reader').get('/auth/check')
      const { abilities } = conforms(contextShape, json)
      assert.deepEqual(
        abilities.filter((ability) => ability !== 'library.all.read'),
        [],
      )
    }),
  ),
  unobservable(
    '4.1 What a grant allows is limited by what its owner may do.',
    'it needs another owner with fewer rights',
  ),
  sentence(
    '5.1 Each call needs a credential, sent as a bearer token.',
    assertion('reading without a credential, with an unknown one or in another scheme is refused', async (it) => {
      await expectRefusals(it, READING)
    }),
    assertion('writing without a credential, with an unknown one or in another scheme is refused', async (it) => {
      await expectRefusals(it, CHANGING)
    }),
  ),
  unobservable(
    '5.1 A credential may be a token of OAuth 2.0 with the scope api:use.',
    'how to get one is not described',
  ),
  unobservable('5.2 People make access tokens on a page of the workspace, and see them once.', 'a page for people'),
  unobservable('5.2 Tokens are kept secret, never in a browser or a URL.', 'a rule for clients'),
  sentence(
    '5.3 A credential belongs to one workspace.',
    assertion('every check shows the same tenant', async (it) => {
      const { json } = await it.client().get('/auth/check')
      assert.deepEqual(json.tenant, (await it.access()).tenant)
    }),
  ),
  unobservable('5.3 A credential never exceeds what its owner may do.', 'it needs another owner with fewer rights'),
  sentence(
    '5.3 A credential for the API can lack access to libraries; the check shows what it has.',
    assertion('libraries that the check shows as readable can be read', async (it) => {
      const readable = (await it.access()).libraries.filter(({ access: rights }) => rights.includes('read'))
      for (const { id } of readable.slice(0, 3)) hasStatus(await it.client().get(`/libraries/${id}`), 200)
    }),
    assertion('without rights the check and the listing show no libraries', async (it) => {
      const { json } = await it.client('steward').get('/auth/check')
      const { json: page } = await it.client('steward').get('/libraries')
      assert.deepEqual([json.libraries, page.items], [[], []])
    }),
    assertion('a library is forbidden without the right to read', async (it) => {
      const library = await it.library()
      for (const path of [`/libraries/${library}`, `/libraries/${library}/directory`]) {
        refuses(await it.client('steward').get(path), 403)
      }
    }),
  ),
  sentence(
    '5.4 A credential for agents is not one for the API.',
    assertion('a credential that is not enabled for the API is forbidden', async (it) => {
      refuses(await it.client('agent').get('/auth/check'), 403)
      refuses(await it.client('agent').get('/libraries'), 403)
    }),
  ),
  unobservable(
    '5.4 A connected application must be allowed the API and the libraries.',
    'it needs an application of OAuth',
  ),
  sentence(
    '5.5 There are six global abilities; rights on one library stand in its access.',
    assertion('global abilities are among the six, and rights are texts', async (it) => {
      const { abilities, libraries } = await it.access()
      conforms(z.array(z.enum(GLOBAL_ABILITIES)), abilities)
      for (const { access: rights } of libraries) conforms(z.array(z.string().min(1)), rights)
    }),
    assertion('an ability for all libraries is a right on each library', async (it) => {
      const { abilities, libraries } = await it.access()
      for (const ability of abilities.filter((name) => name.startsWith('library.all.'))) {
        const lacking = libraries.filter(({ access: rights }) => !rights.includes(ability.slice('library.all.'.length)))
        assert.deepEqual(lacking, [], `in spite of ${ability}`)
      }
    }),
  ),
  unobservable('5.7 The calls that lead to a token of OAuth are left open.', 'nothing is described'),
  unobservable('5.8 How a signature is computed is left open.', 'nothing is described'),
  unobservable('6 Whether there are events or notifications is left open.', 'nothing is described'),
]

async function expectRefusals(it: Examination, routes: readonly { method: string; path: string }[]): Promise<void> {
  for (const authorization of ['', 'Bearer nobody-has-this-token', 'Basic bm9ib2R5Om5vYm9keQ==']) {
    const client = it.clientWith(authorization)
    for (const { method, path } of routes) {
      const known = path
        .slice('/v1'.length)
        .replace('{library}', await it.library())
        .replace(/[{}]/g, '')
      // The suite never sends a deletion of an existing library, even one that must be refused.
      refuses(await client.call(method, method === 'DELETE' ? NOWHERE : known), 401)
    }
  }
}

const NOWHERE = '/libraries/shelfd-contract-no-such-thing'
