import { describe, expect, test } from 'vitest'
import { describeProgress, describeTimeLeft, type Rates, RecentRate } from '../../src/cli/render/progress-line.ts'
import { createProgress, type Progress } from '../../src/sync/progress.ts'

const MIB = 2 ** 20
const PACE: Rates = {
  elapsedMs: 5_000,
  sentPerSecond: 24 * MIB,
  hashedPerSecond: 100 * MIB,
  beginning: 'opening the library',
}

function progressOf(change: Partial<Progress>): Progress {
  return { ...createProgress(), mirror: 'Papers', ...change }
}

const UPLOADING = progressOf({
  phase: 'uploading',
  contentsSent: 61,
  contentsTotal: 84,
  bytesSent: 132 * MIB,
  bytesTotal: 200 * MIB,
  uploads: [
    { path: 'a.md', sizeBytes: 100, bytesSent: 100 },
    { path: 'films/big.bin', sizeBytes: 100 * MIB, bytesSent: 63.9 * MIB },
  ],
  inIngestion: 4,
})

describe('the line of progress', () => {
  test('the line of progress shows how far, how fast, how long and what', () => {
    expect(describeProgress(UPLOADING, PACE, 140)).toBe(
      'Papers  uploading  ━━━━━━━━━━━━━━━━────────  61 of 84 · 132 of 200 MiB · 24 MiB/s · 3 s left · big.bin 63 % · 4 being processed',
    )
  })

  test('the line of progress keeps what matters where the terminal is narrow', () => {
    const lines = [100, 80, 60, 40].map((width) => describeProgress(UPLOADING, PACE, width))
    expect(lines).toMatchInlineSnapshot(`
      [
        "Papers  uploading  ━━━━━━━━━━━──────  61 of 84 · 132 of 200 MiB · 24 MiB/s · 3 s left · big.bin 63 %",
        "Papers  uploading  ━━━━━╸──  61 of 84 · 132 of 200 MiB · 3 s left · big.bin 63 %",
        "Papers  uploading  61 of 84 · 132 of 200 MiB · 3 s left",
        "Papers  uploading  ━━━━━━━╸───  61 of 84",
      ]
    `)
    for (const [index, width] of [100, 80, 60, 40].entries()) expect(lines[index]?.length).toBeLessThanOrEqual(width)
  })

  test('a narrow line keeps the bar and drops the number being processed', () => {
    expect(describeProgress(UPLOADING, PACE, 108)).toMatch(/━+─+ {2}61 .*big\.bin 63 %$/)
    expect(describeProgress(UPLOADING, PACE, 126)).toMatch(/━+─+ .*· 4 being processed$/)
  })

  test('the line of progress shows no time before the rate is known', () => {
    expect(describeProgress(UPLOADING, { ...PACE, sentPerSecond: undefined }, 140)).not.toMatch(/left|\/s/)
    expect(describeProgress(UPLOADING, { ...PACE, sentPerSecond: 0 }, 140)).not.toMatch(/left|\/s/)
  })

  test('the line of progress names what a run waits for at its start', () => {
    expect(describeProgress(createProgress(), PACE, 80)).toBe('opening the library  5.0 s')
  })

  test.each([
    ['turn', 'waiting for another scan or sync'],
    ['ledger', 'waiting for the ledger of hosts'],
    ['hosts', 'waiting for other hosts'],
  ] as const)('the line of progress names what a run waits for: %s', (phase, words) => {
    expect(describeProgress(progressOf({ phase }), PACE, 80)).toBe(`Papers  ${words}  5.0 s`)
  })

  test('the line of progress names the file that is processed longest', () => {
    const processing = progressOf({
      phase: 'ingestion',
      inIngestion: 2,
      inIngestionLongest: 'scans/letter.png',
      searchable: 2,
    })
    expect(describeProgress(processing, PACE, 100)).toBe(
      'Papers  processing  ━━━━━━━━━━━━────────────  2 being processed · 2 searchable · letter.png · 5.0 s',
    )
  })

  test('the line of progress shows that the service does not answer', () => {
    const outage = {
      origin: 'https://library.example.com',
      code: 'service-unreachable',
      cause: 'connection refused',
      sinceMs: 0,
      nextTryAtMs: 8_000,
      givesUpAtMs: null,
      askedUntilMs: null,
    } as const
    expect(describeProgress({ ...UPLOADING, outage }, PACE, 140)).toBe(
      'Papers  waiting for https://library.example.com  connection refused · 5.0 s',
    )
  })

  test('the line of progress escapes names that a terminal would obey', () => {
    const uploads = [{ path: 'a\x1b[2Jb.md', sizeBytes: 1, bytesSent: 0 }]
    expect(describeProgress({ ...UPLOADING, uploads }, PACE, 140)).toContain('a\\x1b[2Jb.md')
  })

  test('the line of progress names each phase in words', () => {
    const phases = [
      progressOf({ phase: 'scanning', filesScanned: 1 }),
      progressOf({ phase: 'scanning', filesScanned: 1, bytesHashed: 2 ** 30 }),
      progressOf({ phase: 'scanning', filesScanned: 1_200, filesHashed: 300, bytesHashed: 2 ** 30 }),
      progressOf({ phase: 'directories', directoriesDone: 3, directoriesTotal: 4 }),
      progressOf({ phase: 'ingestion', inIngestion: 20, searchable: 60 }),
    ]
    expect(phases.map((progress) => describeProgress(progress, PACE, 80))).toMatchInlineSnapshot(`
      [
        "Papers  scanning  1 file · 5.0 s",
        "Papers  scanning  1 file · reading at 100 MiB/s · 5.0 s",
        "Papers  scanning  1,200 files · 300 files read at 100 MiB/s · 5.0 s",
        "Papers  creating directories  ━━━━━━━━━━━━━━━━━━──────  3 of 4 · 5.0 s",
        "Papers  processing  ━━━━━━━━━━━━────  20 being processed · 60 searchable · 5.0 s",
      ]
    `)
  })
})

