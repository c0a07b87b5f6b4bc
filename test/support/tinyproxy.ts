import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { freePort } from './free-port.ts'
import { needs } from './needs.ts'

export interface TinyproxyOptions {
  /** An address of this computer; 127.0.0.1 by default. */
  readonly host?: string
  readonly port?: number
  /** `user password` that it asks for. */
  readonly credentials?: string
  /** The only ports that it connects to; all by default. */
  readonly onlyPort?: number
  /** A host that it refuses, as an extended regular expression. */
  readonly refusedHost?: string
}

/** Debian's tinyproxy, a process of its own. */
export interface Tinyproxy extends AsyncDisposable {
  readonly url: string
  readonly port: number
  /** The tunnels asked for so far, such as `library.test:443`. */
  readonly targets: readonly string[]
  /** Ends it at once, with all its tunnels. */
  kill(): Promise<void>
}

/** Starts tinyproxy and waits until it accepts connections. */
export async function startTinyproxy(options: TinyproxyOptions = {}): Promise<Tinyproxy> {
  needs('tinyproxy')
  const { host = '127.0.0.1', credentials, onlyPort, refusedHost } = options
  const port = options.port ?? (await freePort())
  const directory = mkdtempSync(join(tmpdir(), 'shelfd-proxy-'))
  const [config, filter] = [join(directory, 'tinyproxy.conf'), join(directory, 'filter')]
  writeFileSync(filter, `${refusedHost ?? ''}\n`)
  const lines = [
    `Port ${port}`,
    `Listen ${host}`,
    `Allow ${host}`,
    'LogLevel Info',
    'Timeout 600',
    ...(credentials === undefined ? [] : [`BasicAuth ${credentials}`]),
    ...(onlyPort === undefined ? [] : [`ConnectPort ${onlyPort}`]),
    ...(refusedHost === undefined ? [] : [`Filter "${filter}"`, 'FilterType ere']),
  ]
  writeFileSync(config, `${lines.join('\n')}\n`)
  const child = spawn('tinyproxy', ['-d', '-c', config], { stdio: ['ignore', 'pipe', 'inherit'] })
  const ended = once(child, 'exit')
  const targets: string[] = []
  const log = createInterface({ input: child.stdout })
  await new Promise<void>((resolve, reject) => {
    const seen: string[] = []
    log.on('line', (line) => {
      seen.push(line)
      const target = /: CONNECT (?<target>\S+) HTTP/.exec(line)?.groups?.target
      if (target !== undefined) targets.push(target)
      if (line.includes('Accepting connections')) resolve()
    })
    child.once('error', reject)
    log.once('close', () => reject(new Error(`tinyproxy ended: ${seen.join('\n')}`)))
  })
  const kill = async () => {
    child.kill('SIGKILL')
    await ended
  }
  return {
    url: `http://${host.includes(':') ? `[${host}]` : host}:${port}`,
    port,
    targets,
    kill,
    [Symbol.asyncDispose]: async () => {
      await kill()
      rmSync(directory, { recursive: true })
    },
  }
}
