import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { quarantineDurationMs, quarantineLeftMs } from '../../../src/rules/failure/quarantine-duration.ts'
import { pollIntervalMs } from '../../../src/rules/ingestion/poll-interval.ts'
import {
  listCandidates,
  nameKey,
  nameKeys,
  needsLook,
  rankCandidate,
  reactToDoubt,
  standsInTheWay,
} from '../../../src/rules/upload/doubt.ts'
import { describeHold, holdingLimit } from '../../../src/rules/upload/quota.ts'

const bound = fc.option(fc.nat(20))

describe('the quota', () => {
  test('is never overstepped by whoever obeys it', () => {
    const limits = fc.record({ newPerRun: bound, newPerDay: bound, newBytesPerRun: bound })
    fc.assert(
      fc.property(limits, fc.array(fc.nat(8), { maxLength: 40 }), fc.nat(10), (limits, sizes, sentToday) => {
        const sent = { inRun: 0, inDay: sentToday, bytesInRun: 0 }
        for (const size of sizes) {
          if (holdingLimit(limits, sent, size)) continue
          sent.inRun += 1
          sent.inDay += 1
          sent.bytesInRun += size
        }
        expect(sent.inRun).toBeLessThanOrEqual(limits.newPerRun ?? Number.POSITIVE_INFINITY)
        expect(sent.inDay).toBeLessThanOrEqual(Math.max(sentToday, limits.newPerDay ?? Number.POSITIVE_INFINITY))
        expect(sent.bytesInRun).toBeLessThanOrEqual(limits.newBytesPerRun ?? Number.POSITIVE_INFINITY)
      }),
    )
  })

  test('without limits holds nothing back', () => {
    const none = { newPerRun: null, newPerDay: null, newBytesPerRun: null }
    fc.assert(
      fc.property(fc.nat(), fc.nat(), fc.nat(), fc.nat(), (inRun, inDay, bytesInRun, size) => {
        expect(holdingLimit(none, { inRun, inDay, bytesInRun }, size)).toBeUndefined()
      }),
    )
  })

  test('of nothing holds everything back', () => {
    const sent = { inRun: 0, inDay: 0, bytesInRun: 0 }
    expect(holdingLimit({ newPerRun: 0, newPerDay: null, newBytesPerRun: null }, sent, 0)).toBe('newPerRun')
    expect(holdingLimit({ newPerRun: null, newPerDay: 0, newBytesPerRun: null }, sent, 0)).toBe('newPerDay')
    expect(holdingLimit({ newPerRun: null, newPerDay: null, newBytesPerRun: 0 }, sent, 1)).toBe('newBytesPerRun')
  })
})

describe('a limit that holds something back', () => {
  test.each([
    ['newPerRun', 4, null, 'held back by limits.newPerRun (4 in a run); the next run goes on'],
    ['newBytesPerRun', 2_048, null, 'held back by limits.newBytesPerRun (2.0 KiB in a run); the next run goes on'],
    ['inIngestion', 200, null, 'held back by limits.inIngestion (200 at the same time); the next run goes on'],
    [
      'newPerDay',
      20,
      '2026-11-22T03:00:00.000Z',
      'held back by limits.newPerDay (20 in 24 hours); there is room again from 2026-11-22T03:00:00.000Z',
    ],
  ] as const)('%s is named with its amount and time', (limit, value, freesAt, text) => {
    expect(describeHold({ limit, value, freesAt })).toBe(text)
  })
})

describe('an upload in doubt', () => {
  test.each([
    { doubts: 0, problemCount: 0, cause: 'service-error', reaction: { kind: 'resend' } },
    { doubts: 1, problemCount: 0, cause: 'service-error', reaction: { kind: 'quarantine', pauseMs: 25_000 } },
    { doubts: 2, problemCount: 1, cause: 'service-error', reaction: { kind: 'quarantine', pauseMs: 125_000 } },
    { doubts: 0, problemCount: 3, cause: 'answer-late', reaction: { kind: 'quarantine', pauseMs: 3_125_000 } },
    { doubts: 7, problemCount: 2, cause: 'interrupted', reaction: { kind: 'resend' } },
  ] as const)('after $doubts doubts and $problemCount quarantines ($cause)', ({ cause, reaction, ...content }) => {
    expect(reactToDoubt(content, cause)).toMatchObject(reaction)
  })

  test.each([
    { retryAt: null, isSetAside: 0, looks: true },
    { retryAt: 1_000, isSetAside: 0, looks: true },
    { retryAt: 2_000_000, isSetAside: 0, looks: false },
    { retryAt: 1_000, isSetAside: 1, looks: false },
  ])('is looked for at once and after each quarantine: %j', ({ looks, ...content }) => {
    expect(needsLook(content, 1_900_000)).toBe(looks)
  })
})

describe('pauses between polls', () => {
  const pace = fc
    .record({ firstPollMs: fc.integer({ min: 1, max: 10_000 }), growth: fc.integer({ min: 1, max: 1_000 }) })
    .map(({ firstPollMs, growth }) => ({ firstPollMs, maxPollMs: firstPollMs * growth }))
  const random = fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true })

  test('grow and stay within their bounds', () => {
    fc.assert(
      fc.property(fc.nat(100_000), pace, random, (polls, pace, random) => {
        const pause = pollIntervalMs(polls, pace, random)
        expect(pause).toBeGreaterThanOrEqual(pace.firstPollMs * 0.9)
        expect(pause).toBeLessThanOrEqual(pace.maxPollMs * 1.1)
        expect(pollIntervalMs(polls + 1, pace, random)).toBeGreaterThanOrEqual(pause)
      }),
    )
  })

  test('end at the longest one', () => {
    expect(pollIntervalMs(1_000_000, { firstPollMs: 2_000, maxPollMs: 60_000 }, 0.5)).toBe(60_000)
  })
})

