/** Files that a service stores without their text: it reports them as searchable, but no search finds them. */
import { rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { createReadings } from '../../src/sync/reading/readings.ts'
import { startFaultyService } from '../support/faulty-service.ts'
import { expectExit, temporaryHome } from '../support/home.ts'

const NO_TEXT = "stored, its text can't be searched"
const TREE = {
  'a.md': 'spring tide',
  'one.zip': 'PK\x03\x04\0spring tide',
  'two.zip': 'PK\x03\x04\0neap tide',
  'sans.ttf': '\0\x01\0\0spring tide',
  'data.bin': new Uint8Array([1, 0, 2]),
}

async function mirroredHome(service?: { readonly url: string; readonly token: string }) {
  const home = temporaryHome(service)
  const root = home.write('Papers', TREE)
  const outcome = await home.shelfd(['sync', 'Papers', ...(service ? ['--to', 'Research'] : [])])
  expect(outcome.exitCode).toBe(0)
  return { home, root, stdout: outcome.stdout }
}

describe('files without searchable text', () => {
  test('the summary counts files without searchable text apart', async () => {
    const { home, stdout } = await mirroredHome()
    expect(stdout).toMatch(/searchable +1 file/)
    expect(stdout).toMatch(/! 4 stored, but their text can't be searched \(2 archives, 1 font, 1 other\)/)
    home.write('Papers', { 'three.zip': 'PK\x05\x06\0' })
    const { exitCode, summary, mirror } = await home.sync(['Papers'])
    expect({ exitCode, verdict: summary.verdict }).toEqual({ exitCode: 0, verdict: 'ok' })
    expect(mirror.ingestion).toMatchObject({
      searchable: 0,
      warnings: 0,
      withoutText: 1,
      withoutTextKinds: { archive: 1 },
    })
  })

  test('the summary names no kind whose files are gone', async () => {
    const home = temporaryHome()
    const root = home.write('Papers', TREE)
    await home.shelfd(['sync', 'Papers', '--no-wait'])
    rmSync(join(root, 'data.bin'))
    const { stdout } = await home.shelfd(['sync', 'Papers'])
    expect(stdout).toMatch(/! 3 stored, but their text can't be searched \(2 archives, 1 font\)/)
  })

  test('report, why and status name files without searchable text', async () => {
    const { home } = await mirroredHome()
    const report = await home.shelfd(['report', '--check'])
    expect(report).toMatchObject({ exitCode: 0, stdout: expect.stringMatching(/5 in-sync/) })
    expect(report.stdout).toMatch(/4 of them without searchable text \(2 archives, 1 font, 1 other\)/)
    const [mirror] = (await home.json(['report'])).mirrors
    const reasons = mirror.entries.map(({ path, reason }: { path: string; reason: string }) => [path, reason])
    expect(Object.fromEntries(reasons)).toEqual({
      'a.md': null,
      'data.bin': `${NO_TEXT} (application/octet-stream)`,
      'sans.ttf': `${NO_TEXT} (font)`,
      'one.zip': `${NO_TEXT} (archive)`,
      'two.zip': `${NO_TEXT} (archive)`,
    })
    expect(mirror.withoutText).toEqual({ archive: 2, font: 1, other: 1 })
    expect((await home.shelfd(['why', 'Papers/one.zip'])).stdout).toContain(`${NO_TEXT} (archive)`)
    const status = await home.shelfd(['status', '--json'])
    expect(JSON.parse(status.stdout).mirrors[0].files).toMatchObject({ known: 5, searchable: 1, withoutText: 4 })
    expect((await home.shelfd(['status'])).stdout).toMatch(/4 .*text can't be searched/)
    const found = await home.shelfd(['search', 'spring tide', '--json'])
    expect(found.stdout).toContain('a.md')
    expect(found.stdout).not.toMatch(/one\.zip|sans\.ttf/)
  })

  test('status and failed ignore say how to leave out a file without text', async () => {
    const { home } = await mirroredHome()
    expect((await home.shelfd(['status'])).stdout).toContain(', and a line in .shelfdignore leaves one out\n')
    const file = join(home.path, 'Papers', '.shelfdignore')
    const ignored = await home.shelfd(['failed', 'ignore', 'Papers/one.zip'])
    expectExit(ignored, 2, `which is not a failure; a line "/one.zip" in "${file}" leaves it out`)
    writeFileSync(file, '/one.zip\n/two.zip\n/sans.ttf\n/data.bin\n')
    expect((await home.shelfd(['sync', 'Papers'])).exitCode).toBe(0)
    expect((await home.shelfd(['status'])).stdout).not.toContain('!')
  })

  test('every door says the same number of searchable files', async () => {
    const { home, stdout } = await mirroredHome()
    const json = async (...args: string[]) => await home.json([...args])
    const text = async (...args: string[]) => (await home.shelfd(args)).stdout
    expect(stdout).toMatch(/searchable +1 file\b/)
    expect((await json('status')).mirrors[0].files).toMatchObject({ known: 5, searchable: 1, withoutText: 4 })
    expect(await text('status')).toMatch(/1 file searchable/)
    expect(await text('why', 'Papers')).toMatch(/5 known: 1 searchable, 4 stored without searchable text/)
    expect((await json('why', 'Papers')).directory.files).toMatchObject({ searchable: 1, withoutText: 4 })
    expect(await text('why', 'Papers/one.zip')).not.toMatch(/^searchable/m)
    expect(await text('why', 'Papers/a.md')).toMatch(/^searchable/m)

    expect((await json('report')).mirrors[0]).toMatchObject({
      counts: { 'in-sync': 5 },
      withoutText: { archive: 2, font: 1, other: 1 },
    })
    const markdown = await text('report', '--format', 'markdown')
    expect(markdown).toContain('**1 of 5 files are searchable; 4 are stored without their text.**')
    expect(markdown).toContain('| searchable on both sides | 1 |\n')
    expect(markdown).toContain(`| ${NO_TEXT} | 4 |\n`)
    const html = await text('report', '--format', 'html')
    expect(html).toContain('<b>1</b> searchable on both sides</label>')
    expect(html).toContain('<b>4</b> stored, its text can&#39;t be searched</label>')
    expect(html.match(/<td><span>searchable on both sides/g)).toHaveLength(1)
    expect(html.match(/<tr class="without-text">/g)).toHaveLength(4)

    const readings = createReadings(home.stateDir)
    const nothing = { daemon: null, listed: [], nowMs: Date.now() }
    expect(readings.overview(nothing)).toMatchObject([{ files: { known: 5, searchable: 1, withoutText: 4 } }])
    const all = { mirror: 'Papers', classes: [], text: '', below: '', offset: 0 } as const
    const { counts, rows } = readings.rows(all)
    expect(counts).toEqual({ 'in-sync': 1, 'without-text': 4 })
    expect(rows.filter((row) => row.class === 'in-sync').map(({ path }) => path)).toEqual(['a.md'])
    expect(readings.rows({ ...all, classes: ['without-text'] }).total).toBe(4)
    expect(readings.tree({ mirror: 'Papers', directory: '' }).files).toContainEqual(
      expect.objectContaining({ path: 'one.zip', class: 'without-text' }),
    )
  })

  test('files stay unmarked when the service reports nothing about text', async () => {
    const service = await startFaultyService({ library: 'Research' })
    service.rewrite = ({ route }, { text_extracted: _, ingestion_warnings: __, ...body }) =>
      route === 'showResource' ? { ...body, ingestion_warnings: 7, ingestion_error: ['odd'] } : body
    const { home, stdout } = await mirroredHome(service)
    expect(stdout).not.toMatch(/can't be searched/)
    expect((await home.shelfd(['report', '--json'])).stdout).not.toMatch(/can't be searched/)
  })
})
