import { describe, expect, it } from 'vitest'
import { serviceOfFile } from './ingested.ts'
import { makeZip } from './make-zip.ts'
import { makeXlsx, TYPES } from './office-files.ts'
import { readHere } from './read-here.ts'

const ingested = serviceOfFile()

const cell = (reference: string, value: string | number, style = 0, type = 'n') =>
  `<c r="${reference}" s="${style}" t="${type}"><v>${value}</v></c>`

async function textOf(...args: Parameters<typeof makeXlsx>): Promise<string> {
  return (await readHere(TYPES.xlsx, [makeXlsx(...args)])).text
}

describe('a workbook', () => {
  it('a workbook is found by its cells, row by row', async () => {
    const rows = `<row r="1">${cell('A1', 0, 0, 's')}${cell('B1', 1, 0, 's')}</row><row r="4">${cell('B4', 45351, 1)}<c r="D4" t="inlineStr"><is><t>x|y</t></is></c></row>`
    const content = makeXlsx(
      { Budget: rows, Empty: '', Crew: `<row>${cell('A1', 'Ada', 0, 'str')}</row>` },
      { strings: ['Item', 'Dredging &amp; more'], formats: [0, 14] },
    )
    const { record, found } = await ingested({ name: 'a.xlsx', type: TYPES.xlsx, content: new Uint8Array(content) })
    expect(record).toMatchObject({ ingestion_status: 'completed', properties: { sheets: 3 } })
    expect(record.assets).toEqual([
      expect.objectContaining({
        mime_type: 'text/markdown',
        text: '## Budget\n\n| Item | Dredging & more |\n|  | 2024-02-29 |  | x\\|y |',
        trace: [{ unit: 'row', from: 1, to: 4, sheet: 'Budget' }],
      }),
      expect.objectContaining({ text: '## Crew\n\n| Ada |', trace: [{ unit: 'row', from: 1, to: 1, sheet: 'Crew' }] }),
    ])
    expect(await found('dredging')).toEqual([record.id])
  })

  it.each([
    [14, 45351, '2024-02-29'],
    [22, 45291.770833333336, '2023-12-31 18:30'],
    [20, 0.3854166666666667, '09:15'],
    [20, -1e20, '-100000000000000000000'],
    [46, 1.25, '30:00:00'],
    [9, 0.25, '25%'],
    [0, 45351, '45351'],
    [4, 1234.5, '1234.5'],
    ['yyyy\\-mm\\-dd', 1, '1900-01-01'],
    ['dd.mm.yy;@', 61, '1900-03-01'],
    ['[$-407]mmmm yy', 45351, '2024-02-29'],
    ['0.0 "days"', 45351, '45351'],
    ['[Red]0.00', 0.5, '0.5'],
    ['[h]:mm', 0.5, '12:00:00'],
    ['[h]:mm', -5 / 86_400, '-0:00:05'],
    ['General', 12, '12'],
    ['yyyy', -1, '-1'],
  ] as const)('a number in the format %j is shown as its reader sees it', async (format, value, text) => {
    const sheet = { A: `<row r="1">${cell('A1', value, 1)}</row>` }
    expect(await textOf(sheet, { formats: [0, format] })).toBe(`## A\n\n| ${text} |`)
  })

  it('a wide gap between cells is shortened, and cells after it that stand side by side stay so', async () => {
    const sheet = { A: `<row r="1">${cell('A1', 1)}${cell('BA1', 2)}${cell('BB1', 3)}</row>` }
    expect(await textOf(sheet)).toBe(`## A\n\n| 1 |${'  |'.repeat(20)} 2 | 3 |`)
  })

  it('a workbook counts days from 1904 if it declares so', async () => {
    const sheet = { A: `<row r="1">${cell('A1', 0, 1)}${cell('B1', 'TRUE', 0, 'e')}${cell('C1', 1, 0, 'b')}</row>` }
    expect(await textOf(sheet, { formats: [0, 14], is1904: true })).toBe('## A\n\n| 1904-01-01 | TRUE | TRUE |')
  })

  it('a workbook of many rows is read piece by piece', async () => {
    const rows = Array.from(
      { length: 60_000 },
      (_, index) => `<row r="${index + 1}">${cell('A1', `name ${index}`, 0, 'str')}${cell('B1', index)}</row>`,
    )
    const { passages, end } = await readHere(TYPES.xlsx, [makeXlsx({ Rows: rows.join('') })])
    expect(end.status).toBe('completed')
    expect(passages.at(-1)).toMatchObject({ lastUnit: 60_000, text: expect.stringContaining('| name 59999 | 59999 |') })
  })

  it('a workbook without cells ends as partial, a broken one as failed', async () => {
    expect((await readHere(TYPES.xlsx, [makeXlsx({ A: '' })])).end.status).toBe('partial')
    const lying = makeZip({ 'xl/workbook.xml': { content: '<workbook/>'.repeat(1_000), declaredBytes: 10 } })
    const deep = makeXlsx({ A: '<a>'.repeat(200_000) })
    for (const bytes of [lying, deep, makeZip({ 'a.xml': '' }), makeXlsx({ A: '' }).subarray(0, 400)]) {
      await expect(readHere(TYPES.xlsx, [bytes])).rejects.toThrow(/damaged/)
    }
  })
})
