import type { RequestListener } from 'node:http'
import { describe, expect, it } from 'vitest'
import { decideCapabilities } from '../../../src/remote/capabilities/capabilities.ts'
import { clientOf, jumpingClock, serve, thrownBy } from '../support.ts'

const DIRECTORY = '/v1/libraries/{library}/directory'
const FILES = '/v1/libraries/{library}/files'
const TEXT = { type: 'string' }

function json(schema: object) {
  return { requestBody: { content: { 'application/json': { schema } } } }
}

function form(schema: object) {
  return { requestBody: { content: { 'multipart/form-data': { schema } } } }
}

function object(properties: Record<string, object>, required: string[] = []) {
  return { type: 'object', properties, required }
}

function documented(path: string, operation: object, rest: object = {}) {
  return { openapi: '3.0.3', info: { version: '0.9.0' }, paths: { [path]: { post: operation } }, ...rest }
}

function directoryFact(document: unknown) {
  return decideCapabilities({}, document).createDirectory
}

const DEFAULT = { source: 'default', kind: 'path', field: 'path' }
const byPath = (field: string) => ({ source: 'openapi', kind: 'path', field })
const byPair = (nameField: string, parentField: string) => ({
  source: 'openapi',
  kind: 'name-and-parent',
  nameField,
  parentField,
})

describe('the body of create-directory', () => {
  it.each<[string, object, object]>([
    ['one path', object({ path: TEXT }, ['path']), byPath('path')],
    [
      'a path of another name',
      object({ directory_path: TEXT, overview: TEXT }, ['directory_path']),
      byPath('directory_path'),
    ],
    ['an only field whatever its name', object({ ordner: TEXT }, ['ordner']), byPath('ordner')],
    ['an only field that is not required', object({ fullPath: TEXT }), byPath('fullPath')],
    ['a path beside an optional name', object({ path: TEXT, name: TEXT }, ['path']), byPath('path')],
    [
      'a name and a parent path',
      object({ name: TEXT, parent_path: TEXT }, ['name', 'parent_path']),
      byPair('name', 'parent_path'),
    ],
    ['a name and an optional parent', object({ name: TEXT, parentPath: TEXT }, ['name']), byPair('name', 'parentPath')],
    ['a name and a path, both required', object({ name: TEXT, path: TEXT }, ['name', 'path']), byPair('name', 'path')],
    ['a parent by identifier', object({ name: TEXT, parent_id: TEXT }, ['name', 'parent_id']), DEFAULT],
    ['an optional parent by identifier', object({ name: TEXT, parent_id: TEXT }, ['name']), DEFAULT],
    ['a number beyond what is known', object({ path: TEXT, tenant: { type: 'integer' } }, ['path', 'tenant']), DEFAULT],
    ['two unknown texts', object({ foo: TEXT, bar: TEXT }, ['foo', 'bar']), DEFAULT],
    ['a choice instead of a text', object({ path: { type: 'string', enum: ['a'] } }, ['path']), DEFAULT],
    ['no fields', object({}), DEFAULT],
    ['a nullable text of 3.1', object({ path: { type: ['string', 'null'] } }), byPath('path')],
    ['a text among variants', object({ path: { anyOf: [TEXT, { type: 'null' }] } }, ['path']), byPath('path')],
    ['allOf', { allOf: [object({ location: TEXT }, ['location']), object({ overview: TEXT })] }, byPath('location')],
    [
      'oneOf with a path first',
      { oneOf: [object({ path: TEXT }, ['path']), object({ name: TEXT, parent: TEXT }, ['name', 'parent'])] },
      byPath('path'),
    ],
  ])('the body of create-directory is read from %s', (_, schema, expected) => {
    expect(directoryFact(documented(DIRECTORY, json(schema)))).toEqual(expected)
  })

  it('the body of create-directory is found through local references', () => {
    const components = {
      schemas: { 'Make/Directory': object({ path: { $ref: '#/components/schemas/Path' } }, ['path']), Path: TEXT },
      requestBodies: { Make: json({ $ref: '#/components/schemas/Make~1Directory' }).requestBody },
    }
    const operation = { requestBody: { $ref: '#/components/requestBodies/Make' } }
    expect(directoryFact(documented(DIRECTORY, operation, { components }))).toEqual(byPath('path'))
  })

  it.each<[string, object]>([
    ['/api/v1/libraries/{library}/directory', {}],
    ['/v1/libraries/{libraryId}/directory/', {}],
    ['/libraries/{id}/directory', { servers: [{ url: 'https://h.example/api/v1' }] }],
    ['/v1/libraries/{library}/directory', { servers: [{ url: '/api' }], openapi: '3.1.0' }],
  ])('the body of create-directory is found under the path %s', (path, rest) => {
    expect(directoryFact(documented(path, json(object({ dir: TEXT }, ['dir'])), rest))).toEqual(byPath('dir'))
  })

  it.each([
    'application/json; charset=utf-8',
    'application/vnd.api+json',
    'multipart/form-data',
    'application/x-www-form-urlencoded',
  ])('the body of create-directory is read for any media type: %s', (type) => {
    const operation = { requestBody: { content: { [type]: { schema: object({ dir: TEXT }, ['dir']) } } } }
    expect(directoryFact(documented(DIRECTORY, operation))).toEqual(byPath('dir'))
  })

  it.each([undefined, null, 7, 'x', [], { paths: 7 }, { paths: { [DIRECTORY]: null } }, documented(DIRECTORY, {})])(
    'an invalid document leaves the default body: %j',
    (document) => expect(directoryFact(document)).toEqual(DEFAULT),
  )

  it('a document that refers to itself leaves the default body', () => {
    const loop = { $ref: '#/components/schemas/Loop' }
    const components = {
      schemas: {
        Loop: { allOf: [loop, loop], anyOf: [loop, loop], oneOf: [loop] },
        Self: { $ref: '#/components/schemas/Self' },
      },
    }
    expect(directoryFact(documented(DIRECTORY, json(loop), { components }))).toEqual(DEFAULT)
    expect(directoryFact(documented(DIRECTORY, json({ $ref: '#/components/schemas/Self' }), { components }))).toEqual(
      DEFAULT,
    )
  })
})

