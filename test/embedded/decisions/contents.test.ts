import { randomBytes } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { resourceRecord } from '../../../src/contract/records.ts'
import { pluck } from '../../contract/service-client.ts'
import { shareLibrary } from '../common-library.ts'

const context = shareLibrary()
const newResource = async (content = 'first line\nsecond line\n') => {
  const library = await context.newLibrary()
  const resource = await context.client.uploaded(library, { name: 'tëxt.md', type: 'text/markdown', content })
  return { library, resource }
}
const newAsset = async () => {
  const { library, resource } = await newResource()
  const record = resourceRecord.parse(await context.client.processed(library, resource))
  return { resource, asset: record.assets?.[0]?.id ?? '' }
}

describe('contents, assets and view URLs of the embedded library', () => {
  it('a processed text is shown with its assets', async () => {
    const { library, resource } = await newResource()
    const record = await context.client.processed(library, resource)
    expect(record).toMatchObject({
      id: resource,
      title: 'tëxt.md',
      library: { id: library },
      paths: ['/.inbox/text.md'],
      ingestion_status: 'completed',
    })
    expect(pluck(record.assets, 'text')).toEqual(['first line\nsecond line'])
  })

  it.each([0, 1, 65_536, 65_537, 3_000_000])('a resource of %i bytes is downloaded unchanged', async (size) => {
    const library = await context.newLibrary()
    const content = new Uint8Array(randomBytes(size))
    const resource = await context.client.uploaded(library, { name: 'Ä "x".bin', type: 'image/png', content })
    const response = await context.client.fetch(`/resources/${resource}`, { method: 'GET' })
    expect(Object.fromEntries(response.headers)).toMatchObject({
      'content-type': 'image/png',
      'content-length': String(size),
      'content-disposition': expect.stringContaining("filename*=UTF-8''%C3%84%20%22x%22.bin"),
    })
    expect(Buffer.from(await response.arrayBuffer()).equals(content)).toBe(true)
  })

  it('a downloaded page loads nothing from elsewhere, and its name has no control characters', async () => {
    const library = await context.newLibrary()
    const name = 'C:\\a\u0007b\u009b\n.html'
    const resource = await context.client.uploaded(library, { name, type: 'text/html', content: '<p>x' })
    const { headers } = await context.client.get(`/resources/${resource}`)
    expect(headers.get('content-security-policy')?.split('; ')).toEqual(
      expect.arrayContaining(['sandbox', "default-src 'none'"]),
    )
    expect(headers.get('content-disposition')).toBe(
      `inline; filename="C:_a_b__.html"; filename*=UTF-8''C%3A_a_b__.html`,
    )
    expect((await context.client.processed(library, resource)).title).toBe('C:_a_b__.html')
  })

  it.each([
    ['audio/wav', false],
    ['video/mp4', false],
    ['image/svg+xml', true],
    ['video/x+xml', true],
    ['audio/x+xml', true],
    ['application/pdf', true],
  ])('of all originals only a recording is no sandbox, and runs nothing: %s', async (type, isSandbox) => {
    const library = await context.newLibrary()
    const resource = await context.client.uploaded(library, { name: 'x', type, content: '<script>1</script>' })
    const { headers } = await context.client.get(`/resources/${resource}`)
    const policy = headers.get('content-security-policy')?.split('; ')
    expect(policy?.includes('sandbox')).toBe(isSandbox)
    expect(policy).toContain("default-src 'none'")
    expect(policy?.join()).not.toContain('script')
    expect(headers.get('x-content-type-options')).toBe('nosniff')
  })

  it('the text of an asset is downloaded', async () => {
    const { asset } = await newAsset()
    const { status, text, headers } = await context.client.get(`/assets/${asset}?disposition=attachment`)
    expect({ status, text }).toEqual({ status: 200, text: 'first line\nsecond line' })
    expect(headers.get('content-type')).toMatch(/^text\/markdown/)
    expect(headers.get('content-disposition')).toMatch(/^attachment; filename/)
    expect((await context.client.get('/assets/unknown')).status).toBe(404)
  })

  it('a view URL has its defaults', async () => {
    const { resource, asset } = await newAsset()
    const ofAsset = await context.client.call('POST', `/assets/${asset}/view-urls`)
    expect(ofAsset.json).toMatchObject({ representation: 'content', expires_in_minutes: 15 })
    const ofResource = await context.client.call('POST', `/resources/${resource}/view-urls`, {})
    expect(ofResource.json).toMatchObject({ expires_in_minutes: 15 })
  })

  it.each([
    { ttl_minutes: 0 },
    { ttl_minutes: 61 },
    { ttl_minutes: 1.5 },
    { disposition: 'elsewhere' },
    { representation: 'scene' },
    { representation: 'frame', timestamp_seconds: 1 },
    { representation: 'content', timestamp_seconds: 1 },
    { representation: 'page' },
  ])('a view URL with %j is refused', async (body) => {
    const { asset } = await newAsset()
    const { status, json } = await context.client.call('POST', `/assets/${asset}/view-urls`, body)
    expect({ status, errors: json.errors }).toEqual({ status: 422, errors: expect.any(Object) })
  })

  it('a resource that is not a video has no pictures', async () => {
    const { asset } = await newAsset()
    for (const query of ['', '?timestamp_seconds=-1', '?timestamp_seconds=1.5']) {
      expect((await context.client.get(`/assets/${asset}/representations/scene${query}`)).status).toBe(422)
      expect((await context.client.get(`/assets/${asset}/representations/frame${query}`)).status).toBe(422)
    }
    expect((await context.client.get('/assets/unknown/representations/frame?timestamp_seconds=1')).status).toBe(404)
  })
})
