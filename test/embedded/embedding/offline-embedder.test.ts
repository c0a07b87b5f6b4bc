import { expect, it, onTestFinished } from 'vitest'

import { openOfflineEmbedder } from '../../../src/embedded/embedding/offline-embedder.ts'
import { systemClock } from '../../../src/foundation/clock.ts'
import { silentLogger } from '../../../src/foundation/logger.ts'
import { similarityOf } from './concepts.ts'

function openEmbedder() {
  const embedder = openOfflineEmbedder({ clock: systemClock, logger: silentLogger })
  onTestFinished(embedder.stop)
  return embedder
}

it('texts that mean the same have vectors near each other, all others not', async () => {
  const embedder = openEmbedder()
  const texts = [
    'How do I reset my password?',
    'What to do to recover my account credentials',
    'He saw a zebra in the grass.',
  ]
  const [password, credentials, zebra] = await embedder.embed(texts, 'document')
  expect(password).toHaveLength(512)
  expect(similarityOf(password, credentials)).toBeGreaterThan(2 * embedder.minSimilarity)
  expect(similarityOf(password, zebra)).toBeLessThan(embedder.minSimilarity)
})

it('a line break in a text means what a blank does', async () => {
  const words = ['shred overwrites a file', 'to hide its contents, and', 'optionally deletes it']
  const [lines, line] = await openEmbedder().embed([words.join('\n   '), words.join(' ')], 'document')
  expect(similarityOf(lines, line)).toBeCloseTo(1)
})

it('only English texts have a vector: no other language, no code of other words, no table', async () => {
  const others = [
    'Jeder hat das Recht auf Leben, Freiheit und Sicherheit der Person, und niemand darf in Sklaverei gehalten werden.',
    'Все люди рождаются свободными и равными в своем достоинстве и правах.',
    '人人生而自由,在尊严和权利上一律平等。他们赋有理性和良心。',
    'funktion leseBenutzerdaten(dateiname) { rueckgabe öffneVerzeichnis(dateiname).zeilenweise(verarbeiteDatensatz) }',
    '| 2024 | 17.3 | 44.1 |\n| 2025 | 18.9 | 41.7 |',
  ]
  expect(await openEmbedder().embed(others, 'document')).toEqual(others.map(() => undefined))
})

it('code of English words has a vector', async () => {
  const code = [
    "import { z } from 'zod'\n\nexport const answerShape = z.object({ data: z.array(z.number()).min(1).max(4_096) })",
    'def read_user_agents(path):\n    with open(path) as file:\n        return [line.strip() for line in file]',
    'def memoize(f):\n    seen = {}\n    def wrapped(*args):\n        if args not in seen: seen[args] = f(*args)\n        return seen[args]\n    return wrapped',
  ]
  const vectors = await openEmbedder().embed(code, 'document')
  expect(vectors.map((vector) => vector?.length)).toEqual([512, 512, 512])
})

/** English with names that no vocabulary has. */
const SCIENTIFIC = [
  'BRCA9 binds to Xkr4 to inhibit pre-rRNA',
  'Loss of αvβ3 is not a cause of osteosclerosis',
  'TRPV8 suppresses airway inflammation',
]

it('only English queries have a vector, although they are short', async () => {
  const english = [
    'choosing whom to wed',
    'vacation and spare time',
    'how do I hide passwords in log output',
    'sort dict by value python',
    'pandas drop rows with nan',
    'zip folder python',
    ...SCIENTIFIC,
  ]
  const others = [
    'friedliche Versammlung Vereinigung',
    'regelmaessig bezahlte Urlaube',
    'eigendommen beroving',
    'progresos cientificos arte',
    'palkallinen loma lepo',
    'Handel mit Sklaven verbieten',
    'omaisuuden omistaminen',
    'wat is de prijs in Utrecht',
    'come si fa il pane in casa',
    'права человека',
  ]
  const vectors = await openEmbedder().embed([...english, ...others], 'query')
  expect(vectors.map((vector) => vector !== undefined)).toEqual([
    ...english.map(() => true),
    ...others.map(() => false),
  ])
})

it('stopping ends the work under way', async () => {
  const embedder = openEmbedder()
  const texts = Array.from({ length: 500 }, (_, index) => `This is the sentence with the number ${index}.`)
  const under = expect(embedder.embed(texts, 'document')).rejects.toThrow(/has ended|is stopping/)
  await embedder.embed(['a query that is answered first'], 'query')
  await embedder.stop()
  await under
})
