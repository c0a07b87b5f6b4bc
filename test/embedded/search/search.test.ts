import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { openLibraryDatabase, openServedLibrary } from '../../../src/embedded/database/open-library-database.ts'
import { openTables } from '../../../src/embedded/database/open-tables.ts'
import { newIdentifier } from '../../../src/embedded/identifiers.ts'
import { boundClauses, parseQuery } from '../../../src/embedded/search/parse-query.ts'
import { openSearchIndex } from '../../../src/embedded/search/search-index.ts'
import { temporaryDirectory } from '../../support/temporary.ts'
import { indexDocuments } from './indexed-documents.ts'

describe('search results', () => {
  it('a search puts the version asked for before its neighbours', () => {
    using index = indexDocuments([
      {
        name: 'RelNotes-2.38.0.txt',
        text: 'Git v2.38 Release Notes\n\nWhat changed in git since 2.37; see also git 2.3.',
      },
      { name: 'RelNotes-2.39.0.txt', text: 'Git v2.39 Release Notes\n\nUI, workflows and features' },
      { name: 'symbols.txt', text: 'libfoo.so.3.11 c++ python3_symbols 3.12 _ZN11' },
      { name: 'python.txt', text: 'In Python 3.11 the venv module makes environments; python3.11-venv has it.' },
    ])
    expect(index.found('git 2.39')[0]).toBe('RelNotes-2.39.0.txt')
    expect(index.found('what changed in git 2.39')[0]).toBe('RelNotes-2.39.0.txt')
    expect(index.found('python 3.11 venv')).toEqual(['python.txt', 'symbols.txt'])
    expect(index.found('v2.38')[0]).toBe('RelNotes-2.38.0.txt')
    expect(index.found('"2.3"')).toEqual(['RelNotes-2.38.0.txt'])
  })

  it('a search puts passages with all words first, then those with some', () => {
    using index = indexDocuments([
      { name: 'one.txt', text: 'A heron stood there.' },
      { name: 'apart.txt', text: ['The heron came.', 'Nothing here.', 'The lighthouse is old.'] },
      { name: 'together.txt', text: ['Nothing here.', 'A heron on the lighthouse.'] },
    ])
    const { hits, matched } = index.search('heron lighthouse')
    expect(index.found('heron lighthouse')).toEqual(['together.txt', 'apart.txt', 'one.txt'])
    expect([hits[0]?.passages[0]?.passage.ordinal, matched]).toEqual([1, 'all'])
    expect(index.search('heron zeppelin').matched).toBe('some')
  })

  it('the beginning of what only the index has, such as the number of a library, finds nothing', () => {
    using index = indexDocuments([{ name: 'otters.md', text: '# About otters\n\nThey swim.' }])
    expect(['1', 'library', 'name', 'heading'].flatMap((word) => index.found(word))).toEqual([])
    expect(index.found('abo')).toEqual(['otters.md'])
  })

  it('names and headings weigh more than text', () => {
    using index = indexDocuments([
      {
        name: 'a.md',
        text: `Every morning, long before the sun rises over the river and its reeds, otters swim. ${'Otters eat. '.repeat(2)}`,
      },
      { name: 'b.md', text: '# About otters\n\nThey live in rivers and on coasts all over the world.' },
      { name: 'otters.md', text: 'They live in rivers and on coasts.' },
    ])
    expect(index.found('otters')).toEqual(['otters.md', 'b.md', 'a.md'])
    expect(index.found('otter')).toEqual(['otters.md', 'b.md', 'a.md'])
  })

  it('quoted words are found in their order alone', () => {
    using index = indexDocuments([
      { name: 'a.txt', text: 'state of the art' },
      { name: 'b.txt', text: 'the art of the state' },
    ])
    for (const query of ['"state of the art"', '“state of the art”', '„state of the art“', '"State of the Art']) {
      expect([query, index.found(query)]).toEqual([query, ['a.txt']])
    }
    expect(index.found('"art" "state"')).toHaveLength(2)
    expect(index.found('"states"')).toEqual([])
  })

  it('an excluded word or phrase leaves out its documents', () => {
    using index = indexDocuments([
      { name: 'apple.txt', text: ['A jaguar is a cat.', 'It runs fast.'] },
      { name: 'car.txt', text: ['A jaguar has wheels.', 'The engine is loud.'] },
    ])
    expect(index.found('jaguar -engine')).toEqual(['apple.txt'])
    expect(index.found('jaguar -"is loud"')).toEqual(['apple.txt'])
    expect(index.found('jaguar - engine')[0]).toBe('car.txt')
  })

  it('a query of exclusions alone finds nothing', () => {
    using index = indexDocuments([
      { name: 'apple.txt', text: 'A jaguar is a cat.' },
      { name: 'pear.txt', text: 'A pear.' },
    ])
    expect(index.search('-jaguar')).toMatchObject({ hits: [], onlyExcludes: true })
    expect(index.search('cat -dog')).toMatchObject({ onlyExcludes: false })
  })

  it('a long document that has each word somewhere comes after the page that answers', () => {
    const chapters = ['heron', 'lighthouse', 'keeper', 'ladder'].map((word) =>
      `A ${word} is described here. `.repeat(30),
    )
    using index = indexDocuments([
      { name: 'manual.txt', text: chapters },
      { name: 'page.txt', text: 'How the keeper of a lighthouse climbs the ladder.' },
      { name: 'other.txt', text: 'Nothing of this.' },
    ])
    expect(index.found('heron lighthouse keeper ladder')[0]).toBe('page.txt')
  })

  it('a passage counts its neighbours a little', () => {
    const [one, two] = ['The heron stands in the reeds.', 'The lighthouse is white.']
    using index = indexDocuments([
      { name: 'apart.txt', text: [one, 'Nothing.', 'Nothing.', two] },
      { name: 'beside.txt', text: [one, two, 'Nothing.', 'Nothing.'] },
    ])
    expect(index.found('heron lighthouse')).toEqual(['beside.txt', 'apart.txt'])
  })

  it('words close together come before the same words apart', () => {
    const filler = 'Nothing of interest stands in this sentence. '.repeat(8)
    using index = indexDocuments([
      { name: 'apart.txt', text: `An otter swam, the otter dived. ${filler}The river froze, the river broke.` },
      { name: 'close.txt', text: `${filler}An otter crossed the river.` },
    ])
    expect(index.found('otters rivers')).toEqual(['close.txt', 'apart.txt'])
  })

  it('a word that nothing contains changes nothing but the notice', () => {
    using index = indexDocuments([
      { name: 'apart.txt', text: ['The heron came.', 'Nothing here.', 'Nothing.', 'The lighthouse is old.'] },
      { name: 'together.txt', text: ['Nothing here.', 'A heron on the lighthouse.'] },
    ])
    const [known, more] = ['heron lighthouse', 'heron xyzzyq lighthouse'].map((query) => index.search(query))
    expect(more?.hits).toEqual(known?.hits)
    expect([known?.unknown, more?.unknown, more?.matched]).toEqual([[], ['xyzzyq'], 'some'])
  })

  it('the word as written comes before its forms', () => {
    using index = indexDocuments([
      { name: 'form.txt', text: 'They numbered it.' },
      { name: 'written.txt', text: 'It has a number.' },
    ])
    expect(index.found('number')).toEqual(['written.txt', 'form.txt'])
    expect(index.found('numbered')).toEqual(['form.txt', 'written.txt'])
  })

  it('names with signs are words of their own', () => {
    using index = indexDocuments([
      { name: 'a', text: 'Written in C++ by hand.' },
      { name: 'b', text: 'A sharp note: c, d, e.' },
      { name: 'c', text: 'C# and .NET' },
      { name: 'd', text: 'Runs on Node.js' },
      { name: 'e', text: 'A net, a node, plain c.' },
    ])
    expect(index.found('C++')).toEqual(['a'])
    expect(index.found('c#')).toEqual(['c'])
    expect(index.found('.net')).toEqual(['c'])
    expect(index.found('node.js')).toEqual(['d'])
    expect(index.found('nodejs')).toEqual(['d'])
    expect(index.found('node').toSorted()).toEqual(['d', 'e'])
    expect(index.excerpt('C++')).toBe('Written in **C++** by hand.')
  })

  it('words without meaning are left out unless there are no others', () => {
    using index = indexDocuments([
      { name: 'a.txt', text: 'How the bridge was built' },
      { name: 'b.txt', text: 'To be, or not to be, that is the question' },
      { name: 'c.txt', text: 'Wie die Brücke gebaut worden ist' },
    ])
    expect(index.search('what is the bridge').matched).toBe('all')
    expect(index.found('to be or not to be')[0]).toBe('b.txt')
    expect(index.search('wie ist die Brücke').matched).toBe('all')
  })

  it('a search covers the libraries asked for alone', () => {
    using index = indexDocuments([
      { name: 'a.txt', text: 'walnut', library: 1 },
      { name: 'b.txt', text: 'walnut', library: 2 },
    ])
    expect(index.found('walnut', { libraryIds: [2] })).toEqual(['b.txt'])
    expect(index.found('walnut', { libraryIds: [1, 2] })).toHaveLength(2)
    expect(index.found('walnut', { libraryIds: [] })).toEqual([])
    expect(index.found('1~library')).toEqual([])
  })

  it('a search finds the named document among more than it scores', () => {
    const many = Array.from({ length: 2_100 }, (_, number) => ({ name: `n${number}.txt`, text: 'A common word.' }))
    using index = indexDocuments([
      ...many,
      { name: 'word.txt', text: 'nothing else' },
      { name: 'z', text: 'word, common' },
    ])
    expect(index.found('word')[0]).toBe('word.txt')
    expect(index.found('common word')).toHaveLength(10)
    expect(index.found('common nothing')).toHaveLength(10)
  })

  it('an excerpt marks other forms of the words and compounds that end with them', () => {
    using index = indexDocuments([
      { name: 'en.txt', text: 'The library opens at nine, and all of the children who came with it read there.' },
      { name: 'de.txt', text: 'Die Krankenversicherung zahlt die Kosten, wenn sie nicht von der Familie sind.' },
      { name: 'id.txt', text: 'Mereka membaca buku yang ada di dalam rumah itu dan tidak untuk anak dengan ini.' },
    ])
    expect(index.excerpt('libraries')).toContain('The **library** opens')
    expect(index.excerpt('versicherungen')).toContain('Die **Krankenversicherung** zahlt')
    expect(index.excerpt('dibaca')).toContain('Mereka **membaca** buku')
  })

  it('an excerpt shows the part around the match, words marked', () => {
    const filler = 'Nothing of interest stands in this sentence. '.repeat(20)
    using index = indexDocuments([
      { name: 'a.txt', text: `${filler}The lanterns\nwere lit by candles. ${filler}` },
      { name: 'b.txt', text: '这台服务器的数据库连接总是失败' },
      { name: 'c.txt', text: 'Short and über-clever.' },
      { name: 'd.txt', text: 'ประชาชน ทุกคน มี สัญชาติ' },
      { name: 'e.txt', text: '在北京 图书馆看到了他' },
    ])
    const excerpt = index.excerpt('lantern candle') ?? ''
    expect(excerpt).toMatch(/^… .*The \*\*lanterns\*\* were lit by \*\*candles\*\*\. .* …$/)
    expect(excerpt.length).toBeLessThan(400)
    expect(index.excerpt('数据库')).toBe('这台服务器的**数据库**连接总是失败')
    // Each pair of characters of a word is in other words, too.
    expect(index.excerpt('สัญชาติ')).toBe('ประชาชน ทุกคน มี **สัญชาติ**')
    expect(index.excerpt('"北京 图书馆"')).toBe('在**北京** **图书馆**看到了他')
    expect(index.excerpt('uber')).toBe('Short and **über**-clever.')
  })

  it('a search names the words that it took for a misspelt one', () => {
    using index = indexDocuments([{ name: 'a.txt', text: 'accommodation' }])
    expect(index.search('acommodation').corrections).toEqual([{ written: 'acommodation', meant: ['accommodation'] }])
    expect(index.search('accommodating').corrections).toEqual([])
    expect(index.search('xyzzy').hits).toEqual([])
  })
})

