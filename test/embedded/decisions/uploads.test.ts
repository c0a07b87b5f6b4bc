import { describe, expect, it } from 'vitest'
import { directoryPage, uploadResponse } from '../../../src/contract/records.ts'
import { pluck } from '../../contract/service-client.ts'
import { shareLibrary } from '../common-library.ts'

const context = shareLibrary()
const files = async (library: string, path: string) =>
  directoryPage.parse((await context.client.listing(library, { path })).json).files

describe('uploads of the embedded library', () => {
  it('an uploaded file lands in the inbox', async () => {
    const library = await context.newLibrary()
    const { status, json } = await context.client.upload(library, { name: 'My Notes.TXT', content: 'hello' })
    expect(status).toBe(201)
    expect(uploadResponse.parse(json).duplicate).toBe(false)
    expect(await files(library, '/.inbox')).toEqual([
      expect.objectContaining({
        id: json.id,
        title: 'My Notes.TXT',
        slug: 'my-notes',
        filename: 'my-notes.txt',
        mime_type: 'text/plain',
      }),
    ])
  })

  it.each([true, false])('an upload lands in a named directory, field last: %s', async (fieldsLast) => {
    const library = await context.newLibrary()
    await context.client.call('POST', `/libraries/${library}/directory`, { path: '/a' })
    await context.client.uploaded(library, { name: 'x', content: 'x', path: '/a/', fieldsLast })
    expect(pluck(await files(library, '/a'), 'title')).toEqual(['x'])
  })

  it('unknown and malformed directories are refused', async () => {
    const library = await context.newLibrary()
    expect((await context.client.upload(library, { name: 'x', content: 'x', path: '/no' })).status).toBe(404)
    expect((await context.client.upload(library, { name: 'x', content: 'x', path: 'no' })).status).toBe(422)
  })

  it('the same bytes are one resource with more locations', async () => {
    const library = await context.newLibrary()
    const id = await context.client.uploaded(library, { name: 'a.txt', content: 'same' })
    const again = await context.client.upload(library, { name: 'b.txt', content: 'same' })
    expect({ status: again.status, ...again.json }).toMatchObject({ status: 200, id, duplicate: true })
    expect(pluck(await files(library, '/.inbox'), 'title')).toEqual(['a.txt', 'b.txt'])
    expect((await context.client.processed(library, id)).paths).toEqual(['/.inbox/a.txt', '/.inbox/b.txt'])
  })

  it('a short plain text is searchable when its upload is answered', async () => {
    const library = await context.newLibrary()
    const file = { name: 'short.txt', content: 'the narwhal\n'.repeat(500) }
    const { status, json } = await context.client.upload(library, file)
    expect({ status, ...json }).toMatchObject({ status: 201, ingestion_status: 'completed', text_extracted: true })
    const found = await context.client.get(`/search/resources?query=narwhal&library_ids[]=${library}`)
    expect(found.json.results).toEqual([
      expect.objectContaining({ resource: expect.objectContaining({ id: json.id, ingestion_status: 'completed' }) }),
    ])
    const again = await context.client.upload(library, file)
    expect(again.json).toMatchObject({ duplicate: true, ingestion_status: 'completed', text_extracted: true })
  })

  it.each([
    ['a long text', 'text/plain', 'narwhal '.repeat(5_000)],
    ['a page', 'text/html', '<p>narwhal</p>'],
    ['a text in another encoding', 'text/plain', new Uint8Array(Buffer.from('größer', 'latin1'))],
  ])('%s is processed after its upload', async (_, type, content) => {
    const library = await context.newLibrary()
    const { json } = await context.client.upload(library, { name: 'a', type, content })
    expect(json).toEqual({ id: json.id, duplicate: false, ingestion_status: 'not_started' })
    expect((await context.client.processed(library, String(json.id))).ingestion_status).toMatch(/^completed/)
  })

  it('equal names have virtual filenames of their own', async () => {
    const library = await context.newLibrary()
    for (const content of ['1', '2', '3']) await context.client.uploaded(library, { name: 'read me.md', content })
    const listed = await files(library, '/.inbox')
    expect(pluck(listed, 'filename')).toEqual(['read-me-2.md', 'read-me-3.md', 'read-me.md'])
    expect(new Set(pluck(listed, 'title'))).toEqual(new Set(['read me.md']))
  })

  it.each(['"q".txt', "it's; x=y.txt", 'ünï 漢字 🎉.md', 'n'.repeat(255), '.hidden'])(
    'the file name %j is kept as the title',
    async (name) => {
      const library = await context.newLibrary()
      await context.client.uploaded(library, { name, content: name })
      expect(pluck(await files(library, '/.inbox'), 'title')).toEqual([name])
    },
  )

  it.each(['a\nb.txt', 'a\u{85}b.txt', 'a\\b.txt'])(
    'the title of %j shows _ for what moves a cursor or a file',
    async (name) => {
      const library = await context.newLibrary()
      await context.client.uploaded(library, { name, content: name })
      expect(pluck(await files(library, '/.inbox'), 'title')).toEqual(['a_b.txt'])
    },
  )

  it('simultaneous equal uploads make one resource', async () => {
    const library = await context.newLibrary()
    const sent = Array.from({ length: 8 }, (_, index) =>
      context.client.upload(library, { name: `${index % 4}.txt`, content: 'at once' }),
    )
    const answers = await Promise.all(sent)
    expect(new Set(answers.map(({ json }) => json.id)).size).toBe(1)
    expect(answers.filter(({ status }) => status === 201)).toHaveLength(1)
    expect(await files(library, '/.inbox')).toHaveLength(8)
  })

  it('forms without a file are refused', async () => {
    const library = await context.newLibrary()
    const target = `/libraries/${library}/files`
    const form = new FormData()
    form.set('path', '/.inbox')
    expect((await context.client.send(target, { method: 'POST', body: form })).status).toBe(422)
    expect((await context.client.call('POST', target, { file: 'x' })).status).toBe(415)
  })

  it('a form that ends early stores nothing', async () => {
    const library = await context.newLibrary()
    const head = '--B\r\nContent-Disposition: form-data; name="file"; filename="a"\r\n\r\nbytes'
    for (const body of [head, `${head}\r\n--B`, `${head}\r\n--B--`.slice(0, -1), '']) {
      const headers = { 'content-type': 'multipart/form-data; boundary=B' }
      const { status } = await context.client.send(`/libraries/${library}/files`, { method: 'POST', body, headers })
      expect(status).toBe(422)
    }
    expect(await files(library, '/.inbox')).toEqual([])
  })

  it('an upload to an unknown library is answered with 404', async () => {
    expect((await context.client.upload('unknown', { name: 'a', content: 'a' })).status).toBe(404)
  })
})
