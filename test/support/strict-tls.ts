import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import type { Authority } from './certificates.ts'
import { needs } from './needs.ts'

const PROGRAM = join(import.meta.dirname, 'strict-tls.py')

export interface StrictTls extends AsyncDisposable {
  /** A port on loopback that speaks any TLS. */
  readonly port: number
  /** A port that speaks TLS 1.2 at most. */
  readonly port12: number
}

/**
 * Puts TLS in front of `url`, a server on loopback, and demands a certificate of `clients`. The server's own, of `authority`, is for
 * 127.0.0.1 and library.test; `directory` gets its files.
 */
export async function startStrictTls(
  url: string,
  { authority, clients, directory }: { authority: Authority; clients: Authority; directory: string },
): Promise<StrictTls> {
  needs('python3')
  const { cert, key } = authority.issue({ names: ['127.0.0.1', 'library.test'] })
  const [certFile, keyFile] = [join(directory, 'strict.pem'), join(directory, 'strict.key')]
  writeFileSync(certFile, cert)
  writeFileSync(keyFile, key)
  const args = [PROGRAM, new URL(url).port, certFile, keyFile, clients.file]
  const child = spawn('python3', args, { stdio: ['pipe', 'pipe', 'inherit'] })
  const line = await new Promise<string>((resolve, reject) => {
    createInterface({ input: child.stdout })
      .once('line', resolve)
      .once('close', () => reject(new Error('strict-tls.py ended')))
  })
  const { port, port12 }: Pick<StrictTls, 'port' | 'port12'> = JSON.parse(line)
  return {
    port,
    port12,
    [Symbol.asyncDispose]: async () => {
      child.stdin.end()
      if (child.exitCode === null) await once(child, 'exit')
    },
  }
}
