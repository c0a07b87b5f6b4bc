import { expect, it } from 'vitest'
import { serviceOfFile } from './ingested.ts'
import { makePdf } from './make-pdf.ts'
import { readHere } from './read-here.ts'

const ingested = serviceOfFile()

const PDF = 'application/pdf'
const TIDES = ['The spring tide comes twice a month,', 'when sun and moon stand in one line.']
const BUOYS = ['Green buoys are left to starboard.']

it('a PDF is found by its words, each with its page', async () => {
  const content = new Uint8Array(makePdf([{ lines: TIDES }, 'blank', { lines: BUOYS }]))
  const { client, record, found } = await ingested({ name: 'a.pdf', type: PDF, content })
  expect(record).toMatchObject({ ingestion_status: 'completed', text_extracted: true, properties: { pages: 3 } })
  expect(record.assets).toEqual([
    expect.objectContaining({ text: TIDES.join('\n'), trace: [{ unit: 'page', from: 1, to: 1 }] }),
    expect.objectContaining({ text: BUOYS.join('\n'), trace: [{ unit: 'page', from: 3, to: 3 }] }),
  ])
  expect(await found('starboard buoys')).toEqual([record.id])
  expect((await client.get(`/assets/${record.id}.1`)).text).toBe(BUOYS.join('\n'))
})

it('a PDF is recognised by its bytes, not its type', async () => {
  const pdf = makePdf([{ lines: TIDES }])
  for (const type of ['text/plain', 'application/octet-stream', 'image/png']) {
    expect((await readHere(type, [pdf])).text).toBe(TIDES.join('\n'))
  }
})

it('a PDF keeps long pages and many pages in order', async () => {
  const lines = Array.from({ length: 200 }, (_, index) => `line ${index} of a long page that is cut into passages`)
  const { passages } = await readHere(PDF, [makePdf([{ lines }, ...lines.map((line) => ({ lines: [line] }))])])
  expect(passages.map(({ firstUnit }) => firstUnit)).toEqual(
    passages.map(({ firstUnit }) => firstUnit).toSorted((a, b) => a - b),
  )
  expect(passages.filter(({ firstUnit }) => firstUnit === 1).length).toBeGreaterThan(3)
  expect(passages.at(-1)).toMatchObject({ text: lines.at(-1), firstUnit: 201 })
})

it('a PDF without text ends as partial', async () => {
  const { passages, end } = await readHere(PDF, [makePdf(['blank', 'blank'])])
  expect({ passages, end }).toMatchObject({
    passages: [],
    end: { status: 'partial', failure: expect.stringMatching(/no text/) },
  })
})

it.each([
  ['encrypted', makePdf([{ lines: TIDES }], true), /encrypted.*password/],
  ['cut short', makePdf([{ lines: TIDES }]).subarray(0, 60), /damaged/],
])('a PDF that is %s ends as failed', async (_, bytes, reason) => {
  const { record } = await ingested({ name: 'a.pdf', type: PDF, content: new Uint8Array(bytes) })
  expect(record).toMatchObject({
    ingestion_status: 'failed',
    ingestion_error: expect.stringMatching(reason),
    assets: [],
  })
})
