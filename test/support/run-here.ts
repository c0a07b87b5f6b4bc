import { Writable } from 'node:stream'
import { runCli } from '../../src/cli/run-cli.ts'
import type { CliIo } from '../../src/cli/terminal/cli-io.ts'
import type { Outcome, Variables } from './home.ts'

/** The program in this process: quick, and all of it but main.ts. */
export async function runHere(args: readonly string[], env: Variables, home: string): Promise<Outcome> {
  const stdout = new Collector()
  const stderr = new Collector()
  const io: CliIo = {
    stdin: noInput(),
    stdout,
    stderr,
    isTerminal: { stdin: false, stdout: false, stderr: false },
    env,
    cwd: home,
    uid: undefined,
    home,
    signal: new AbortController().signal,
  }
  const exitCode = await runCli(args, io)
  return { exitCode, stdout: stdout.text, stderr: stderr.text }
}

async function* noInput(): AsyncGenerator<Buffer> {}

class Collector extends Writable {
  readonly #chunks: Buffer[] = []

  get text(): string {
    return Buffer.concat(this.#chunks).toString('utf8')
  }

  override _write(chunk: Buffer, _: BufferEncoding, done: () => void): void {
    this.#chunks.push(Buffer.from(chunk))
    done()
  }
}