it('a query counts up to 128 of its words, and up to 32 of a phrase [S-17]', () => {
  const countOf = (query: string) => boundClauses(parseQuery(query).clauses).map(({ words }) => words.length)
  expect(countOf('a-'.repeat(495))).toEqual([32])
  expect(countOf(`${'one-two '.repeat(60)}"${'a '.repeat(400)}" last`)).toEqual([...Array(60).fill(2), 8])
  expect(countOf('heron '.repeat(128))).toEqual(Array(128).fill(1))
  expect(boundClauses(parseQuery(`heron -"${'a '.repeat(400)}"`).excluded).map(({ words }) => words.length)).toEqual([
    32,
  ])
})

describe('long and joined words', () => {
  it('function words do not count among the words of a long question', () => {
    using index = indexDocuments([
      { name: 'heron.txt', text: 'A heron stood there.' },
      { name: 'other.txt', text: 'Nothing.' },
    ])
    expect(index.found(`${'what is it that there are of the '.repeat(40)} heron`)).toEqual(['heron.txt'])
  })

  it('the parts of a compound join, and a document with all of it comes first and has all words', () => {
    using index = indexDocuments([
      { name: 'parts.txt', text: 'The harbour has a master. The master of the harbour is out.' },
      { name: 'whole.txt', text: 'The harbour-master is out.' },
      { name: 'one.txt', text: 'The harbour is closed.' },
    ])
    expect(index.found('harbour-master')).toEqual(['whole.txt', 'parts.txt', 'one.txt'])
    expect(index.search('harbour-master')).toMatchObject({ matched: 'all', unknown: [] })
    expect(index.search('harbour-bicycle').unknown).toEqual(['bicycle'])
  })

  it('what an apostrophe leaves of an article is no word, and a question of such words alone is looked for as it is', () => {
    using index = indexDocuments([
      { name: 'clock.txt', text: 'L’horloge de la gare retarde.' },
      { name: 'other.txt', text: 'Il y a un an, l’an dernier.' },
    ])
    expect(index.found("qu'est-ce que c'est que l'horloge ?")).toEqual(['clock.txt'])
    expect(index.search("l'horloge").matched).toBe('all')
    expect(index.found("qu'est-ce")).toEqual([])
  })

  it('what a long question says twice weighs more', () => {
    using index = indexDocuments([
      { name: 'gulls.txt', text: 'Where gulls nest.' },
      { name: 'terns.txt', text: 'Where terns nest.' },
    ])
    expect(index.found('gulls and terns, mostly terns')[0]).toBe('terns.txt')
    expect(index.found('gulls and terns, mostly gulls')[0]).toBe('gulls.txt')
  })
})

