/** A client whose types a generator makes of the description: it compiles under strict rules, and makes every call. */
import { execFile } from 'node:child_process'
import { copyFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import openapi, { astToString } from 'openapi-typescript'
import ts from 'typescript'
import { expect, test } from 'vitest'
import { OPENAPI_PATH, ROUTES } from '../../src/contract/routes.ts'
import { startLibrary, temporaryDirectory } from '../embedded/temporary-library.ts'
import { needs } from '../support/needs.ts'

const PROJECT = join(import.meta.dirname, '..', '..')
const SAMPLES = join(PROJECT, 'test', 'contract', 'samples')
const run = promisify(execFile)

/** Everything that TypeScript checks when it is asked to. */
const STRICT = {
  ...{ target: 'es2024', module: 'nodenext', types: ['node'], noEmit: true, skipLibCheck: true },
  ...{ strict: true, noUncheckedIndexedAccess: true, exactOptionalPropertyTypes: true, noImplicitReturns: true },
  ...{ erasableSyntaxOnly: true, verbatimModuleSyntax: true, allowImportingTsExtensions: true },
}

test('a generated client compiles and makes every call', async () => {
  needs('ffmpeg', 'ffprobe')
  const { library } = await startLibrary()
  const description = JSON.stringify(await (await fetch(library.url + OPENAPI_PATH)).json())
  const directory = temporaryDirectory()
  const blob = ts.factory.createTypeReferenceNode('Blob')
  const types = await openapi(description, {
    defaultNonNullable: false,
    transform: ({ format }) => (format === 'binary' ? blob : undefined),
  })
  writeFileSync(join(directory, 'schema.ts'), astToString(types))
  writeFileSync(join(directory, 'tsconfig.json'), JSON.stringify({ compilerOptions: STRICT, include: ['*.ts'] }))
  writeFileSync(join(directory, 'package.json'), JSON.stringify({ type: 'module' }))
  copyFileSync(join(SAMPLES, 'strict-client.txt'), join(directory, 'client.ts'))
  symlinkSync(join(PROJECT, 'node_modules'), join(directory, 'node_modules'))
  const tsc = join(PROJECT, 'node_modules', 'typescript', 'bin', 'tsc')
  const complaints = await run(process.execPath, [tsc, '-p', directory]).then(
    () => '',
    ({ stdout }: { readonly stdout: string }) => stdout,
  )
  expect(complaints).toBe('')
  const given = [join(directory, 'client.ts'), library.url, library.token, join(SAMPLES, 'two-scenes.mp4')]
  const { stdout } = await run(process.execPath, given)
  expect([...new Set(stdout.trim().split('\n'))].sort()).toEqual(Object.keys(ROUTES).sort())
})