describe('pauses of the quarantine', () => {
  const DAY_MS = 86_400_000

  test('grow fivefold from 25 s to a day', () => {
    const pauses = [0, 1, 2, 3, 4, 5, 6].map((refusals) => quarantineDurationMs(refusals, 'invalid') / 1_000)
    expect(pauses).toEqual([25, 125, 625, 3_125, 15_625, 78_125, 86_400])
  })

  test('are whole, growing and bounded', () => {
    fc.assert(
      fc.property(fc.nat(10_000), fc.constantFrom('invalid', 'too-large', 'ingestion-failed'), (refusals, code) => {
        const pause = quarantineDurationMs(refusals, code)
        expect(Number.isInteger(pause)).toBe(true)
        expect(pause).toBeGreaterThanOrEqual(25_000)
        expect(pause).toBeLessThanOrEqual(DAY_MS)
        expect(quarantineDurationMs(refusals + 1, code)).toBeGreaterThanOrEqual(pause)
      }),
    )
  })

  test('of what is too large are the longest', () => {
    expect(quarantineDurationMs(0, 'too-large')).toBe(DAY_MS)
  })
})

describe('a quarantine', () => {
  const DAY_MS = 86_400_000

  test.each([
    { retryAt: null, leftMs: 0 },
    { retryAt: 0, leftMs: 0 },
    { retryAt: 1e12 + 1, leftMs: 1 },
    { retryAt: 1e12 + DAY_MS, leftMs: DAY_MS },
    { retryAt: 1e12 + DAY_MS + 1, leftMs: 0 },
  ])('never lasts longer than its longest pause: %j', ({ retryAt, leftMs }) => {
    expect(quarantineLeftMs(retryAt, 1e12)).toBe(leftMs)
  })
})

describe('an entry that an upload may have left', () => {
  const mime = 'text/markdown'
  const fileName = fc.string({ minLength: 1, unit: 'binary' })

  test('with the same title always matches', () => {
    fc.assert(
      fc.property(fileName, fc.string(), (name, slug) => {
        expect(rankCandidate({ title: name, slug, mime_type: mime }, { name, mime })).toBe(0)
      }),
    )
  })

  test('of another kind never matches', () => {
    fc.assert(
      fc.property(fileName, (name) => {
        expect(rankCandidate({ title: name, slug: name, mime_type: 'text/plain' }, { name, mime })).toBeUndefined()
      }),
    )
  })

  test('is found under cut, numbered and slugged names', () => {
    const name = 'Résumé of 2024 – final.md'
    const entry = (title: string, slug: string) => rankCandidate({ title, slug, mime_type: mime }, { name, mime })
    expect(entry('Résumé of 2024 – final', 'x')).toBe(1)
    expect(entry('x', 'resume-of-2024-final-2')).toBe(2)
    expect(entry('x', 'resume-of-2024')).toBe(2)
    expect(entry('Something else', 'something-else')).toBeUndefined()
  })
})

describe('the key of a name', () => {
  test.each([
    ['Résumé 2024 – final.md', 'resume2024final'],
    ['a.b.md', 'ab'],
    ['.env', 'env'],
    ['no-ending', 'noending'],
    ['あ.md', 'あ'],
    ['ﬁne.md', 'fine'],
    ['--.md', ''],
  ])('has its letters and digits alone: %s', (name, key) => {
    expect(nameKey(name)).toBe(key)
  })

  test.each([
    [{ title: 'Notes.md', filename: 'notes-2.md' }, ['notes', 'notesmd', 'notes2']],
    [{ title: 'Notes', filename: 'notes' }, ['notes']],
    [{ title: '2.5 Notes', filename: 'x.md' }, ['2', '25notes', 'x']],
  ])('of an entry is that of its title, with and without an ending, and of its slug: %j', (entry, keys) => {
    expect(nameKeys(entry)).toEqual(keys)
  })
})

describe('the candidates of a look', () => {
  const entry = (title: string, slug = title) => ({ title, slug, mime_type: 'text/markdown' })
  const upload = { name: 'a b.md', mime: 'text/markdown' }

  test('are all of the name, the likeliest first, and a few like it', () => {
    const same = Array.from({ length: 20 }, () => entry('a b.md'))
    const alike = Array.from({ length: 20 }, () => entry('A-B', 'a-b'))
    const longer = Array.from({ length: 20 }, (_, n) => entry(`a b ${n}`))
    const others = [entry('c.md'), { ...entry('a b.md'), mime_type: 'text/plain' }]
    const candidates = listCandidates([...others, ...longer, ...alike, ...same], upload)
    expect(candidates).toEqual([...same, ...alike, ...longer.slice(0, 8)])
  })

  test.each([
    ['temporary', 0, true],
    ['temporary', 3, true],
    ['rejected', 1, false],
    ['rejected', 2, true],
    ['refused', 0, false],
  ] as const)('stand in the way when they cannot be compared: %s after %i doubts', (reaction, doubts, isInTheWay) => {
    expect(standsInTheWay({ reaction }, doubts)).toBe(isInTheWay)
  })
})

describe('an entry of no letters', () => {
  test.each([
    ['--.md', 'x', undefined],
    ['--.md', '', 1],
    ['a.md', '', undefined],
  ])('begins nothing and is begun by nothing: %s beside %j', (name, slug, rank) => {
    const mime = 'text/markdown'
    expect(rankCandidate({ title: 'z', slug, mime_type: mime }, { name, mime })).toBe(rank)
  })
})
