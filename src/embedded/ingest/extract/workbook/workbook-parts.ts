import { posix } from 'node:path'
import { readXmlPart } from '../office/xml-part.ts'
import type { ZipEntry } from '../office/zip.ts'
import { meaningOf, type NumberMeaning } from './number-formats.ts'

/** What the cells of a workbook refer to. */
export interface Workbook {
  readonly sheets: readonly { readonly name: string; readonly part: ZipEntry }[]
  readonly is1904: boolean
  readonly strings: readonly string[]
  /** By the style of a cell. */
  readonly meanings: readonly NumberMeaning[]
}

type Find = (name: string) => ZipEntry | undefined

const WORKBOOK = 'xl/workbook.xml'

/** Throws when it has no list of sheets. */
export async function readWorkbookParts(zip: Buffer, entries: readonly ZipEntry[]): Promise<Workbook> {
  const byName = new Map(entries.map((entry) => [entry.name.toLowerCase(), entry]))
  const find: Find = (name) => byName.get(name.toLowerCase())
  const list = find(WORKBOOK)
  if (!list) throw new Error('The workbook is damaged: its list of sheets is missing')
  const targets = await readTargets(zip, find('xl/_rels/workbook.xml.rels'))
  const sheets: { name: string; part: ZipEntry }[] = []
  let is1904 = false
  await readXmlPart(zip, list, {
    onOpen: (name, attributes) => {
      if (name === 'workbookPr') is1904 = /^(?:1|true)$/.test(attributes.date1904 ?? '')
      if (name !== 'sheet') return
      const target = targets.get(attributes['r:id'] ?? '')
      const part = target === undefined ? undefined : find(posix.join('xl', target).replace(/^xl\/xl\//, 'xl/'))
      if (part) sheets.push({ name: attributes.name ?? '', part })
    },
  })
  const strings = await readStrings(zip, find('xl/sharedStrings.xml'))
  return { sheets, is1904, strings, meanings: await readMeanings(zip, find('xl/styles.xml')) }
}

async function readTargets(zip: Buffer, part: ZipEntry | undefined): Promise<ReadonlyMap<string, string>> {
  const targets = new Map<string, string>()
  const onOpen = (name: string, { Id: id, Target: target }: Readonly<Record<string, string>>) => {
    if (name === 'Relationship' && id !== undefined && target !== undefined) targets.set(id, target)
  }
  if (part) await readXmlPart(zip, part, { onOpen })
  return targets
}

/** Each string is the text of its runs, without how it is pronounced. */
async function readStrings(zip: Buffer, part: ZipEntry | undefined): Promise<string[]> {
  const strings: string[] = []
  let text = ''
  let isText = false
  let isPhonetic = false
  const listener = {
    onOpen: (name: string) => {
      if (name === 'si') text = ''
      if (name === 'rPh') isPhonetic = true
      isText = name === 't' && !isPhonetic
    },
    onText: (piece: string) => {
      if (isText) text += piece
    },
    onClose: (name: string) => {
      isText = false
      if (name === 'rPh') isPhonetic = false
      if (name === 'si') strings.push(text)
    },
  }
  if (part) await readXmlPart(zip, part, listener)
  return strings
}

async function readMeanings(zip: Buffer, part: ZipEntry | undefined): Promise<NumberMeaning[]> {
  const codes = new Map<number, string>()
  const meanings: NumberMeaning[] = []
  let isOfCells = false
  const onOpen = (name: string, { numFmtId: id, formatCode: code }: Readonly<Record<string, string>>) => {
    if (name === 'cellXfs') isOfCells = true
    if (name === 'numFmt' && code !== undefined) codes.set(Number(id), code)
    if (name === 'xf' && isOfCells) meanings.push(meaningOf(Number(id), codes.get(Number(id))))
  }
  const onClose = (name: string) => {
    if (name === 'cellXfs') isOfCells = false
  }
  if (part) await readXmlPart(zip, part, { onOpen, onClose })
  return meanings
}
