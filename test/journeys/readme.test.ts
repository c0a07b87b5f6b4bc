/** Both quick starts of the README, one after the other in a clean home, as a new user types them. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { expect, test } from 'vitest'
import { startFaultyService } from '../support/faulty-service.ts'
import { temporaryHome } from '../support/home.ts'
import { readLibrary } from '../support/library-contents.ts'
import { MAIN } from '../support/run-shelfd.ts'

const README = readFileSync('README.md', 'utf8')

interface Typed {
  readonly command: string
  /** What the README shows below it. */
  readonly shown: string
}

/** The commands of a section, each with what is shown below it. */
function commandsOf(heading: string): Typed[] {
  const section = README.split(/^## /m).find((text) => text.startsWith(heading)) ?? ''
  const plain = section.replace(/^```\w+\n.*?^```$/gms, '')
  const blocks = [...plain.matchAll(/^```\n(.*?)^```$/gms)].map(([, block = '']) => block)
  return blocks.flatMap((block) =>
    block.split(/^\$ /m).flatMap((text) => {
      const [command = '', ...lines] = text.split('\n')
      return command === '' ? [] : [{ command, shown: lines.join('\n') }]
    }),
  )
}

/** Durations, sizes and identifiers differ from run to run. */
function withoutChance(text: string): string {
  return text
    .replaceAll(/\b[0-9a-f]{32}\b/g, 'ID')
    .replaceAll(/\b\d+(?:\.\d+)? (?:ms|s|KiB|MiB)\b/g, 'SOME')
    .trimEnd()
}

test('both quick starts of the README work as printed', { timeout: 120_000 }, async () => {
  const { path: home } = temporaryHome()
  const bin = join(home, 'bin')
  mkdirSync(bin)
  const node = resolve('node_modules/.bin/node')
  writeFileSync(join(bin, 'shelfd'), `#!/bin/sh\nexec ${node} ${MAIN} "$@"\n`)
  chmodSync(join(bin, 'shelfd'), 0o755)
  const env = { SHELFD_ALLOW_ROOT: '1', HOME: home, PATH: `${bin}:${dirname(process.execPath)}:${process.env.PATH}` }
  const type = async (command: string) => {
    const child = spawn('sh', ['-c', `exec 2>&1; ${command}`], { env, cwd: home, stdio: ['ignore', 'pipe', 'ignore'] })
    let output = ''
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      output += text
    })
    const [status] = await once(child, 'close')
    return { command, status, output: output.replaceAll(home, '/home/ada') }
  }

  const first = commandsOf('Quick start with the embedded library')
  expect(first.length).toBeGreaterThan(7)
  for (const { command, shown } of first) {
    const { status, output } = await type(command)
    expect({ command, status, output: withoutChance(output) }).toEqual({
      command,
      status: 0,
      output: withoutChance(shown),
    })
  }

  const service = await startFaultyService()
  const [, yaml = ''] = /^```yaml\n(.*?)^```$/ms.exec(README) ?? []
  mkdirSync(join(home, '.config', 'shelfd'), { recursive: true })
  writeFileSync(
    join(home, '.config', 'shelfd', 'config.yaml'),
    yaml.replace('https://library.example.com', service.url),
  )
  writeFileSync(join(home, '.config', 'shelfd', 'token'), service.token, { mode: 0o600 })
  const second = commandsOf('Quick start with a configured service')
  expect(second.map(({ command }) => command)).toContain('shelfd sync')
  for (const { command } of second) expect(await type(command)).toMatchObject({ command, status: 0 })
  expect(readLibrary(service.dataDir).map(({ title }) => title)).toEqual(['moon.md', 'tides.md'])
})
