import { gzipSync } from 'node:zlib'
import { describe, expect, it } from 'vitest'
import { NO_TEXT } from '../../../src/embedded/ingest/readers/extraction.ts'
import { serviceOfFile } from './ingested.ts'
import { makePdf } from './make-pdf.ts'
import { readHere } from './read-here.ts'

const ingested = serviceOfFile()

const read = (content: Buffer | string) => readHere('application/gzip', [gzipSync(content)])

describe('a gzip of one file', () => {
  it('a page of a manual is found by its words', async () => {
    const content = new Uint8Array(gzipSync('.TH TIDE 1\n.SH NAME\ntide \\- show when the water is high\n'))
    const { record, found } = await ingested({ name: 'tide.1.gz', type: 'application/gzip', content })
    expect(record).toMatchObject({ ingestion_status: 'completed', text_extracted: true })
    expect(await found('water')).toEqual([record.id])
  })

  it('a web page is read as one, a document by its own reader', async () => {
    expect((await read('<!DOCTYPE html><p>spring <b>tide</b>')).text).toBe('spring tide')
    const { text, end } = await read(makePdf([{ lines: ['neap tide'] }]))
    expect({ text, end }).toMatchObject({
      text: expect.stringContaining('neap tide'),
      end: { properties: { pages: 1 } },
    })
  })

  it('an archive in it has no text, another gzip in it is partial', async () => {
    const tar = Buffer.alloc(1_024)
    tar.write('a.txt')
    tar.write('ustar', 257)
    expect(await read(tar)).toMatchObject({ passages: [], end: { warnings: [NO_TEXT] } })
    expect(await read(gzipSync('tide'))).toMatchObject({ passages: [], end: { status: 'partial' } })
  })

  it('what unpacks to too much is partial, and a broken one fails', async () => {
    const bomb = await read(Buffer.alloc(80 * 2 ** 20))
    expect(bomb).toMatchObject({
      passages: [],
      end: { status: 'partial', failure: expect.stringMatching(/^It unpacks to more than/) },
    })
    const whole = gzipSync('tide '.repeat(1_000))
    await expect(readHere('application/gzip', [whole.subarray(0, -12)])).rejects.toThrow()
  })
})