const libraryFact = (schema: object) => decideCapabilities({}, documented('/v1/libraries', json(schema))).createLibrary

it.each<[object, object]>([
  [
    object({ name: TEXT, overview: TEXT }, ['name']),
    { source: 'openapi', nameField: 'name', overviewField: 'overview' },
  ],
  [
    object({ title: TEXT, description: TEXT }, ['title']),
    { source: 'openapi', nameField: 'title', overviewField: 'description' },
  ],
  [object({ name: TEXT }, ['name']), { source: 'openapi', nameField: 'name', overviewField: undefined }],
  [
    object({ name: TEXT, plan_id: TEXT }, ['name', 'plan_id']),
    { source: 'default', nameField: 'name', overviewField: 'overview' },
  ],
])('the fields of create-library are named by the document: %j', (schema, expected) => {
  expect(libraryFact(schema)).toEqual(expected)
})

describe('the directory field of uploads', () => {
  const FILE = { type: 'string', format: 'binary' }
  const uploadFact = (fields: Record<string, object>, required = ['file']) =>
    decideCapabilities({}, documented(FILES, form(object({ file: FILE, ...fields }, required)))).uploadDirectoryField
      .field

  it.each<[string | undefined, Record<string, object>]>([
    ['path', { path: TEXT }],
    ['directory', { directory: TEXT, title: TEXT }],
    ['folder', { folder: { type: ['string', 'null'] } }],
    ['parent_path', { parent_path: TEXT, folder_id: TEXT }],
    ['targetDirectory', { targetDirectory: TEXT }],
    ['target', { target: { ...TEXT, description: 'Directory path the file lands in' } }],
    [undefined, { target: TEXT }],
    [undefined, { folder_id: TEXT }],
    [undefined, { folder: { ...TEXT, description: 'The identifier of the folder' } }],
    [undefined, { original_path: TEXT }],
    [undefined, { path: { ...TEXT, description: 'Path of the file, with its file name' } }],
    [undefined, { directory: { type: 'integer' } }],
    [undefined, { title: TEXT, overview: TEXT }],
    [undefined, {}],
  ])('the directory field of uploads is %s where the document offers it', (expected, fields) => {
    expect(uploadFact(fields)).toBe(expected)
  })

  it('the directory field is unknown without a description of uploads', () => {
    expect(decideCapabilities({}, {}).uploadDirectoryField).toEqual({ source: 'default', field: undefined })
  })
})

describe('configured capabilities', () => {
  const document = documented(DIRECTORY, json(object({ dir: TEXT }, ['dir'])))

  it('configured fields come before the document', () => {
    const facts = decideCapabilities(
      { createDirectory: { path: 'p' }, createLibrary: { name: 'n' }, uploadDirectoryField: null },
      document,
    )
    expect(facts).toEqual({
      createDirectory: { source: 'configuration', kind: 'path', field: 'p' },
      createLibrary: { source: 'configuration', nameField: 'n', overviewField: undefined },
      uploadDirectoryField: { source: 'configuration', field: undefined },
      describedVersion: '0.9.0',
      undescribed: ['checkAccess', 'listLibraries', 'listDirectory', 'uploadFile', 'showResource'],
    })
  })

  it('configuration without a document leaves the routes open', () => {
    expect(decideCapabilities({}, undefined).undescribed).toBeNull()
  })

  it('configured fields set to auto are left to the document', () => {
    const auto = { createDirectory: 'auto', createLibrary: 'auto', uploadDirectoryField: 'auto' } as const
    expect(decideCapabilities(auto, document)).toEqual(decideCapabilities({}, document))
  })
})

