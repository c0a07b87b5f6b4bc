import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import ts from 'typescript'
import { describe, expect, test } from 'vitest'
import packageJson from '../../package.json' with { type: 'json' }
import { createHome } from './run-with.ts'

const MAIN = fileURLToPath(new URL('../../src/main.ts', import.meta.url))
const { home } = createHome()

/** The real process, its output piped. */
function start(...argv: string[]) {
  const env = { PATH: process.env.PATH, HOME: home, SHELFD_NO_SYSTEM_CONFIG: '1' }
  return spawn(process.execPath, [MAIN, ...argv], { cwd: home, env, stdio: ['ignore', 'pipe', 'pipe'] })
}

async function exitOf(child: ChildProcess): Promise<unknown> {
  const [code, signal] = await once(child, 'exit')
  return code ?? signal
}

/** Any Node that knows modules must parse the first file, which reports that Node is too old. */
test('the first file has no syntax that an old Node does not know', () => {
  const source = readFileSync(MAIN, 'utf8')
  const compiledFor = (target: ts.ScriptTarget) => {
    const compilerOptions = { target, module: ts.ModuleKind.ESNext, removeComments: true }
    return ts.transpileModule(source, { compilerOptions }).outputText
  }
  expect(compiledFor(ts.ScriptTarget.ES2019)).toBe(compiledFor(ts.ScriptTarget.ESNext))
  expect(source).not.toMatch(/^( {2})?await /m)
})

describe('the process', () => {
  test('the process prints its version and ends with the exit code', async () => {
    const child = start('--version')
    const [chunk] = await once(child.stdout, 'data')
    expect(String(chunk)).toBe(`${packageJson.version}\n`)
    expect(await exitOf(child)).toBe(0)
    expect(await exitOf(start('nonsense'))).toBe(2)
  })

  test('a reader that goes away is no error', async () => {
    const child = start('config', 'schema')
    child.stdout.destroy()
    let stderr = ''
    child.stderr.on('data', (chunk) => {
      stderr += chunk
    })
    expect(await exitOf(child)).toBe(0)
    expect(stderr).toBe('')
  })

  test.each(['SIGTERM', 'SIGINT'] as const)('%s ends a server with exit code 0', async (signal) => {
    const child = start('serve', '--data-dir', `lib-${signal}`)
    await once(child.stdout, 'data')
    child.kill(signal)
    expect(await exitOf(child)).toBe(0)
  })
})
