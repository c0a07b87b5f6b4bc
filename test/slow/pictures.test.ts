import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { setImmediate } from 'node:timers/promises'
import { crc32, deflateSync } from 'node:zlib'
import sharp from 'sharp'
import { describe, expect, it } from 'vitest'
import { openRecognizer } from '../../src/embedded/ingest/readers/ocr.ts'
import { openPdf } from '../../src/embedded/ingest/readers/pdf-file.ts'
import { likelyTurns, turn, turnBack } from '../../src/embedded/ingest/readers/turned-page.ts'
import { pluck } from '../contract/service-client.ts'
import { serviceOfFile } from '../embedded/ingest/ingested.ts'
import { type MadePage, makePdf } from '../embedded/ingest/make-pdf.ts'
import { readHere } from '../embedded/ingest/read-here.ts'
import { startLibrary } from '../embedded/temporary-library.ts'
import { readerProcesses } from '../support/reader-processes.ts'
import { temporaryDirectory } from '../support/temporary.ts'

const ingested = serviceOfFile()

const PNG = 'image/png'

/** These lines as a scanner sees them: one byte for each pixel. */
async function scan(...lines: readonly string[]) {
  using pdf = await openPdf(makePdf([{ lines }]))
  const page = await pdf.drawPage(0, 1_400)
  const height = 200
  return { ...page, height, data: page.data.subarray(0, page.width * height) }
}

const pngOf = ({ data, width, height }: Awaited<ReturnType<typeof scan>>) =>
  sharp(data, { raw: { width, height, channels: 1 } })

const blank = (width: number, height = width) => sharp({ create: { width, height, channels: 3, background: '#357' } })

/** A PNG whose header claims this size. */
function claimingPixels(width: number, height: number): Uint8Array<ArrayBuffer> {
  const header = Buffer.from('IHDR\0\0\0\0\0\0\0\0\x08\0\0\0\0', 'latin1')
  header.writeUInt32BE(width, 4)
  header.writeUInt32BE(height, 8)
  const chunk = (body: Buffer) => {
    const ends = Buffer.alloc(8)
    ends.writeUInt32BE(body.length - 4, 0)
    ends.writeUInt32BE(crc32(body), 4)
    return Buffer.concat([ends.subarray(0, 4), body, ends.subarray(4)])
  }
  const pixels = Buffer.concat([Buffer.from('IDAT'), deflateSync(Buffer.alloc(1_000))])
  const signature = Buffer.from('\x89PNG\r\n\x1a\n', 'latin1')
  return new Uint8Array(Buffer.concat([signature, ...[header, pixels, Buffer.from('IEND')].map(chunk)]))
}