describe('client.capabilities', () => {
  it('the description is read once for all callers', async () => {
    const asked: (string | undefined)[] = []
    await using server = await serve((request, answer) => {
      asked.push(request.url)
      answer.end(JSON.stringify(documented(DIRECTORY, json(object({ dir: TEXT }, ['dir'])))))
    }, true)
    await using client = clientOf(server.origin)
    const [facts] = await Promise.all([client.capabilities(), client.capabilities()])
    await client.capabilities()
    expect(facts).toMatchObject({ createDirectory: byPath('dir'), describedVersion: '0.9.0' })
    expect(asked).toEqual(['/docs?api-docs.json'])
  })

  it.each<[string, RequestListener]>([
    ['404', (_, answer) => answer.writeHead(404).end()],
    ['500', (_, answer) => answer.writeHead(500).end()],
    ['401', (_, answer) => answer.writeHead(401).end()],
    ['a redirect', (_, answer) => answer.writeHead(302, { location: '/login' }).end()],
    ['HTML', (_, answer) => answer.end('<html>')],
    ['invalid JSON', (_, answer) => answer.end('{"paths":')],
    ['a document too large', (_, answer) => answer.end(`{"x":"${'x'.repeat(9 << 20)}"}`)],
  ])('capabilities fall back to the default after %s', async (_, listener) => {
    let asked = 0
    await using server = await serve((request, answer) => {
      asked += 1
      listener(request, answer)
    }, true)
    await using client = clientOf(server.origin)
    expect((await client.capabilities()).createDirectory).toEqual(DEFAULT)
    expect(asked).toBe(1)
  })

  it('the description is read again after the service was unreachable', async () => {
    let down = true
    await using server = await serve((request, answer) => {
      if (down) request.socket.destroy()
      else answer.end(JSON.stringify(documented(DIRECTORY, json(object({ dir: TEXT }, ['dir'])))))
    }, true)
    await using client = clientOf(server.origin, { retry: { attempts: 2, firstDelayMs: 1, maxDelayMs: 1 } })
    expect(await thrownBy(client.capabilities())).toMatchObject({ kind: 'temporary' })
    down = false
    expect((await client.capabilities()).createDirectory).toEqual(byPath('dir'))
  })

  it('an abort ends the wait of one caller only', async () => {
    const waiting: (() => void)[] = []
    await using server = await serve((_, answer) => {
      waiting.push(() => answer.end('{}'))
    }, true)
    await using client = clientOf(server.origin, { clock: jumpingClock() })
    const abort = new AbortController()
    const one = thrownBy(client.capabilities(abort.signal))
    const other = client.capabilities()
    while (waiting.length === 0) await new Promise((resolve) => setImmediate(resolve))
    abort.abort()
    expect(await one).toMatchObject({ kind: 'interrupted' })
    waiting[0]?.()
    expect((await other).createDirectory).toEqual(DEFAULT)
  })
})

describe('hostile descriptions', () => {
  const NAMES = [
    'directory"\r\nX: y',
    'path\n',
    'folder"',
    "path'; x",
    'directory.path',
    '../path',
    'path[]',
    'dir path',
  ]

  it.each(NAMES)('a field %j becomes part of no request [S-24]', (name) => {
    const body = object({ [name]: TEXT, file: { type: 'string', format: 'binary' } })
    expect(decideCapabilities({}, documented(FILES, form(body))).uploadDirectoryField).toMatchObject({
      field: undefined,
    })
    for (const required of [[], [name]]) {
      expect(directoryFact(documented(DIRECTORY, json(object({ [name]: TEXT }, required))))).toEqual(DEFAULT)
      const pair = object({ name: TEXT, [`parent_${name}`]: TEXT }, required)
      expect(directoryFact(documented(DIRECTORY, json(pair)))).not.toMatchObject({ parentField: `parent_${name}` })
      const library = object({ name: TEXT, [name]: TEXT }, required)
      expect(decideCapabilities({}, documented('/v1/libraries', json(library))).createLibrary).toMatchObject({
        nameField: 'name',
      })
    }
  })

  it('paths of a description with dots name no operation', () => {
    const paths = ['/v1/libraries/{library}/directory/..', '/v1/../libraries/{library}/directory\r\nX: y']
    for (const path of paths) {
      expect(directoryFact(documented(path, json(object({ fullPath: TEXT }, ['fullPath']))))).toEqual(DEFAULT)
    }
  })
})