test('the time left counts down in steps', () => {
  const seconds = [0.2, 3, 10, 11, 44, 61, 600, 5_399, 5_401, 40_000]
  expect(seconds.map((left) => describeTimeLeft(left * 1_000))).toEqual([
    '1 s left',
    '3 s left',
    '10 s left',
    '15 s left',
    '45 s left',
    '2 min left',
    '10 min left',
    '90 min left',
    '2 h left',
    '11.5 h left',
  ])
})

describe('the rate', () => {
  test('the rate is that of the last seconds', () => {
    const rate = new RecentRate()
    for (let second = 0; second <= 60; second += 1) rate.record(second * 100, second * 1_000)
    expect(rate.perSecond(6_000, 60_000)).toBe(100)
    for (let second = 61; second <= 90; second += 1) rate.record(6_000 + (second - 60) * 10, second * 1_000)
    expect(rate.perSecond(6_300, 90_000)).toBe(10)
  })

  test('the rate is unknown at first', () => {
    const rate = new RecentRate()
    rate.record(0, 0)
    expect(rate.perSecond(1_000, 500)).toBeUndefined()
  })

  test('the rate leaves out the time before anything was read', () => {
    const rate = new RecentRate()
    for (let second = 0; second <= 5; second += 1) rate.record(0, second * 1_000)
    for (let second = 6; second <= 8; second += 1) rate.record((second - 5) * 100, second * 1_000)
    expect(rate.perSecond(300, 8_000)).toBe(100)
  })

  test('the rate is never negative, whatever is taken back', () => {
    const rate = new RecentRate()
    for (const [amount, atMs] of [
      [0, 0],
      [1_000, 1_000],
      [200, 2_000],
      [300, 3_000],
    ] as const)
      rate.record(amount, atMs)
    expect(rate.perSecond(300, 3_000)).toBe(100)
  })
})
