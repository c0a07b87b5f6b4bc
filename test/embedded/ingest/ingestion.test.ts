import { describe, expect, it } from 'vitest'
import { NO_TEXT, REPLACED_BYTES, TABLE_AS_LINES } from '../../../src/embedded/ingest/readers/extraction.ts'
import { pluck } from '../../contract/service-client.ts'
import { serviceOfFile } from './ingested.ts'

const ingested = serviceOfFile()

describe('ingestion', () => {
  it('HTML is ingested as its visible text, the title first', async () => {
    const content =
      '<!doctype html><title>A &amp; B</title><script>hidden()</script><h1>Head</h1><p>One <b>bo</b>ld<br>line</p><!-- no -->'
    const { record } = await ingested({ name: 'a.html', type: 'text/html', content })
    expect(pluck(record.assets, 'text')).toEqual(['# A & B\n# Head\nOne bold\nline'])
  })

  it('each row of a table becomes a line', async () => {
    const { record } = await ingested({ name: 'a.csv', type: 'text/csv', content: 'name,note\nAda,"a, ""b""\nc"\n' })
    expect(record.assets).toEqual([
      expect.objectContaining({ text: 'name | note\nAda | a, "b" c', trace: [{ unit: 'row', from: 1, to: 2 }] }),
    ])
  })

  it.each(['application/json', 'text/x-python', 'application/octet-stream', 'application/x-unheard-of'])(
    'UTF-8 of the type %s is ingested as text',
    async (type) => {
      const { record } = await ingested({ name: 'a', type, content: '{"zebra": 1}' })
      expect(record).toMatchObject({ ingestion_status: 'completed', abstract: '{"zebra": 1}' })
    },
  )

  it.each([
    ['font/ttf', new Uint8Array([1, 2, 3])],
    ['application/octet-stream', new Uint8Array([0, 255, 0])],
    ['application/zip', new Uint8Array([0x50, 0x4b, 5, 6, ...Array.from({ length: 18 }, () => 0)])],
  ])('%s without text gives a warning', async (type, content) => {
    const { found, record } = await ingested({ name: 'zebra picture', type, content })
    expect(record).toMatchObject({
      ingestion_status: 'completed_with_warnings',
      ingestion_warnings: [NO_TEXT],
      assets: [],
    })
    expect(await found('zebra')).toHaveLength(1)
  })

  it('bytes that are not UTF-8 are replaced with a warning', async () => {
    const content = new Uint8Array([0x61, 0xff, 0x62])
    const { record } = await ingested({ name: 'a.txt', content })
    expect(record).toMatchObject({ ingestion_status: 'completed_with_warnings', ingestion_warnings: [REPLACED_BYTES] })
    expect(record.abstract).toBe('a\ufffdb')
  })

  it('a faulty byte far into a large text is replaced', async () => {
    const content = new Uint8Array(Buffer.concat([Buffer.from('zebra\n'.repeat(50_000)), Buffer.from([0xc3])]))
    const { found, record } = await ingested({ name: 'a.txt', content })
    expect(record).toMatchObject({
      ingestion_warnings: [REPLACED_BYTES],
      abstract: expect.stringMatching(/^zebra zebra/),
    })
    expect(await found('zebra')).toHaveLength(1)
  })

  it('a table with an open quote is read as lines', async () => {
    const content = `name,note\nAda,"open\n${'Bob,fine\n'.repeat(9)}last,zebra\n`
    const { record, found } = await ingested({ name: 'a.csv', type: 'text/csv', content })
    expect(record).toMatchObject({ ingestion_status: 'completed_with_warnings', ingestion_warnings: [TABLE_AS_LINES] })
    expect(record.assets).toEqual([expect.objectContaining({ trace: [{ unit: 'line', from: 1, to: 12 }] })])
    expect(await found('zebra')).toEqual([record.id])
  })

  it('the bytes of a file decide its type, not its name', async () => {
    const xz = new Uint8Array(Buffer.from('fd377a585a000004e6d6b446', 'hex'))
    const { records } = await ingested(
      { name: 'a.txt', type: 'text/plain', content: xz },
      { name: 'b.ts', type: 'text/x-typescript', content: new Uint8Array([0x7f, 0x45, 0x4c, 0x46, 0, 0, 0, 0]) },
      { name: 'c.txt', type: 'text/plain', content: 'MZ and other letters that programs begin with' },
    )
    expect(records.map(({ text_extracted: hasText }) => hasText)).toEqual([false, false, true])
  })

  it('empty files complete [F-FS-15]', async () => {
    const { record } = await ingested({ name: 'a.txt', content: '' }, { name: 'a.png', type: 'image/png', content: '' })
    expect(record).toMatchObject({ ingestion_status: 'completed', abstract: null, assets: [], size: 0 })
  })

  it('ingestion continues after a file that gives no text', async () => {
    const bad = { name: 'bad.html', type: 'text/html', content: '<p>'.repeat(9) }
    const { records } = await ingested(bad, { name: 'good.txt', content: 'fine' })
    expect(records[0]).toMatchObject({
      ingestion_status: 'partial',
      ingestion_error: expect.stringMatching(/no visible/),
    })
    expect(records[1]).toMatchObject({ ingestion_status: 'completed' })
  })

  it('a large text is read piece by piece, once each', async () => {
    const lines = Array.from({ length: 40_000 }, (_, index) => `line ${index} é`)
    const { client, record } = await ingested({ name: 'large.txt', content: lines.join('\n') })
    expect(pluck(record.assets, 'trace').slice(0, 2)).toEqual([
      [{ unit: 'line', from: 1, to: expect.any(Number) }],
      [{ unit: 'line', from: expect.any(Number), to: expect.any(Number) }],
    ])
    const { json } = await client.get('/search/resources?query="39999+é"')
    expect(json.results).toEqual([{ resource: expect.objectContaining({ id: record.id }) }])
  })
})