describe('pictures and scans', () => {
  it('blank pages are not recognised, a page with one word is', async () => {
    const page = await scan('The lighthouse')
    const blankPage = { ...page, data: page.data.map((_, at) => 250 + (at % 5)) }
    for (const [image, isRecognized] of [
      [page, true],
      [blankPage, false],
    ] as const) {
      const directory = temporaryDirectory()
      const languages = join(directory, 'languages')
      const texts = await openRecognizer(languages).recognize(image)
      expect([texts?.length, existsSync(languages)]).toEqual([isRecognized ? 1 : 0, isRecognized])
    }
  })

  it.each([0, 1, 2, 3])(
    'a page that was scanned %i quarters of a turn off is read, and its regions are those of the page',
    async (quarters) => {
      using pdf = await openPdf(
        makePdf([
          {
            lines: [
              'The lighthouse of Brest',
              'stands upon a rock and',
              'lights the way for ships',
              'that return from the sea',
            ],
          },
        ]),
      )
      const page = turn(await pdf.drawPage(0, 1_400), quarters)
      const [first] = (await openRecognizer(join(temporaryDirectory(), 'languages')).recognize(page)) ?? []
      expect(first?.text).toMatch(/lighthouse of Brest[\s\S]*return from the sea/)
      const upright = first && turnBack(first.region, quarters)
      expect(upright).toMatchObject({ left: expect.closeTo(0.12, 1), top: expect.closeTo(0.05, 1) })
      expect(upright?.width).toBeGreaterThan(2 * (upright?.height ?? 0))
    },
  )

  it('a photograph is not turned', () => {
    const noise = Uint8Array.from({ length: 90_000 }, (_, index) => (index * index * 7_919) % 251)
    expect(likelyTurns({ width: 300, height: 300, data: noise })).toEqual([])
  })

  it('what a program writes into a picture is not its text', async () => {
    const exif = (ImageDescription: string) => blank(30).withExif({ IFD0: { ImageDescription } }).jpeg().toBuffer()
    const content = await Promise.all(['Created with GIMP', 'OLYMPUS DIGITAL CAMERA', 'Made in May'].map(exif))
    const { records } = await ingested(
      ...content.map((bytes, at) => ({ name: `${at}.jpg`, type: 'image/jpeg', content: new Uint8Array(bytes) })),
    )
    expect(records.map(({ text_extracted: hasText }) => hasText)).toEqual([false, false, true])
  })

  it('recognition may take longer than other documents may', async () => {
    const picture = await pngOf(await scan('The lighthouse keeper sleeps'))
      .png()
      .toBuffer()
    // Not even the child process starts within this time.
    const { client } = await startLibrary({ extraction: { timeMs: 1 } })
    const library = await client.createLibrary()
    const id = await client.uploaded(library, { name: 'a.png', type: PNG, content: new Uint8Array(picture) })
    expect(await client.processed(library, id)).toMatchObject({ ingestion_status: 'completed_with_warnings' })
  })

  it('blank pages are left out before anything is recognised, a page with one letter is not', async () => {
    const paper = new Uint8Array(100 * 142).map((_, at) => 250 + (at % 5))
    const blankPages = Array.from({ length: 64 }, () => ({ picture: { width: 100, height: 142, data: paper } }))
    const endOf = async (page: MadePage) =>
      (await readHere('application/pdf', [makePdf([...blankPages, { lines: ['Typed words'] }, page])])).end.status
    expect(await endOf('blank')).toBe('completed')
    expect(await endOf({ picture: await scan('i') })).toBe('running')
  })

  it('pictures and scans are found by the words recognised in them', async () => {
    const picture = await scan('The lighthouse keeper sleeps', 'zwischen grünen Brücken')
    const rotated = await pngOf(await scan('Harbour master'))
      .rotate(90)
      .jpeg()
      .withMetadata({ orientation: 8 })
      .toBuffer()
    const caption = { IFD0: { ImageDescription: 'Pelicans at dusk', Artist: 'Ada' } }
    const photo = await blank(300).withExif(caption).jpeg().toBuffer()
    const pdf = makePdf([{ lines: ['Typed words'] }, { picture }, 'blank'])
    const { records, found } = await ingested(
      { name: 'a.png', type: PNG, content: new Uint8Array(await pngOf(picture).png().toBuffer()) },
      { name: 'a.pdf', type: 'application/pdf', content: new Uint8Array(pdf) },
      { name: 'b.jpg', type: 'image/jpeg', content: new Uint8Array(rotated) },
      { name: 'c.jpg', type: 'application/octet-stream', content: new Uint8Array(photo) },
    )
    expect(records).toMatchObject([
      { ingestion_warnings: [expect.stringMatching(/OCR/)], properties: { width: picture.width, height: 200 } },
      { ingestion_warnings: [expect.stringMatching(/OCR/)], properties: { pages: 3 } },
      { ingestion_warnings: [expect.stringMatching(/OCR/)] },
      { ingestion_warnings: [expect.stringMatching(/No text was recognized/)], abstract: 'Pelicans at dusk Ada' },
    ])
    expect(records.map(({ ingestion_status: status }) => status)).toEqual(
      Array.from(records, () => 'completed_with_warnings'),
    )
    const [first, second, third, last] = pluck(records, 'id')
    expect(await found('lighthouse Brücken')).toEqual(expect.arrayContaining([first, second]))
    expect([await found('typed'), await found('harbour'), await found('pelicans')]).toEqual([[second], [third], [last]])
    const place = {
      unit: 'page',
      region: {
        left: expect.closeTo(0.1, 1),
        top: expect.any(Number),
        width: expect.any(Number),
        height: expect.any(Number),
      },
    }
    expect(pluck(records[0]?.assets, 'trace')).toEqual([[{ ...place, from: 1, to: 1 }]])
    expect(pluck(records[1]?.assets, 'trace')).toEqual([
      [{ unit: 'page', from: 1, to: 1 }],
      [{ ...place, from: 2, to: 2 }],
    ])
  })

  it('scanned pages without words end as partial', async () => {
    const picture = { width: 40, height: 40, data: new Uint8Array(1_600).fill(200) }
    const { record } = await ingested({
      name: 'a.pdf',
      type: 'application/pdf',
      content: new Uint8Array(makePdf([{ picture }])),
    })
    expect(record).toMatchObject({
      ingestion_status: 'partial',
      ingestion_error: expect.stringMatching(/no text/),
      assets: [],
    })
  })

  it.runIf(process.platform === 'linux')('a picture is read again after its process was killed', async () => {
    const { client, library: service } = await startLibrary()
    const library = await client.createLibrary()
    const content = new Uint8Array(
      await pngOf(await scan('Harbour master'))
        .png()
        .toBuffer(),
    )
    const id = await client.uploaded(library, { name: 'a.png', type: PNG, content })
    let killed = 0
    while (killed === 0) {
      await setImmediate()
      for (const pid of readerProcesses()) killed += Number(process.kill(pid, 'SIGKILL'))
    }
    await service.settled()
    const record = await client.processed(library, id)
    expect(record).toMatchObject({ ingestion_status: 'completed_with_warnings', abstract: 'Harbour master' })
  })

  it('damaged pictures end as failed', async () => {
    const whole = await blank(300).png().toBuffer()
    const { records } = await ingested(
      { name: 'a.png', type: PNG, content: new Uint8Array(whole.subarray(0, 20)) },
      { name: 'b.png', type: PNG, content: new Uint8Array([0, 1, 2, 3]) },
    )
    for (const record of records) {
      expect(record).toMatchObject({ ingestion_status: 'failed', ingestion_error: expect.stringMatching(/damaged/) })
    }
  })

  it('pictures that cannot be decoded are only kept', async () => {
    const { end } = await readHere('image/heic', [Buffer.from('\0\0\0\x18ftypheic\0\0\0\0mif1heic', 'latin1')])
    expect(end).toMatchObject({
      status: 'completed_with_warnings',
      warnings: [expect.stringMatching(/cannot be decoded/)],
    })
  })

  it('pictures that are too large or too small are not recognised', async () => {
    const { records } = await ingested(
      { name: 'huge.png', type: PNG, content: claimingPixels(20_000, 6_000) },
      { name: 'icon.png', type: PNG, content: new Uint8Array(await blank(16).png().toBuffer()) },
    )
    expect(records).toMatchObject([
      { ingestion_status: 'partial', ingestion_error: expect.stringMatching(/100 megapixels/) },
      { ingestion_status: 'completed_with_warnings', properties: { width: 16, height: 16 } },
    ])
  })
})
