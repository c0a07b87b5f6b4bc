import { Writable } from 'node:stream'
import { runCli } from '../../src/cli/run-cli.ts'
import type { CliIo } from '../../src/cli/terminal/cli-io.ts'
import { InterruptedError } from '../../src/foundation/errors.ts'
import type { Outcome, Variables } from './home.ts'

/** The program in this process: quick, and all of it but main.ts. */
export async function runHere(args: readonly string[], env: Variables, home: string): Promise<Outcome> {
  return await startHere(args, env, home).ended
}

export interface RunningHere {
  readonly ended: Promise<Outcome>
  /** Both streams so far, as a terminal shows them. */
  output(): string
  /** Resolves to the first line on stdout; rejects when the program ends without one. */
  readonly firstLine: Promise<string>
  /** Asks it to stop, as Ctrl-C does. */
  stop(): void
}

/** Starts the program in this process, for commands that run until they are stopped. */
export function startHere(args: readonly string[], env: Variables, home: string): RunningHere {
  const chunks: Buffer[] = []
  const stdout = new Collector(chunks)
  const stderr = new Collector(chunks)
  const stopping = new AbortController()
  const io: CliIo = {
    stdin: noInput(),
    stdout,
    stderr,
    isTerminal: { stdin: false, stdout: false, stderr: false },
    env,
    cwd: home,
    uid: undefined,
    home,
    signal: stopping.signal,
  }
  const ended = runCli(args, io).then((exitCode) => ({ exitCode, stdout: stdout.text, stderr: stderr.text }))
  const none = ended.then((outcome) => Promise.reject(new Error(`It printed nothing: ${outcome.stderr}`)))
  const firstLine = Promise.race([stdout.firstLine, none])
  // Most callers wait for the end instead.
  firstLine.catch(() => {})
  return {
    ended,
    output: () => Buffer.concat(chunks).toString('utf8'),
    firstLine,
    stop: () => stopping.abort(new InterruptedError()),
  }
}

async function* noInput(): AsyncGenerator<Buffer> {}

class Collector extends Writable {
  readonly #chunks: Buffer[] = []
  readonly #all: Buffer[]
  readonly #first = Promise.withResolvers<string>()
  readonly firstLine = this.#first.promise

  /** `all` gets everything, too. */
  constructor(all: Buffer[]) {
    super()
    this.#all = all
  }

  get text(): string {
    return Buffer.concat(this.#chunks).toString('utf8')
  }

  override _write(chunk: Buffer, _: BufferEncoding, done: () => void): void {
    this.#chunks.push(Buffer.from(chunk))
    this.#all.push(Buffer.from(chunk))
    const [line, ...others] = this.text.split('\n', 2)
    if (others.length > 0 && line !== undefined) this.#first.resolve(line)
    done()
  }
}
