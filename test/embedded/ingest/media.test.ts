import { execFileSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { parseCues } from '../../../src/embedded/ingest/readers/media.ts'
import { pluck } from '../../contract/service-client.ts'
import { needs } from '../../support/needs.ts'
import { temporaryDirectory } from '../temporary-library.ts'
import { serviceOfFile } from './ingested.ts'
import { readHere } from './read-here.ts'

const ingested = serviceOfFile()

const SUBTITLES =
  '1\n00:00:00,500 --> 00:00:01,500\nThe <i>kraken</i> wakes\n\n2\n00:00:01,600 --> 00:00:02,900\nand sleeps\n'
const CHAPTERS =
  ';FFMETADATA1\ntitle=Sea monsters\nartist=Ada\n[CHAPTER]\nTIMEBASE=1/1\nSTART=1\nEND=3\ntitle=The awakening\n'

/** A recording that ffmpeg makes from these arguments. */
function record(name: string, ...args: readonly string[]): Uint8Array<ArrayBuffer> {
  needs('ffmpeg', 'ffprobe')
  const directory = temporaryDirectory()
  writeFileSync(join(directory, 'a.srt'), SUBTITLES)
  writeFileSync(join(directory, 'a.txt'), CHAPTERS)
  execFileSync('ffmpeg', ['-v', 'error', '-nostdin', ...args, name], { cwd: directory })
  return new Uint8Array(readFileSync(join(directory, name)))
}

const TONE = ['-f', 'lavfi', '-i', 'sine=duration=3:sample_rate=8000']
const FILM = ['-f', 'lavfi', '-i', 'testsrc=size=64x48:rate=5:duration=3']

it('recordings are found by their subtitles, chapters and tags', async () => {
  const film = record('a.mkv', ...FILM, ...TONE, '-i', 'a.srt', '-i', 'a.txt', '-map_metadata', '3')
  const { record: resource, found } = await ingested({ name: 'a.mkv', type: 'video/x-matroska', content: film })
  expect(resource).toMatchObject({
    ingestion_status: 'completed',
    properties: { duration_seconds: expect.closeTo(3, 0), width: 64, height: 48 },
  })
  expect(pluck(resource.assets, 'text')).toEqual([
    null,
    'title: Sea monsters\nartist: Ada\nThe awakening',
    'The kraken wakes\nand sleeps',
  ])
  expect(pluck(resource.assets, 'trace')[2]).toEqual([{ unit: 'second', from: 0, to: 3 }])
  for (const word of ['kraken', 'awakening', 'monsters']) expect(await found(word)).toEqual([resource.id])
})

it('recordings without subtitles give a warning and are found by tags', async () => {
  const song = record('a.mp3', ...TONE, '-metadata', 'title=Shanty')
  const { records, found } = await ingested(
    { name: 'a.mp3', type: 'audio/mpeg', content: song },
    { name: 'plain.bin', type: 'application/octet-stream', content: record('a.wav', ...TONE) },
  )
  expect(records).toMatchObject([
    {
      ingestion_status: 'completed_with_warnings',
      ingestion_warnings: [expect.stringMatching(/no subtitles/)],
      text_extracted: true,
    },
    { ingestion_status: 'completed_with_warnings', text_extracted: false, properties: { duration_seconds: 3 } },
  ])
  expect(await found('shanty')).toEqual([records[0]?.id])
})

it('damaged recordings end as failed', async () => {
  const film = Buffer.from(record('a.mp4', ...FILM))
  for (const bytes of [film.subarray(0, film.length / 4), Buffer.from('no film')]) {
    await expect(readHere('video/mp4', [bytes])).rejects.toThrow(/damaged/)
  }
})

it('recordings open no other file and no address', async () => {
  const other = record('a.mp4', ...FILM)
  const directory = temporaryDirectory()
  writeFileSync(join(directory, 'other.mp4'), other)
  const playlist = `#EXTM3U\n#EXT-X-TARGETDURATION:3\n#EXTINF:3,\n${join(directory, 'other.mp4')}\n#EXT-X-ENDLIST\n`
  const concat = `ffconcat version 1.0\nfile ${join(directory, 'other.mp4')}\n`
  for (const list of [playlist, concat]) {
    await expect(readHere('video/mp4', [Buffer.from(list)])).rejects.toThrow(/damaged/)
  }
})

it('recordings are only kept where ffmpeg is not installed', async () => {
  vi.stubEnv('PATH', temporaryDirectory())
  onTestFinished(() => {
    vi.unstubAllEnvs()
  })
  const { passages, end } = await readHere('video/mp4', [Buffer.from([0, 0, 0, 1])])
  expect({ passages, end }).toMatchObject({
    passages: [],
    end: { status: 'completed_with_warnings', warnings: [expect.stringMatching(/not installed/)] },
  })
})

describe('parseCues', () => {
  it('cues have times with and without hours, and empty ones are dropped', () => {
    const vtt =
      'WEBVTT\n\n00:01.500 --> 00:02.000 align:left\nOne\nline\n\n01:00:00.000 --> 01:00:01.000\n<b> </b>\n\nNOTE x\n'
    expect(parseCues(vtt)).toEqual([{ from: 1.5, to: 2, text: 'One\nline' }])
  })
})
