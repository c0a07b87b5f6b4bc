import { describe, expect, it } from 'vitest'
import { createToken, listTokens, revokeToken, type TokenSpec } from '../../../src/embedded/access/manage-tokens.ts'
import { systemClock } from '../../../src/foundation/clock.ts'
import { UsageError } from '../../../src/foundation/errors.ts'
import { ServiceClient } from '../../contract/service-client.ts'
import { startLibrary, temporaryDirectory } from '../temporary-library.ts'

const NOW_MS = Date.UTC(2030, 0, 1)

async function libraryWithToken(spec: Omit<TokenSpec, 'name'>, nowMs = () => Date.now()) {
  const { dataDir, library, client: owner } = await startLibrary({ clock: { ...systemClock, nowMs } })
  const [mine, other] = [await owner.createLibrary(), await owner.createLibrary()]
  const libraries = spec.libraries ?? [mine]
  const token = createToken(dataDir, { name: 'limited', ...spec, libraries }, nowMs())
  return { dataDir, owner, mine, other, limited: new ServiceClient(library, `Bearer ${token}`) }
}

describe('tokens', () => {
  it('a token gives rights on the named libraries only', async () => {
    const { limited, mine, other } = await libraryWithToken({ access: ['read'] })
    const { json } = await limited.get('/auth/check')
    expect(json).toMatchObject({ abilities: [], interfaces: ['api'], libraries: [{ id: mine, access: ['read'] }] })
    expect((await limited.get('/libraries')).json.items).toEqual([expect.objectContaining({ id: mine })])
    expect((await limited.get(`/libraries/${mine}`)).status).toBe(200)
    expect((await limited.get(`/libraries/${other}`)).status).toBe(403)
    expect((await limited.get('/libraries/unknown')).status).toBe(404)
  })

  it('each missing right of a token is answered with 403 [S-20]', async () => {
    const { owner, limited, mine, other } = await libraryWithToken({ access: [] })
    const resource = await owner.uploaded(other, { name: 'a.txt', content: 'secret zebra' })
    await owner.processed(other, resource)
    const asked = [
      limited.call('POST', '/libraries', { name: 'x' }),
      limited.call('DELETE', `/libraries/${mine}`),
      limited.call('DELETE', `/libraries/${other}/resources/${resource}`),
      limited.get(`/libraries/${mine}/directory`),
      limited.call('POST', `/libraries/${mine}/directory`, { path: '/a' }),
      limited.upload(mine, { name: 'a', content: 'a' }),
      limited.get(`/libraries/${other}/resources/${resource}`),
      limited.get(`/resources/${resource}`),
      limited.call('POST', `/resources/${resource}/view-urls`),
      limited.get(`/assets/${resource}.0`),
      limited.call('POST', `/assets/${resource}.0/view-urls`),
      limited.get(`/search/resources?query=zebra&library_ids[]=${other}`),
    ]
    expect((await Promise.all(asked)).map(({ status }) => status)).toEqual(asked.map(() => 403))
    expect((await limited.get('/search/resources?query=zebra')).json.results).toEqual([])
  })

  it('a right to upload allows nothing else', async () => {
    const { limited, mine } = await libraryWithToken({ access: ['resource.create'] })
    expect((await limited.upload(mine, { name: 'a', content: 'a' })).status).toBe(201)
    expect((await limited.get(`/libraries/${mine}/directory`)).status).toBe(403)
  })

  it('rights on all libraries include later ones', async () => {
    const { owner, limited } = await libraryWithToken({ access: ['read', 'update'], libraries: 'all' })
    const later = await owner.createLibrary()
    expect((await limited.call('POST', `/libraries/${later}/directory`, { path: '/a' })).status).toBe(201)
    expect((await limited.get('/auth/check')).json.abilities).toEqual(['library.all.read', 'library.all.update'])
  })

  it('creating a library gives no access to it', async () => {
    const { limited } = await libraryWithToken({ abilities: ['library.create'] })
    const made = await limited.createLibrary()
    expect((await limited.get(`/libraries/${made}`)).status).toBe(403)
  })

  it('a token ends with its expiry', async () => {
    let nowMs = NOW_MS
    const { limited } = await libraryWithToken({ expiresAtMs: NOW_MS + 1_000 }, () => nowMs)
    expect((await limited.get('/auth/check')).status).toBe(200)
    nowMs += 1_000
    const { status, headers } = await limited.get('/auth/check')
    expect({ status, asks: headers.get('www-authenticate') }).toEqual({
      status: 401,
      asks: expect.stringContaining('Bearer'),
    })
  })

  it('a token ends when revoked beside a running service', async () => {
    const { dataDir, limited } = await libraryWithToken({ access: ['read'] })
    expect((await limited.get('/auth/check')).status).toBe(200)
    expect(revokeToken(dataDir, 'limited', NOW_MS)).toBe(true)
    expect((await limited.get('/auth/check')).status).toBe(401)
    expect(revokeToken(dataDir, 'limited', NOW_MS)).toBe(false)
  })

  it('a token without the interface of a request is refused', async () => {
    const { limited } = await libraryWithToken({ access: ['read'], interfaces: ['mcp'] })
    expect((await limited.get('/auth/check')).status).toBe(403)
  })

  it('tokens are listed with all but their secret', async () => {
    const { dataDir } = await libraryWithToken({ access: ['read'], expiresAtMs: NOW_MS })
    const [owner, limited] = listTokens(dataDir)
    expect(owner?.name).toBe('owner')
    expect(limited).toMatchObject({ name: 'limited', expiresAtMs: NOW_MS, libraries: [{ access: ['read'] }] })
  })

  it('a token is not made with a taken name or a missing library', async () => {
    const { dataDir } = await libraryWithToken({ access: ['read'] })
    expect(() => createToken(dataDir, { name: 'limited' }, NOW_MS)).toThrow(UsageError)
    expect(() => createToken(dataDir, { name: 'new', libraries: ['none'] }, NOW_MS)).toThrow(UsageError)
    expect(listTokens(dataDir)).toHaveLength(2)
    expect(() => listTokens(temporaryDirectory())).toThrow(UsageError)
  })
})