it('a passage that takes the row of a removed one is found with its own resource', () => {
  const file = join(temporaryDirectory(), 'library.sqlite')
  const writer = openLibraryDatabase(file)
  const reader = openServedLibrary(file)
  onTestFinished(() => void [reader, writer].map((each) => each.close()))
  const tables = openTables(writer)
  const libraryId = tables.libraries.insert({ publicId: 'l', name: 'l', overview: null, createdAtMs: 0 })
  const add = (index: number) => {
    const head = { libraryId, mimeType: 'text/plain', sizeBytes: 0, title: `${index}`, createdAtMs: 0 }
    const id = tables.resources.insert({ publicId: newIdentifier(index), sha256: Buffer.from([index]), ...head })
    const place = { unit: 'line', firstUnit: 1, lastUnit: 1 } as const
    const passage = tables.passages.insert(id, 0, { text: 'a heron', ...place })
    tables.passageWords.insert(passage, libraryId, { name: '', heading: '', body: 'a heron', forms: '' })
    return { id, passage }
  }
  const search = openSearchIndex(reader)
  const found = () => search({ query: 'heron', limit: 10, passages: 1 }).hits.map(({ resourceId }) => resourceId)
  const first = add(1)
  expect(found()).toEqual([first.id])
  tables.passageWords.removeOfResource(first.id)
  tables.passages.removeOfResource(first.id)
  const second = add(2)
  expect(second.passage).toBe(first.passage)
  expect(found()).toEqual([second.id])
})
