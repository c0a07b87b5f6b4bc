import { completed, type ExtractionEnd, type ExtractionSink, partial } from '../extraction.ts'
import { checkArchive } from '../office/check-archive.ts'
import { readXmlPart } from '../office/xml-part.ts'
import { listEntries } from '../office/zip.ts'
import { PlaceCutter } from '../place-cutter.ts'
import { sheetListener } from './sheet-rows.ts'
import { readWorkbookParts } from './workbook-parts.ts'

/**
 * Extracts the cells of an Excel workbook (ECMA-376) as tables in Markdown, sheet by sheet, each row as a reader sees it: dates as
 * dates. Reads the sheets piece by piece, because as a tree a large one takes gigabytes. Throws when it is broken.
 */
export async function readWorkbook(bytes: Buffer, sink: ExtractionSink): Promise<ExtractionEnd> {
  const entries = listEntries(bytes)
  checkArchive(entries, true)
  const workbook = await readWorkbookParts(bytes, entries)
  let hasText = false
  for (const { name, part } of workbook.sheets) {
    const cutter = new PlaceCutter('row', '\n', sink)
    const detail = { sheet: name }
    let isFirst = true
    const onRow = (row: string, number: number) => {
      if (isFirst) cutter.add(`## ${name}\n`, number, detail)
      cutter.add(row, number, detail)
      isFirst = false
      hasText = true
    }
    await readXmlPart(bytes, part, sheetListener(workbook, onRow), () => sink.drain())
    cutter.end()
  }
  const end = hasText ? completed() : partial('The workbook has no cells with text: only its title is searchable')
  return { ...end, textType: 'text/markdown', properties: { sheets: workbook.sheets.length } }
}
